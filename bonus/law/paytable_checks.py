"""Checks of the paytables in a chapter's file, before any part of the file is used.

The checks find errors of copying: a missing or unknown hand, a higher hand that pays less, two
kinds of odds in one paytable, or a choice that occurs twice.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from typing import Final

import msgspec

from bonus.display import percent_text
from bonus.errors import nearest
from bonus.hands.rankings import COMPARES, STRENGTHS, Ranking
from bonus.law.chapter_file import (
    OTHER,
    BadBeat,
    Bonus,
    Chapter,
    DrawPays,
    Envy,
    EnvySchedule,
    Main,
    MiniRoyal,
    PrintedTable,
    Rule,
    WagerTables,
)
from bonus.law.game_rankings import ranking_of
from bonus.law.patterns import check_patterns
from bonus.law.paytables import (
    NOTHING,
    ChapterError,
    Payout,
    Paytable,
    Rates,
    cell_of,
    paytables_of,
    placed,
    read_cents,
    read_envy,
    read_from,
    read_payout,
    read_rate_bps,
    read_seed,
    read_shares,
    read_times,
    rows_of,
)
from bonus.law.reference_checks import check_cards, check_consistency
from bonus.law.results import RESULTS, check_results
from bonus.wagers import Percent

_Worth = tuple[Percent, int, int]


def check_chapter(chapter: Chapter) -> None:
    """Check all parts of a chapter; a ChapterError says what is wrong."""
    check_cards(chapter)
    check_patterns(chapter)
    check_results(chapter)
    names = [*chapter.main_wagers, *(name for tables in chapter.wager for name in tables.names)]
    if chapter.main:
        with placed("main"):
            _check_main(chapter, chapter.main, names)
    for number, tables in enumerate(chapter.wager):
        with placed("wager", number):
            _check_wager(chapter, tables)
    check_consistency(chapter)
    if chapter.effective and chapter.expires and chapter.effective > chapter.expires:
        raise ChapterError("the game expires before it is effective", ("expires",))
    for of, rule in ((of, rule) for of, part in _parts(chapter) for rule in _rules(part)):
        if not re.fullmatch(rf"{re.escape(chapter.chapter)}\.[0-9]+(\([a-zA-Z0-9]+\))*", rule):
            own = chapter.chapter
            message = f"{of}: {rule!r} names no subsection of {own}: write {own}.4 or {own}.4(a)"
            raise ChapterError(message, text=rule)


def _check_main(chapter: Chapter, main: Main, names: Sequence[str]) -> None:
    of = f"{main.stake} and {main.follow}"
    ranking = _ranking(chapter, of, main.ranking)
    if main.ranking not in COMPARES:
        known = " or ".join(COMPARES)
        reason = f"{main.ranking} hands cannot be compared with the dealer's: use {known}"
        raise ChapterError(f"{of}: {reason}")
    for count in (chapter.deal.hand, chapter.deal.dealer):
        if count not in ranking.cards:
            raise ChapterError(f"{of}: {main.ranking} hands are not formed from {count} cards")
    if main.highest not in ranking.tops:
        raise ChapterError(f"{of}: {main.ranking} hands cannot begin with {main.highest!r}")
    if not main.times or list(main.times) != sorted({*main.times}) or main.times[0] < 1:
        raise ChapterError(f"{of}: times must be rising numbers, the first 1 or more")
    with cell_of(of, main.odds):
        read_times(main.odds, "to")
    pair = {main.stake, main.follow}
    if main.not_qualified and main.not_qualified.returns not in pair:
        raise ChapterError(f"{of}: {main.not_qualified.returns!r} is neither of these wagers")
    if main.follow_pays:
        lowest = ranking.names[-1]
        for paytable in paytables_of(main.follow_pays, ranking.names):
            with placed("follow_pays", "pays"):
                _check_paytable(of, paytable, ranking, lowest, meters=())
    for number, bonus in enumerate(main.bonus):
        with placed("bonus", number):
            _check_bonus(chapter, main, bonus, names)


def _check_bonus(chapter: Chapter, main: Main, bonus: Bonus, names: Sequence[str]) -> None:
    pair = {main.stake, main.follow}
    if bonus.on not in pair or bonus.returns not in {"", *pair}:
        raise ChapterError(f"{bonus.item}: on and returns must name {main.stake} or {main.follow}")
    if bonus.item in names and bonus.item != bonus.on:
        raise ChapterError(
            f"{bonus.item}: a bonus on {bonus.on} cannot have the name of another wager"
        )
    ranking = _ranking(chapter, bonus.item, bonus.ranking)
    if not ranking.ordered:
        raise ChapterError(f"{bonus.item}: a bonus of the main game is on no patterns")
    paytables = _check_tables(
        bonus.item, bonus.table, ranking, bonus.ranking, bonus.lowest, meters=()
    )
    _check_choices(bonus.item, paytables)
    if (paytables[0].choice is None) != (not bonus.choice):
        raise ChapterError(
            f"{bonus.item}: write choice if its paytables have choices, and only then"
        )
    _check_mini_royal(bonus.item, bonus.mini_royal, paytables)


def _check_wager(chapter: Chapter, tables: WagerTables) -> None:
    if not tables.names or not tables.table:
        raise ChapterError("each wager needs a name and a paytable")
    of = tables.names[0]
    if len(tables.cards) != len(tables.names):
        raise ChapterError(f"{of}: cards needs an entry for each of {', '.join(tables.names)}")
    rankings = [tables.ranking, *(tables.readings.rankings.values() if tables.readings else ())]
    if tables.readings and rankings[1:2] != rankings[:1]:
        raise ChapterError(f"{of}: the first of its readings must have the ranking of the wager")
    for name in rankings:
        first = tables.community_cards
        counts = {sum(chapter.deal.judged(cards, first)) for cards in tables.cards}
        ranking = _ranking(chapter, of, name)
        possible = ranking.cards
        if not counts <= possible and name == RESULTS:
            right = "dealer" if chapter.deal.dealer else "hand"
            raise ChapterError(f'{of}: the game has one result in cards = ["{right}"]')
        if not counts <= possible:
            given, needed = map(_numbers, (counts, possible))
            raise ChapterError(
                f"{of}: {name} hands are not formed from {' or '.join(tables.cards)}, which has"
                f" {given} cards{f' with community_cards = {first}' if first else ''}: {needed} are"
                " needed",
                ("community_cards",) if first else (),
            )
        named = tables.meters or (("meter",) if tables.meter else ())
        paytables = _check_tables(of, tables.table, ranking, name, tables.lowest, meters=named)
        _check_choices(of, _with_fourth(of, tables, ranking, paytables))
    _check_mini_royal(of, tables.mini_royal, paytables)
    _check_meter(of, tables, ranking, paytables)
    if tables.fed:
        _check_shares(of, tables, paytables, chapter.deal.positions)
    if tables.bad_beat:
        with placed("bad_beat"):
            _check_bad_beat(of, chapter, tables, tables.bad_beat, paytables)


def _numbers(counts: Set[int]) -> str:
    """Return numbers of cards as words, such as "5 to 9" or "5 or 6"."""
    least, most = min(counts), max(counts)
    if most - least > 1 and len(counts) == most - least + 1:
        return f"{least} to {most}"
    return " or ".join(map(str, sorted(counts)))


def _check_meter(
    of: str, tables: WagerTables, ranking: Ranking, paytables: Sequence[Paytable]
) -> None:
    for paytable in paytables:
        if set(paytable.rates) != (set(tables.meters) or ({""} if tables.meter else set())):
            raise ChapterError(
                f"{of} {paytable.rule}: write rates for each meter of the wager, and no other"
            )
        for meter, rates in paytable.rates.items():
            _check_rates(f"{of} {paytable.rule} {meter}".rstrip(), rates)
        sums = [
            read_rate_bps(each.primary) + read_rate_bps(each.reserve)
            for each in paytable.rates.values()
        ]
        if sum(sums) >= 10_000:
            raise ChapterError(f"{of} {paytable.rule}: the rates of its meters are 100% or more")
    if tables.meter and tables.meters:
        raise ChapterError(f"{of}: write meter for one meter, or meters for several, not both")
    if len(tables.meters) == 1 or (tables.meters and tables.draws):
        raise ChapterError(
            f"{of}: meters is for two or more meters, and not for a wager with draws"
        )
    if (tables.envy or tables.draws or tables.community or tables.bad_beat) and not tables.fed:
        raise ChapterError(
            f"{of}: Envy Bonuses, community shares, draws and bad beats need a meter"
        )
    if tables.envy:
        _check_envy(of, ranking, tables.envy, paytables)
    if tables.draws:
        _check_draws(f"{of} {tables.draws.rule}", tables.draws)


def _check_draws(where: str, draws: DrawPays) -> None:
    for cell in (draws.magic_card, draws.lucky_bonus):
        with cell_of(where, cell):
            read_times(cell, "for")


def _with_fourth(
    of: str, tables: WagerTables, ranking: Ranking, paytables: Sequence[Paytable]
) -> Sequence[Paytable]:
    """Return the paytables among which a table chooses: those in ``fourth_card``, if it exists."""
    if tables.fourth_card is None:
        return paytables
    if len(paytables) > 1:
        raise ChapterError(f"{of}: a wager with fourth_card has one paytable for all other ranks")
    fourth = tables.fourth_card.table
    with placed("fourth_card"):
        return _check_tables(of, fourth, ranking, tables.ranking, tables.lowest, meters=())


def _check_tables(
    of: str,
    tables: Sequence[PrintedTable],
    ranking: Ranking,
    name: str,
    lowest: str,
    *,
    meters: Sequence[str] = (),
) -> list[Paytable]:
    found: list[Paytable] = []
    for number, table in enumerate(tables):
        with placed("table", number):
            found += _check_table(of, table, ranking, name, lowest, meters=meters)
    if not found:
        raise ChapterError(f"{of} has no paytable")
    return found


def _check_table(
    of: str,
    table: PrintedTable,
    ranking: Ranking,
    name: str,
    lowest: str,
    *,
    meters: Sequence[str] = (),
) -> Iterator[Paytable]:
    rows = list(table.pays)
    hands = ranking.names
    if ranking.ordered == (not lowest):
        unordered = f"leave out `lowest`: {name} has no order"
        reason = "`lowest` is missing" if ranking.ordered else unordered
        raise ChapterError(f"{of} {table.rule}: {reason}")
    if rows != [hand for hand in hands if hand in rows]:
        unknown = [row for row in rows if row not in hands]
        reason = (
            f"{unknown[0]!r} is not a hand of {name}{nearest(unknown[0], hands)}"
            if unknown
            else _order(ranking, name, rows)
        )
        place = unknown[0] if unknown else _misplaced(rows, hands)[0]
        raise ChapterError(f"{of} {table.rule}: {reason}", ("pays", place))
    if OTHER in rows:
        raise ChapterError(f"{of} {table.rule}: {OTHER!r} pays nothing", ("pays", OTHER))
    for paytable in paytables_of(table, ranking.names):
        with placed("pays"):
            _check_paytable(of, paytable, ranking, lowest, meters=meters)
        yield paytable


def _order(ranking: Ranking, name: str, rows: Sequence[str]) -> str:
    if ranking.ordered:
        return _misplaced(rows, ranking.names)[1]
    section = "result" if name == RESULTS else "pattern"
    return f"rows are not in the order of the [[{section}]] sections"


def _check_choices(of: str, paytables: Sequence[Paytable]) -> None:
    choices = [paytable.choice for paytable in paytables]
    if len(set(choices)) < len(choices) or (None in choices and len(choices) > 1):
        raise ChapterError(f"{of}: several paytables need different names")


def _check_paytable(
    of: str, paytable: Paytable, ranking: Ranking, lowest: str, *, meters: Sequence[str]
) -> None:
    where = f"{of} {paytable.rule} {paytable.choice or ''}".rstrip()
    worth: dict[str, _Worth | None] = {}
    for hand, cell in paytable.cells.items():
        with placed(hand), cell_of(f"{where}: {hand}", cell):
            worth[hand] = read_payout(cell).worth
    _check_pays(of, paytable, meters=meters)
    _check_rows(where, ranking, lowest, worth, paytable.cells)


def _check_pays(of: str, paytable: Paytable, *, meters: Sequence[str] = ()) -> None:
    """Check the kinds of payout; the cells must use each name in ``meters``, and no other."""
    where = f"{of} {paytable.rule} {paytable.choice or ''}".rstrip()
    payouts = [read_payout(cell) for cell in paytable.cells.values()]
    kinds = {payout.stake_back for payout in payouts if payout.times}
    if len(kinds) > 1:
        raise ChapterError(f"{where}: a paytable cannot have both 'to 1' and 'for 1'")
    named = {name for payout in payouts for name, _ in payout.percents}
    for name in sorted(named - set(meters)):
        known = f"the wager feeds {', '.join(meters)}" if meters else "the wager feeds no meter"
        raise ChapterError(f"{where}: a hand wins a percentage of {name}, but {known}")
    for name in meters:
        if name not in named:
            give = f"give the highest hand one, such as `1% of {name}`"
            raise ChapterError(f"{where}: no holder of a hand wins a percentage of {name}: {give}")
    if meters and True in kinds:
        raise ChapterError(f"{where}: a wager that feeds a meter pays 'for 1', not 'to 1'")


def _check_mini_royal(of: str, mini_royal: MiniRoyal | None, paytables: Sequence[Paytable]) -> None:
    if mini_royal is None:
        return
    with cell_of(f"{of} {mini_royal.rule}", mini_royal.least):
        read_times(mini_royal.least, "to")
    if mini_royal.among not in {paytable.rule for paytable in paytables}:
        raise ChapterError(
            f"{of}: {mini_royal.among} has no paytable to which a mini-royal can be added"
        )


_RATE_CELLS: Final = (
    ("seed", read_seed), ("reseed", read_seed), ("primary", read_rate_bps),
    ("reserve", read_rate_bps),
)  # fmt: skip
_RATE_CELLS_ABOVE: Final = (
    ("amount", "above", read_from), ("primary", "primary_above", read_rate_bps),
    ("reserve", "reserve_above", read_rate_bps),
)  # fmt: skip
"""Each key of the section ``above``, its name in ``Rates``, and how it is read."""


def _check_rates(where: str, rates: Rates) -> None:
    for name, read in _RATE_CELLS:
        cell = getattr(rates, name)
        with cell_of(f"{where}: {name}", cell):
            read(cell)
    if not read_seed(rates.seed):
        raise ChapterError(f"{where}: the seed of a meter must be above $0")
    primary, reserve = read_rate_bps(rates.primary), read_rate_bps(rates.reserve)
    if not primary or primary + reserve >= 10_000:
        raise ChapterError(
            f"{where}: primary must be above 0%, and the two rates together below 100%"
        )
    if rates.above:
        _check_rates_above(f"{where} above", rates, primary, reserve)


def _check_rates_above(where: str, rates: Rates, primary: int, reserve: int) -> None:
    """Check that only the way of the money changes: what wagers add in all stays the same."""
    for key, name, read in _RATE_CELLS_ABOVE:
        cell = getattr(rates, name)
        with cell_of(f"{where}: {key}", cell):
            read(cell)
    if read_from(rates.above) <= max(read_seed(rates.seed), read_seed(rates.reseed)):
        raise ChapterError(f"{where}: amount must be above the seed and the reseed")
    lower, higher = read_rate_bps(rates.primary_above), read_rate_bps(rates.reserve_above)
    if lower >= primary:
        raise ChapterError(f"{where}: primary must be below {rates.primary}")
    if lower + higher != primary + reserve:
        together = f"{rates.primary} and {rates.reserve}"
        raise ChapterError(
            f"{where}: primary and reserve together must be as much as {together}: players must get"
            " all of it, early or late"
        )


def _check_envy(of: str, ranking: Ranking, envy: Envy, paytables: Sequence[Paytable]) -> None:
    tops = {next(iter(paytable.cells)) for paytable in paytables}
    wagers = []
    for schedule in envy.schedule:
        with cell_of(f"{of} {envy.rule}", schedule.wager):
            wagers.append(read_cents(schedule.wager))
    if ranking.ordered == (not envy.lowest):
        reason = "`lowest` is missing"
        if not ranking.ordered:
            reason = "leave out `lowest` under [wager.envy]: this ranking has no order"
        raise ChapterError(f"{of} {envy.rule}: {reason}", ("envy",))
    if not wagers or len(set(wagers)) < len(wagers):
        raise ChapterError(f"{of} {envy.rule}: each wager amount needs one schedule")
    for number, schedule in enumerate(envy.schedule):
        with placed("envy", "schedule", number, "pays"):
            _check_schedule(f"{of} {envy.rule} {schedule.wager}", ranking, envy, schedule, tops)


def _check_schedule(
    where: str, ranking: Ranking, envy: Envy, schedule: EnvySchedule, tops: Set[str]
) -> None:
    if OTHER in schedule.pays:
        raise ChapterError(f"{where}: {OTHER!r} brings no Envy Bonus", (OTHER,))
    brought: dict[str, Payout] = {}
    for hand, cell in schedule.pays.items():
        with placed(hand), cell_of(f"{where}: {hand}", cell):
            brought[hand] = read_envy(cell)
    # A fixed sum and a percentage cannot be compared.
    sums = {hand: each.worth if each.sum_cents else None for hand, each in brought.items()}
    shares = {hand: each.worth if each.percents else None for hand, each in brought.items()}
    for worth in (sums, shares):
        _check_rows(where, ranking, envy.lowest, worth, schedule.pays, what="schedule")
    if not any(each.wins for each in brought.values()):
        raise ChapterError(f"{where}: no hand of the schedule brings an Envy Bonus")
    # A settlement line names its hand by the paytable's row, so both tables must begin with the
    # same hand.
    for top in tops - {next(iter(brought))}:
        raise ChapterError(
            f"{where}: Envy Bonuses must begin with {top}, as the paytable does. If this hand"
            f' brings none, write {top} = "N/A"'
        )


def _check_shares(
    of: str, tables: WagerTables, paytables: Sequence[Paytable], positions: int
) -> None:
    """Check the percentages of meters that a hand brings to other players.

    One hand cannot take more than all of a meter. With percentages for each other wager, something
    must always stay: otherwise, whether the meter begins again would depend on the other wagers.
    Nor can a community share be all of a meter: then a hand without the wager would win it too, and
    such hands are in no odds.
    """
    named = tables.meters or ("meter",)
    community = _community_of(of, tables, named)
    for paytable in paytables:
        for hand in community:
            if hand not in paytable.cells:
                raise ChapterError(
                    f"{of}: {paytable.rule} has no row for {hand!r}, which brings a community share"
                    f"{nearest(hand, paytable.cells)}",
                    ("community", "pays", hand),
                )
    schedules: Sequence[EnvySchedule | None] = tables.envy.schedule if tables.envy else (None,)
    for paytable, schedule in product(paytables, schedules):
        bring = {hand: read_envy(cell) for hand, cell in schedule.pays.items()} if schedule else {}
        for hand, meter in product(community | bring, named):
            holder = read_payout(paytable.cells.get(hand, "")).percent_of(meter)
            shared = community.get(hand, NOTHING).percent_of(meter)
            each = bring.get(hand, NOTHING).percent_of(meter)
            every = holder + shared + each * (positions - 1)
            if shared == 100:
                raise ChapterError(
                    f"{of}: the community share of {hand} is all of {meter}: leave a part for the"
                    " player who has the hand, such as 10%",
                    ("community", "pays", hand),
                )
            if every > 100 or (each and every == 100):
                parts = {
                    "its holder": holder,
                    "all players": shared,
                    f"each of {positions - 1} other positions": each,
                }
                told = ", ".join(
                    f"{percent_text(percent)}% for {who}"
                    for who, percent in parts.items()
                    if percent
                )
                raise ChapterError(
                    f"{of}: {hand} can win {percent_text(every)}% of {meter}: {told}. It must be"
                    f" {'below' if each else 'at most'} 100%",
                    ("community" if shared else "envy",),
                )


def _check_bad_beat(
    of: str, chapter: Chapter, tables: WagerTables, beat: BadBeat, paytables: Sequence[Paytable]
) -> None:
    """Check who takes part in a bad beat.

    The paytable must pay every hand that counts. Then a dealer who truly declares that a hand wins
    nothing never hides a bad beat.
    """
    if tables.ranking not in STRENGTHS:
        known = " or ".join(STRENGTHS)
        reason = f"{of}: {tables.ranking} does not say which of two hands is higher: use {known}"
        raise ChapterError(reason)
    if tables.cards != ("hand",):
        raise ChapterError(f'{of}: a bad beat is for cards = ["hand"]')
    ranking = _ranking(chapter, of, tables.ranking)
    if beat.lowest not in ranking.names:
        meant = nearest(beat.lowest, ranking.names)
        reason = f"{of}: {beat.lowest!r} is not a hand of {tables.ranking}{meant}"
        raise ChapterError(reason, ("lowest",))
    counting = ranking.from_highest(beat.lowest)
    for paytable in paytables:
        for hand, (name, payout) in rows_of(paytable, ranking).items():
            if hand in counting and not payout.wins:
                raise ChapterError(
                    f"{of}: {paytable.rule} pays nothing for {name}: the dealer can declare such a"
                    " hand without its cards. Write a higher hand as `lowest`",
                    ("lowest",),
                )
    if beat.beaten_by == "dealer" and chapter.deal.dealer != chapter.deal.hand:
        cards = chapter.deal.hand
        raise ChapterError(f"{of}: the dealer's hand needs {cards} cards", ("beaten_by",))
    _check_bad_beat_parts(of, tables, beat)


def _check_bad_beat_parts(of: str, tables: WagerTables, beat: BadBeat) -> None:
    if beat.beaten_by == "dealer" and beat.winner:
        raise ChapterError(f"{of}: the dealer wins no part of a meter", ("winner",))
    schedules = tables.envy.schedule if tables.envy else ()
    if any("%" in cell for each in schedules for cell in each.pays.values()):
        raise ChapterError(f"{of}: beside a bad beat, Envy Bonuses are fixed sums")
    total: Counter[str] = Counter()
    for part, cell in beat.cells.items():
        with placed(part), cell_of(f"{of} {beat.rule}: {part}", cell):
            paid = read_shares(cell)
            _check_meters_of(paid, tables.meters or ("meter",))
        for meter, percent in paid.percents:
            total[meter] += int(percent * 100)
    for meter, hundredths in total.items():
        if hundredths > 10_000:
            every = percent_text(Fraction(hundredths, 100))
            raise ChapterError(f"{of}: a bad beat can win {every}% of {meter}, more than 100%")


def _community_of(of: str, tables: WagerTables, meters: Sequence[str]) -> dict[str, Payout]:
    """Return the community shares by hand, and check the meters of all shares."""
    found: dict[str, Payout] = {}
    community, envy = tables.community, tables.envy
    cells = [*community.pays.items()] if community else []
    if community and not cells:
        raise ChapterError(f"{of} {community.rule}: no hand brings a community share")
    for hand, cell in cells:
        if hand == OTHER:
            reason = f"{of}: {OTHER!r} brings no community share"
            raise ChapterError(reason, ("community", "pays", hand))
        with placed("community", "pays", hand), cell_of(f"{of}: {hand}", cell):
            found[hand] = read_shares(cell)
            _check_meters_of(found[hand], meters)
    for number, schedule in enumerate(envy.schedule if envy else ()):
        for hand, cell in schedule.pays.items():
            with placed("envy", "schedule", number, "pays", hand), cell_of(f"{of}: {hand}", cell):
                _check_meters_of(read_envy(cell), meters)
    return found


def _check_meters_of(brings: Payout, meters: Sequence[str]) -> None:
    """Check that a hand brings shares of the meters that its wager feeds."""
    for name, _ in brings.percents:
        if name not in meters:
            known = f"it feeds {', '.join(meters)}"
            if meters == ("meter",):
                known = "write `meter`, because it has only one"
            raise ChapterError(f"the wager feeds no meter {name}: {known}")


def _check_rows(
    where: str,
    ranking: Ranking,
    lowest: str,
    worth: Mapping[str, _Worth | None],
    cells: Mapping[str, str],
    *,
    what: str = "paytable",
) -> None:
    """Check the hands of a paytable or schedule, and that no hand pays less than a lower hand.

    A hand that wins a percentage of one of several meters cannot be compared: its worth is None.
    """
    hands = ranking.names
    for hand in (*((lowest,) if ranking.ordered else ()), *worth):
        if hand not in hands:
            raise ChapterError(f"{where}: {hand!r} is not a hand of the ranking")
    first = next(iter(worth), None)
    if first is None:
        raise ChapterError(f"{where}: a {what} needs a row")
    if not ranking.ordered:
        return
    if first not in ranking.tops:
        raise ChapterError(f"{where}: a {what} must begin with the highest hand, not {first!r}")
    _check_every_hand(where, list(worth), hands, lowest)
    compared = ((hand, each) for hand, each in worth.items() if each is not None)
    for (better, more), (lower, less) in pairwise(compared):
        if more < less:
            reason = _pays_less(better, more, lower, less, cells)
            raise ChapterError(f"{where}: {reason}", (better,))


def _check_every_hand(where: str, rows: Sequence[str], hands: Sequence[str], lowest: str) -> None:
    """Check that the rows are the hands from the first row down to ``lowest``, in their order."""
    expected = hands[hands.index(rows[0]) : hands.index(lowest) + 1]
    if missing := ", ".join(hand for hand in expected if hand not in rows):
        raise ChapterError(f"{where}: {missing} missing")
    for hand in rows:
        if hand not in expected:
            raise ChapterError(f"{where}: {hand} is below {lowest}, the `lowest` hand", (hand,))
    if rows != [*expected]:
        hand, reason = _misplaced(rows, hands)
        raise ChapterError(f"{where}: {reason}", (hand,))


def _misplaced(rows: Sequence[str], hands: Sequence[str]) -> tuple[str, str]:
    """Return the first row that stands below a lower hand, and a message about it."""
    lower, higher = next(
        each for each in pairwise(rows) if hands.index(each[0]) > hands.index(each[1])
    )
    return higher, f"{higher} ranks above {lower} here: move it up"


def _pays_less(
    better: str, more: _Worth, lower: str, less: _Worth, cells: Mapping[str, str]
) -> str:
    """Say why a hand pays less than a lower hand, and what to write.

    A percentage grows with its meter, so it is more than any odds.
    """
    if less[0] and not more[0] and any(more):
        share = f"{percent_text(less[0])}% of meter"
        kind = "a fixed sum" if more[1] else "fixed odds"
        both = f", or `{share} + {cells[better]}`" if more[1:] >= less[1:] else ""
        return (
            f"{better} has {kind}, but the lower hand {lower} wins {share}, which can grow above"
            f" any odds: write at least `{cells[lower]}`{both}"
        )
    return f"{better} pays less than {lower}, which ranks below it here"


def _ranking(chapter: Chapter, of: str, name: str) -> Ranking:
    try:
        return ranking_of(chapter, name)
    except ChapterError as error:
        raise ChapterError(f"{of}: {error}") from None


def _parts(chapter: Chapter) -> Iterator[tuple[str, msgspec.Struct]]:
    main = chapter.main
    yield "deal", chapter.deal
    if main:
        yield main.stake, msgspec.structs.replace(main, bonus=())
    yield from ((bonus.item, bonus) for bonus in chapter.main_bonuses)
    yield from ((tables.names[0], tables) for tables in chapter.wager)
    yield from ((version.name, version) for version in chapter.version)
    if chapter.limit:
        yield "limit", chapter.limit
    yield "irregular", chapter.irregular


def _rules(part: object) -> Iterator[str]:
    if isinstance(part, dict | tuple):
        for each in part.values() if isinstance(part, dict) else part:
            yield from _rules(each)
    elif isinstance(part, msgspec.Struct):
        for name, type_, default in _fields(type(part)):
            value = getattr(part, name)
            if type_ == tuple[Rule, ...]:
                yield from value
            elif type_ != Rule:
                yield from _rules(value)
            elif value != default:
                yield value


@cache
def _fields(struct: type[msgspec.Struct]) -> tuple[tuple[str, object, object], ...]:
    found = msgspec.structs.fields(struct)
    return tuple((field.name, field.type, field.default) for field in found)
