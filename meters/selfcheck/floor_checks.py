"""Checks of the floor file alone: its games, signage, offers and limits."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from bonus.display import money
from bonus.errors import UserError
from bonus.law.chapter_file import Validation
from bonus.law.meter_terms import hand_bonus_return, tenths_text
from bonus.law.paytables import read_times
from bonus.wagers import MICROS_PER_CENT
from meters.floor.branding import read_logo
from meters.floor.floor_file import Floor, Link, Meter, fewest_positions
from meters.floor.game_files import date_warnings
from meters.floor.themes import themes_of
from meters.process.clock import now
from meters.selfcheck.check_result import Check, failure, judged, passed, warning
from meters.selfcheck.must_hit_by_entries import amounts_of, odds_of


def facility_checks(floor: Floor) -> list[Check]:
    tables = sum(len(link.table) for link in floor.link)
    return [
        passed("floor file", f"{len(floor.link)} links, {tables} tables"),
        _check_branding(floor),
        *date_checks(floor),
        *_check_offers(floor),
        *_check_returns(floor),
        *_check_must_hit_by(floor),
        *promotion_checks(floor, now()),
        *_check_bounds(floor),
        *_check_validation(floor),
    ]


def date_checks(floor: Floor) -> list[Check]:
    """Warn of games that cannot be played now, or that expire soon.

    Such a game stops no link: other tables play other games, and a round can still be open.
    """
    if warnings := date_warnings(floor.games_played, floor.facility.timezone):
        return [warning("games", each) for each in warnings]
    house = ", ".join(floor.games.digests)
    return [passed("games", f"of the house: {house}")] if house else []


def _check_branding(floor: Floor) -> Check:
    try:
        logo = read_logo(floor.signage)
        themes = themes_of(floor.signage.theme, (link.theme for link in floor.link))
    except UserError as error:
        return failure("signage", str(error))
    shown = "its logo can be shown" if logo else "no logo"
    return passed("signage", f"{shown}; all texts are readable in the themes {', '.join(themes)}")


def _check_offers(floor: Floor) -> Iterator[Check]:
    for table in [table for link in floor.link for table in link.table]:
        for bonus in table.chapter.main_bonuses:
            if bonus.choice and bonus.choice not in table.paytables:
                stake, rule = table.chapter.main_wagers[0], bonus.table[0].rule
                seen = (
                    f"the table offers no {stake}: choose its {bonus.choice} of {rule} under"
                    " paytables"
                )
                yield warning(f"paytables of {table.id}", seen)
                break


def _check_returns(floor: Floor) -> Iterator[Check]:
    """Warn if a Five Card Hand Bonus gives back more than is wagered on it (reading T19)."""
    for link, meter in _meters(floor):
        if not (meter.magic_card_every or meter.lucky_every):
            continue
        back = hand_bonus_return(
            meter.terms,
            magic_card_every=meter.magic_card_every,
            lucky_every=meter.lucky_every,
            positions=fewest_positions(link, meter),
        )
        good = (
            f"{tenths_text(back.at_seed)} at the seed and {tenths_text(back.long_run)} in the long"
            " run, with its draws"
        )
        problem = f"{good}: the house loses, so draw less often" if back.problem else None
        yield judged(f"return of {meter.meter_id} on {link.id}", problem, good, warns=True)


def _check_must_hit_by(floor: Floor) -> Iterator[Check]:
    for link in floor.link:
        for meter in link.meter:
            if odds := odds_of(meter):
                seen = (
                    f"won at {money(int(odds.mean_win_cents))} on average; gives back"
                    f" {tenths_text(odds.return_of_wager)} of its wagers in the long run"
                )
                loses = f"{seen}: the house loses" if odds.return_of_wager >= 1 else None
                what = f"must-hit-by {meter.meter_id} on {link.id}"
                yield judged(what, loses, seen, warns=True)


def promotion_checks(floor: Floor, moment: datetime) -> Iterator[Check]:
    """Say of each promotion whether it is on, and when it starts next."""
    zone = ZoneInfo(floor.facility.timezone)
    for link in floor.link:
        for promotion in link.promotion:
            seen = f"adds {promotion.added_in_words}"
            if on := promotion.occurrence_at(moment, zone):
                ends = on.ends.astimezone(zone)
                seen += f"; is on until {ends:%H:%M}"
                if promotion.adds:
                    seen += ": its money is added now if it was not yet"
            if following := promotion.next_after(moment, zone):
                starts = following.starts.astimezone(zone)
                seen += f"; starts next on {starts:%A, %Y-%m-%d at %H:%M}"
            elif not on:
                seen += f"; does not start again: its last day was {promotion.last}"
            yield judged(f"promotion {promotion.id} on {link.id}", None, seen)


def _check_validation(floor: Floor) -> list[Check]:
    least_cents = floor.facility.validate_from
    rules = {
        wager.validation.rule: None
        for link in floor.link
        for table in link.table
        for meter in link.meters_of(table).values()
        for wager in table.chapter.wager
        if meter.kind in wager.fed
        and wager.validation
        and least_cents > _lowest_validated(wager.validation, min(meter.wagers_cents))
    }
    if not rules:
        return []
    seen = (
        f"no floorperson validates wins at odds below {money(least_cents)}, but no such amount is"
        f" in {', '.join(sorted(rules))}: set validate_from to 0"
    )
    return [warning("validation", seen)]


def _lowest_validated(validation: Validation, wager_cents: int) -> int:
    return read_times(validation.least, "for") * wager_cents if validation.least else 0


def _check_bounds(floor: Floor) -> Iterator[Check]:
    """Warn if a round at a full table would contribute more than the floor file allows (D3)."""
    for link in floor.link:
        for meter in link.meter:
            if meter.contribution_max is not None:
                yield _check_bound(link, meter, meter.contribution_max)


def _check_bound(link: Link, meter: Meter, most: int) -> Check:
    positions = [each.positions for each in link.table if meter.meter_id in each.meters]
    wagers = max(positions, default=0) * len(meter.wagers)
    terms = meter.terms
    wager_cents = meter.wager or max(amounts_of(link, meter), default=0)
    micros = wagers * wager_cents * (terms.primary_bps + terms.reserve_bps)
    cents = -(-micros // MICROS_PER_CENT)
    what = f"largest contribution to {meter.meter_id} on {link.id}"
    good = f"{cents} cents from a full table; contribution_max is {most}"
    problem = f"{good}, so that table's lock-out would be refused" if cents > most else None
    return judged(what, problem, good, warns=True)


def _meters(floor: Floor) -> Sequence[tuple[Link, Meter]]:
    return [(link, meter) for link in floor.link for meter in link.hand_meters]
