"""Average time between the hits of a meter, if the number of wagers in an hour is known."""

from fractions import Fraction

from msgspec.structs import replace

from bonus.law.cells import read_payout
from bonus.law.chapter_file import WagerTables
from bonus.odds.odds_entries import HandLine, HitTimes, MeterTimes, OddsEntry, exact


def with_hit_times(entry: OddsEntry, tables: WagerTables, wagers_per_hour: int) -> OddsEntry:
    """Return the odds of a wager that feeds a meter, with the times between its hits.

    ``wagers_per_hour``, 1 or more, counts the wagers of all tables. Each has the same chance to
    hit: its player never folds.
    """
    paid = [(line, read_payout(line.pays)) for line in entry.hands]

    def hours(lines: list[HandLine]) -> str:
        combinations = sum(line.combinations for line in lines)
        if not combinations:
            return ""
        return exact(Fraction(lines[0].of, combinations * wagers_per_hour))

    def times_of(meter: str) -> MeterTimes:
        # With one meter, the cells do not name it.
        won = [
            (line, payout.percent or dict(payout.percents).get(meter, 0)) for line, payout in paid
        ]
        return MeterTimes(
            meter=meter,
            hours=hours([line for line, percent in won if percent]),
            hours_whole=hours([line for line, percent in won if percent == 100]),
        )

    times = HitTimes(
        wagers_per_hour=wagers_per_hour,
        meters=tuple(times_of(meter) for meter in tables.fed),
        hands={line.hand: hours([line]) for line, payout in paid if payout.wins},
    )
    return replace(entry, hit_times=times)
