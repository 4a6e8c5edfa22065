"""What is published and shown, held against the books at the moment when it is said."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Final

from meters.board import MeterRow
from tests.sim.checker import Checker
from tests.sim.service import Running, SimulatedService
from tests.sim.table import SimulatedTable
from tests.sim.world import World

LOOK_EVERY_S: Final = 0.25
_TOLD_WITHIN_S: Final = 5.0
_IN: Final = re.compile(r".*/table/([^/]+)/in$")
_METER: Final = re.compile(r".*/meter/([^/]+)$")
_OF_NO_BOOK: Final = frozenset({"seq_reused", "seq_passed"})
"""Refusals that a script gives without keeping them."""


class Watch:
    """Sees whatever is published, and what displays show."""

    def __init__(self, world: World, checker: Checker) -> None:
        self._world = world
        self._checker = checker
        self._shown: dict[tuple[int, str], int] = {}
        self._refusals: dict[tuple[str, int], bytes] = {}
        self._wrong_since: dict[tuple[int, str], float] = {}
        self.replies = 0

    def told(self, who: str, topic: str, payload: bytes) -> None:
        """Something is being published."""
        if found := _IN.fullmatch(topic):
            self.replies += 1
            self._reply(found[1], payload)
        elif found := _METER.fullmatch(topic):
            self._value(who, found[1], payload)

    def _reply(self, table: str, payload: bytes) -> None:
        reply = json.loads(payload)
        status, seq = reply.get("status"), reply.get("seq")
        self._world.note(f"to {table}: {seq} {status} {reply.get('error', {}).get('code', '')}")
        if status == "accepted":
            entry = self._checker.of_event(table, seq)
            if entry is None or entry["reply"].encode() != payload:
                self._world.fail(f"{table} is told {payload!r}, the ledger has {entry}")
        elif status == "refused" and reply["error"]["code"] not in _OF_NO_BOOK:
            first = self._refusals.setdefault((table, seq), payload)
            if first != payload:
                self._world.fail(f"{table} was told {first!r} of {seq}, and now {payload!r}")

    def _value(self, who: str, meter: str, payload: bytes) -> None:
        value = json.loads(payload)
        cents = self._checker.amount_cents(meter, value["version"])
        if cents != value["amount"]:
            self._world.fail(f"{who} publishes {value}, the books had {cents} in that version")

    def look(self, services: Iterable[SimulatedService], tables: Iterable[SimulatedTable]) -> None:
        """Look at every display once more: none may go back."""
        for service in services:
            if service.running is not None:
                rows = service.running.board.rows()
                self._see(id(service.running), {row.meter: row.version for row in rows})
                self._hold_states(service.running, rows)
        for table in tables:
            if table.agent is not None:
                values = table.agent.meter_values
                shown = {meter: value.version for meter, value in values.items()}
                self._see(id(table.agent), shown)

    def _hold_states(self, running: Running, rows: Iterable[MeterRow]) -> None:
        """A display says that a meter cannot be played while its link cannot, and no longer."""
        for row in rows:
            link = running.link(row.link)
            agrees = (row.state == "inoperable") is (link.problem is not None)
            if agrees:
                self._wrong_since.pop((id(running), row.meter), None)
                continue
            since_s = self._wrong_since.setdefault((id(running), row.meter), self._world.now_s)
            if self._world.now_s - since_s > _TOLD_WITHIN_S:
                self._world.fail(
                    f"a display says for {_TOLD_WITHIN_S:.0f} s that {row.meter} is {row.state},"
                    f" the link: {link.problem or 'operable'}"
                )

    def _see(self, display: int, versions: Mapping[str, int]) -> None:
        for meter, version in versions.items():
            before = self._shown.get((display, meter), 0)
            if version < before:
                self._world.fail(f"a display of {meter} goes back from {before} to {version}")
            self._shown[display, meter] = version
