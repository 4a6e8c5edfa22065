"""Validation and settlement of a result: the work for the Lua script, the reply, the claims."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Final

import msgspec

from bonus.rounds import (
    Draw,
    Due,
    Line,
    PercentWon,
    Round,
    RoundError,
    RoundPosition,
    SettledPosition,
    Settlement,
    encode_line,
    kept_wagers,
    one_card,
    read_cards,
)
from bonus.settling.round_checks import check_round
from bonus.settling.settlement import settle_round
from bonus.wagers import MICROS_PER_CENT, percent_bps
from meters.intake.table_catalog import CatalogTable
from meters.intake.wager_judging import OpenRound, check_position
from meters.ledger.claim_records import ClaimRecord, LinkRound, Records
from meters.ledger.redis_layout import dealt_digest
from meters.ledger.script_steps import (
    DueStep,
    EnvyStep,
    LinkStep,
    PercentStep,
    ReplyParts,
    ResultWork,
    RoundBasis,
)
from meters.ledger.table_corrections import entered_in
from meters.store.event_refusals import EventRefusal
from meters.wire.messages import (
    POSITIONS_MAX,
    LinkPlayers,
    LinkShare,
    Result,
    Void,
    WageredPosition,
    holds_table,
)

_AMOUNT: Final = '"amount":'
_GAP: Final = "\0"
"""Encloses the number of a gap in a reply. JSON never has this character."""
_CARDS_AT: Final = tuple(f"positions[{index}].cards" for index in range(POSITIONS_MAX))
"""The names of fields, made once: every hand of a result needs one."""


@dataclass(frozen=True, slots=True)
class OpenedClaim:
    """A claim that a result opens. `due` is the index of its amount in the amounts due."""

    record: ClaimRecord
    due: int


def judge_result(
    known: CatalogTable, event: Result, opened: OpenRound, others: Sequence[LinkRound] = ()
) -> tuple[ResultWork, ReplyParts, tuple[OpenedClaim, ...]]:
    """Settle a round, except the percentages of meters, which the script computes.

    `others` are the open rounds of the other tables of the link, in the order of the tables' names.
    Only a community share for the whole link needs them: the work then has a `LinkStep`.

    Raises:
        EventRefusal: positions, cards or patrons of the result are impossible, or contradict the
            wagers.
    """
    rules = known.rules
    try:
        dealt = _round_of(known, event, opened)
        check_round(dealt, rules, known.terms)
    except RoundError as error:
        raise EventRefusal(error.code, error.message, error.field) from None
    settlement = settle_round(dealt, rules, known.terms)
    shares = [_shares_of(known, take, others) for take in settlement.takes]
    takes = tuple(
        PercentStep(
            known.meters[take.meter].meter_id,
            percent_bps(take.percent),
            take.shares + len(elsewhere),
            known.terms[take.meter].reseed_cents * MICROS_PER_CENT,
            known.terms[take.meter].has_reserve,
            (known.meters[take.meter].limit or 0) * MICROS_PER_CENT,
            take.continues,
            take.reseeds,
            *known.link.overflow_of(known.meters[take.meter]),
        )
        for take, elsewhere in zip(settlement.takes, shares, strict=True)
    )
    writer = ResultWriter(known, event, opened, settlement, shares)
    for each in settlement.positions:
        writer.put(each)
    reply = writer.reply()
    gaps = reply if len(reply) > 1 else ()
    link = tuple(
        LinkStep(meter, tuple(RoundBasis(of.table, of.basis) for of in others if meter in of.fed))
        for meter in sorted(
            {known.meters[take.meter].meter_id for take in settlement.takes if take.link_wager}
        )
    )
    work = ResultWork(takes, tuple(writer.dues), writer.envy, dealt_digest(event), gaps, link)
    return work, reply, tuple(writer.claims)


def _shares_of(
    known: CatalogTable, take: PercentWon, others: Sequence[LinkRound]
) -> list[tuple[LinkRound, WageredPosition]]:
    """Return the players at other tables who divide a percentage of a meter."""
    if not take.link_wager:
        return []
    meter = known.meters[take.meter].meter_id
    return [
        (each, one) for each in others if meter in each.fed for one in each.players(take.link_wager)
    ]


def check_declared(known: CatalogTable, event: Result) -> None:
    if not known.facility.require_all_hands:
        return
    for index, dealt in enumerate(event.positions):
        if dealt.declared:
            raise EventRefusal(
                "no_win_not_allowed",
                f"the floor file requires all hands: enter the cards of position {dealt.position}",
                f"positions[{index}].no_win",
            )


def check_entered(known: CatalogTable, event: Result | Void) -> None:
    """Check that cards which were entered before are cards or results of the game.

    Raises:
        EventRefusal: ``bad_card``.
    """
    for each in entered_in(event):
        try:
            known.rules.deck.parse(each.cards)
        except ValueError as error:
            field = "entered" if isinstance(event, Void) else "entered_before"
            raise EventRefusal("bad_card", str(error), field) from None


def _round_of(known: CatalogTable, event: Result, opened: OpenRound) -> Round:
    deal, deck, placed = known.rules.chapter.deal, known.rules.deck, opened.placed
    nothing = (None, kept_wagers({}))
    seen: set[int] = set()
    positions: list[RoundPosition] = []
    for index, dealt in enumerate(event.positions):
        number, patron = dealt.position, dealt.patron
        check_position(known, number, seen, index)
        wagered_as, wagers = placed.get(number, nothing)
        if wagered_as is not None:
            if patron is not None and patron != wagered_as:
                raise EventRefusal(
                    "patron_differs",
                    f"position {number} wagered as {wagered_as}, not as {patron}",
                    f"positions[{index}].patron",
                )
            patron = wagered_as
        cards = dealt.cards or None
        positions.append(
            RoundPosition(
                number,
                patron,
                read_cards(cards, deal.hand, _CARDS_AT[index], deck=deck) if cards else None,
                dealt.folded,
                wagers,
                # A result does not have the cards of folded hands that the dealer has collected. So
                # if it has the cards of a folded hand, they were not collected (reading T8).
                kept=dealt.folded and cards is not None,
                no_win=dealt.no_win is True,
            )
        )
    if missing := placed.keys() - seen:
        raise EventRefusal(
            "position_missing",
            f"position {min(missing)} has a wager in this round but no hand",
            "positions",
        )
    return Round(
        positions=tuple(positions),
        dealer=read_cards(event.dealer, deal.dealer, "dealer", deck=deck) or None,
        community=read_cards(event.community, deal.community, "community", deck=deck)
        if event.community
        else None,
        draw=Draw(
            magic_card=one_card(draw.magic_card, "draw") if draw.magic_card else None,
            lucky_position=draw.lucky_position,
        )
        if (draw := opened.draw)
        else Draw(),
    )


class ResultWriter:
    """Writer of a settled round for the Lua script `apply_events`.

    The script computes the amount of a percentage of a meter: the reply has a gap for this amount.
    """

    def __init__(
        self,
        known: CatalogTable,
        event: Result,
        opened: OpenRound,
        settlement: Settlement,
        shares: Sequence[Sequence[tuple[LinkRound, WageredPosition]]],
    ) -> None:
        self._known = known
        self._event = event
        self._opened_round = opened
        self._settlement = settlement
        self._meter_id = _meter_ids(known)
        self._lines: list[str] = []
        self._opened: list[str] = []
        self._elsewhere: list[str] | None = None
        self._named: dict[str, tuple[LinkPlayers, ...]] = {}
        self._shares = shares
        self._envy: dict[str, list[Line]] = {}
        self.dues: list[DueStep] = []
        self.claims: list[OpenedClaim] = []

    @cached_property
    def _records(self) -> Records:
        """Made only when needed: most results open no claim."""
        known, settled = self._known, self._settlement.dues
        return Records(
            self._event,
            self._opened_round.wagers.positions,
            [due.line for due in settled],
            [due.line for due in settled if due.wins and self._waits(due)],
            link=known.address.link,
            table=known.table.id,
            asset=known.table.asset,
            meter_of=self._meter_id,
        )

    def put(self, settled: SettledPosition) -> None:
        if not settled.wins:
            self._lines.append(settled.text.decode())
            return
        for due, after in zip_longest(settled.dues, settled.dues[1:]):
            text = encode_line(due.line).decode()
            if due.wins:
                self._put_win(due)
            self._lines.append(text if due.take is None else _gap(text, '"paid":', len(self.dues)))
            if due.take is not None and (after is None or after.take != due.take):
                self._put_elsewhere(due.line, due.take)

    def _put_elsewhere(self, like: Line, take: int) -> None:
        """Add the parts of a percentage for players at other tables, after those at this table."""
        wager = self._settlement.takes[take].link_wager
        if not wager:
            return
        self._elsewhere = self._elsewhere or []
        first, players = len(self.dues) + 1, dict[str, LinkPlayers]()
        for at, won in self._shares[take]:
            record = self._records.link_record(like, at, won, wager)
            before = players.get(at.table)
            positions = (*before.positions, won.position) if before else (won.position,)
            players[at.table] = LinkPlayers(table=at.table, round=at.round, positions=positions)
            self.claims.append(OpenedClaim(record, len(self.dues)))
            self.dues.append(
                DueStep(
                    take=take + 1,
                    fixed_cents=0,
                    meter=record.meter,
                    claim_key=1,
                    claim=record.claim,
                    record=msgspec.json.encode(record).decode(),
                    elsewhere=True,
                )
            )
        if players:
            holder = like.hand_of or like.position
            every = tuple(players.values())
            named = () if self._named.get(like.item) == every else every
            self._named[like.item] = every
            share = LinkShare(item=like.item, hand_of=holder, players=named, amount=0)
            self._elsewhere.append(_gap(msgspec.json.encode(share).decode(), _AMOUNT, first))

    def _put_win(self, due: Due) -> None:
        line = due.line
        record = self._records.record(line) if self._waits(due) else None
        number = len(self.dues) + 1
        opened = self._open(record, due, number) if record else ""
        self.dues.append(
            DueStep(
                take=0 if due.take is None else due.take + 1,
                fixed_cents=line.paid,
                meter=self._meter_id(line.item),
                claim_key=1 if record else 0,
                claim=record.claim if record else "",
                record=msgspec.json.encode(record).decode() if record else "",
                holds=opened if holds_table(line.paid_from) else "",
                envy=self._owe(line) if line.envy_of is not None else "",
            )
        )

    def _open(self, record: ClaimRecord, due: Due, number: int) -> str:
        text = msgspec.json.encode(record.opened(due.line.paid)).decode()
        self._opened.append(text if due.take is None else _gap(text, _AMOUNT, number))
        self.claims.append(OpenedClaim(record, number - 1))
        return text[: text.index(_AMOUNT) + len(_AMOUNT)]

    def _owe(self, envy: Line) -> str:
        """Return the claim under which an Envy Bonus is owed; empty if the table pays the bonus.

        If a win of the same hand waits for a floorperson, the bonus is owed under the claim of this
        win. Otherwise, the table pays a bonus below `validate_from` in the floor file.
        """
        claim = self._records.claim_under(envy)
        if claim is None:
            if envy.envy_of is None or envy.paid < self._known.facility.validate_from:
                return ""
            claim = self._records.envy_claim_of(envy.envy_of)
        self._envy.setdefault(claim, []).append(envy)
        return claim

    @property
    def envy(self) -> tuple[EnvyStep, ...]:
        opened = {claim.record.claim for claim in self.claims}
        return tuple(
            EnvyStep(
                claim_key=0,
                claim=claim,
                meter=self._meter_id(envy[0].item),
                record="" if claim in opened else self._envy_record(envy),
            )
            for claim, envy in self._envy.items()
        )

    def _envy_record(self, envy: Sequence[Line]) -> str:
        record = self._records.envy_record(envy[0].envy_of or 0, envy)
        return msgspec.json.encode(record).decode()

    def reply(self) -> ReplyParts:
        lines, claims = ",".join(self._lines), ",".join(self._opened)
        whole = (
            f'{{"seq":{self._event.seq},"status":"accepted","lines":[{lines}],"claims":[{claims}]'
        )
        if self._elsewhere is not None:
            whole += f',"link_share":[{",".join(self._elsewhere)}]'
        whole += "}"
        parts = whole.split(_GAP)
        return tuple([int(part) if index % 2 else part for index, part in enumerate(parts)])

    def _waits(self, due: Due) -> bool:
        """Return whether a floorperson must validate a win (649a.11(c)(5), (7), (8), (9)).

        A percentage of a meter always waits. A fixed payout waits if it is at least `validate_from`
        in the floor file, and at least `validated_for_1` times the wager.
        """
        line = due.line
        if due.take is not None:
            return True
        if line.paid < self._known.facility.validate_from:
            return False
        placing = self._known.rules.placings.get(line.item)
        return placing is not None and line.paid >= line.wagered * placing.validated_for_1


def _meter_ids(known: CatalogTable) -> Callable[[str], str]:
    """Return a function from an item of the table to the id of the meter that pays this item.

    This is no method of the writer, because the writer and its records would then refer to each
    other. Such a cycle in each round is work for the garbage collector.
    """

    def meter_id(item: str) -> str:
        return known.meters[known.rules.meters.meter_of[item]].meter_id

    return meter_id


def _gap(text: str, field: str, due: int) -> str:
    """Return a text with the gap `due` in place of a field's value 0.

    No string of the text has quotes, so the field's name in quotes appears only once.
    """
    return text.replace(f"{field}0", f"{field}{_GAP}{due}{_GAP}", 1)
