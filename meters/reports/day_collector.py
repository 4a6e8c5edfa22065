"""Collection of a link's gaming days during the audit that replays its ledger (duty D19).

The report and the audit use the same replay, so their figures cannot differ.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Final

import msgspec

from bonus.json_input import UNREADABLE
from meters.acts.act_rows import ActRow, act_row
from meters.floor.floor_file import Link
from meters.ledger.accounts import transfers_in
from meters.ledger.entry_messages import (
    OUTAGE,
    PROMOTION_ADDED,
    READING,
    CloseReading,
    must_hit_by_wins,
    settled_in,
)
from meters.ledger.expected_transfers import Added, EnvyBonus, ExpectedBooks, HeldWin
from meters.ledger.floor_approvals import approved_floor
from meters.ledger.ledger_replay import Replay
from meters.ledger.table_corrections import count_hands, entered_in_text
from meters.reports.day_figures import (
    LinkDay,
    OutageNoted,
    TableFigures,
    TableRounds,
    Variance,
    WaitingWins,
)
from meters.reports.flows import CLAIMS, ENVY, TABLES, AccountFlows, Flow, Flows, pots_of
from meters.reports.win_book import Win, WinBook
from meters.wire.messages import Result, parts_elsewhere

_DAY: Final = timedelta(days=1)
_RESULT: Final = msgspec.json.Decoder(Result)
_DECIDING: Final = frozenset(
    {"validate", "reject", "pay", "pay_envy", "reject_envy", "reopen", "correct_slip"}
)
_ACT_KINDS: Final = frozenset({
    "seed", "hidden_value", "close", "open", "propose", "withdraw", "parameter", "adjust",
    "promotion",
    "approve_first", "approve", "confirm_correction", "refuse_correction", "request_reject",
    "request_reopen", "withdraw_request", "reopen", "correct_slip", "restore",
})  # fmt: skip


@dataclass(slots=True)
class _Today:
    """The totals of one gaming day so far.

    `opening` has the balances of the pots at the beginning of the day, in micros; `risen_before`
    has the accounting meters at this time. `after_entry` is the last ledger entry before the day.
    `unreported` has a text for each ledger entry that could not be reported.
    """

    opening: Mapping[str, int]
    risen_before: Counter[str]
    after_entry: int
    flows: Flows = field(default_factory=Flows)
    tables: dict[tuple[str, str], TableFigures] = field(default_factory=dict)
    rounds: dict[str, TableRounds] = field(default_factory=dict)
    acts: list[ActRow] = field(default_factory=list)
    entered: list[ActRow] = field(default_factory=list)
    outages: list[OutageNoted] = field(default_factory=list)
    unreported: list[str] = field(default_factory=list)


class DayCollector:
    """A collector of the gaming days of one link, while an audit replays the link's ledger.

    A meter reading is a ledger entry that closes a gaming day and names this day. A day's entries
    begin after the meter reading of the day before, and end with the day's own meter reading. If a
    day between two closed days has no meter reading, no service ran on that day, and nothing
    happened.

    `days` are the days that `wanted` selects. `first_day` is the first gaming day of the ledger,
    once it is known.
    """

    def __init__(self, link: Link, wanted: Callable[[date], bool]) -> None:
        self._link = link
        self._wanted = wanted
        self.began(Replay())

    def began(self, replay: Replay) -> None:
        """Begin with a replay that starts at the first entry, or at the close of a gaming day."""
        self.days: dict[date, LinkDay] = {}
        self.first_day: date | None = None
        self._assets = {table.id: table.asset for table in self._link.table}
        self._wins = WinBook(self._link.id, replay.books)
        self._in_hand: dict[str, Sequence[Added]] = dict(replay.books.rounds)
        self._closed: LinkDay | None = None
        self._replay = replay
        self._today = _begun(replay)

    def took(self, number: int, fields: Mapping[str, bytes], replay: Replay) -> None:
        """Add a ledger entry that was replayed. If the entry is wrong, the replay reports it."""
        try:
            self._add_entry(number, fields, replay.books)
            if fields["kind"] == b"reading":
                self._close(READING.decode(fields["event"]), fields["at"].decode(), replay)
        except (KeyError, ValueError, *UNREADABLE) as error:
            self._today.unreported.append(f"the figures do not include entry {number}: {error}")

    def finish(self, open_day: date) -> date:
        """Add the open gaming day after the whole ledger has been replayed, and return this day.

        If a replayed entry closed `open_day`, the open day is the day after the last closed one.
        """
        if self._closed is not None:
            open_day = max(open_day, self._closed.last_day + _DAY)
        self._keep(self._day_of(open_day, self._replay))
        return open_day

    @property
    def wins(self) -> Sequence[Win]:
        """The wins of the wanted days, in the order of winning and with their present state."""
        return self._wins.latest()

    def _close(self, reading: CloseReading, at: str, replay: Replay) -> None:
        link_day = self._day_of(reading.day, replay)
        day = replace(link_day, closed_at=at, variances=tuple(_variances(reading, replay)))
        self._keep(day)
        self._closed = day
        self._today = _begun(replay)

    def _day_of(self, day: date, replay: Replay) -> LinkDay:
        today, books = self._today, replay.books
        won, decided = self._wins.close(day, keep=self._wanted(day))
        owed = books.envy.values()
        link_day = LinkDay(
            link=self._link.id,
            first_day=day,
            last_day=day,
            first_entry=today.after_entry + 1,
            last_entry=replay.entries,
            chain=replay.chain,
            seal=replay.seal,
            pots=today.flows.pots(today.opening, pots_of(books.balances)),
            risen=Counter(books.tallies) - today.risen_before,
            tables=today.tables,
            rounds=today.rounds,
            wins=won,
            decided=decided,
            acts=tuple(today.acts),
            entered=tuple(today.entered),
            outages=tuple(today.outages),
            waiting=_waiting(books.claims.values()),
            envy_pending=_waiting(
                one for envy in owed if envy.state == "pending" for one in envy.bonuses
            ),
            envy_to_pay=_waiting(
                one for envy in owed if envy.state != "pending" for one in envy.bonuses
            ),
        )
        return replace(link_day, faults=(*today.unreported, *faults_of(link_day)))

    def _keep(self, day: LinkDay) -> None:
        if self._closed is None:
            self.first_day = day.first_day
        else:
            for quiet in _quiet_days(self._closed, day.first_day):
                self._put(quiet)
        self._put(day)

    def _put(self, day: LinkDay) -> None:
        if self._wanted(day.first_day):
            self.days[day.first_day] = day

    def _add_entry(self, number: int, fields: Mapping[str, bytes], books: ExpectedBooks) -> None:
        """Raise `KeyError`, `ValueError` or `DecodeError` if the entry cannot be reported."""
        today, kind, table = self._today, fields["kind"].decode(), fields["table"].decode()
        today.flows.add(kind, transfers_in(fields["transfers"]))
        if kind in _ACT_KINDS and not _is_one_of_many(kind, fields):
            today.acts.append(_row(number, fields))
        match kind:
            case "wagers":
                self._contributed(table, (), books.rounds[table])
                self._must_hit_by(number, fields, table, books)
            case "correct_wager":
                self._rounds_of(table).wagers_corrected += 1
                self._contributed(table, self._in_hand.pop(table), books.rounds.get(table, ()))
                self._must_hit_by(number, fields, table, books)
                today.entered.append(_row(number, fields))
            case "void":
                self._rounds_of(table).rounds_voided += 1
                self._contributed(table, self._in_hand.pop(table), ())
                self._entered(number, fields, table)
            case "result":
                self._result(number, fields, table, books)
                self._entered(number, fields, table)
            case "inoperable":
                today.outages.append(OutageNoted(number, OUTAGE.decode(fields["event"])))
            case "approve":
                named = approved_floor(fields["event"]).assets.items()
                self._assets |= {table: asset for table, asset in named if asset}
            case _ if kind in _DECIDING:
                self._decision(number, fields, kind)

    def _figures(self, table: str, meter: str) -> TableFigures:
        return self._today.tables.setdefault((table, meter), TableFigures())

    def _rounds_of(self, table: str) -> TableRounds:
        return self._today.rounds.setdefault(table, TableRounds())

    def _contributed(self, table: str, before: Sequence[Added], after: Sequence[Added]) -> None:
        if after:
            self._in_hand[table] = after
        net: dict[str, list[int]] = {}
        for sign, contributed in ((-1, before), (1, after)):
            for added in contributed:
                sums = net.setdefault(added.meter, [0, 0, 0])
                sums[0] += sign * added.wagers
                sums[1] += sign * added.wagered_cents
                sums[2] += sign * sum(added.micros.values())
        for meter, (wagers, cents, micros) in net.items():
            figures = self._figures(table, meter)
            if wagers > 0:
                figures.wagers += wagers
                figures.wagered_cents += cents
                figures.contributed_micros += micros
            else:
                figures.voided_wagers -= wagers
                figures.voided_cents -= cents
                figures.voided_micros -= micros

    def _entered(self, number: int, fields: Mapping[str, bytes], table: str) -> None:
        kind = fields["kind"].decode()
        if entered := entered_in_text(kind, fields["event"]):
            self._today.entered.append(_row(number, fields))
            if kind == "void":
                self._rounds_of(table).rounds_voided_after_cards += 1
            else:
                self._rounds_of(table).hands_entered_again += count_hands(entered)

    def _result(
        self, number: int, fields: Mapping[str, bytes], table: str, books: ExpectedBooks
    ) -> None:
        rounds = self._rounds_of(table)
        rounds.rounds += 1
        if b'"no_win"' in fields["event"]:
            dealt = _RESULT.decode(fields["event"]).positions
            rounds.hands_declared_no_win += sum(one.declared for one in dealt)
        added = self._in_hand.pop(table)
        meters = books.meters_by_item(each.meter for each in added)
        settled = settled_in(fields["reply"])
        for line in settled.paid:
            figures = self._figures(table, meters[line.item])
            figures.wins += 1
            figures.won_cents += line.paid
        for share in parts_elsewhere(settled.reply):
            figures = self._figures(share.table, meters[share.item])
            figures.wins += 1
            figures.won_cents += share.amount
        if settled.reply.claims or settled.has_envy:
            assets, envy = self._assets, books.envy
            self._wins.won(number, fields, settled.reply, meters=meters, assets=assets, envy=envy)

    def _must_hit_by(
        self, number: int, fields: Mapping[str, bytes], table: str, books: ExpectedBooks
    ) -> None:
        for one in must_hit_by_wins(fields["reply"]):
            held = books.claims[one.claim]
            figures = self._figures(table, held.meter)
            figures.wins += 1
            figures.won_cents += held.cents
            self._wins.must_hit_by(number, fields, one, held, self._assets.get(table, ""))

    def _decision(self, number: int, fields: Mapping[str, bytes], act: str) -> None:
        win = self._wins.decide(number, fields)
        if win is None or act not in {"reject", "reopen"}:
            return
        figures = self._figures(win.table, win.meter)
        if act == "reject":
            figures.rejected += 1
            figures.rejected_cents += win.amount_cents
        else:
            figures.reopened += 1
            figures.reopened_cents += win.amount_cents


def _begun(replay: Replay) -> _Today:
    books = replay.books
    return _Today(pots_of(books.balances), Counter(books.tallies), replay.entries)


def _quiet_days(before: LinkDay, until: date) -> Iterator[LinkDay]:
    """Yield the days after `before` on which nothing happened: the balances stay the same."""
    day = before.last_day + _DAY
    while day < until:
        yield LinkDay(
            link=before.link,
            first_day=day,
            last_day=day,
            quiet=True,
            first_entry=before.last_entry + 1,
            last_entry=before.last_entry,
            chain=before.chain,
            seal=before.seal,
            pots={
                name: AccountFlows(pot.closing_micros, pot.closing_micros, {})
                for name, pot in before.pots.items()
            },
            waiting=before.waiting,
            envy_pending=before.envy_pending,
            envy_to_pay=before.envy_to_pay,
        )
        day += _DAY


def _waiting(owed: Iterable[HeldWin | EnvyBonus]) -> dict[str, WaitingWins]:
    waiting: dict[str, WaitingWins] = {}
    for one in owed:
        before = waiting.get(one.meter, WaitingWins())
        waiting[one.meter] = WaitingWins(before.wins + 1, before.cents + one.cents)
    return waiting


def _variances(reading: CloseReading, replay: Replay) -> Iterator[Variance]:
    books = replay.books
    for read, own in ((reading.accounts, books.balances), (reading.tallies, books.tallies)):
        for name in sorted(read.keys() | own.keys()):
            if read.get(name, 0) != own.get(name, 0):
                yield Variance(name, read.get(name, 0), own.get(name, 0))


def _row(number: int, fields: Mapping[str, bytes]) -> ActRow:
    return act_row(number, {name: value.decode() for name, value in fields.items()})


_TABLE_TALLIES: Final = (
    "wagers", "wagered_cents", "voided_wagers", "voided_cents", "wins", "won_cents", "rejected",
    "rejected_cents", "reopened", "reopened_cents",
)  # fmt: skip
"""The sum of each of these figures over all tables must equal its accounting meter."""


def faults_of(day: LinkDay) -> Iterator[str]:
    """Yield a text for each figure of a day that does not agree with another figure (duty D19)."""
    for name, pot in day.pots.items():
        if not pot.balanced:
            off = pot.closing_micros - pot.opening_micros - sum(pot.flows.values())
            yield f"the closing of {name} is {off:+d} micros off its opening and movements"
        if other := pot.flows.get(Flow.OTHER):
            yield f"{name} moved by {other:+d} micros without a known reason"
    yield from _table_faults(day)
    owed_cents = sum(
        one.cents for owed in (day.envy_pending, day.envy_to_pay) for one in owed.values()
    )
    if day.pot(ENVY).closing_micros != owed_cents * 10_000:
        yield f"Envy Bonuses of {owed_cents} cents are owed, but their accounts hold another amount"
    waiting_cents = sum(one.cents for one in day.waiting.values())
    if day.pot(CLAIMS).closing_micros != waiting_cents * 10_000:
        yield f"wins of {waiting_cents} cents wait, but their accounts hold another amount"


def _table_faults(day: LinkDay) -> Iterator[str]:
    summed: Counter[str] = Counter()
    net_micros = 0
    for (_, meter), figures in day.tables.items():
        for name in _TABLE_TALLIES:
            summed[f"{name}:{meter}"] += getattr(figures, name)
        net_micros += figures.contributed_micros - figures.voided_micros
    for name in sorted(summed.keys() | day.risen.keys()):
        if name.partition(":")[0] in _TABLE_TALLIES and ":" in name:
            risen = day.risen.get(name, 0)
            if summed[name] != risen:
                yield f"{name} rose by {risen}, but by {summed[name]} in the tables' figures"
    tables = day.pot(TABLES)
    if tables.opening_micros - tables.closing_micros != net_micros:
        yield f"tables contributed {net_micros} micros, but their accounts hold another amount"


def _is_one_of_many(kind: str, fields: Mapping[str, bytes]) -> bool:
    """Return whether an act is a part of the wagers in the middle of a promotion.

    The entry at its end has the sum of these parts.
    """
    return kind == "promotion" and PROMOTION_ADDED.decode(fields["event"]).count == "goes_on"
