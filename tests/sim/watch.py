"""Check of what is published and shown, against the books at the same moment."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from meters.ledger.redis_layout import REPLIES_KEPT
from meters.service.meter_service import MeterService
from meters.web.display_state import MeterRow
from meters.wire.messages import seq_of
from tests.sim.checker import Checker
from tests.sim.service import SimulatedService
from tests.sim.table import SimulatedTable
from tests.sim.world import World

LOOK_EVERY_S: Final = 0.25
_SHOWN_WITHIN_S: Final = 5.0
_IN: Final = re.compile(r".*/table/([^/@]+)/in$")
_METER: Final = re.compile(r".*/meter/([^/]+)$")
_OUT: Final = re.compile(r".*/table/([^/]+)/out$")
_LATE: Final = 4
"""Number of a table's events whose answers it may not have received yet."""


class Watch:
    def __init__(self, world: World, checker: Checker) -> None:
        self._world = world
        self._checker = checker
        self._shown: dict[tuple[int, str], int] = {}
        self._refusals: dict[tuple[str, int], bytes] = {}
        self._sent: defaultdict[tuple[str, int], set[bytes]] = defaultdict(set)
        self._last: defaultdict[str, int] = defaultdict(int)
        self._wrong_since: dict[tuple[int, str], float] = {}
        self.replies = 0

    def check(self, who: str, topic: str, payload: bytes) -> None:
        if found := _IN.fullmatch(topic):
            self.replies += 1
            self._reply(found[1], payload)
        elif found := _METER.fullmatch(topic):
            self._value(who, found[1], payload)
        elif (found := _OUT.fullmatch(topic)) and (seq := seq_of(payload)) is not None:
            self._sent[found[1], seq].add(payload)

    def _reply(self, table: str, payload: bytes) -> None:
        reply = json.loads(payload)
        status, seq = reply.get("status"), reply.get("seq")
        self._world.note(f"to {table}: {seq} {status} {reply.get('error', {}).get('code', '')}")
        if status == "accepted":
            entry = self._checker.of_event(table, seq)
            if entry is None and self._is_withdrawal(table, seq, reply):
                pass
            elif entry is None or entry["reply"].encode() != payload:
                self._world.fail(f"{table} got {payload!r}, but the ledger has {entry}")
        elif status == "refused":
            self._refusal(table, seq, reply["error"]["code"], payload)
        if status != "out_of_order" and seq is not None:
            self._last[table] = max(self._last[table], seq)

    def _is_withdrawal(self, table: str, seq: int, reply: Mapping[str, object]) -> bool:
        """Return whether a reply only confirms the withdrawal of a request."""
        sent = [json.loads(payload)["type"] for payload in self._sent[table, seq]]
        return reply == {"seq": seq, "status": "accepted"} and "withdrawal" in sent

    def _refusal(self, table: str, seq: int, code: str, payload: bytes) -> None:
        """Check a refusal: it stays the same, and a refusal of the seq itself must be due."""
        if code == "seq_passed":
            if seq > self._last[table] - REPLIES_KEPT + _LATE:
                self._world.fail(f"{table}: seq {seq} is refused as long used up: {payload!r}")
        elif code == "seq_reused":
            if len(self._sent[table, seq]) < 2:
                self._world.fail(f"{table} sent seq {seq} only once, but got {payload!r}")
        else:
            if code == "correction_refused":
                self._refused_by_somebody(table, seq, payload)
            first = self._refusals.setdefault((table, seq), payload)
            if first != payload:
                self._world.fail(f"{table}: seq {seq} first got {first!r}, now {payload!r}")

    def _refused_by_somebody(self, table: str, seq: int, payload: bytes) -> None:
        """Check that the person named in the reply has refused a correction of the round."""
        message = json.loads(payload)["error"]["message"]
        rounds = {json.loads(sent)["round"] for sent in self._sent[table, seq]}
        refused = self._checker.asks.refused
        people = {by for at, each, by in refused if at == table and each in rounds}
        if not any(message.startswith(f"{by} refused") for by in people):
            self._world.fail(f"{table} got {payload!r}, but it was refused by {people}")

    def _value(self, who: str, meter: str, payload: bytes) -> None:
        value = json.loads(payload)
        cents = self._checker.amount_cents(meter, value["version"])
        if cents != value["amount"]:
            self._world.fail(f"{who} publishes {value}, but the books had {cents} then")

    def look(self, services: Iterable[SimulatedService], tables: Iterable[SimulatedTable]) -> None:
        """Check every display again: no meter may go back."""
        for service in services:
            if service.running is not None:
                rows = service.running._displays.rows()
                self._see(id(service.running), {row.meter: row.version for row in rows})
                self._hold_states(service.running, rows)
        for table in tables:
            if table.agent is not None:
                values = table.agent.meter_values
                shown = {meter: value.version for meter, value in values.items()}
                self._see(id(table.agent), shown)

    def _hold_states(self, running: MeterService, rows: Iterable[MeterRow]) -> None:
        """Check that displays show a meter as inoperable exactly while its link is inoperable."""
        for row in rows:
            link = running._links[row.link]
            agrees = (row.state == "inoperable") is (link.problem is not None)
            if agrees:
                self._wrong_since.pop((id(running), row.meter), None)
                continue
            since_s = self._wrong_since.setdefault((id(running), row.meter), self._world.now_s)
            if self._world.now_s - since_s > _SHOWN_WITHIN_S:
                self._world.fail(
                    f"a display has shown {row.meter} as {row.state} for {_SHOWN_WITHIN_S:.0f} s,"
                    f" but the link is {link.problem or 'operable'}"
                )

    def _see(self, display: int, versions: Mapping[str, int]) -> None:
        for meter, version in versions.items():
            before = self._shown.get((display, meter), 0)
            if version < before:
                self._world.fail(f"a display of {meter} goes back from {before} to {version}")
            self._shown[display, meter] = version
