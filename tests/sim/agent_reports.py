"""Check of what a table's agent reported to the dealer, and of its events, against the ledger."""

import json
from collections.abc import Iterable
from typing import Final

from msgspec import UNSET

from controllers.agent.outbox import Sent
from controllers.table.device_events import (
    BettingLocked,
    DeviceAnswer,
    DeviceEvent,
    SettlePressed,
    VoidPressed,
    WagerCorrected,
    WagerPlaced,
    WagerWithdrawn,
)
from tests.sim.checker import Checker
from tests.sim.world import World

_STAYS_OPEN: Final = frozenset({"outbox_failed", "betting_locked", "locked_out", "claims_wait"})
"""Reasons for which betting is not locked: the lights stay on."""


def ends_betting(event: DeviceEvent, answer: DeviceAnswer) -> bool:
    """Return whether an answer to a lock-out ended the betting, so that the lights are out."""
    code = None if answer.error is UNSET else answer.error.code
    return isinstance(event, BettingLocked) and code not in _STAYS_OPEN


class AgentReports:
    """Compares each answer with the ledger at the moment of the answer.

    A table whose disk has lost synced data may know less than the ledger has. Only what such a
    table reports as accepted is compared.
    """

    def __init__(self, world: World, checker: Checker) -> None:
        self._world = world
        self._checker = checker
        self._rounds: dict[str, str | None] = {}
        self._lit: dict[str, dict[tuple[int, str], int]] = {}

    def answered(
        self, table: str, event: DeviceEvent, answer: DeviceAnswer, *, lost: bool, shaken: bool
    ) -> None:
        """Check an answer of a table.

        `lost` is true if the table's disk has lost synced data before. `shaken` is true if the
        power failed after the last lock-out that ended the betting, so a light that was lit just
        before the failure may be out.
        """
        match event:
            case WagerPlaced() | WagerWithdrawn():
                self._light(table, event, answer)
            case BettingLocked():
                if ends_betting(event, answer):
                    self._locked(table, answer, shaken=shaken)
            case SettlePressed():
                self._settled(table, answer, doubtful=lost or shaken)
            case WagerCorrected():
                self._corrected(table, answer, lost=lost)
            case VoidPressed():
                self._voided(table, answer, lost=lost)
            case _:
                return

    def _light(self, table: str, event: WagerPlaced | WagerWithdrawn, answer: DeviceAnswer) -> None:
        if isinstance(answer.position, int) and isinstance(answer.wager, str):
            place, lit = (answer.position, answer.wager), self._lit.setdefault(table, {})
            if answer.light is not True:
                lit.pop(place, None)
            elif isinstance(event, WagerPlaced):
                lit[place] = event.amount_cents

    def _locked(self, table: str, answer: DeviceAnswer, *, shaken: bool) -> None:
        lit, self._lit[table] = self._lit.get(table, {}), {}
        self._rounds[table] = None
        if not answer.ok or answer.round is UNSET:
            return
        self._rounds[table] = answer.round
        entry = self._checker.find(table, "wagers", answer.round)
        if entry is None:
            self._world.fail(f"{table} reports wagers of {answer.round} as accepted: no entry")
            return
        draw = None if answer.draw is UNSET or answer.draw is None else answer.draw.magic_card
        drawn = json.loads(entry["reply"])["draw"]
        if draw != (drawn or {}).get("magic_card"):
            self._world.fail(f"{table} reports draw {draw} for {answer.round}, not {drawn}")
        sent = {
            (bet["position"], wager): cents
            for bet in json.loads(entry["event"])["positions"]
            for wager, cents in bet["wagers"].items()
        }
        if sent != lit and not shaken:
            self._world.fail(f"{table} {answer.round}: lights were {lit}, accepted was {sent}")

    def _settled(self, table: str, answer: DeviceAnswer, *, doubtful: bool) -> None:
        known = self._rounds.get(table)
        round_id = None if answer.round is UNSET else answer.round
        if not answer.ok:
            return
        if round_id != known and not doubtful:
            self._world.fail(f"{table} reports the result of {round_id} in round {known}")
        if round_id is None:
            return
        entry = self._checker.find(table, "result", round_id)
        if entry is None:
            self._world.fail(f"{table} reports the result of {round_id}: no such entry")
            return
        reply = json.loads(entry["reply"])
        lines = () if answer.lines is UNSET else answer.lines
        claims = () if answer.claims is UNSET else answer.claims
        reported = [(line.position, str(line.item), line.paid) for line in lines]
        held = [(line["position"], line["item"], line.get("paid", 0)) for line in reply["lines"]]
        opened = [(claim.claim, claim.amount) for claim in claims]
        due = [(claim["claim"], claim["amount"]) for claim in reply["claims"]]
        if (reported, opened) != (held, due):
            self._world.fail(f"{table} {round_id} reports {reported} {opened}, not {reply}")

    def _corrected(self, table: str, answer: DeviceAnswer, *, lost: bool) -> None:
        round_id = self._rounds.get(table)
        if not answer.ok or lost:
            return
        entry = self._checker.find(table, "correct_wager", round_id or "")
        if entry is None:
            self._world.fail(f"{table} reports a corrected wager of {round_id}: no such entry")
            return
        event = json.loads(entry["event"])
        lights = {(bet["position"], one) for bet in event["positions"] for one in bet["wagers"]}
        if ((answer.position, answer.wager) in lights) is not answer.light:
            self._world.fail(f"{table} {round_id} reports {answer}, not {event}")
        if not lights:
            self._rounds[table] = None

    def _voided(self, table: str, answer: DeviceAnswer, *, lost: bool) -> None:
        round_id = self._rounds.get(table)
        if not answer.ok:
            return
        self._lit[table] = {}
        self._rounds[table] = None
        if round_id is None or lost:
            return
        over = self._checker.find(table, "void", round_id)
        if over is None:
            self._world.fail(f"{table} reports {round_id} as void: no such entry")
        if self._checker.open_round(table) == round_id:
            self._world.fail(f"{table} reports {round_id} as void, but it is open")


def hold_history(
    world: World, checker: Checker, table: str, history: Iterable[Sent], *, lost: bool
) -> None:
    """Check that the ledger has each accepted event once, byte for byte, and no other event."""
    known: set[int] = set()
    for sent in history:
        known.add(sent.seq)
        _hold_event(world, checker, table, sent, lost=lost)
    strange = [
        entry["seq"]
        for entry in checker.entries
        if entry["kind"] in {"wagers", "result", "void"}
        and entry["table"] == table
        and int(entry["seq"]) not in known
    ]
    if strange and not lost:
        world.fail(f"{table}: the ledger has events {strange} that the table does not have")


def _hold_event(world: World, checker: Checker, table: str, sent: Sent, *, lost: bool) -> None:
    entry = checker.of_event(table, sent.seq)
    if sent.reply is None:
        world.fail(f"{table}: event {sent.seq} is unanswered")
    elif json.loads(sent.reply)["status"] != "accepted":
        if entry is not None and entry["event"].encode() == sent.payload:
            world.fail(f"{table}: event {sent.seq} was refused, but is in the ledger")
    elif json.loads(sent.payload)["type"] == "withdrawal":
        if entry is not None:
            world.fail(f"{table}: event {sent.seq} is a withdrawal, but is in the ledger")
    elif entry is None:
        world.fail(f"{table}: event {sent.seq} was accepted, but is not in the ledger")
    elif entry["reply"].encode() != sent.reply or not (
        entry["event"].encode() == sent.payload
        or (lost and _without_time(entry["event"]) == _without_time(sent.payload))
    ):
        world.fail(f"{table}: event {sent.seq} differs from its ledger entry")


def _without_time(event: str | bytes) -> dict[str, object]:
    """Return an event without its time.

    A table whose disk lost an event that it had synced sends the event again, with a later time.
    The service can then accept a late copy of the first event.
    """
    fields: dict[str, object] = json.loads(event)
    del fields["at"]
    return fields
