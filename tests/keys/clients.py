"""Clients of the broker that try forbidden operations, and one that sees all messages."""

import asyncio
import contextlib
import itertools
import socket
import ssl
import uuid
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import aiomqtt

from meters.floor.key_bundle import Identity, TlsFiles
from tests.keys.servers import OBSERVER, SecuredMosquitto

WITHIN_S: Final = 30.0
_NO_DELAY: Final = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)]
_numbers: Final = itertools.count(1)


def believing(
    keys: Path, shown: tuple[Path, Path] | None = None, *, party: Identity | None = None
) -> ssl.SSLContext:
    if party is not None:
        home = keys / party.place
        shown = (home / f"{party.stem}.crt", home / f"{party.stem}.key")
    certificate, key = shown or (None, None)
    return TlsFiles(keys / "authority" / "ca.crt", certificate, key).context()


def password_of(keys: Path, party: Identity) -> str:
    return (keys / party.place / "password").read_text().strip()


def by_certificate(
    broker: SecuredMosquitto,
    context: ssl.SSLContext,
    *,
    identifier: str | None = None,
    username: str | None = None,
    clean: bool = True,
) -> aiomqtt.Client:
    """Return a client of the listener for certificates; unless clean, its session survives it."""
    return aiomqtt.Client(
        "localhost", broker.port, tls_context=context, identifier=identifier or uuid.uuid4().hex,
        username=username, timeout=WITHIN_S, clean_session=clean, socket_options=_NO_DELAY,
    )  # fmt: skip


def with_session(
    broker: SecuredMosquitto, keys: Path, party: Identity, *, clean: bool = False
) -> aiomqtt.Client:
    shown = believing(keys, party=party)
    return by_certificate(broker, shown, identifier=party.username, clean=clean)


def by_password(
    broker: SecuredMosquitto, keys: Path, username: str | None, password: str | None
) -> aiomqtt.Client:
    return aiomqtt.Client(
        "localhost", broker.password_port, tls_context=believing(keys), username=username,
        password=password, identifier=uuid.uuid4().hex, timeout=WITHIN_S, socket_options=_NO_DELAY,
    )  # fmt: skip


class Ears:
    def __init__(self, client: aiomqtt.Client) -> None:
        self.client = client
        self.heard: list[tuple[str, bytes]] = []

    async def until(self, topic: str, payload: bytes) -> list[tuple[str, bytes]]:
        """Return and forget all messages before one that must come; omit that one."""
        async with asyncio.timeout(WITHIN_S):
            async for message in self.client.messages:
                assert isinstance(message.payload, bytes)
                if (str(message.topic), message.payload) == (topic, payload):
                    found, self.heard = self.heard, []
                    return found
                self.heard.append((str(message.topic), message.payload))
        raise AssertionError("the connection ended")


class Observer(Ears):
    """Receives all that the broker accepted; `kept` has topics retained before it connected."""

    kept: set[str]

    async def since(self) -> list[tuple[str, bytes]]:
        """Return what the broker accepted since the last call.

        The broker handles one packet after another, so what it has acknowledged to others came
        before.
        """
        marker = b"%d" % next(_numbers)
        await self.client.publish("observer/marker", marker, qos=1)
        return await self.until("observer/marker", marker)

    async def next_of(self, topic: str) -> None:
        async with asyncio.timeout(WITHIN_S):
            async for message in self.client.messages:
                if str(message.topic) == topic:
                    return

    async def publish(
        self, *topics: str, payload: bytes = b"published", retain: bool = False
    ) -> None:
        for topic in topics:
            await self.client.publish(topic, payload, qos=1, retain=retain)


@asynccontextmanager
async def observing(broker: SecuredMosquitto, keys: Path) -> AsyncIterator[Observer]:
    async with by_password(broker, keys, *OBSERVER) as client:
        await client.subscribe("#", qos=1)
        observer = Observer(client)
        observer.kept = {topic for topic, _ in await observer.since()}
        yield observer


async def try_all(
    client_of: Callable[[], aiomqtt.Client], topics: Collection[str], *, retain: bool
) -> None:
    """Publish on each topic; return when the broker has handled all.

    Each topic has its own connection, because mosquitto 2.0 closes one after a forbidden publish if
    it has no limit for queued messages.
    """
    for topic in topics:
        with contextlib.suppress(aiomqtt.MqttError):
            async with client_of() as client:
                await client.publish(topic, b"tried", qos=1, retain=retain)
