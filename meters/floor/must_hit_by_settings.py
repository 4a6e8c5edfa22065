"""A jackpot that must be won before its meter is above a maximum, as the floor file has it."""

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Final

import msgspec

from bonus.display import money
from bonus.errors import nearest
from bonus.law.meter_terms import MeterTerms, must_hit_by_terms
from bonus.law.paytables import ChapterError, read_rate_bps
from bonus.odds.must_hit_by_odds import Distribution, MustHitByOdds
from bonus.wagers import MICROS_PER_CENT, MUST_HIT_BY
from meters.floor.facility import Config, Problem

MUST_HIT_BY_TITLE: Final = "Mystery Jackpot"
JACKPOT_CENTS_MAX: Final = 10**10
"""Largest maximum: a hundred million dollars. In micros, Lua can add several of them exactly."""
_WAGERS_BETWEEN: Final = 100
_WAGERS_PER_WIN_MAX: Final = 100_000_000
"""No top award may be rarer (duty D22)."""


class MustHitBy(Config, frozen=True, kw_only=True):
    """A jackpot that must be won before its meter is above a maximum.

    When a cycle begins, the service draws a hidden value between the meter's amount and the
    maximum. The wager whose contribution takes the meter to the
    hidden value wins it, whatever the cards. The next cycle begins at the minimum, with what the
    contribution had over.

    Attributes:
        minimum: the first amount of a cycle, in cents, which the house pays.
        maximum: the amount by which the jackpot is won, in cents.
        rate: the part of each wager that is added to the meter, such as ``"1%"``.
        wagers: the wagers that can win the jackpot, such as ``["progressive"]``, of every game and
            amount. The wagers also feed their own meters. Only tables with the meter in `meters`
            take part.
        distribution: how hidden values are drawn. ``"uniform"``: each is equally probable.
            ``"rising"``: the higher of two such values, so that most wins come late.
        rule: the section of the house's rules about the jackpot.
    """

    minimum: Annotated[int, msgspec.Meta(ge=1, le=JACKPOT_CENTS_MAX)]
    maximum: Annotated[int, msgspec.Meta(ge=2, le=JACKPOT_CENTS_MAX)]
    rate: str
    wagers: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    distribution: Distribution = "uniform"
    rule: str = ""

    @property
    def terms(self) -> MeterTerms:
        return must_hit_by_terms(
            MUST_HIT_BY,
            self.wagers,
            minimum_cents=self.minimum,
            maximum_cents=self.maximum,
            primary_bps=read_rate_bps(self.rate),
            rule=self.rule,
        )


def must_hit_by_problems(
    hit_by: MustHitBy, known: Collection[str], wager_cents: Mapping[str, int]
) -> Iterator[Problem]:
    """Yield the errors of a must-hit-by meter, each with its place in the section.

    `known` are all wagers that feed a meter of some game. `wager_cents` has the largest amount of
    each wager that feeds a meter of the link.
    """
    try:
        rate_bps = read_rate_bps(hit_by.rate)
    except ChapterError as error:
        yield ("rate",), str(error)
        return
    if not rate_bps:
        yield ("rate",), "the rate must be above 0%: the meter would not rise"
    for at, wager in enumerate(hit_by.wagers):
        if wager not in known:
            reason = f"there is no wager {wager} that feeds a meter{nearest(wager, known)}"
            yield ("wagers", at), reason
        if wager not in wager_cents:
            yield ("wagers", at), f"no other meter of the link takes {wager} wagers"
        if wager in hit_by.wagers[:at]:
            yield ("wagers", at), f"{wager} is listed twice"
    if hit_by.maximum <= hit_by.minimum:
        yield ("maximum",), f"{money(hit_by.maximum)} is not above the minimum"
    most_micros = _WAGERS_BETWEEN * rate_bps * max(wager_cents[one] for one in hit_by.wagers)
    least_cents = hit_by.minimum - -most_micros // MICROS_PER_CENT
    if hit_by.maximum < least_cents:
        reason = (
            f"the contributions of {_WAGERS_BETWEEN} wagers must fit between minimum and maximum:"
            f" write at least {least_cents} ({money(least_cents)})"
        )
        yield ("maximum",), reason
    odds = MustHitByOdds(hit_by.minimum, hit_by.maximum, rate_bps, hit_by.distribution)
    rarest = odds.wagers_per_win(max(wager_cents[one] for one in hit_by.wagers))
    if rarest > _WAGERS_PER_WIN_MAX:
        yield ("maximum",), f"only one wager in {int(rarest):,} would win, on average"
