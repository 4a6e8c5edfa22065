"""Validation of the wagers of a round, and of corrections of wagers."""

from collections.abc import Mapping, Sequence

import msgspec

from bonus.rounds import KeptWagers, kept_wagers
from bonus.wagers import MICROS_PER_CENT
from meters.intake.table_catalog import CatalogTable
from meters.ledger.script_steps import Contribution, CorrectionWork, contributions_text
from meters.store.event_refusals import EventRefusal
from meters.wire.messages import (
    DrawMade,
    WagerCorrection,
    WageredPosition,
    Wagers,
    corrected_wagers,
    wagers_reply,
)

PlacedWagers = Mapping[int, tuple[str | None, KeptWagers]]
"""The patron and the wagers of each position that made a wager."""


def placed_wagers(positions: Sequence[WageredPosition]) -> PlacedWagers:
    return {each.position: (each.patron, kept_wagers(each.wagers)) for each in positions}


class OpenRound(msgspec.Struct, frozen=True):
    """A round with accepted wagers and without a result.

    `wagers` is the last event that changed the wagers; `basis` is the number of this event.
    `placed` are these wagers by position. `fed` are the ids of the meters that the wagers raise.
    `known` are the cards in correction requests, as `known_text` writes them.
    """

    basis: int
    wagers: Wagers | WagerCorrection
    placed: PlacedWagers
    draw: DrawMade | None
    fed: tuple[str, ...]
    known: str = ""


class AddedWagers(msgspec.Struct, frozen=True):
    """What an event's wagers add to the meters; `text` is for the Lua script.

    A wager can contribute to several meters, but counts once in `wagered_cents`.
    """

    placed: PlacedWagers
    contributions: tuple[Contribution, ...]
    text: str
    meters: tuple[str, ...]
    wagers: int
    wagered_cents: int


def judge_wagers(known: CatalogTable, positions: Sequence[WageredPosition]) -> AddedWagers:
    """Return what wagers add to each meter.

    Raises:
        EventRefusal: a position or a wager is unknown, a position appears twice, a wager has the
            wrong amount (reading T22), or a contribution is too large (duty D3).
    """
    seen: set[int] = set()
    counts: dict[str, int] = {}
    sums_cents: dict[str, int] = {}
    offers = known.offers
    for index, position in enumerate(positions):
        check_position(known, position.position, seen, index)
        for wager, cents in position.wagers.items():
            offer = offers.get(wager)
            if offer is None or cents not in offer[0].wagers_cents:
                raise _wager_refusal(known, wager, cents, index)
            counts[wager] = counts.get(wager, 0) + 1
            sums_cents[wager] = sums_cents.get(wager, 0) + cents
    by_meter: dict[str, Contribution] = {}
    for wager, count in counts.items():
        for fed in offers[wager]:
            cents = sums_cents[wager]
            wagers, to_meter, to_reserve = count, cents * fed.primary_bps, cents * fed.reserve_bps
            to_meter_above = cents * fed.primary_above_bps
            to_reserve_above = cents * fed.reserve_above_bps
            if before := by_meter.get(fed.meter):
                wagers += before.wagers
                cents += before.wagered_cents
                to_meter += before.meter_micros
                to_reserve += before.reserve_micros
                to_meter_above += before.meter_above_micros
                to_reserve_above += before.reserve_above_micros
            most = fed.contribution_max_micros
            if most and to_meter + to_reserve > most:
                raise EventRefusal(
                    "unreasonable_contribution",
                    f"{wagers} wagers in one event add more to {fed.meter} than its largest"
                    f" contribution of {most // MICROS_PER_CENT} cents",
                    "positions",
                )
            by_meter[fed.meter] = Contribution(
                fed.meter, wagers, cents, to_meter, to_reserve, fed.limit_micros,
                fed.threshold_micros, to_meter_above, to_reserve_above,
                fed.overflow_to, fed.limit_there_micros,
            )  # fmt: skip
    # A meter gets its own contribution before what is above the limits of others.
    added = tuple(sorted(by_meter.values(), key=lambda one: (one.overflow_to and one.meter) or ""))
    return AddedWagers(
        placed_wagers(positions),
        added,
        contributions_text(added),
        tuple(by_meter),
        sum(counts.values()),
        sum(sums_cents.values()),
    )


def check_position(known: CatalogTable, position: int, seen: set[int], index: int) -> None:
    """Add a position to `seen`. Refuse a position that is in `seen` or is not at the table."""
    if position <= known.table.positions and position not in seen:
        seen.add(position)
        return
    field = f"positions[{index}].position"
    if position in seen:
        raise EventRefusal("position_twice", f"position {position} appears twice", field)
    message = f"table {known.table.id} has positions 1 to {known.table.positions}, not {position}"
    raise EventRefusal("unknown_position", message, field)


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
            f"table {known.table.id} feeds no {lacking[0]} meter, so it takes no {wager} wager",
            field,
        )
    offered = " or ".join(map(str, offer[0].wagers_cents))
    return EventRefusal(
        "wrong_amount", f"{wager} is offered at {offered} cents, not {cents}", field
    )


def judge_correction(
    known: CatalogTable, event: WagerCorrection, opened: OpenRound
) -> tuple[str, CorrectionWork, AddedWagers]:
    """Return the reply to a valid correction of a wager, its work, and what the wager adds.

    Raises:
        EventRefusal: cards of the round are known; the wager has no value chip, or the draw decides
            it; a wager to add is there already, or a wager to take back is not there; the table
            does not offer the wager; or `positions` are not the round's wagers after the
            correction.
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
            "drawn_wager", f"a draw can decide {wager}: it cannot be corrected", "wager"
        )
    placed = WageredPosition(position=event.position, wagers={wager: event.amount})
    try:
        added = judge_wagers(known, [placed])
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
    if not event.adds and before[wager] != event.amount:
        message = (
            f"the {wager} wager of position {event.position} is {before[wager]} cents, not"
            f" {event.amount}"
        )
        raise EventRefusal("wrong_amount", message, "amount")
    _check_corrected(event, at)
    reply = wagers_reply(event.seq, msgspec.json.encode(opened.draw).decode())
    return reply, CorrectionWork(added.text, f"{event.position}:{wager}", event.adds), added


def _check_corrected(event: WagerCorrection, before: Mapping[int, WageredPosition]) -> None:
    after = {one.position: one for one in event.positions}
    if len(after) < len(event.positions):
        raise EventRefusal("position_twice", "a position appears twice", "positions")
    due = corrected_wagers(before, event)
    own = after.get(event.position)
    if own is not None and event.position not in before and event.position in due:
        # A position without a wager before the correction can have a patron now.
        due[event.position] = msgspec.structs.replace(due[event.position], patron=own.patron)
    for position in sorted(after.keys() | due.keys()):
        if after.get(position) != due.get(position):
            raise EventRefusal(
                "wagers_differ",
                "the event's `positions` must be the round's wagers after the correction: position"
                f" {position} is different",
                "positions",
            )
