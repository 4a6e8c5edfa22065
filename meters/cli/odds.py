"""The `odds` command, which prints exact odds.

The command is here because it reads floor files, and the packages of the rules must not read any.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer

from bonus.errors import UserError
from bonus.law.chapter_file import Chapter
from bonus.law.choices import MINI_ROYAL, choice_problem, mini_royals
from bonus.law.games import Games, chapter_games
from bonus.law.paytables import read_times
from bonus.odds.meter_edges import has_tiers
from bonus.odds.odds_entries import OddsEntry, odds_json
from bonus.odds.offers import DrawOdds, OddsQuery, Offer, asked_for, offers_of
from bonus.odds.wager_odds import with_hit_times
from meters.cli.odds_tables import show, show_must_hit_by
from meters.floor.floor_file import Floor, read_floor
from meters.floor.game_files import read_games
from meters.process.console import PlainConsole
from meters.process.printing import print_error, print_json
from meters.selfcheck.floor_offers import floor_offers
from meters.selfcheck.must_hit_by_entries import MustHitByEntry, must_hit_by_entries
from meters.selfcheck.odds_counting import count_entries

_WRONG_USAGE: Final = 2
_PLAIN_WIDTH: Final = 100
_PLOTS: Final = (".png", ".svg", ".pdf")

_EACH = "Only this {what}; may be given more than once."


def odds(
    *,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FLOOR.toml",
            help="Only what the tables of this floor file offer, with its wagers and draws.",
        ),
    ] = None,
    games: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The directory with the game files of the house: print their odds too.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON list, an object for each paytable.")
    ] = False,
    game: Annotated[
        list[str] | None,
        typer.Option(metavar="GAME", help=_EACH.format(what="game, such as three_card_poker")),
    ] = None,
    wager: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WAGER",
            help=_EACH.format(what="wager, such as pair_plus")
            + " The wager of a main game is ante.",
        ),
    ] = None,
    paytable: Annotated[
        list[str] | None,
        typer.Option(metavar="CHOICE", help=_EACH.format(what="paytable, such as A or b-A")),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.png",
            help="Also plot the edge against the meter of each progressive that is shown, if its"
            " edge depends on one meter alone.",
        ),
    ] = None,
    magic_card_every: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="ROUNDS",
            help="The average number of rounds for one Magic Card; 0, the default: never.",
        ),
    ] = None,
    lucky_every: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="ROUNDS",
            help="The average number of rounds for one Lucky position; 0, the default: never.",
        ),
    ] = None,
    positions: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=7,
            metavar="N",
            help="The Lucky position is one of N positions, or the dealer; 7 by default.",
        ),
    ] = None,
    mini_royal_ante_bonus: Annotated[
        int | None,
        typer.Option(
            metavar="ODDS",
            help="The odds to 1 of a mini-royal as an Ante Bonus: at least 5, which is the default"
            " (649a.12(g)(1)).",
        ),
    ] = None,
    mini_royal_pair_plus: Annotated[
        int | None,
        typer.Option(
            metavar="ODDS",
            help="The odds to 1 of a mini-royal on Pair Plus: at least 40, which is the default"
            " (649a.12(g)(2)).",
        ),
    ] = None,
    rounds_per_hour: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1_000_000,
            metavar="N",
            help="Also show the average time between hits of each meter, if all tables together"
            " make N wagers on it in an hour. The times of a game are true only if all N are wagers"
            " of this game.",
        ),
    ] = None,
    no_cache: Annotated[
        bool,
        typer.Option(
            "--no-cache", help="Count everything again, and keep nothing for the next time."
        ),
    ] = False,
) -> None:
    """Print the exact odds of every wager and paytable.

    The house edge is an exact fraction of the wager, counted over every deal. For a main game, the
    house edge is a fraction of the Ante, under the optimal strategy, which the command prints in
    words. For a progressive, the command prints the edge with the meter at its seed, and
    the edge as a function of the meter. It also prints the amount of the meter at which the house
    has no edge left, with and without Envy Bonuses.

    Without options, the command prints the three games of the law. It keeps counts in the user's
    cache directory, so the next run needs only a second or two.

    - **pitlink odds --game four_card_prime**: a game with all its wagers.
    - **pitlink odds --wager pair_plus --paytable D --json**: one paytable, for another program.
    - **pitlink odds --wager five_card_progressive --plot edge.png**: the edge as the meter rises.
    - **pitlink odds --wager progressive --rounds-per-hour 600**: the time between hits, too.
    - **pitlink odds --config FLOOR.toml**: the wagers that a floor's tables offer, with the
    paytables that these tables have chosen.
    """
    royals = {"ante_bonus": mini_royal_ante_bonus, "pair_plus": mini_royal_pair_plus}
    known = read_games(games) if games else chapter_games()
    hidden: Sequence[MustHitByEntry] = ()
    if config is None:
        draws = DrawOdds(
            magic_card_every=magic_card_every or 0,
            lucky_every=lucky_every or 0,
            positions=positions or DrawOdds().positions,
        )
        offers = [
            offer
            for chapter in known.values()
            for offer in offers_of(chapter, _mini_royal(chapter, royals), draws)
        ]
    else:
        floor, offers = _config_offers(
            config, games, (magic_card_every, lucky_every, positions), royals
        )
        known = floor.games
        if not (game or paytable):
            hidden = [one for one in must_hit_by_entries(floor) if _is_asked(one, wager)]
    wanted = asked_for(offers, OddsQuery(game or (), wager or (), paytable or ()))
    if plot:
        _check_plot(plot, wanted)
    entries = count_entries(wanted, "odds", keep=not no_cache)
    if rounds_per_hour:
        entries = [
            with_hit_times(entry, offer.tables, rounds_per_hour)
            if offer.tables and offer.tables.fed
            else entry
            for entry, offer in zip(entries, wanted, strict=True)
        ]
    if plot:
        _plot(entries, plot, known)
    _print(entries, hidden, known, as_json=as_json)


def _is_asked(entry: MustHitByEntry, wagers: Sequence[str] | None) -> bool:
    return not wagers or not set(wagers).isdisjoint(entry.wagers)


def _config_offers(
    config: Path, games: Path | None, draws: Sequence[int | None], royals: Mapping[str, int | None]
) -> tuple[Floor, list[Offer]]:
    """Return a floor file, and its offers (wagers with a paytable).

    Raises:
        UserError: an option sets what the floor file sets, or no table offers a wager.
    """
    if any(option is not None for option in (*draws, *royals.values())):
        reason = (
            "--config already sets the draws and the mini-royal odds: leave out the options for"
            " them, or leave out --config"
        )
        raise UserError(reason, exit_status=_WRONG_USAGE)
    if games:
        reason = "the floor file names its games: leave out --games or --config"
        raise UserError(reason, exit_status=_WRONG_USAGE)
    floor = read_floor(config)
    offers = floor_offers(floor)
    if not offers:
        raise UserError(f"{config} has no table that has chosen a paytable, so nothing is offered")
    return floor, offers


def _mini_royal(chapter: Chapter, given: dict[str, int | None]) -> dict[str, int]:
    """Return, for each bonus that pays a mini-royal, the odds "to 1" that it pays."""
    found = {}
    for item, royal in mini_royals(chapter).items():
        least = read_times(royal.least, "to")
        times = given.get(item)
        if times is not None:
            problem = choice_problem(chapter, MINI_ROYAL, {item: times}, {})
            if problem:
                raise UserError(f"{problem}, not {times} to 1", exit_status=_WRONG_USAGE)
        found[item] = least if times is None else times
    return found


def _check_plot(path: Path, offers: Sequence[Offer]) -> None:
    """Raise `UserError` if the odds cannot be plotted to a path, before they are counted."""
    fed = [offer.tables for offer in offers if offer.tables and offer.tables.fed]
    reason = ""
    if not fed:
        reason = "none of the wagers shown feeds a meter, so there is nothing to plot"
    elif all(has_tiers(tables) for tables in fed):
        reason = (
            "each wager shown feeds several meters or can win a fixed sum: a plot needs a wager"
            " whose edge depends on one meter alone"
        )
    elif path.suffix not in _PLOTS:
        reason = f"a plot is a file that ends in {', '.join(_PLOTS)}"
    elif path.exists() and not path.is_file():
        reason = "the path exists but is not a file"
    elif not path.parent.is_dir():
        reason = f"there is no directory {path.parent}"
    if reason:
        raise UserError(f"--plot {path}: {reason}", exit_status=_WRONG_USAGE)


def _plot(entries: Sequence[OddsEntry], path: Path, games: Games) -> None:
    from meters.cli.odds_plot import plot_edges  # noqa: PLC0415  (matplotlib is slow to import)

    try:
        plot_edges(entries, path, games)
    except OSError as error:
        raise UserError(f"--plot {path}: cannot be written: {error.strerror}") from None
    print_error(f"pitlink odds: the plot is in {path}")


def _print(
    entries: Sequence[OddsEntry], hidden: Sequence[MustHitByEntry], games: Games, *, as_json: bool
) -> None:
    try:
        if as_json:
            lines = [*map(odds_json, entries), *map(msgspec.json.encode, hidden)]
            print_json(b"[\n" + b",\n".join(lines) + b"\n]")
        else:
            console = PlainConsole(width=_PLAIN_WIDTH)
            show(entries, console, games)
            show_must_hit_by(hidden, console)
        sys.stdout.flush()
    except BrokenPipeError:
        raise  # the program that reads the output has closed the pipe
    except OSError as error:
        raise UserError(f"the odds cannot be written: {error.strerror}") from None
