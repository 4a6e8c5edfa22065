"""One round for people, from its ledger entries: wagers, cards, settlement, meters, decisions."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Final, Literal, NamedTuple, get_args

import msgspec

from bonus.display import hand_words, item_words
from bonus.json_input import UNREADABLE
from bonus.rounds import Line, WrittenPercent, cause_of
from bonus.wagers import MICROS_PER_CENT
from meters.acts.act_rows import ActRow, act_row
from meters.acts.claim_types import FloorRow
from meters.floor.floor_file import Link
from meters.ledger.accounts import ENVY, Transfer, meter_account, table_account, transfers_in
from meters.ledger.claim_evidence import CLAIM_ACTS, decided_claim
from meters.ledger.entry_messages import DECIDED, placed_in, reply_in
from meters.ledger.table_corrections import ASK_ACTS, OF_TABLES, is_act
from meters.process.clock import text_of
from meters.wire.messages import (
    ClaimOpened,
    PartElsewhere,
    Reply,
    TableTime,
    WagersAccepted,
    parts_elsewhere,
)

Entry = tuple[int, Mapping[str, bytes]]
"""A ledger entry: its number and its fields."""

RoundState = Literal["open", "settled", "void"]
WinState = Literal["pending", "validated", "paid", "rejected"]

_METER: Final = meter_account("")
_TABLE: Final = table_account("")


class RoundRow(FloorRow, frozen=True, kw_only=True):
    """A round in a list.

    Attributes:
        entry: the ledger entry with which the round begins: its wagers at lock-out.
        at: the time of this entry, by the clock of the service.
        ended_at: the time of the result or the void; null while the round is open.
        state: how the round ended, or ``open``.
        wagers: the number of progressive wagers, after corrections.
        wagered: the sum of these wagers, in cents.
        won: the sum that the settlement of the progressive wagers grants, in cents. The part of
            `won` that is neither paid nor rejected waits for a person.
        paid: the part of `won` that was paid.
        rejected: the part of `won` that is not due.
        wins: the number of wins that wait or have waited for a floorperson.
        corrected: true if a wager was corrected after lock-out, cards were entered again, or the
            round was voided after cards were entered.
    """

    link: str
    link_name: str
    table: str
    asset: str
    round: str
    entry: int
    at: str
    ended_at: str | None
    state: RoundState
    wagers: int
    wagered: int
    won: int
    paid: int
    rejected: int
    wins: int
    corrected: bool


class RoundPage(FloorRow, frozen=True, kw_only=True):
    """A page of rounds of one table.

    Attributes:
        rounds: in the order that `latest_first` says.
        latest_first: if true, send `next` as `before` for the next page; if false, send `next` as
            `after`.
        day: the gaming day that was searched; null if the search had neither a day nor a time.
    """

    rounds: tuple[RoundRow, ...]
    latest_first: bool
    next: int | None
    day: date | None


class RoundHand(FloorRow, frozen=True, kw_only=True):
    """A position in a round.

    Attributes:
        wagers: the cents of each wager at lock-out, by its name, after corrections.
        folded: true if the player folded.
        no_win: true if the dealer declared that the hand wins nothing.
    """

    position: int
    patron: str | None
    wagers: dict[str, int]
    cards: tuple[str, ...]
    folded: bool
    no_win: bool


class RoundLine(FloorRow, frozen=True, kw_only=True):
    """A line of the settlement, with the subsection that decides it. Sums are in cents.

    Attributes:
        outcome: ``paid``, ``returned`` or ``collected``.
        returned: the amount of the wager that is returned.
        envy_of: for an Envy Bonus that is a fixed sum, the position whose hand caused it.
        hand_of: for a share of a meter, the position whose hand brings it.
        on: for the Magic Card and the Lucky Bonus, whose hand the wager is on.
        won: the sum that the settlement grants.
        state: of a win: ``pending`` until a floorperson decides, ``validated`` until the win is
            paid, ``paid`` or ``rejected``; null for a line that wins nothing. A win that needs no
            decision is paid at the table with the settlement.
        paid_from: ``hand_pay``, ``table_inventory`` or ``game_account``; null if nothing is won.
        by: the user who decided last; null without a decision.
    """

    position: int
    item: str
    item_name: str
    outcome: str
    hand: str | None
    hand_name: str
    wagered: int
    won: int
    state: WinState | None
    by: str | None
    slip: str | None
    returned: int
    percent: WrittenPercent | None
    paid_from: str | None
    rule: str
    envy_of: int | None
    on: Literal["player", "dealer"] | None
    hand_of: int | None = None


class RoundWin(FloorRow, frozen=True, kw_only=True):
    """A win of the round that waits or has waited for a floorperson.

    Attributes:
        state: as in the ledger: ``pending``, ``validated``, ``paid`` or ``rejected``.
        must_hit_by: true if a wager won a must-hit-by meter, whatever the cards. Such a win has no
            settlement line.
        hand_of: for a share of a meter, the position whose hand brings it.
        table: the other table of the link at which a player has this part of a community share;
            empty for every other win. `state` is then null: the acts on the win are at this table.
    """

    claim: str
    position: int
    item: str
    item_name: str
    amount: int
    state: WinState | None
    must_hit_by: bool = False
    hand_of: int | None = None
    table: str = ""


class RoundMeter(FloorRow, frozen=True, kw_only=True):
    """A meter that the round's wagers raised, or of which the round won a part.

    Attributes:
        before: the meter before the round's wagers were added.
        added: the amount that the wagers added to the meter, after corrections and a void.
        at_result: the meter immediately before the settlement; null if the round is open.
        after: the meter immediately after the settlement; null if the round is open.
    """

    meter: str
    name: str
    before: int
    added: int
    at_result: int | None
    after: int | None


class RoundDraw(FloorRow, frozen=True, kw_only=True):
    """The draws for the round at lock-out (649a.12(i)(3)).

    Attributes:
        magic_card: the drawn card; null if no card was drawn.
        lucky_position: the drawn position; null if no position was drawn.
    """

    magic_card: str | None
    lucky_position: int | Literal["dealer"] | None


class RoundView(FloorRow, frozen=True, kw_only=True):
    """A round, with all its data in the ledger.

    Attributes:
        row: the row of the round in lists.
        table_at: the time of lock-out, by the clock of the table.
        ended_table_at: the time of the result or the void, by the clock of the table.
        hands: each position that plays, with its wagers.
        dealer: the dealer's cards.
        community: the community cards.
        draw: the draws at lock-out; null if nothing was drawn.
        lines: the settlement, in paying order.
        wins: the wins that wait or have waited for a floorperson.
        void_reason: the reason of a void; null for any other round.
        acts: what people did with the round: corrections and their confirmations, decisions on
            wins, payments. A correction also has the cards that were taken back.
        meters: what the round added to each meter.
        entries: the numbers of the round's ledger entries.
    """

    row: RoundRow
    table_at: str | None
    ended_table_at: str | None
    hands: tuple[RoundHand, ...]
    dealer: tuple[str, ...]
    community: tuple[str, ...]
    draw: RoundDraw | None
    void_reason: str | None
    lines: tuple[RoundLine, ...]
    wins: tuple[RoundWin, ...]
    meters: tuple[RoundMeter, ...]
    acts: tuple[ActRow, ...]
    entries: tuple[int, ...]


class _Dealt(msgspec.Struct, frozen=True):
    position: int
    patron: str | None = None
    cards: tuple[str, ...] | None = None
    folded: bool = False
    no_win: bool = False


class _Ended(msgspec.Struct, frozen=True):
    at: TableTime
    positions: tuple[_Dealt, ...] = ()
    dealer: tuple[str, ...] = ()
    community: tuple[str, ...] | None = None
    reason: str | None = None


class _At(msgspec.Struct, frozen=True):
    at: TableTime


_ENDED: Final = msgspec.json.Decoder(_Ended)
_AT: Final = msgspec.json.Decoder(_At)
_ACCEPTED: Final = msgspec.json.Decoder(WagersAccepted)
ENDS: Final = frozenset({b"result", b"void"})
_STATES: Final[Mapping[str, WinState]] = {state: state for state in get_args(WinState)}
LATER_PARTS: Final = CLAIM_ACTS | ASK_ACTS | ENDS | {b"correct_wager"}
"""The kinds of a round's entries after the first."""


def grouped(entries: Iterable[Entry]) -> list[list[Entry]]:
    """Return the entries of one table by round, in the order in which the rounds begin.

    A round that began before the first entry has a group without the round's beginning.
    """
    groups: list[list[Entry]] = []
    by_name: dict[bytes, list[Entry]] = {}
    for number, fields in entries:
        kind, name = fields["kind"], fields["round"]
        if kind in LATER_PARTS:
            group = by_name.get(name)
            if group is not None:
                group.append((number, fields))
                continue
        elif kind != b"wagers":
            continue
        by_name[name] = [(number, fields)]
        groups.append(by_name[name])
    return groups


def round_row(link: Link, entries: Sequence[Entry]) -> RoundRow:
    """Return the row of a round from its entries in their order.

    Raises:
        ValueError, KeyError, msgspec.DecodeError: an entry cannot be read.
    """
    number, first = entries[0]
    table = first["table"].decode()
    ended = next((fields for _, fields in entries if fields["kind"] in ENDS), None)
    wagers, wins = _wagers(entries), _wins(entries, {})
    lines = _lines(entries, {})
    hidden = [one for one in wins if one.must_hit_by]
    return RoundRow(
        link=link.id,
        link_name=link.name,
        table=table,
        asset=next((one.asset for one in link.table if one.id == table), ""),
        round=first["round"].decode(),
        entry=number,
        at=first["at"].decode(),
        ended_at=ended["at"].decode() if ended else None,
        state="open" if ended is None else "void" if ended["kind"] == b"void" else "settled",
        wagers=sum(len(each) for _, each in wagers.values()),
        wagered=sum(sum(each.values()) for _, each in wagers.values()),
        won=_sum_of(lines, hidden, None),
        paid=_sum_of(lines, hidden, "paid"),
        rejected=_sum_of(lines, hidden, "rejected"),
        wins=len(wins),
        corrected=any(
            fields["kind"] == b"correct_wager"
            or (fields["kind"] in ENDS and is_act(fields["kind"], fields["event"], b""))
            for _, fields in entries
        ),
    )


def _sum_of(lines: Iterable[RoundLine], hidden: Iterable[RoundWin], state: WinState | None) -> int:
    """Return the cents of settlement lines and must-hit-by wins in a state, or in any."""
    of_lines = sum(line.won for line in lines if state in {None, line.state})
    return of_lines + sum(one.amount for one in hidden if state in {None, one.state})


def _wagers(entries: Sequence[Entry]) -> dict[int, tuple[str | None, dict[str, int]]]:
    laid = [fields for _, fields in entries if fields["kind"] in {b"wagers", b"correct_wager"}]
    if not laid:
        return {}
    return {
        one.position: (one.patron, dict(one.wagers))
        for one in placed_in(laid[-1]["event"]).positions
    }


def round_view(
    link: Link, entries: Sequence[Entry], meters_before: Mapping[int, Mapping[str, int]]
) -> RoundView:
    """Return a round from its entries in their order.

    `meters_before` has the micros of the meters before the first entry and before the end of the
    round, by the number of the entry.

    Raises:
        ValueError, KeyError, msgspec.DecodeError: an entry cannot be read.
    """
    titles = link.titles
    first = entries[0][1]
    ended = next(((at, fields) for at, fields in entries if fields["kind"] in ENDS), None)
    event = _ENDED.decode(ended[1]["event"]) if ended else None
    draw = _ACCEPTED.decode(first["reply"]).draw if first["kind"] == b"wagers" else None
    return RoundView(
        row=round_row(link, entries),
        table_at=text_of(_AT.decode(first["event"]).at),
        ended_table_at=text_of(event.at) if event else None,
        hands=_hands(entries, event),
        dealer=event.dealer if event else (),
        community=(event.community or ()) if event else (),
        draw=msgspec.convert(draw, RoundDraw | None, from_attributes=True),
        void_reason=event.reason if event else None,
        lines=_lines(entries, titles),
        wins=_wins(entries, titles),
        meters=_meters(link, entries, meters_before),
        acts=tuple(
            act_row(number, {name: value.decode() for name, value in fields.items()}, titles=titles)
            for number, fields in entries
            if is_act(fields["kind"], fields["event"], fields["by"])
        ),
        entries=tuple(number for number, _ in entries),
    )


def _hands(entries: Sequence[Entry], ended: _Ended | None) -> tuple[RoundHand, ...]:
    laid = _wagers(entries)
    dealt = {one.position: one for one in ended.positions} if ended else {}
    found = []
    for position in sorted(laid.keys() | dealt.keys()):
        patron, wagers = laid.get(position, (None, {}))
        hand = dealt.get(position, _Dealt(position))
        found.append(
            RoundHand(
                position=position,
                patron=patron or hand.patron,
                wagers=wagers,
                cards=hand.cards or (),
                folded=hand.folded,
                no_win=hand.no_win,
            )
        )
    return tuple(found)


class _Decided(NamedTuple):
    """The state of a claim and of its Envy Bonuses; None for a win or bonuses that do not exist."""

    win: WinState | None
    by: str | None
    slip: str | None
    envy: WinState | None
    envy_by: str | None


def _decided(
    entries: Sequence[Entry], number: int, result: Mapping[str, bytes], reply: Reply
) -> dict[str, _Decided]:
    found: dict[str, dict[str, str]] = {
        one.claim: {"state": "pending"} for one in reply.claims or ()
    }
    for moved in transfers_in(result["transfers"]):
        if moved.target.startswith(ENVY):
            claim = moved.target.removeprefix(ENVY)
            found.setdefault(claim, {})["envy"] = "pending" if claim in found else "validated"
    for at, fields in entries:
        if at > number and fields["kind"] in CLAIM_ACTS:
            act = DECIDED.decode(fields["event"])
            if act.claim in found:
                by = fields["by"].decode()
                found[act.claim] = decided_claim(found[act.claim], act, by, at, fields)
    return {claim: _decided_by(fields) for claim, fields in found.items()}


def _decided_by(fields: Mapping[str, str]) -> _Decided:
    slips = [fields[name] for name in ("slip_correction", "decision") if name in fields]
    return _Decided(
        win=_STATES.get(fields.get("state", "")),
        by=fields.get("by"),
        slip=next((slip for one in slips if (slip := DECIDED.decode(one.encode()).slip)), None),
        envy=_STATES.get(fields.get("envy", "")),
        envy_by=fields.get("envy_by"),
    )


def _lines(entries: Sequence[Entry], titles: Mapping[str, str]) -> tuple[RoundLine, ...]:
    found = next(((at, fields) for at, fields in entries if fields["kind"] == b"result"), None)
    if found is None:
        return ()
    reply = reply_in(found[1]["reply"])
    lines, claims = reply.lines or (), reply.claims or ()
    decided = _decided(entries, *found, reply)
    of_line = {(one.position, one.item, one.hand_of): one.claim for one in claims}
    rows = []
    for line in lines:
        state: WinState | None = "paid" if line.paid else None
        by = slip = None
        if line.envy_of is not None:
            cause = cause_of(line, claims, lines)
            ending = f"-{reply.seq}-e{line.envy_of}"
            for one in transfers_in(found[1]["transfers"]):
                owed = one.target.removeprefix(ENVY) if one.target.startswith(ENVY) else ""
                of_hand = (
                    claims[cause].claim == owed if cause is not None else owed.endswith(ending)
                )
                if owed and of_hand and one.micros == line.paid * MICROS_PER_CENT:
                    state, by = decided[owed].envy, decided[owed].envy_by
        elif (claim := of_line.get((line.position, line.item, line.hand_of), "")) in decided:
            state, by, slip = decided[claim].win, decided[claim].by, decided[claim].slip
            if state == "validated" and line.paid_from != "hand_pay":
                state = "paid"
        rows.append(_line(line, titles, state, by, slip))
    return tuple(rows)


def _line(
    line: Line, titles: Mapping[str, str], state: WinState | None, by: str | None, slip: str | None
) -> RoundLine:
    return RoundLine(
        position=line.position,
        item=line.item,
        item_name=item_words(line.item, titles),
        outcome=line.outcome.value,
        hand=line.hand,
        hand_name=hand_words(line.hand or ""),
        wagered=line.wagered,
        won=line.paid,
        state=state,
        by=by,
        slip=slip,
        returned=line.returned,
        percent=line.percent,
        paid_from=line.paid_from,
        rule=line.rule,
        envy_of=line.envy_of,
        on=line.on,
        hand_of=line.hand_of,
    )


def _wins(entries: Sequence[Entry], titles: Mapping[str, str]) -> tuple[RoundWin, ...]:
    found: list[RoundWin] = []
    for at, fields in entries:
        if fields["kind"] not in OF_TABLES:
            continue
        reply = reply_in(fields["reply"])
        decided = _decided(entries, at, fields, reply) if reply.claims else {}
        found += [
            msgspec.structs.replace(
                _win(one, titles),
                state=decided[one.claim].win or "pending",
                must_hit_by=fields["kind"] != b"result",
            )
            for one in reply.claims or ()
        ]
        found += [
            msgspec.structs.replace(_win(one, titles), table=one.table)
            for one in parts_elsewhere(reply)
        ]
    return tuple(found)


def _win(one: ClaimOpened | PartElsewhere, titles: Mapping[str, str]) -> RoundWin:
    return RoundWin(
        claim=one.claim,
        position=one.position,
        item=one.item,
        item_name=item_words(one.item, titles),
        amount=one.amount,
        state=None,
        hand_of=one.hand_of,
    )


def moved_of(moved: Iterable[Transfer]) -> dict[str, int]:
    """Return the change of each meter by transfers, in micros."""
    found: dict[str, int] = {}
    for one in moved:
        for account, micros in ((one.source, -one.micros), (one.target, one.micros)):
            if account.startswith(_METER):
                meter = account.removeprefix(_METER)
                found[meter] = found.get(meter, 0) + micros
    return found


def _meters(
    link: Link, entries: Sequence[Entry], before: Mapping[int, Mapping[str, int]]
) -> tuple[RoundMeter, ...]:
    names = {meter.meter_id: meter.title for meter in link.meter}
    added: dict[str, int] = {}
    settled: tuple[int, dict[str, int]] | None = None
    for number, fields in entries:
        transfers = transfers_in(fields["transfers"])
        moved = moved_of(transfers)
        if fields["kind"] == b"result":
            settled = number, moved
        elif fields["kind"] in {b"wagers", b"correct_wager", b"void"}:
            # Not what a must-hit-by win took off, nor the start of its next cycle.
            moved = moved_of(one for one in transfers if _of_table(one))
            added = {name: added.get(name, 0) + moved.get(name, 0) for name in added | moved}
    at_first = before.get(entries[0][0], {})
    at_result = before.get(settled[0]) if settled else None
    of_result = settled[1] if settled else {}
    return tuple(
        RoundMeter(
            meter=name,
            name=names.get(name, item_words(name)),
            before=at_first.get(name, 0) // MICROS_PER_CENT,
            added=added.get(name, 0) // MICROS_PER_CENT,
            at_result=None if at_result is None else at_result.get(name, 0) // MICROS_PER_CENT,
            after=None
            if at_result is None
            else (at_result.get(name, 0) + of_result.get(name, 0)) // MICROS_PER_CENT,
        )
        for name in dict.fromkeys((*added, *of_result))
    )


def _of_table(moved: Transfer) -> bool:
    return moved.source.startswith(_TABLE) or moved.target.startswith(_TABLE)


READS: Final = (*UNREADABLE, KeyError, ValueError)
"""The exceptions for a damaged entry, which the audit reports."""
