"""Clients that are not ours: mosquitto_pub and mosquitto_sub as processes, and plain paho."""

import json
import subprocess
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

from tests.servers import eventually, require
from tests.waiting import LONG_S, dies_with_us

PUBLISH_WITHIN_S: Final = LONG_S
_MARK: Final = "HEARD "


@dataclass(frozen=True, slots=True)
class Heard:
    topic: str
    qos: int
    retained: bool
    payload: bytes

    @property
    def json(self) -> Any:  # noqa: ANN401  (a test looks into it as it likes)
        return json.loads(self.payload)


class Ear:
    """A mosquitto_sub that records all messages on some topics; ended on exit.

    After entry it is subscribed: it receives everything that is published from then on.
    """

    def __init__(self, port: int, *topics: str) -> None:
        self._home = tempfile.TemporaryDirectory(prefix="plt-")
        self._path = Path(self._home.name) / "heard"
        self._read_bytes = 0
        self._messages: list[Heard] = []
        self._port = port
        self._probe = f"probe/{uuid.uuid4().hex}"
        wanted = [part for topic in (*topics, self._probe) for part in ("-t", topic)]
        self._command = [
            *(require("mosquitto_sub"), "-h", "127.0.0.1", "-p", str(port), "-q", "1"),
            *("-F", f"{_MARK}%q %r %x %t"),
            *wanted,
        ]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def messages(self) -> list[Heard]:
        with self._path.open("rb") as file:
            file.seek(self._read_bytes)
            more = file.read()
        whole = more[: more.rfind(b"\n") + 1]
        self._read_bytes += len(whole)
        for line in whole.decode(errors="replace").splitlines():
            if line.startswith(_MARK):
                qos, retained, payload, topic = line.removeprefix(_MARK).split(" ", 3)
                heard = Heard(topic, int(qos), retained == "1", bytes.fromhex(payload))
                self._messages.append(heard)
        return self._messages.copy()

    def on(self, topic: str) -> list[Heard]:
        return [heard for heard in self.messages if heard.topic == topic]

    def next_on(self, topic: str, after: int = 0, *, within_s: float = LONG_S) -> Heard:
        what = f"message {after + 1} on {topic}"
        return eventually(lambda: self.on(topic)[after:], within_s=within_s, what=what)[0]

    def __enter__(self) -> Self:
        with self._path.open("wb") as out:
            self._process = subprocess.Popen(
                dies_with_us(self._command),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        try:
            eventually(self._hears, what="a subscription")
        except AssertionError:
            self.__exit__(None, None, None)
            raise
        return self

    def _hears(self) -> bool:
        """Return whether our own probe has arrived. Nothing else shows that it is subscribed."""
        publish(self._port, self._probe, b"?")
        return bool(self.on(self._probe))

    def __exit__(self, *raised: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._home.cleanup()


def publish(port: int, topic: str, payload: bytes, *, retain: bool = False) -> None:
    """Publish any bytes with QoS 1; return when the broker has them."""
    subprocess.run(
        [
            *(require("mosquitto_pub"), "-h", "127.0.0.1", "-p", str(port), "-q", "1"),
            *("-t", topic, "-s" if payload else "-n"),
            *(["-r"] if retain else []),
        ],
        input=payload,
        timeout=PUBLISH_WITHIN_S,
        check=True,
        capture_output=True,
    )


def publish_all(port: int, topic: str, lines: Sequence[bytes]) -> None:
    """Publish one message per line over one connection, as fast as the broker accepts them."""
    subprocess.run(
        [
            *(require("mosquitto_pub"), "-h", "127.0.0.1", "-p", str(port), "-q", "1"),
            *("-t", topic, "-l"),
        ],
        input=b"\n".join(lines) + b"\n",
        timeout=3 * PUBLISH_WITHIN_S,
        check=True,
        capture_output=True,
    )


def publish_each(port: int, messages: Mapping[str, bytes]) -> None:
    """Publish one message per topic over one connection, without waiting between them."""
    client = paho.Client(CallbackAPIVersion.VERSION2)
    client.connect("127.0.0.1", port)
    client.loop_start()
    try:
        published = [client.publish(topic, payload, qos=1) for topic, payload in messages.items()]
        for one in published:
            one.wait_for_publish(PUBLISH_WITHIN_S)
            assert one.is_published()
        client.disconnect()
    finally:
        client.loop_stop()
