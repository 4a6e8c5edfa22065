"""The odds of wagers as tables for a terminal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import groupby
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Column, Table
from rich.text import Text

from bonus.display import money, short_money
from bonus.law.games import Games, chapter_games
from bonus.odds.must_hit_by_odds import Distribution
from bonus.odds.odds_entries import (
    BadBeatOdds,
    Drawn,
    Folding,
    HandLine,
    HitTimes,
    LongRun,
    OddsEntry,
    TierOdds,
    exact,
)
from bonus.odds.odds_words import GameNames, one_in, percent, plain_name, rounded
from meters.selfcheck.must_hit_by_entries import MustHitByEntry

_GAP: Final = 3
_MARGIN: Final = 6
_EDGE: Final = 8
"""How many characters a house edge such as 12.3456% has."""
_RARE: Final = Fraction(1, 10_000)
_DRAWN: Final[Mapping[Distribution, str]] = {
    "uniform": "each is equally probable",
    "rising": "high amounts are more probable",
}


def show(entries: Iterable[OddsEntry], console: Console, games: Games | None = None) -> None:
    """Print the odds of wagers by game and heading, in the order of the entries."""
    known = games or chapter_games()
    for game, of_game in groupby(entries, key=lambda entry: entry.game):
        chapter = known[game]
        code = "house rules" if game in known.digests else "58 Pa. Code"
        console.print(Rule(Text(f"{chapter.title} ({code} {chapter.chapter})", "bold")))
        names = GameNames.of(known, game)
        under: dict[tuple[str, tuple[str, ...]], list[OddsEntry]] = {}
        for entry in of_game:
            under.setdefault(_heading(entry, names), []).append(entry)
        for (title, _), same in under.items():
            console.print()
            console.print(Text(title, "bold cyan"))
            for part in _wager(same, names, console.width):
                console.print(Padding(part, (0, 0, 0, 2), expand=False))
        console.print()


def show_must_hit_by(entries: Sequence[MustHitByEntry], console: Console) -> None:
    """Print the odds of must-hit-by meters, which depend on no hand."""
    for entry in entries:
        console.print(Rule(Text(f"{entry.title} on {entry.link}, whatever the cards", "bold")))
        limits = f"{money(entry.minimum_cents)} to {money(entry.maximum_cents)}"
        console.print(Text(f"Won at an amount from {limits}: {_DRAWN[entry.distribution]}.\n"))
        columns = [_right(f"{short_money(one.wager_cents)} wager") for one in entry.by_wager]
        table = _table("Meter at", *columns)
        for at, shown in enumerate(entry.by_wager[0].chances if entry.by_wager else ()):
            chances = (Fraction(one.chances[at].chance) for one in entry.by_wager)
            table.add_row(money(shown.amount_cents), *map(one_in, chances))
        every = (f"{round(Fraction(one.wagers_per_win)):,}" for one in entry.by_wager)
        table.add_row("Wagers for a win, on average", *every)
        console.print(Padding(table, (0, 0, 0, 2), expand=False))
        mean, back = Fraction(entry.mean_win_cents), Fraction(entry.return_of_wager)
        console.print(f"Average win {money(int(mean))}. In the long run, it gives back", end=" ")
        console.print(f"{percent(back)} of each wager.\n")


def _heading(entry: OddsEntry, names: GameNames) -> tuple[str, tuple[str, ...]]:
    title = names.wager(entry.wager, entry.reading, entry.smaller_wager)
    return title, entry.tables if entry.meter_return else ()


def _wager(entries: list[OddsEntry], names: GameNames, width: int) -> Iterator[RenderableType]:
    tables: dict[object, list[OddsEntry]] = {}
    for entry in entries:
        tables.setdefault(_rows_of(entry), []).append(entry)
    for columns in tables.values():
        most = max(1, _room(columns, width) // (_widest(columns, names) + _GAP))
        each = -(-len(columns) // -(-len(columns) // most))
        for start in range(0, len(columns), each):
            yield _hands(columns[start : start + each], names)
    yield _exactly(entries)
    for strategy, alike in groupby(entries, key=lambda entry: entry.strategy):
        yield from _strategy(strategy, list(alike))
    for paid, _ in _by_text((entry.pays_what, entry) for entry in entries):
        yield Text(f"These are the paytables of the {paid}.", "dim")
    for entry in entries:
        yield from _meter(entry, names, many=len(entries) > 1)
    for text, of in _by_text((entry.source, entry) for entry in entries):
        yield _footnote("Source", " of ", text, of, len(entries))
    for text, noted in _by_text((entry.note, entry) for entry in entries):
        yield _footnote("Note", " on ", text, noted, len(entries))
    for text, at in _by_text((", ".join(entry.tables), entry) for entry in entries):
        yield _footnote("Tables", " with ", text, at, len(entries))


def _room(entries: Sequence[OddsEntry], width: int) -> int:
    extra = {name: cell for line in entries[0].hands for name, cell in line.beside.items()}
    taken = sum(max(len(name), len(cell)) + _GAP for name, cell in extra.items())
    lines = entries[0].hands
    titles = [title for title, _ in _figures(entries)]
    hand = max(len(text) for text in (*map(_hand, lines), *titles))
    chance = max(len(_chance(line.chance)) for line in lines)
    return width - taken - (_MARGIN + hand + _GAP + len("Combinations") + _GAP + chance)


def _widest(entries: Sequence[OddsEntry], names: GameNames) -> int:
    return max(_EDGE, *(len(names.cell(line.pays)) for entry in entries for line in entry.hands))


def _rows_of(entry: OddsEntry) -> tuple[tuple[str, str, int, tuple[tuple[str, str], ...]], ...]:
    return tuple(
        (line.hand, line.fourth_card, line.combinations, tuple(line.beside.items()))
        for line in entry.hands
    )


def _hands(entries: Sequence[OddsEntry], names: GameNames) -> Table:
    # Only the column of a single paytable is wrapped, if it is too long.
    first = entries[0]
    extra = list(dict.fromkeys(name for line in first.hands for name in line.beside))
    ways = [] if first.source else ["Combinations"]
    titles = (*ways, "Chance", *(plain_name(name).capitalize() for name in extra))
    table = _table(
        Column("Result" if first.source else "Hand", no_wrap=True),
        *(Column(title, justify="right", no_wrap=True) for title in titles),
        *(Column(_short(each), justify="right", no_wrap=len(entries) > 1) for each in entries),
    )
    for number, line in enumerate(first.hands):
        table.add_row(
            _hand(line),
            *(f"{line.combinations:,}" for _ in ways),
            _chance(line.chance),
            *(line.beside.get(name, "") for name in extra),
            *(names.cell(entry.hands[number].pays) for entry in entries),
        )
    if ways:
        nothing = ("" for _ in (*extra, *entries))
        table.add_row("all deals", f"{first.hands[0].of:,}", "", *nothing)
    for title, figures in _figures(entries):
        style = "bold" if title.startswith("House") else ""
        table.add_row(title, *("" for _ in titles), *figures, style=style)
    return table


def _figures(entries: Sequence[OddsEntry]) -> Iterator[tuple[str, list[str]]]:
    yield "Hit frequency", [percent(entry.hit_frequency) for entry in entries]
    edges = [percent(entry.house_edge) for entry in entries]
    lasting = [percent(entry.long_run.house_edge) for entry in entries if entry.long_run]
    if not lasting:
        yield "House edge", edges
        return
    yield "House edge at the seed", edges
    yield "House edge, long run", lasting


def _exactly(entries: list[OddsEntry]) -> RenderableType:
    main = bool(entries[0].element_of_risk)
    titles = ["Paytable", "House edge, exactly"]
    if entries[0].long_run:
        titles[1:] = ["House edge at the seed, exactly", "In the long run, exactly"]
    of_main = ("Element of risk", "Wagered on average") if main else ()
    table = Table(*titles, *map(_right, of_main), box=None, pad_edge=False)
    for entry in entries:
        cells = [_label(entry), exact(entry.house_edge)]
        for cents, edge in entry.house_edge_by_wager.items():
            cells[1] += f" ({short_money(int(cents))}: {percent(edge)})"
        if entry.long_run:
            cells.append(exact(entry.long_run.house_edge))
        for cents, edge in entry.house_edge_long_run_by_wager.items():
            cells[2] += f" ({short_money(int(cents))}: {percent(edge)})"
        if main:
            average = rounded(entry.average_wager, 4)
            cells += [percent(entry.element_of_risk), f"{average} Antes"]
        table.add_row(*cells)
    return table


def _strategy(strategy: tuple[str, ...], entries: list[OddsEntry]) -> Iterator[RenderableType]:
    if not strategy:
        return
    yield Text()
    yield Text("Optimal strategy", "italic")
    for sentence in strategy:
        yield Padding(Text(sentence), (0, 0, 0, 2), expand=False)
    table = Table(box=None, pad_edge=False, show_header=False)
    for line in entries[0].outcomes:
        chance = percent(line.chance)
        table.add_row(f"  {_OUTCOMES.get(line.outcome, line.outcome)}", f"{chance:>9}")
    yield table
    yield from _by_rank(entries)


def _by_rank(entries: list[OddsEntry]) -> Iterator[RenderableType]:
    if entries[0].mixed:
        several = len(entries[0].mixed)
        listed = "the hand that is" if several == 1 else f"the {several} hands that are"
        told = f"the command also lists {listed} not always played in the same way"
        yield Padding(Text(f"(With --json, {told}.)"), (0, 0, 0, 2))
    plain = entries[0].by_rank
    if plain is None:
        return
    yield Text("Best strategy by the rank of the hand alone", "italic")
    for sentence in plain.strategy:
        yield Padding(Text(sentence), (0, 0, 0, 2), expand=False)
    for entry in entries:
        if entry.by_rank:
            edge = entry.by_rank.house_edge
            more = edge - entry.house_edge
            costs = f"{_label(entry)}: {percent(edge)}, {rounded(more * 100, 6)} points more"
            yield Padding(Text(costs), (0, 0, 0, 2), expand=False)


_OUTCOMES: Final = {
    "fold": "folded",
    "not_qualified": "played, the dealer does not qualify",
    "higher": "played, higher than the dealer",
    "equal": "played, equal",
    "lower": "played, lower",
}


def _meter(entry: OddsEntry, names: GameNames, *, many: bool) -> Iterator[RenderableType]:
    if entry.long_run:
        yield Text()
        if many:
            yield Text(f"Paytable {_label(entry)}", "italic")
        yield Text(_where_it_goes(entry, entry.long_run))
    if entry.bad_beat:
        yield Text(_bad_beat(entry.bad_beat, names))
    if entry.tiers:
        yield from _tiered(entry, names)
    if entry.meter_return:
        yield from _one_meter(entry)
    if entry.envy_return:
        yield _envy(entry)
    elif not entry.tables and (amounts := _amounts(entry)):
        told = f"{' and '.join(amounts)} are examples: a floor file sets the amount"
        yield Text(f"The wagers of {told} (--config FLOOR.toml).", "dim")
    if entry.hit_times:
        yield _times(entry.hit_times, names)


def _bad_beat(beat: BadBeatOdds, names: GameNames) -> str:
    players, by = "two players with this wager", "the other player's"
    if beat.beaten_by == "dealer":
        players, by = "one player with this wager", "the dealer's"
    parts = ", ".join(f"{names.cell(cell)} for the {part}" for part, cell in beat.pays.items())
    often = one_in(beat.chance) if beat.combinations else "never"
    return (
        f"Bad beat: {plain_name(beat.lowest)} or higher, beaten by {by} hand: {often} with"
        f" {players}. It pays {parts}."
    )


def _envy(entry: OddsEntry) -> Text:
    points = ", ".join(
        f"{short_money(int(cents))}: {percent(each)}" for cents, each in entry.envy_return.items()
    )
    text = "The Envy Bonuses of each other player lower the house edge"
    if not entry.has_envy_shares:
        return Text(f"{text} ({points}).")
    fixed = ", ".join(
        f"{short_money(int(cents))}: {percent(entry.fixed_envy(cents))}"
        for cents in entry.envy_return
    )
    return Text(f"{text} at the seed ({points}), and in the long run by the fixed sums ({fixed}).")


def _amounts(entry: OddsEntry) -> list[str]:
    """Return the amounts of the wager for which the odds of its meters are shown."""
    shown = entry.tiers[0].break_even_meter if entry.tiers else entry.break_even_meter
    return [short_money(int(cents)) for cents in shown]


def _times(times: HitTimes, names: GameNames) -> Table:
    number = f"{times.wagers_per_hour:,} wager{'s' if times.wagers_per_hour > 1 else ''}"
    table = _table(f"With {number} an hour, all in this game", _right("On average"))
    for meter in times.meters:
        name = names.meter(meter.meter)
        if meter.hours != meter.hours_whole:
            table.add_row(f"{name}, in part or whole", _once_in(meter.hours))
        table.add_row(f"{name}, whole", _once_in(meter.hours_whole))
    for hand, hours in times.hands.items():
        table.add_row(plain_name(hand), _once_in(hours))
    return table


def _once_in(hours: str) -> str:
    return f"about once in {duration(Fraction(hours))}" if hours else "never"


def duration(hours: Fraction) -> str:
    """Return a time, rounded, in the longest unit that gives at least two.

    A day has 24 hours, a year has 365 days and a quarter, and a month is a twelfth of a year.

    >>> duration(Fraction(3 * 7 * 24 + 30)), duration(Fraction(1, 2)), duration(Fraction(1, 90))
    ('3 weeks', '30 minutes', '40 seconds')
    """
    unit, of_one = next((each for each in _UNITS if hours >= 2 * each[1]), _UNITS[-1])
    number = max(1, round(hours / of_one))
    return f"{number:,} {unit}{'' if number == 1 else 's'}"


_UNITS: Final = (
    ("year", Fraction(24 * 1461, 4)),
    ("month", Fraction(24 * 1461, 48)),
    ("week", Fraction(24 * 7)),
    ("day", Fraction(24)),
    ("hour", Fraction(1)),
    ("minute", Fraction(1, 60)),
    ("second", Fraction(1, 3_600)),
)


def _where_it_goes(entry: OddsEntry, lasting: LongRun) -> str:
    fixed, added, reseeds = (
        percent(each) for each in (lasting.fixed_return, lasting.contributions, lasting.reseeds)
    )
    text = (
        f"In the long run, {fixed} of the wagers is paid at odds or in fixed sums, and {added} goes"
        " to the meters, where players win all of it."
    )
    if entry.smaller_wager:
        text += " Players with the largest amount win the part that goes to a reserve."
    if lasting.reseeds:
        text += f" Reseeds cost the house {reseeds} more."
    kept = lasting.house_edge
    fixed_envy = any(map(entry.fixed_envy, entry.envy_return))
    envy = "the Envy Bonuses that are fixed sums" if entry.has_envy_shares else "Envy Bonuses"
    if kept < 0:
        without = f", without {envy}" if fixed_envy else ""
        return f"{text} So the house loses {percent(-kept)}{without}."
    return f"{text} The house keeps {percent(kept)}{f', less {envy}' if fixed_envy else ''}."


def _one_meter(entry: OddsEntry) -> Iterator[RenderableType]:
    falls = entry.meter_return * 1000
    seeds = ", ".join(f"{short_money(cents)}" for cents in entry.seed_meter.values())
    yield Text(
        f"House edge: {percent(entry.house_edge)} with the meter at its seed ({seeds}); "
        f"{percent(entry.house_edge_at_empty_meter)} at an empty meter, minus "
        f"{rounded(falls * 100, 4)} points for each 1,000 wagers in the meter."
    )
    yield _break_even(entry)
    if entry.when_folding:
        yield from _folding(entry.when_folding)
    if entry.magic_card and entry.lucky:
        yield Text(_drawn("Magic Card", entry.magic_card))
        of = f"Lucky Bonus (of {entry.positions} positions and the dealer)"
        yield Text(_drawn(of, entry.lucky))
        if entry.house_edge < 0:
            yield Text("With these draws the house loses at the seed: draw less often.", "bold red")
    yield from _shares(entry)


def _shares(entry: OddsEntry) -> Iterator[RenderableType]:
    if not entry.when_shared:
        return
    edges = ("House edge at the seed", "In the long run")
    table = _table(*map(_right, ("Players who share", *edges, *_break_evens(entry))))
    for share in entry.when_shared:
        table.add_row(
            str(share.players),
            percent(share.house_edge),
            percent(share.house_edge_long_run),
            *(money(cents) for cents in share.break_even_meter.values()),
        )
    yield table


def _tiered(entry: OddsEntry, names: GameNames) -> Iterator[RenderableType]:
    yield _tiers(entry, names)
    yield from _shares(entry)
    if any(tier.break_even_meter_with_envy for tier in entry.tiers):
        yield _tiers_with_envy(entry, names)
    if entry.house_edge < 0:
        yield Text("The house loses with every meter at its seed.", "bold red")


def _tiers(entry: OddsEntry, names: GameNames) -> Table:
    titles = (
        *("Seed", "Won, in part or whole", "Won whole", "Edge points for 1,000 wagers in it"),
        *_break_evens(entry.tiers[0]),
    )
    table = _table("Meter", *map(_right, titles))
    for tier in entry.tiers:
        table.add_row(
            names.meter(tier.meter),
            ", ".join(short_money(cents) for cents in tier.seed_meter.values()),
            _chance(tier.hit_chance),
            _chance(tier.whole_chance),
            str(rounded(tier.meter_return * 100_000, 4)),
            *(money(cents) for cents in tier.break_even_meter.values()),
        )
    for column in table.columns:
        column.overflow = "fold"
    return table


def _tiers_with_envy(entry: OddsEntry, names: GameNames) -> Table:
    cents = next(iter(entry.envy_return))
    meters = (names.meter(tier.meter) for tier in entry.tiers)
    table = _table(
        f"Break-even, {short_money(int(cents))} wager",
        *(Column(meter, justify="right", overflow="fold") for meter in meters),
    )
    for at in range(len(entry.tiers[0].break_even_meter_with_envy)):
        others = f"{at + 1} other player{'s' if at else ''}"
        amounts = (tier.break_even_meter_with_envy[at][cents] for tier in entry.tiers)
        table.add_row(others, *map(money, amounts))
    return table


def _table(*columns: Column | str) -> Table:
    return Table(*columns, box=SIMPLE_HEAD, pad_edge=False)


def _right(title: str) -> Column:
    return Column(title, justify="right")


def _break_evens(odds: OddsEntry | TierOdds) -> Iterator[str]:
    for cents in odds.break_even_meter:
        yield f"Break-even, {short_money(int(cents))} wager"


def _break_even(entry: OddsEntry) -> Table:
    wagers = (f"{short_money(int(cents))} wager" for cents in entry.break_even_meter)
    table = _table("Break-even meter", *map(_right, wagers))
    table.add_row(
        "without Envy Bonuses" if entry.envy_return else "for one player",
        *(money(cents) for cents in entry.break_even_meter.values()),
    )
    for others, meters in enumerate(entry.break_even_meter_with_envy, start=1):
        table.add_row(
            f"{others} other player{'s' if others > 1 else ''}",
            *(money(cents) for cents in meters.values()),
        )
    return table


def _folding(folding: Folding) -> Iterator[RenderableType]:
    meters = " or ".join(
        f"{money(cents)} ({short_money(int(wager))} wager)"
        for wager, cents in folding.break_even_meter.items()
    )
    yield Text(
        "For a player who folds by the optimal strategy, the house edge is"
        f" {percent(folding.house_edge)} at the seed and {percent(folding.house_edge_long_run)} in"
        f" the long run, and the break-even meter is {meters}."
    )


def _often(every: int) -> str:
    return (
        "drawn in every round" if every == 1 else f"drawn in one round of {every:,} or more often"
    )


def _drawn(name: str, drawn: Drawn) -> str:
    now = f"drawn in one round of {drawn.every:,}" if drawn.every else "not drawn"
    if not drawn.house_edge_gone_at:
        return f"{name}: {now}. The house has an edge even with a draw in every round."
    share = percent(Fraction(drawn.house_edge_gone_at))
    if not drawn.house_edge_gone_every:
        return f"{name}: {now}. At the seed, the house has no edge even without this draw."
    return (
        f"{name}: {now}. At the seed, and with the other draw as it is, the house has no edge if"
        f" this is {_often(drawn.house_edge_gone_every)} (from {share} of the rounds on)."
    )


def _by_text(texts: Iterable[tuple[str, OddsEntry]]) -> Iterator[tuple[str, list[OddsEntry]]]:
    found: dict[str, list[OddsEntry]] = {}
    for text, entry in texts:
        if text:
            found.setdefault(text, []).append(entry)
    yield from found.items()


def _footnote(word: str, of: str, text: str, entries: list[OddsEntry], among: int) -> Text:
    which = "" if len(entries) == among else of + ", ".join(map(_label, entries))
    return Text(f"{word}{which}: {text}", "dim")


def _short(entry: OddsEntry) -> str:
    return f"{entry.paytable or 'Pays'}{'+' if entry.mini_royal else ''}"


def _label(entry: OddsEntry) -> str:
    royal = f" with a mini-royal at {entry.mini_royal}" if entry.mini_royal else ""
    return f"{_short(entry)}{royal}"


def _hand(line: HandLine) -> str:
    name = plain_name(line.hand)
    return f"{name}, {line.fourth_card}" if line.fourth_card else name


def _chance(share: Fraction) -> str:
    if 0 < share < _RARE:
        return f"1 in {round(1 / share):,}"
    return percent(share)
