"""Connection to the MQTT broker, as the service uses it. It hides the version of the protocol.

MQTT only transports the messages; the table's outbox and the service's reply guarantee that no
event is lost. If a message is lost with a connection, the table sends its event again, or the next
heartbeat replaces the message.
"""

from typing import Final, Protocol

import msgspec

from meters.wire.messages import EVENT_BYTES_MAX

KEEPALIVE_S: Final = 15
"""Seconds without a packet from the client after which the broker asks if it is still there."""
ANSWER_WITHIN_S: Final = 10.0
"""Longest wait, in seconds, for the broker's answer to a subscription or a publication."""
UNSENT_BYTES_MAX: Final = 67_108_864
"""Number of unsent bytes above which the client treats the broker as lost. Sending never waits, so
without this limit a broker that reads nothing would fill the memory."""
GOODBYE_WITHIN_S: Final = 1.0
"""Longest wait, in seconds, for the last bytes to be sent at the end of a connection."""


class BrokerError(Exception):
    """The broker cannot be reached, has refused something, or the connection is lost."""


class TooLongError(BrokerError):
    pass


class UnsupportedVersionError(BrokerError):
    pass


class Message(msgspec.Struct, frozen=True, gc=False):
    """Message from the broker.

    `retain` is true if the broker had kept the message for new subscribers. The reply to an event
    returns its `correlation` data, which MQTT 3.1.1 does not have.
    """

    topic: str
    payload: bytes
    retain: bool
    correlation: bytes | None = None


class BrokerConnection(Protocol):
    """Connection that receives messages in batches and sends without waiting.

    Every method that waits raises a `BrokerError` if the broker refuses, or the connection is lost.
    """

    @property
    def mqtt(self) -> str: ...

    @property
    def unsent_bytes(self) -> int:
        """The number of bytes that the broker has not accepted yet."""
        ...

    async def batch(self, size_max: int) -> list[Message]:
        """Wait for a message. Return it, with one waiting message from each other lane."""
        ...

    def post(
        self, topic: str, payload: bytes, *, retain: bool = False, expires_s: int | None = None
    ) -> None:
        """Publish JSON with QoS 1, without waiting.

        With `retain`, the broker keeps the message for new subscribers. After `expires_s` seconds,
        it deletes a message that it could not deliver; MQTT 3.1.1 cannot do this.
        """
        ...

    def reply(self, topic: str, payload: bytes, correlation: bytes | None = None) -> None:
        """Publish the reply to an event with QoS 0, without waiting.

        A table repeats its event until it has the reply, so acknowledgements of the broker would
        only take time. `correlation` is from the event; MQTT 3.1.1 has none.
        """
        ...

    async def publish(self, topic: str, payload: bytes) -> None:
        """Publish with QoS 1, and wait until the broker has the message."""
        ...

    async def subscribe(self, *patterns: str) -> None:
        """Subscribe to topics with QoS 1."""
        ...

    async def unsubscribe(self, pattern: str) -> None: ...


async def prove_size(broker: BrokerConnection, topic: str) -> None:
    """Prove that a broker accepts an event that is as long as allowed.

    A broker checks the length of a message before it checks who publishes it. A broker of MQTT
    3.1.1 does not tell that it has dropped a message, so its limit remains unknown. Nobody must
    subscribe to `topic`.

    Raises:
        TooLongError: the broker does not accept it.
    """
    try:
        await broker.publish(topic, b"{}".ljust(EVENT_BYTES_MAX))
    except TooLongError:
        raise TooLongError(
            f"the broker refuses an event of {EVENT_BYTES_MAX:,} bytes, the longest one: raise its"
            " message_size_limit and max_packet_size to those of deploy/mosquitto.conf"
        ) from None
    except BrokerError:
        """The broker does not let this client publish there, but accepts the length."""
