"""Check of what a table's agent reported to the dealer, against the ledger."""

import json
from collections.abc import Mapping
from typing import Any, Final, Protocol

from msgspec import UNSET

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
from tests.sim.world import World

Record = dict[str, Any]
_STAYS_OPEN: Final = frozenset({"outbox_failed", "betting_locked", "locked_out", "claims_wait"})
"""Reasons for which betting is not locked: the lights stay on."""


def ends_betting(event: DeviceEvent, answer: DeviceAnswer) -> bool:
    """Return whether an answer to a lock-out ended the betting, so that the lights are out."""
    code = None if answer.error is UNSET else answer.error.code
    return isinstance(event, BettingLocked) and code not in _STAYS_OPEN


class Ledger(Protocol):
    def find(self, table: str, kind: str, round_id: str) -> Record | None:
        """Return the entry of a kind about a table's round, or None."""

    def open_round(self, table: str) -> str | None:
        """Return the open round of a table according to the service."""


class AgentReports:
    """Compares each answer with the ledger at the moment of the answer.

    A table whose disk has lost synced data may know less than the ledger has. Only what such a
    table reports as accepted is compared.
    """

    def __init__(self, world: World, ledger: Ledger) -> None:
        self._world = world
        self._ledger = ledger
        self._rounds: dict[str, str | None] = {}
        self._lit: dict[str, set[tuple[int, str]]] = {}

    def answered(
        self, table: str, event: DeviceEvent, answer: DeviceAnswer, *, lost: bool, shaken: bool
    ) -> None:
        """Check an answer.

        Args:
            table: the table that answered.
            event: the device event that it answers.
            answer: the answer.
            lost: whether the table's disk ever lost synced data.
            shaken: whether the power failed since a lock-out last ended the betting. A light that
                was lit just before may be out.
        """
        match event:
            case WagerPlaced() | WagerWithdrawn():
                self._light(table, answer)
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

    def _light(self, table: str, answer: DeviceAnswer) -> None:
        if isinstance(answer.position, int) and isinstance(answer.wager, str):
            lit = self._lit.setdefault(table, set())
            if answer.light is True:
                lit.add((answer.position, answer.wager))
            else:
                lit.discard((answer.position, answer.wager))

    def _locked(self, table: str, answer: DeviceAnswer, *, shaken: bool) -> None:
        lit, self._lit[table] = self._lit.get(table, set()), set()
        self._rounds[table] = None
        if not answer.ok or answer.round is UNSET:
            return
        self._rounds[table] = answer.round
        entry = self._ledger.find(table, "wagers", answer.round)
        if entry is None:
            self._world.fail(f"{table} reports wagers of {answer.round} as accepted: no entry")
            return
        draw = None if answer.draw is UNSET or answer.draw is None else answer.draw.magic_card
        drawn = json.loads(entry["reply"])["draw"]
        if draw != (drawn or {}).get("magic_card"):
            self._world.fail(f"{table} reports draw {draw} for {answer.round}, not {drawn}")
        sent = {
            (bet["position"], wager)
            for bet in json.loads(entry["event"])["positions"]
            for wager in bet["wagers"]
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
        entry = self._ledger.find(table, "result", round_id)
        if entry is None:
            self._world.fail(f"{table} reports the result of {round_id}: no such entry")
            return
        reply = json.loads(entry["reply"])
        lines = () if answer.lines is UNSET else answer.lines
        claims = () if answer.claims is UNSET else answer.claims
        reported = [(line.position, str(line.item), line.paid) for line in lines]
        held = [(line["position"], line["item"], line.get("paid", 0)) for line in reply["lines"]]
        opened = [(claim.claim, claim.amount) for claim in claims]
        if reported != held or opened != [_claim(claim) for claim in reply["claims"]]:
            self._world.fail(f"{table} {round_id} reports {reported} {opened}, not {reply}")

    def _corrected(self, table: str, answer: DeviceAnswer, *, lost: bool) -> None:
        """Check an accepted correction: the ledger has it, and the light is as it says."""
        round_id = self._rounds.get(table)
        if not answer.ok or lost:
            return
        entry = self._ledger.find(table, "correct_wager", round_id or "")
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
        self._lit[table] = set()
        self._rounds[table] = None
        if round_id is None or lost:
            return
        over = self._ledger.find(table, "void", round_id)
        if over is None:
            self._world.fail(f"{table} reports {round_id} as void: no such entry")
        if self._ledger.open_round(table) == round_id:
            self._world.fail(f"{table} reports {round_id} as void, but it is open")


def _claim(claim: Mapping[str, Any]) -> tuple[str, int]:
    return claim["claim"], claim["amount"]
