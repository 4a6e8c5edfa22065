"""Validation of table events: the contributions of wagers, and the settlement of results.

The functions depend only on their arguments, of which even bonus draws are one. Each returns the
work for the Lua script, or raises an EventRefusal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from bonus.law.paytables import percent_bps
from bonus.settling.round_checks import check_round
from bonus.settling.rounds import (
    Draw,
    Round,
    RoundError,
    RoundPosition,
    kept_wagers,
    one_card,
    read_cards,
)
from bonus.settling.settlement import settle_round
from bonus.wagers import MICROS_PER_CENT
from meters.books.dealt_cards import dealt_digest
from meters.books.refusals import EventRefusal
from meters.books.script_steps import (
    Contribution,
    CorrectionWork,
    PercentStep,
    ReplyParts,
    ResultWork,
    WagersWork,
    contributions_text,
)
from meters.floor.game_files import GAME_NOT_IN_EFFECT, problem_now
from meters.intake.result_steps import OpenedClaim, OpenRound, ResultWriter
from meters.intake.table_catalog import CatalogTable, WagerTerms
from meters.wire.messages import (
    DrawMade,
    Result,
    WagerCorrection,
    WageredPosition,
    Wagers,
    WagersAccepted,
    corrected_wagers,
)


@dataclass(frozen=True, slots=True)
class ValidatedResult:
    """The settlement of a result, before the Lua script applies it.

    An amount that is a percentage of a meter is not known yet. The script computes it from the
    meter, and subtracts it there.
    """

    work: ResultWork
    reply: ReplyParts
    claims: tuple[OpenedClaim, ...]


def check_game_dates(known: CatalogTable) -> None:
    """Refuse new wagers if the table's game cannot be played today.

    Raises:
        EventRefusal: ``game_not_in_effect``.
    """
    if problem := problem_now(known.table.chapter, known.timezone):
        raise EventRefusal(GAME_NOT_IN_EFFECT, problem, None)


def judge_wagers(
    known: CatalogTable, positions: Sequence[WageredPosition]
) -> tuple[Contribution, ...]:
    """Return the contribution of wagers to each meter in micros: cents times basis points.

    Raises:
        EventRefusal: the table does not have a position or a wager of the event; a position appears
            twice; a wager has the wrong amount (reading T22); or the contribution is above the
            largest contribution that is allowed (duty D3).
    """
    seen: set[int] = set()
    counts: dict[str, int] = {}
    offers = known.offers
    for index, position in enumerate(positions):
        _check_position(known, position.position, seen, index)
        for wager, cents in position.wagers.items():
            offer = offers.get(wager)
            if offer is None or cents != offer[0].wager_cents:
                raise _wager_refusal(known, wager, cents, index)
            counts[wager] = counts.get(wager, 0) + 1
    by_meter: dict[str, Contribution] = {}
    for wager, count in counts.items():
        for fed in offers[wager]:
            cents = count * fed.wager_cents
            before = by_meter.get(fed.meter)
            added = Contribution(
                fed.meter,
                count,
                cents,
                cents * fed.primary_bps,
                cents * fed.reserve_bps,
                fed.limit_micros,
            )
            by_meter[fed.meter] = whole = _sum(before, added) if before else added
            _check_reasonable(fed, whole)
    return tuple(by_meter.values())


def judge_correction(
    known: CatalogTable, event: WagerCorrection, opened: OpenRound
) -> tuple[tuple[str, CorrectionWork], tuple[Contribution, ...]]:
    """Return the reply to a valid correction of a wager, its work, and the wager's contributions.

    Raises:
        EventRefusal: cards of the round are known; the wager has no value chip, or the draw can
            decide it; the round has the wager already, or does not have it; the table does not
            offer it at this position or for this amount; or `positions` are not the round's wagers
            after the correction.
    """
    if opened.known:
        raise EventRefusal(
            "cards_entered",
            f"cards of round {event.round} were entered: its wagers can no longer be corrected",
        )
    wager, at = event.wager, {one.position: one for one in opened.wagers.positions}
    tables = known.rules.meters.terms.get(wager)
    if tables is not None and tables.electronic:
        raise EventRefusal(
            "electronic_wager",
            f"{wager} is an electronic wager without a value chip: it cannot be corrected",
            "wager",
        )
    if tables is not None and tables.draws:
        raise EventRefusal(
            "drawn_wager",
            f"the draw of this round was made, and decides {wager}: it cannot be corrected",
            "wager",
        )
    placed = WageredPosition(position=event.position, wagers={wager: event.amount})
    try:
        contributions = judge_wagers(known, [placed])
    except EventRefusal as refusal:
        fields = {"unknown_position": "position", "wrong_amount": "amount"}
        field = fields.get(refusal.code, "wager")
        raise EventRefusal(refusal.code, refusal.message, field) from None
    before = at[event.position].wagers if event.position in at else {}
    if event.adds and wager in before:
        message = f"position {event.position} has its {wager} wager already"
        raise EventRefusal("wager_twice", message, "wager")
    if not event.adds and wager not in before:
        message = f"position {event.position} has no {wager} wager in this round"
        raise EventRefusal("no_wager", message, "wager")
    _check_corrected(event, at)
    reply = msgspec.json.encode(WagersAccepted(seq=event.seq, draw=opened.draw)).decode()
    work = CorrectionWork(
        contributions_text(contributions),
        f"{event.position}:{wager}",
        event.adds,
    )
    return (reply, work), contributions


def _check_corrected(event: WagerCorrection, before: Mapping[int, WageredPosition]) -> None:
    """Check that the positions of a correction are the wagers of the round after it."""
    after = {one.position: one for one in event.positions}
    if len(after) < len(event.positions):
        raise EventRefusal("position_twice", "a position appears twice", "positions")
    due = corrected_wagers(before, event)
    own = after.get(event.position)
    if own is not None and event.position not in before and event.position in due:
        # A position without a wager so far can name its patron now.
        due[event.position] = msgspec.structs.replace(due[event.position], patron=own.patron)
    for position in sorted(after.keys() | due.keys()):
        if after.get(position) != due.get(position):
            raise EventRefusal(
                "wagers_differ",
                "positions must have the round's wagers after the correction: they differ at"
                f" position {position}",
                "positions",
            )


def wagers_work(
    event: Wagers, draw: DrawMade | None, contributions: str, *, despite_hold: bool = False
) -> tuple[str, WagersWork]:
    reply = msgspec.json.encode(WagersAccepted(seq=event.seq, draw=draw)).decode()
    work = WagersWork(msgspec.json.encode(draw).decode(), contributions, despite_hold)
    return reply, work


def _check_reasonable(offer: WagerTerms, added: Contribution) -> None:
    most = offer.contribution_max_micros
    if most and added.meter_micros + added.reserve_micros > most:
        raise EventRefusal(
            "unreasonable_contribution",
            f"{added.wagers} wagers in one event add more to {offer.meter} than its largest"
            f" contribution of {most // MICROS_PER_CENT} cents",
            "positions",
        )


def _sum(one: Contribution, other: Contribution) -> Contribution:
    return Contribution(
        one.meter,
        one.wagers + other.wagers,
        one.wagered_cents + other.wagered_cents,
        one.meter_micros + other.meter_micros,
        one.reserve_micros + other.reserve_micros,
        one.limit_micros,
    )


def _check_position(known: CatalogTable, position: int, seen: set[int], index: int) -> None:
    if position > known.table.positions:
        raise EventRefusal(
            "unknown_position",
            f"table {known.table.id} has positions 1 to {known.table.positions}, not {position}",
            f"positions[{index}].position",
        )
    if position in seen:
        raise EventRefusal(
            "position_twice",
            f"position {position} appears twice",
            f"positions[{index}].position",
        )
    seen.add(position)


def _wager_refusal(known: CatalogTable, wager: str, cents: int, index: int) -> EventRefusal:
    field = f"positions[{index}].wagers.{wager}"
    tables = known.table.games.meters.terms.get(wager)
    if tables is None:
        return EventRefusal("unknown_wager", f"{wager} is not a wager that feeds a meter", field)
    offer = known.offers.get(wager)
    if offer is None:
        lacking = [kind for kind in tables.fed if kind not in known.meters]
        if not lacking:
            reason = f"{wager} is not a wager of {known.table.game}"
            return EventRefusal("unknown_wager", reason, field)
        return EventRefusal(
            "unknown_meter",
            f"table {known.table.id} feeds no {lacking[0]} meter: {wager} refused",
            field,
        )
    return EventRefusal(
        "wrong_amount", f"{wager} is offered at {offer[0].wager_cents} cents, not {cents}", field
    )


def judge_result(known: CatalogTable, event: Result, opened: OpenRound) -> ValidatedResult:
    """Settle a round by the rules of the game, and return the work for the Lua script.

    Raises:
        EventRefusal: positions, cards or patrons of the result are impossible, or differ from the
            wagers.
    """
    rules = known.rules
    try:
        dealt = _round_of(known, event, opened)
        check_round(dealt, rules, known.terms)
    except RoundError as error:
        raise EventRefusal(error.code, error.message, error.field) from None
    settlement = settle_round(dealt, rules, known.terms)
    takes = tuple(
        PercentStep(
            known.meters[take.meter].meter_id,
            percent_bps(take.percent),
            take.shares,
            known.terms[take.meter].reseed_cents * MICROS_PER_CENT,
            known.terms[take.meter].reserve_bps > 0,
            (known.meters[take.meter].limit or 0) * MICROS_PER_CENT,
        )
        for take in settlement.takes
    )
    writer = ResultWriter(known, event, opened, settlement.dues)
    for due in settlement.dues:
        writer.put(due)
    reply = writer.reply()
    gaps = reply if len(reply) > 1 else ()
    work = ResultWork(takes, tuple(writer.dues), writer.envy, dealt_digest(event), gaps)
    return ValidatedResult(work, reply, tuple(writer.claims))


def check_declared(known: CatalogTable, event: Result) -> None:
    """Refuse a hand that was declared to win nothing, if the floor file requires all hands.

    Raises:
        EventRefusal: ``no_win_not_allowed``.
    """
    if not known.require_all_hands:
        return
    for index, dealt in enumerate(event.positions):
        if dealt.declared:
            raise EventRefusal(
                "no_win_not_allowed",
                f"the floor file requires all hands: enter the cards of position {dealt.position}",
                f"positions[{index}].no_win",
            )


def _round_of(known: CatalogTable, event: Result, opened: OpenRound) -> Round:
    deal = known.rules.chapter.deal
    wagered = {position.position: position for position in opened.wagers.positions}
    seen: set[int] = set()
    positions: list[RoundPosition] = []
    for index, dealt in enumerate(event.positions):
        _check_position(known, dealt.position, seen, index)
        bet = wagered.pop(dealt.position, None)
        patron = dealt.patron
        if bet is not None and bet.patron is not None:
            if patron is not None and patron != bet.patron:
                raise EventRefusal(
                    "patron_differs",
                    f"position {dealt.position} wagered as {bet.patron}, not as {patron}",
                    f"positions[{index}].patron",
                )
            patron = bet.patron
        positions.append(
            RoundPosition(
                position=dealt.position,
                patron=patron,
                cards=read_cards(dealt.cards, deal.hand, f"positions[{index}].cards")
                if dealt.cards
                else None,
                folded=dealt.folded,
                wagers=kept_wagers(bet.wagers if bet else {}),
                # A result does not have cards that the dealer has collected. So if a result has the
                # cards of a folded hand, the dealer has not collected them (reading T8).
                kept=bool(dealt.folded and dealt.cards),
                no_win=dealt.declared,
            )
        )
    if wagered:
        raise EventRefusal(
            "position_missing",
            f"position {min(wagered)} has a wager in this round and no hand",
            "positions",
        )
    return Round(
        positions=tuple(positions),
        dealer=read_cards(event.dealer, deal.dealer, "dealer") or None,
        community=read_cards(event.community, deal.community, "community")
        if event.community
        else None,
        draw=_draw(opened.draw),
    )


def _draw(draw: DrawMade | None) -> Draw:
    if draw is None:
        return Draw()
    return Draw(
        magic_card=one_card(draw.magic_card, "draw") if draw.magic_card else None,
        lucky_position=draw.lucky_position,
    )
