from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from bonus.settling.settlement_lines import Line
from meters.ledger.claim_evidence import approved_assets
from meters.ledger.claim_records import DecisionRecord
from meters.ledger.entered_cards import count_hands, entered_in_text
from meters.ledger.entry_messages import OUTAGE
from meters.ledger.expected_transfers import Added, ExpectedBooks, Transfer
from meters.ledger.ledger_replay import Replay
from meters.links.act_rows import act_row
from meters.links.link_types import ActRow
from meters.reports.flows import Flows, pots_of
from meters.reports.gaming_days import OutageNoted, TableFigures, TableRounds
from meters.reports.jackpots import WinBook
from meters.wire.messages import REPLY, Reply, Result

_TRANSFERS: Final = msgspec.json.Decoder(tuple[Transfer, ...])
_DECISION: Final = msgspec.json.Decoder(DecisionRecord)
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

        for line in _winning(reply):
            figures = self._figures(table, meter_of(line))
            figures.wins += 1
            figures.won_cents += line.paid
        asset = self._memory.assets.get(table, "")
        self._memory.wins.won(
            number, fields, reply, meter_of=meter_of, asset=asset, envy=books.envy
        )

    def _decision(self, number: int, fields: Mapping[str, bytes]) -> None:
        decision = _DECISION.decode(fields["event"])
        if decision.act in _ACT_KINDS:
            self.acts.append(_row(number, fields))
        win = self._memory.wins.decide(decision, fields["by"].decode(), fields["at"].decode())
        if win is not None and decision.act == "reject":
            figures = self._figures(win.table, win.meter)
            figures.rejected += 1
            figures.rejected_cents += win.cents
        elif win is not None and decision.act == "reopen":
            figures = self._figures(win.table, win.meter)
            figures.reopened += 1
            figures.reopened_cents += win.cents

    def _approved(self, event: bytes) -> None:
        named = approved_assets(event).items()
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


def _winning(reply: Reply) -> list[Line]:
    return [line for line in reply.lines or () if line.paid or line.percent]
