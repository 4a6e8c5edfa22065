"""The odds of a floor's must-hit-by meters, for the commands and the submission."""

from collections.abc import Iterator
from typing import Final

import msgspec

from bonus.odds.must_hit_by_odds import Distribution, MustHitByOdds
from bonus.wagers import MICROS_PER_CENT
from meters.floor.floor_file import Floor, Link, Meter

_HUNDREDTHS: Final = (0, 25, 50, 75, 90, 99)
"""The parts of the way from minimum to maximum at which the chance is shown."""


class ChanceAt(msgspec.Struct, frozen=True):
    """The exact chance of one wager, as a fraction, with the meter at an amount."""

    amount_cents: int
    chance: str


class MustHitByWager(msgspec.Struct, frozen=True):
    """The odds of wagers of one amount. `wagers_per_win` is the average of a cycle."""

    wager_cents: int
    wagers_per_win: str
    chances: tuple[ChanceAt, ...]


class MustHitByEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A must-hit-by meter of a link, with its odds.

    Attributes:
        meter: the name of the meter on its link.
        distribution: how hidden values are drawn.
        wagers: the wagers that can win the meter.
        tables: the tables at which they can.
        primary_bps: the part of each wager that feeds the meter, in basis points.
        mean_win_cents: the average win.
        return_of_wager: the part of each wager that the meter gives back in the long run.
    """

    meter: str
    link: str
    title: str
    rule: str
    distribution: Distribution
    minimum_cents: int
    maximum_cents: int
    primary_bps: int
    wagers: tuple[str, ...]
    tables: tuple[str, ...]
    mean_win_cents: str
    return_of_wager: str
    by_wager: tuple[MustHitByWager, ...]


def must_hit_by_entries(floor: Floor) -> tuple[MustHitByEntry, ...]:
    return tuple(
        _entry(link, meter, odds)
        for link in floor.link
        for meter in link.meter
        if (odds := odds_of(meter))
    )


def odds_of(meter: Meter) -> MustHitByOdds | None:
    """Return the odds of a must-hit-by meter; None for every other meter."""
    if (hit_by := meter.must_hit_by) is None:
        return None
    return MustHitByOdds(
        hit_by.minimum, hit_by.maximum, meter.terms.primary_bps, hit_by.distribution
    )


def amounts_of(link: Link, meter: Meter) -> list[int]:
    """Return the different amounts in cents of the wagers that feed a must-hit-by meter."""
    return sorted(
        {
            cents
            for one in link.hand_meters
            if not {*one.wagers}.isdisjoint(meter.wagers)
            for cents in one.wagers_cents
        }
    )


def _entry(link: Link, meter: Meter, odds: MustHitByOdds) -> MustHitByEntry:
    return MustHitByEntry(
        meter=meter.meter_id,
        link=link.id,
        title=meter.title,
        rule=meter.terms.rule,
        distribution=odds.distribution,
        minimum_cents=odds.minimum_cents,
        maximum_cents=odds.maximum_cents,
        primary_bps=odds.primary_bps,
        wagers=meter.wagers,
        tables=tuple(table.id for table in link.table if meter.meter_id in table.meters),
        mean_win_cents=str(odds.mean_win_cents),
        return_of_wager=str(odds.return_of_wager),
        by_wager=tuple(
            MustHitByWager(
                wager_cents,
                str(odds.wagers_per_win(wager_cents)),
                tuple(_chances(odds, wager_cents)),
            )
            for wager_cents in amounts_of(link, meter)
        ),
    )


def _chances(odds: MustHitByOdds, wager_cents: int) -> Iterator[ChanceAt]:
    between = odds.maximum_cents - odds.minimum_cents
    for part in _HUNDREDTHS:
        amount_cents = odds.minimum_cents + between * part // 100
        chance = odds.chance(wager_cents, amount_cents * MICROS_PER_CENT)
        yield ChanceAt(amount_cents, str(chance))
