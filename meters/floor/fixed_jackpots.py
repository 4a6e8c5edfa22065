"""A fixed payout of a paytable that displays show as a jackpot, as the floor file has it."""

from collections.abc import Mapping
from typing import Annotated

import msgspec

from bonus.display import money
from bonus.errors import nearest
from bonus.law.games import Games
from bonus.law.meter_terms import MeterTerms
from bonus.settling.table_rules import meter_rules
from meters.floor.facility import Config
from meters.wire.topics import METER_IDENTIFIER

_JackpotIdentifier = Annotated[
    str,
    msgspec.Meta(
        pattern=rf"\A{METER_IDENTIFIER}\Z",
        description="1 to 32 letters, digits, hyphens and underscores",
    ),
]


class FixedJackpotSettings(Config, frozen=True, kw_only=True):
    """A fixed payout that displays show beside the meters, and celebrate like a meter's win.

    No money is held for it: the table pays it, as before. The amount is that of the paytable in
    force, so it is not in the floor file. The hand must pay the same fixed amount at every table
    with the meter, and for every amount of its wager. A floorperson must validate its wins:
    displays celebrate no other wins.

    Attributes:
        name: the name that patrons read, such as ``"Straight Flush"``.
        meter: the id of a meter of the link. Its wager wins the payout.
        hand: the winning hand, as the paytable of the wager names it.
        id: the name of the jackpot in addresses; by default, the hand.
    """

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=80)]
    meter: str
    hand: str
    id: _JackpotIdentifier | None = None

    @property
    def jackpot_id(self) -> str:
        return self.id or self.hand


def fixed_payout_cents(hand: str, terms: Mapping[str, MeterTerms]) -> int:
    """Return the fixed amount that a hand pays in every game; `terms` are a meter's, by game.

    Raises:
        ValueError: in one of the games, the hand is not in the paytable, pays nothing, pays a
            percentage of a meter, or is paid at odds for wagers of several amounts; or the amounts
            differ.
    """
    found: dict[str, int] = {}
    for game, each in terms.items():
        rows = {row.hand: row for row in each.rows.values()}
        if hand not in rows:
            raise ValueError(f"the paytable of {game} has no hand {hand}{nearest(hand, rows)}")
        row = rows[hand]
        if row.percents:
            shares = " and ".join(f"{percent}% of {meter}" for meter, percent in row.percents)
            raise ValueError(f"in {game}, {hand} wins {shares}, which is not a fixed amount")
        if row.for_1 and each.smaller_wagers:
            smallest = money(row.fixed_cents(each.wagers_cents[-1]))
            raise ValueError(
                f"in {game}, {hand} pays {row.for_1} for 1, which is {smallest} for the smallest"
                f" wager and {money(row.fixed_cents(each.wager_cents))} for the largest: a fixed"
                " jackpot is one amount"
            )
        if not row.wins:
            raise ValueError(f"in {game}, {hand} wins nothing with this paytable")
        found[game] = row.fixed_cents(each.wager_cents)
    if len(set(found.values())) > 1:
        amounts = ", ".join(f"{money(cents)} in {game}" for game, cents in found.items())
        raise ValueError(f"{hand} must pay the same at every table, but it pays {amounts}")
    return next(iter(found.values()))


def validation_problem(
    payout_cents: int, terms: Mapping[str, MeterTerms], games: Games, validate_from_cents: int
) -> str | None:
    """Return why no floorperson validates a fixed payout in some game; None if one always does."""
    never = f"displays would not celebrate {money(payout_cents)}, because"
    if payout_cents < validate_from_cents:
        return f"{never} a floorperson validates only wins from {money(validate_from_cents)}"
    for game, each in terms.items():
        placings = meter_rules(game, games).placings
        for_1 = max(placings[wager].validated_for_1 for wager in each.wagers if wager in placings)
        if payout_cents < for_1 * each.wager_cents:
            return f"{never} in {game}, a floorperson validates only wins from {for_1} for 1"
    return None
