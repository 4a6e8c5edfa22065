"""A tried round, and the tallies of a trial, as text for a terminal."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from rich.box import SIMPLE
from rich.table import Column, Table

from bonus.display import card_words, coin_money, hand_words, money, part_of_meter
from bonus.law.chapter_file import Chapter
from bonus.law.choices import mini_royals
from bonus.law.paytables import read_times
from bonus.odds.enumerations import Enumerator
from bonus.odds.odds_entries import OddsEntry
from bonus.odds.odds_words import percent
from bonus.odds.offers import DrawOdds, offers_of
from bonus.odds.wager_odds import entry_of
from bonus.rounds import Line, Outcome
from controllers.games.trial_rounds import Trial, TriedRound, WagerTally
from controllers.table.state import Layout


def round_text(layout: Layout, tried: TriedRound) -> Iterator[str]:
    """Yield lines: the dealer's and the common cards, then each position with what it wins."""
    dealer = "Result" if layout.has_results else "Dealer"
    for title, name in ((dealer, "dealer"), ("Community", "community")):
        if names := tried.fields.get(name):
            yield f"{title}: {_cards(layout, names)}"
    positions = tried.fields["positions"]
    for box in positions if isinstance(positions, list) else ():
        yield f"Position {box['position']}: {_cards(layout, box.get('cards', ()))}".rstrip(": ")
        for line in tried.lines:
            if line.position == box["position"]:
                yield f"    {_line_text(layout, line)}"


def _cards(layout: Layout, names: object) -> str:
    shown = [str(name) for name in names] if isinstance(names, list) else []
    return ", ".join(map(card_words, shown)) if layout.has_results else " ".join(shown)


def _line_text(layout: Layout, line: Line) -> str:
    wager = f"{layout.words(line.item)} {coin_money(line.wagered)}"
    hand = f", {hand_words(line.hand).lower()}" if line.hand else ""
    match line.outcome:
        case Outcome.COLLECTED:
            return f"{wager}: lost{hand}"
        case Outcome.RETURNED:
            return f"{wager}: returned{hand}"
    share = f", {part_of_meter(line.percent, line.item)}" if line.percent else ""
    back = " and the wager" if line.returned else ""
    holder = line.envy_of or line.hand_of
    of = f", for the hand of position {holder}" if holder else ""
    return f"{wager}: wins {money(line.paid)}{back}{hand}{share}{of}"


def meters_text(trial: Trial) -> str:
    titles = trial.layout.rules.meters.titles
    return ", ".join(f"{titles[kind]} {money(cents)}" for kind, cents in trial.meters_cents.items())


def tally_table(trial: Trial, entries: Sequence[OddsEntry]) -> Table:
    """Return a table of the wagers so far: what they got back, and what they get exactly."""
    exact = {entry.wager: _exact(entry, trial.tallies[entry.wager]) for entry in entries}
    # The bots exchange cards by a simple rule, so they get back less than the odds say.
    exactly = "With the best exchange" if trial.layout.deal.exchange else "Exactly"
    table = Table(
        Column("Wager"),
        *(
            Column(title, justify="right")
            for title in ("Wagers", "Wagered", "Back", "Returned", f"{exactly}, in the long run")
        ),
        box=SIMPLE,
    )
    for name, tally in trial.tallies.items():
        if tally.wagers:
            table.add_row(
                trial.layout.words(name),
                f"{tally.wagers:,}",
                money(tally.wagered_cents),
                money(tally.back_cents),
                percent(tally.returned),
                exact.get(name, ""),
            )
    return table


def first_entries(game: Chapter) -> Sequence[OddsEntry]:
    """Return the odds of each wager beside the main game, with its first paytable."""
    counted, found = Enumerator(), dict[str, OddsEntry]()
    royals = {name: read_times(royal.least, "to") for name, royal in mini_royals(game).items()}
    for offer in offers_of(game, royals, DrawOdds()):
        if offer.tables and offer.wager not in found:
            found[offer.wager] = entry_of(offer, counted)
    return tuple(found.values())


def _exact(entry: OddsEntry, tally: WagerTally) -> str:
    """Return what a wager pays back on average, in percent.

    If its players divide a jackpot, this is for as many players as the tallied rounds had.
    """
    wagers = tally.by_players.total()
    if not entry.when_shared or not wagers:
        return percent(1 - _long_run_edge(entry))
    edges = {share.players: share.house_edge_long_run for share in entry.when_shared}
    kept = sum(
        (number * edges[players] for players, number in tally.by_players.items()), Fraction()
    )
    return percent(1 - kept / wagers)


def odds_lines(trial: Trial, entries: Sequence[OddsEntry]) -> Iterator[str]:
    """Yield what each wager pays back in the long run."""
    for entry in entries:
        alone = ", for a player who shares nothing" if entry.when_shared else ""
        alone += " with the best exchange of cards" if trial.layout.deal.exchange else ""
        words, back = trial.layout.words(entry.wager), _exact(entry, WagerTally())
        loses = ": the house loses" if _long_run_edge(entry) < 0 else ""
        yield f"{words} pays back {back} in the long run{alone}{loses}"


def _long_run_edge(entry: OddsEntry) -> Fraction:
    return entry.long_run.house_edge if entry.long_run else entry.house_edge
