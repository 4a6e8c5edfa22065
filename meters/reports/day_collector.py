"""Collection of a link's gaming days while an audit replays its ledger (duty D19).

The report and the audit use the same replay, so their figures cannot differ.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Final

import msgspec

from bonus.rounds import Line
from meters.acts.act_rows import act_row
from meters.acts.link_types import ActRow
from meters.floor.floor_file import Link
from meters.ledger.accounts import Transfer
from meters.ledger.entry_messages import DECIDED, OUTAGE, READING, CloseReading
from meters.ledger.expected_transfers import Added, ExpectedBooks, HeldEnvy, HeldWin
from meters.ledger.floor_approvals import approved_floor
from meters.ledger.ledger_replay import Replay
from meters.ledger.table_corrections import count_hands, entered_in_text
from meters.reports.flows import CLAIMS, ENVY, TABLES, AccountFlows, Flow, Flows, pots_of
from meters.reports.gaming_days import (
    LinkDay,
    OutageNoted,
    TableFigures,
    TableRounds,
    UnpaidEnvy,
    Variance,
    WaitingWins,
)
from meters.reports.win_book import Win, WinBook
from meters.wire.messages import REPLY, UNREADABLE, Result

_DAY: Final = timedelta(days=1)


class DayCollector:
    """A collector of the gaming days of one link, while an audit replays the link's ledger.

    A reading of the meters is a ledger entry that closes a gaming day and names it. A day's entries
    begin after the reading that closed the day before, and end with its own. If a day between two
    closed days has no reading, no service ran on it, and nothing happened.

    `days` are those that `wanted` selects, and `first_day` is the first gaming day of the ledger,
    once it is known.
    """

    def __init__(self, link: Link, wanted: Callable[[date], bool]) -> None:
        self._link = link
        self._wanted = wanted
        self.began(Replay())

    def began(self, replay: Replay) -> None:
        """Begin with the balances and claims at the start of the replay.

        It starts at the first entry or at the close of a gaming day.
        """
        self.days: dict[date, LinkDay] = {}
        self.first_day: date | None = None
        assets = {table.id: table.asset for table in self._link.table}
        self._memory = LinkTotals(self._link.id, assets, replay.books)
        self._closed: LinkDay | None = None
        self._replay = replay
        self._gathered = DayTotals(self._memory, replay)

    def took(self, number: int, fields: Mapping[str, bytes], replay: Replay) -> None:
        """Add a ledger entry that was replayed. The replay itself reports a wrong entry."""
        try:
            self._gathered.add_entry(number, fields, replay.books)
            if fields["kind"] == b"reading":
                self._close(READING.decode(fields["event"]), fields["at"].decode(), replay)
        except (KeyError, ValueError, *UNREADABLE) as error:
            self._gathered.unreported.append(f"the figures do not include entry {number}: {error}")

    def finish(self, open_day: date) -> date:
        """Add the open gaming day, when the whole ledger has been replayed, and return it.

        If a replayed entry closes `open_day`, which was open before the replay, it is the day after
        the last closed one.
        """
        if self._closed is not None:
            open_day = max(open_day, self._closed.last_day + _DAY)
        self._keep(self._day_of(open_day, self._replay))
        return open_day

    @property
    def wins(self) -> Sequence[Win]:
        """The wins of the needed days, first win first, in their state at the ledger's end."""
        return tuple(self._memory.wins.latest())

    def _close(self, reading: CloseReading, at: str, replay: Replay) -> None:
        link_day = self._day_of(reading.day, replay)
        day = replace(link_day, closed_at=at, variances=tuple(_variances(reading, replay)))
        self._keep(day)
        self._closed = day
        self._gathered = DayTotals(self._memory, replay)

    def _day_of(self, day: date, replay: Replay) -> LinkDay:
        gathered, books = self._gathered, replay.books
        won, decided = self._memory.wins.close(day, keep=self._wanted(day))
        link_day = LinkDay(
            link=self._link.id,
            first_day=day,
            last_day=day,
            first_entry=gathered.after_entry + 1,
            last_entry=replay.entries,
            chain=replay.chain,
            seal=replay.seal,
            pots=gathered.flows.pots(gathered.opening, pots_of(books.balances)),
            risen=books.tallies - gathered.risen_before,
            tables=gathered.tables,
            rounds=gathered.rounds,
            wins=won,
            decided=decided,
            acts=tuple(gathered.acts),
            entered=tuple(gathered.entered),
            outages=tuple(gathered.outages),
            waiting=_waiting(books.claims.values()),
            envy=_envy_owed(books.envy.values()),
        )
        return replace(link_day, faults=(*gathered.unreported, *faults_of(link_day)))

    def _keep(self, day: LinkDay) -> None:
        """Add a gaming day, and days without entries before it, if the report needs them."""
        if self._closed is None:
            self.first_day = day.first_day
        else:
            for quiet in _quiet_days(self._closed, day.first_day):
                self._put(quiet)
        self._put(day)

    def _put(self, day: LinkDay) -> None:
        if self._wanted(day.first_day):
            self.days[day.first_day] = day


def _quiet_days(before: LinkDay, until: date) -> Iterator[LinkDay]:
    """Yield the days without ledger entries between the closed day `before` and the day `until`.

    On them, the balances remain those at the close of `before`.
    """
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
            envy=before.envy,
        )
        day += _DAY


def _waiting(claims: Iterable[HeldWin]) -> dict[str, WaitingWins]:
    waiting: dict[str, WaitingWins] = {}
    for claim in claims:
        waiting[claim.meter] = waiting.get(claim.meter, WaitingWins()).and_one(claim.cents)
    return waiting


def _envy_owed(held: Iterable[HeldEnvy]) -> dict[str, UnpaidEnvy]:
    owed: dict[str, UnpaidEnvy] = {}
    for envy in held:
        for one in envy.bonuses:
            before = owed.get(one.meter, UnpaidEnvy())
            if envy.state == "pending":
                owed[one.meter] = replace(before, pending=before.pending.and_one(one.cents))
            else:
                owed[one.meter] = replace(before, validated=before.validated.and_one(one.cents))
    return owed


def _variances(reading: CloseReading, replay: Replay) -> Iterator[Variance]:
    """Yield each difference between the meters at the close and the ledger (duty D19)."""
    books = replay.books
    for read, own in ((reading.accounts, books.balances), (reading.tallies, books.tallies)):
        for name in sorted(read.keys() | own.keys()):
            if read.get(name, 0) != own.get(name, 0):
                yield Variance(name, read.get(name, 0), own.get(name, 0))


_TRANSFERS: Final = msgspec.json.Decoder(tuple[Transfer, ...])
_RESULT: Final = msgspec.json.Decoder(Result)
_DECIDING: Final = frozenset({
    "validate", "reject", "pay", "pay_envy", "reject_envy", "reopen", "correct_slip",
})  # fmt: skip
_ACT_KINDS: Final = frozenset({
    "seed", "close", "open", "propose", "withdraw", "parameter", "adjust", "approve_first",
    "approve", "confirm_correction", "refuse_correction", "request_reject", "request_reopen",
    "reopen", "correct_slip", "restore",
})  # fmt: skip


class LinkTotals:
    """The data of one link that is kept from one gaming day to the next.

    Attributes:
        wins: the wins that wait for a floorperson, and the wins of the reported days.
        in_hand: the amounts that each table's open round added to meters.
        assets: the asset number of each table, from the last floor file whose approval was
            replayed, or else from the present floor file.
    """

    def __init__(self, link: str, assets: Mapping[str, str], books: ExpectedBooks) -> None:
        self.wins = WinBook(link, books)
        self.in_hand: dict[str, Sequence[Added]] = dict(books.rounds)
        self.assets = dict(assets)


class DayTotals:
    """The totals of one gaming day so far, with the balances at the beginning of the day.

    Attributes:
        opening: the opening balance of each pot (an account in a report), in micros.
        risen_before: the values of the accounting meters at the beginning of the day.
        after_entry: the number of the last ledger entry before the day.
        acts: the ledger entries of what people did, except decisions on wins.
        entered: voids after cards were entered, results in which a hand was entered again with
            other cards, and wagers that were added or taken back.
        outages: the outages that ended on the day.
        unreported: a text for each ledger entry that could not be reported.
    """

    def __init__(self, memory: LinkTotals, replay: Replay) -> None:
        self._memory = memory
        self.opening = pots_of(replay.books.balances)
        self.risen_before = Counter(replay.books.tallies)
        self.after_entry = replay.entries
        self.flows = Flows()
        self.tables: dict[tuple[str, str], TableFigures] = {}
        self.rounds: dict[str, TableRounds] = {}
        self.acts: list[ActRow] = []
        self.entered: list[ActRow] = []
        self.outages: list[OutageNoted] = []
        self.unreported: list[str] = []

    def add_entry(self, number: int, fields: Mapping[str, bytes], books: ExpectedBooks) -> None:
        """Add a ledger entry to the totals, after the audit has replayed the entry.

        Raises:
            KeyError, ValueError: the entry cannot be reported.
            msgspec.DecodeError: the entry cannot be read.
        """
        kind, table = fields["kind"].decode(), fields["table"].decode()
        self.flows.add(kind, _TRANSFERS.decode(fields["transfers"]))
        match kind:
            case "wagers":
                self._wagers(table, books)
            case "correct_wager":
                self._corrected(table, books)
                self.entered.append(_row(number, fields))
            case "void":
                self._void(table)
                self._entered(number, fields, table)
            case "result":
                self._result(number, fields, table, books)
                self._entered(number, fields, table)
            case "inoperable":
                self.outages.append(OutageNoted(number, OUTAGE.decode(fields["event"])))
            case _ if kind in _DECIDING:
                self._decision(number, fields)
            case _ if kind in _ACT_KINDS:
                self.acts.append(_row(number, fields))
                if kind == "approve":
                    self._approved(fields["event"])

    def _figures(self, table: str, meter: str) -> TableFigures:
        return self.tables.setdefault((table, meter), TableFigures())

    def _rounds_of(self, table: str) -> TableRounds:
        return self.rounds.setdefault(table, TableRounds())

    def _wagers(self, table: str, books: ExpectedBooks) -> None:
        self._memory.in_hand[table] = added_by_round = books.rounds[table]
        for added in added_by_round:
            figures = self._figures(table, added.meter)
            figures.wagers += added.wagers
            figures.wagered_cents += added.wagered_cents
            figures.contributed_micros += sum(added.micros.values())

    def _corrected(self, table: str, books: ExpectedBooks) -> None:
        self._rounds_of(table).corrected += 1
        before = self._memory.in_hand.pop(table)
        after = books.rounds.get(table, ())
        if after:
            self._memory.in_hand[table] = after
        had, has = _by_meter(before), _by_meter(after)
        for meter in sorted({*had, *has}):
            wagers, cents, micros = (
                new - old for old, new in zip(had[meter], has[meter], strict=True)
            )
            figures = self._figures(table, meter)
            if wagers > 0:
                figures.wagers += wagers
                figures.wagered_cents += cents
                figures.contributed_micros += micros
            else:
                figures.voided_wagers -= wagers
                figures.voided_cents -= cents
                figures.voided_micros -= micros

    def _void(self, table: str) -> None:
        self._rounds_of(table).voids += 1
        for added in self._memory.in_hand.pop(table):
            figures = self._figures(table, added.meter)
            figures.voided_wagers += added.wagers
            figures.voided_cents += added.wagered_cents
            figures.voided_micros += sum(added.micros.values())

    def _entered(self, number: int, fields: Mapping[str, bytes], table: str) -> None:
        kind = fields["kind"].decode()
        if entered := entered_in_text(kind, fields["event"]):
            self.entered.append(_row(number, fields))
            if kind == "void":
                self._rounds_of(table).voids_after_cards += 1
            else:
                self._rounds_of(table).reentered += count_hands(entered)

    def _result(
        self, number: int, fields: Mapping[str, bytes], table: str, books: ExpectedBooks
    ) -> None:  # fmt: skip
        self._rounds_of(table).rounds += 1
        self._rounds_of(table).declared += _declared(fields["event"])
        added = self._memory.in_hand.pop(table)
        meters = books.meters_by_item(each.meter for each in added)
        reply = REPLY.decode(fields["reply"])

        def meter_of(line: Line) -> str:
            return meters[line.item]

        for line in reply.lines or ():
            if line.paid or line.percent:
                figures = self._figures(table, meter_of(line))
                figures.wins += 1
                figures.won_cents += line.paid
        asset = self._memory.assets.get(table, "")
        self._memory.wins.won(
            number, fields, reply, meter_of=meter_of, asset=asset, envy=books.envy
        )

    def _decision(self, number: int, fields: Mapping[str, bytes]) -> None:
        decision = DECIDED.decode(fields["event"])
        if decision.act in _ACT_KINDS:
            self.acts.append(_row(number, fields))
        win = self._memory.wins.decide(decision, fields["by"].decode(), fields["at"].decode())
        if win is None or decision.act not in {"reject", "reopen"}:
            return
        figures = self._figures(win.table, win.meter)
        if decision.act == "reject":
            figures.rejected += 1
            figures.rejected_cents += win.cents
        else:
            figures.reopened += 1
            figures.reopened_cents += win.cents

    def _approved(self, event: bytes) -> None:
        named = approved_floor(event).assets.items()
        self._memory.assets |= {table: asset for table, asset in named if asset}


def _by_meter(round_added: Sequence[Added]) -> Mapping[str, Sequence[int]]:
    """Return by meter the wagers, cents and micros that a round contributed."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for added in round_added:
        amounts = added.wagers, added.wagered_cents, sum(added.micros.values())
        sums[added.meter] = [
            total + one for total, one in zip(sums[added.meter], amounts, strict=True)
        ]
    return sums


def _row(number: int, fields: Mapping[str, bytes]) -> ActRow:
    return act_row(number, {name: value.decode() for name, value in fields.items()})


def _declared(event: bytes) -> int:
    if b'"no_win"' not in event:
        return 0
    return sum(dealt.declared for dealt in _RESULT.decode(event).positions)


_TABLE_TALLIES = {
    "wagers": "wagers",
    "wagered_cents": "wagered_cents",
    "voided_wagers": "voided_wagers",
    "voided_cents": "voided_cents",
    "wins": "wins",
    "won_cents": "won_cents",
    "rejected": "rejected",
    "rejected_cents": "rejected_cents",
    "reopened": "reopened",
    "reopened_cents": "reopened_cents",
}
"""The figures of tables. The sum over all tables must equal the accounting meter on the right."""


def faults_of(day: LinkDay) -> Iterator[str]:
    """Yield a text for each figure of a day that does not agree with another (duty D19)."""
    for name, pot in day.pots.items():
        if not pot.balanced:
            off = pot.closing_micros - pot.opening_micros - sum(pot.flows.values())
            yield f"the closing of {name} is {off:+d} micros off its opening and movements"
        if other := pot.flows.get(Flow.OTHER):
            yield f"{name} moved by {other:+d} micros without a known reason"
    yield from _table_faults(day)
    owed_cents = sum(one.pending.cents + one.validated.cents for one in day.envy.values())
    if day.pot(ENVY).closing_micros != owed_cents * 10_000:
        yield f"Envy Bonuses of {owed_cents} cents are owed, their accounts hold another amount"
    waiting_cents = sum(one.cents for one in day.waiting.values())
    if day.pot(CLAIMS).closing_micros != waiting_cents * 10_000:
        yield f"wins of {waiting_cents} cents wait, their accounts hold another amount"


def _table_faults(day: LinkDay) -> Iterator[str]:
    summed: Counter[str] = Counter()
    net_micros = 0
    for (_, meter), figures in day.tables.items():
        for name, tally in _TABLE_TALLIES.items():
            summed[f"{tally}:{meter}"] += getattr(figures, name)
        net_micros += figures.contributed_micros - figures.voided_micros
    for name in sorted(summed.keys() | day.risen.keys()):
        if name.partition(":")[0] in _TABLE_TALLIES.values() and ":" in name:
            risen = day.risen.get(name, 0)
            if summed[name] != risen:
                yield f"{name} rose by {risen}, the tables' figures say {summed[name]}"
    tables = day.pot(TABLES)
    if tables.opening_micros - tables.closing_micros != net_micros:
        yield f"tables contributed {net_micros} micros, their accounts hold another amount"
