"""The summary of a gaming day, from its ledger entries. Pictures of meters show the summary.

A large floor makes a million entries a day, and a picture of a month must not read them all. So the
summary has the amounts of the meters every ten minutes, and each win of a percentage of a meter. It
decides nothing: each of its figures can be calculated again from the entries of the day.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Final, Self

import msgspec

from bonus.json_input import UNREADABLE
from bonus.rounds import WrittenPercent
from bonus.wagers import MICROS_PER_CENT, MUST_HIT_BY
from meters.ledger.accounts import PAID, Transfer, claim_account, meter_account, transfers_in
from meters.ledger.chain import CHAIN
from meters.ledger.checkpoint import Checkpoint
from meters.ledger.entry_messages import DECIDED, placed_in, settled_in
from meters.wire.messages import ClaimOpened, PartElsewhere, parts_elsewhere

STEP_S: Final = 600
"""Seconds of a step: a summary has the amount of each meter at the end of each step."""

MINUTES_KEPT: Final = 61
"""Minutes for which a `DayFold` has figures: the last 60, and the minute that has begun."""

_MINUTE_DIGITS: Final = len("2026-11-20T02:14")
"""Entries whose times begin with the same 16 characters are of the same minute."""
_METER: Final = meter_account("")
_CLAIM: Final = claim_account("")
_TABLE: Final = "table:"
_DECIDES: Final = frozenset({b"validate", b"reject", b"reopen"})


class Hit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A win of a percentage of a meter; it can have been rejected later.

    `at_s` is the time in seconds since 1970. `entry` is the ledger entry of the result, or of the
    wagers that won a must-hit-by meter. `before_cents` is the meter balance immediately before the
    win, or before the first part that its hand won, and `after_cents` is the balance after the
    whole entry.
    """

    at_s: int
    entry: int
    claim: str
    table: str
    round: str
    position: int
    hand: str
    percent: WrittenPercent
    amount_cents: int
    before_cents: int
    after_cents: int


class MeterDay(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A meter on a gaming day, in micros.

    `amounts` has the balance at the end of each step of the day. `added` has, for each step, what
    wagers added to the meter minus what voids and corrections of wagers took off.
    """

    opening: int
    amounts: tuple[int, ...]
    added: tuple[int, ...]
    hits: tuple[Hit, ...]

    @property
    def closing(self) -> int:
        return self.amounts[-1] if self.amounts else self.opening


class DaySummary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The summary of a link's gaming day, or of the open day so far.

    `after` is the last entry before the day, `last` the last entry of the day, and `chain` the
    digest of `last`. `steps` are the steps with entries, in the order of the ledger, each by its
    beginning in seconds since 1970. If a clock was set back, a step occurs twice. Five tuples have
    a value for each step: `entries` has the last ledger entry, and `wagers` the number of accepted
    wagers. `wins` and `won_cents` have the number and sum of wins that wait for a floorperson, and
    `paid_micros` has the payments. `rejected` has the wins, of any day, that were rejected on the
    day and not reopened. Each key is a claim, with the ledger entry of the win and the amount in
    cents. `waits_s` has, for each win that was validated or rejected on the day, the seconds that
    the win waited. `seqs` has the first and last `seq` of each table.
    """

    link: str
    after: int
    last: int
    chain: str
    steps: tuple[int, ...]
    entries: tuple[int, ...]
    wagers: tuple[int, ...]
    wins: tuple[int, ...]
    won_cents: tuple[int, ...]
    paid_micros: tuple[int, ...]
    rejected: dict[str, tuple[int, int]]
    waits_s: tuple[int, ...]
    seqs: dict[str, tuple[int, int]]
    meters: dict[str, MeterDay]


def seconds_of(at: bytes) -> int:
    """Return the time of a ledger entry in seconds since 1970.

    >>> seconds_of(b"2026-11-20T02:14:07.250Z")
    1795140847
    """
    return int(datetime.fromisoformat(at.decode()).timestamp())


@dataclass(frozen=True)
class _MustHitBy:
    """What a must-hit-by win has in place of a settlement line."""

    hand: str = MUST_HIT_BY
    percent: WrittenPercent = 100


_MUST_HIT_BY: Final = _MustHitBy()


class _MeterFold:
    def __init__(self, opening: int) -> None:
        self.opening = self.amount = opening
        self.amounts: list[int] = []
        self.added: list[int] = []
        self.hits: list[Hit] = []


class DayFold:
    """The summary of a gaming day while its entries are added one by one.

    The fold begins after the entry `after`, with the balances of the link's accounts in micros.
    `waiting` has, by claim, the entry and the time of each win that waits after this entry.
    `minutes` and `amounts` have the last minutes, each by its beginning in seconds since 1970.
    `minutes` has the micros that wagers added, by meter id; the empty key has the number of
    accepted wagers. `amounts` has the balance of each changed meter at the end of the minute.
    """

    def __init__(
        self,
        link: str,
        after: int,
        chain: str,
        balances: Mapping[str, int],
        waiting: Mapping[str, tuple[int, int]] = MappingProxyType({}),
    ) -> None:
        self._link = link
        self._after = after
        self.last, self.chain = after, chain
        self._prefix = b""
        self._minute_s = 0
        self._minute = Counter[str]()
        self._held: dict[str, int] = {}
        self._steps: list[int] = []
        self._entries: list[int] = []
        self._sums: list[list[int]] = []
        self._waits: list[int] = []
        self._waiting = dict(waiting)
        self._rejected: dict[str, tuple[int, int]] = {}
        self._seqs: dict[str, tuple[int, int]] = {}
        self._meters = {
            account.removeprefix(_METER): _MeterFold(micros)
            for account, micros in balances.items()
            if account.startswith(_METER)
        }
        self.minutes: dict[int, Counter[str]] = {}
        self.amounts: dict[int, dict[str, int]] = {}

    @classmethod
    def after(cls, link: str, state: Checkpoint) -> Self:
        waiting = {
            claim: (
                int(fields["entry"]),
                seconds_of(fields.get("reopen_at", fields["at"]).encode()),
            )
            for claim, fields in state.claims.items()
            if fields["state"] == "pending"
        }
        return cls(link, state.entries, state.chain, state.books.balances, waiting)

    def next_day(self) -> "DayFold":
        balances = {meter_account(meter): one.amount for meter, one in self._meters.items()}
        fold = DayFold(self._link, self.last, self.chain, balances, self._waiting)
        fold.minutes, fold.amounts = self.minutes, self.amounts
        return fold

    def add(self, number: int, fields: Mapping[str, bytes]) -> None:
        """Add a ledger entry. A part that cannot be read changes no figure; an audit reports it."""
        self.last, self.chain = number, fields.get(CHAIN, b"").decode("utf-8", "replace")
        with suppress(KeyError, ValueError, IndexError, *UNREADABLE):
            self._add(number, fields)

    def _add(self, number: int, fields: Mapping[str, bytes]) -> None:
        at, kind, table, seq = fields["at"], fields["kind"], fields["table"].decode(), fields["seq"]
        moved = transfers_in(fields["transfers"])
        if at[:_MINUTE_DIGITS] != self._prefix:
            self._begin_minute(at)
        self._entries[-1] = number
        if table and seq != b"0":
            self._seqs[table] = self._seqs.get(table, (int(seq), 0))[0], int(seq)
        before = self._move(moved) if moved else {}
        if kind == b"wagers":
            wagers = len(placed_in(fields["event"]).wagers)
            self._sums[-1][0] += wagers
            self._minute[""] += wagers
        if b'"claim"' in fields["reply"]:
            self._win(number, fields, before)
        elif kind in _DECIDES:
            self._decide(fields, moved)

    def _begin_minute(self, at: bytes) -> None:
        self._minute_s = seconds_of(at) // 60 * 60
        self._prefix = at[:_MINUTE_DIGITS]
        step_s = self._minute_s // STEP_S * STEP_S
        if step_s not in self._steps[-1:]:
            self._steps.append(step_s)
            self._entries.append(0)
            self._sums.append([0, 0, 0, 0])
            for meter in self._meters.values():
                meter.amounts.append(meter.amount)
                meter.added.append(0)
        self._minute = self.minutes.setdefault(self._minute_s, Counter())
        self._held = self.amounts.setdefault(self._minute_s, {})
        for old in [one for one in self.minutes if one <= self._minute_s - MINUTES_KEPT * 60]:
            del self.minutes[old], self.amounts[old]

    def _meter(self, meter: str) -> _MeterFold:
        found = self._meters.get(meter)
        if found is None:  # the meter's first seed
            found = self._meters[meter] = _MeterFold(0)
            found.amounts = [0] * len(self._steps)
            found.added = [0] * len(self._steps)
        return found

    def _move(self, moved: Sequence[Transfer]) -> dict[str, tuple[str, int]]:
        """Apply transfers; return, by claim, the meter, and the meter's micros before the win."""
        before: dict[str, tuple[str, int]] = {}
        for source, target, micros in ((one.source, one.target, one.micros) for one in moved):
            if source.startswith(_METER):
                meter = source.removeprefix(_METER)
                fold = self._meter(meter)
                if target.startswith(_CLAIM):
                    before[target.removeprefix(_CLAIM)] = meter, fold.amount
                elif target.startswith(_TABLE):
                    fold.added[-1] -= micros
                fold.amount -= micros
                fold.amounts[-1] = self._held[meter] = fold.amount
            if target.startswith(_METER):
                meter = target.removeprefix(_METER)
                fold = self._meter(meter)
                if source.startswith(_TABLE):
                    fold.added[-1] += micros
                    self._minute[meter] += micros
                fold.amount += micros
                fold.amounts[-1] = self._held[meter] = fold.amount
            elif target == PAID:
                self._sums[-1][3] += micros
        return before

    def _win(
        self, number: int, fields: Mapping[str, bytes], before: Mapping[str, tuple[str, int]]
    ) -> None:
        at_s, reply = seconds_of(fields["at"]), settled_in(fields["reply"]).reply
        lines = {(line.position, line.item, line.hand_of): line for line in reply.lines or ()}
        like = {(line.item, line.hand_of): line for line in reply.lines or ()}
        of_hand: dict[tuple[str, str], int] = {}
        every: list[ClaimOpened | PartElsewhere] = [*(reply.claims or ()), *parts_elsewhere(reply)]
        for one in every:
            self._waiting[one.claim] = number, at_s
            self._sums[-1][1] += 1
            self._sums[-1][2] += one.amount
            at = one if isinstance(one, PartElsewhere) else None
            line = lines.get((one.position, one.item, one.hand_of)) or _MUST_HIT_BY
            if at is not None:
                line = like[one.item, one.hand_of]
            if one.claim not in before or line.percent is None:
                continue
            meter, micros = before[one.claim]
            if not isinstance(line, _MustHitBy):
                hand = line.balance_of, meter
                micros = of_hand.get(hand, micros) if line.can_continue else micros
                of_hand[hand] = micros
            fold = self._meters[meter]
            fold.hits.append(
                Hit(
                    at_s=at_s,
                    entry=number,
                    claim=one.claim,
                    table=fields["table"].decode() if at is None else at.table,
                    round=fields["round"].decode() if at is None else at.round,
                    position=one.position,
                    hand=line.hand or "",
                    percent=line.percent,
                    amount_cents=one.amount,
                    before_cents=micros // MICROS_PER_CENT,
                    after_cents=fold.amount // MICROS_PER_CENT,
                )
            )

    def _decide(self, fields: Mapping[str, bytes], moved: Sequence[Transfer]) -> None:
        claim, at_s = DECIDED.decode(fields["event"]).claim, seconds_of(fields["at"])
        if fields["kind"] == b"reopen":  # of a win that was rejected on the same day
            entry, _ = self._rejected.pop(claim)
            self._waiting[claim] = entry, at_s
            return
        entry, since_s = self._waiting.pop(claim)
        self._waits.append(max(0, at_s - since_s))
        if fields["kind"] == b"reject":
            micros = sum(one.micros for one in moved if one.source == claim_account(claim))
            self._rejected[claim] = entry, micros // MICROS_PER_CENT

    def summary(self) -> DaySummary:
        wagers, wins, won, paid = ([each[at] for each in self._sums] for at in range(4))
        return DaySummary(
            link=self._link,
            after=self._after,
            last=self.last,
            chain=self.chain,
            steps=tuple(self._steps),
            entries=tuple(self._entries),
            wagers=tuple(wagers),
            wins=tuple(wins),
            won_cents=tuple(won),
            paid_micros=tuple(paid),
            rejected=dict(self._rejected),
            waits_s=tuple(self._waits),
            seqs=dict(self._seqs),
            meters={
                meter: MeterDay(one.opening, tuple(one.amounts), tuple(one.added), tuple(one.hits))
                for meter, one in self._meters.items()
            },
        )
