"""Tables under load: each sends its rounds one event at a time, and records each reply."""

import contextlib
import json
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

from tests.ledgers import read_ledger
from tests.mqtt.events import encode, result, void, wagers
from tests.servers import RedisServer, eventually
from tests.waiting import LONG_S

LINK: Final = "main"
REPEATED_AFTER_S: Final = 0.5
ANSWERED_WITHIN_S: Final = 2 * LONG_S


class Players:
    """Tables that play rounds as fast as they are answered, and repeat events, as agents do.

    With `voids`, the rounds end with a void and not with a result.
    """

    def __init__(self, port: int, tables: Sequence[str], *, voids: bool = False) -> None:
        self._port = port
        self._ending = void if voids else result
        self._asked: dict[str, tuple[bytes, float]] = {}
        self._turn = threading.RLock()
        self._leaving = threading.Event()
        self._wrong: list[object] = []
        self.answered: dict[str, dict[int, bytes]] = {table: {} for table in tables}
        self._client: paho.Client

    @property
    def count(self) -> int:
        return sum(self.counts().values())

    def counts(self) -> dict[str, int]:
        return {table: len(replies) for table, replies in self.answered.items()}

    @contextlib.contextmanager
    def playing(self) -> Iterator[None]:
        """Play until the block ends; first every unanswered event is answered.

        Afterwards the ledger no longer changes, and has the answered events and no others.
        """
        self._leaving.clear()
        # A client that is started a second time leaves sockets open.
        self._client = paho.Client(CallbackAPIVersion.VERSION2)
        self._client.on_connect = self._connected
        self._client.on_message = self._hear
        self._client.reconnect_delay_set(1, 1)
        self._client.connect("127.0.0.1", self._port)
        self._client.loop_start()
        ended = threading.Event()
        repeating = threading.Thread(target=self._repeat, args=[ended], daemon=True)
        repeating.start()
        try:
            yield
            self._leaving.set()
            self._until(lambda: not self._asked, "an answer to each event")
        finally:
            self._leaving.set()
            ended.set()
            repeating.join()
            self._client.disconnect()
            self._client.loop_stop()

    def go_on(self, events: int) -> None:
        due = {table: count + events for table, count in self.counts().items()}

        def gone_on() -> bool:
            return all(count >= due[table] for table, count in self.counts().items())

        self._until(gone_on, f"{events} answers to every table")

    def _until(self, check: Callable[[], bool], what: str) -> None:
        eventually(lambda: self._wrong or check(), within_s=ANSWERED_WITHIN_S, what=what)
        assert not self._wrong, self._wrong

    def _connected(self, *_: object) -> None:
        topics = [(f"pitlink/v1/{LINK}/table/{table}/in", 1) for table in self.answered]
        self._client.subscribe(topics)
        with self._turn:
            for table in self.answered.keys() - self._asked.keys():
                self._ask_next(table)

    def _ask_next(self, table: str) -> None:
        self._asked.pop(table, None)
        if not self._leaving.is_set():
            seq = len(self.answered[table]) + 1
            make = wagers if seq % 2 else self._ending
            self._publish(table, encode(make(seq, f"R{(seq + 1) // 2}")))

    def _publish(self, table: str, event: bytes) -> None:
        self._asked[table] = event, time.monotonic()
        self._client.publish(f"pitlink/v1/{LINK}/table/{table}/out", event, qos=1)

    def _repeat(self, ended: threading.Event) -> None:
        while not ended.wait(REPEATED_AFTER_S / 2):
            before_s = time.monotonic() - REPEATED_AFTER_S
            with self._turn:
                for table, (event, asked_s) in self._asked.items():
                    if asked_s < before_s and self._client.is_connected():
                        self._publish(table, event)

    def _hear(self, _client: object, _data: object, message: paho.MQTTMessage) -> None:
        table, reply = message.topic.split("/")[4], json.loads(message.payload)
        with self._turn:
            seq = len(self.answered[table]) + 1
            if table not in self._asked or reply.get("seq") != seq:
                return
            if reply["status"] != "accepted":
                self._wrong.append((table, reply))
                return
            self.answered[table][seq] = bytes(message.payload)
            self._ask_next(table)

    def check_ledger(self, primary: RedisServer) -> set[tuple[str, int]]:
        """Check that the ledger has each reply once, unchanged; return each event's table, seq."""
        with primary.client() as store:
            entries = read_ledger(store, LINK)
        kept: dict[tuple[str, int], list[bytes]] = defaultdict(list)
        for _, entry in entries:
            if entry["kind"] in {b"wagers", b"result"}:
                kept[entry["table"].decode(), int(entry["seq"])].append(entry["reply"])
        given = {
            (table, seq): [reply]
            for table, replies in self.answered.items()
            for seq, reply in replies.items()
        }
        lost = [each for each in given if each not in kept]
        assert not lost, f"answered and lost: {lost}"
        assert {each: kept[each] for each in given} == given
        assert all(len(replies) == 1 for replies in kept.values())
        return set(kept)
