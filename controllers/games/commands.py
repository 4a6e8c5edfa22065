"""`pitlink game`: a first game file, and rounds that try one."""

import secrets
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Annotated, Final, TypeVar, cast, get_args

import typer

from bonus.errors import UserError
from bonus.law.paytables import ChapterError, read_rate_bps
from bonus.odds.odds_entries import OddsEntry
from bonus.printable import unprintable_problem
from controllers.games.first_file import FIVE_OF, Decides, FirstGame, NamedChance, data_name
from controllers.games.trial_floor import read_trial_floor
from controllers.games.trial_rounds import Trial
from controllers.games.trial_text import (
    first_entries,
    meters_text,
    odds_lines,
    round_text,
    tally_table,
)
from meters.floor.game_files import parse_game
from meters.process.console import PlainConsole, begin_bar, progress_bar
from meters.process.printing import print_error, print_text

_PLAIN_WIDTH: Final = 100
_SEEDS: Final = 10**9
_Answer = TypeVar("_Answer")

game: Final = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Write a game of the house, and try it without a floor.",
)


@game.command()
def new(
    directory: Annotated[
        Path, typer.Argument(metavar="DIRECTORY", help="The directory of the game files.")
    ] = Path("games"),
) -> None:
    """Ask a few questions, and write a first game file.

    The file has one progressive wager with a usual paytable. Adjust it in an editor, and try it
    with **pitlink game try**. If standard input is not a terminal, its lines are the answers.

    Example: **pitlink game new games**
    """
    title = _ask("What is the game called?", "Lucky Five", _title)
    path = directory / f"{data_name(title)}.toml"
    if path.exists():
        raise UserError(f"{path} exists already: give the game another name")
    made = _asked(title)
    text = made.text()
    parsed = parse_game(text, made.name)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UserError(f"{path} exists already: give the game another name") from None
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}") from None
    print_text(f"{parsed.title} is in {path}: adjust it there. Try it: pitlink game try {path}")
    trial = Trial.of(read_trial_floor(path), 0)
    for line in odds_lines(trial, first_entries(parsed)):
        print_text(line)


@game.command("try")
def try_game(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The game file.")],
    *,
    rounds: Annotated[
        int | None,
        typer.Option(min=1, max=1_000_000, help="Play so many rounds, and print only the sums."),
    ] = None,
    wager: Annotated[
        list[int] | None,
        typer.Option(
            min=1,
            metavar="CENTS",
            help="The amount of each wager on a meter, in cents: 500 is $5. If it is given more"
            " than once, bots also make the smaller wagers.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Repeat an earlier trial, which printed its seed."),
    ] = None,
) -> None:
    """Deal rounds of a game file, and show settlement and odds.

    The rounds need no floor. Bots wager and deal at one table, whose meters begin at their seeds.
    After each round, touch Enter for the next; **j** is a round with a jackpot, a number plays so
    many rounds, and **q** ends the trial. If standard input is not a terminal, its lines are these
    answers.

    - **pitlink game try games/lucky_five.toml**
    - **pitlink game try games/lucky_five.toml --rounds 20000**: what comes back, beside the exact
    odds.
    """
    floor = read_trial_floor(file, wager or ())
    seed = secrets.randbelow(_SEEDS) if seed is None else seed
    trial = Trial.of(floor, seed)
    entries = first_entries(trial.layout.rules.chapter)
    console = PlainConsole(width=_PLAIN_WIDTH)
    console.print_line(f"{floor.games[trial.layout.game].title}, seed {seed}: {meters_text(trial)}")
    for line in odds_lines(trial, entries):
        console.print_line(line)
    if rounds:
        _play(trial, rounds)
    else:
        _converse(trial, console)
    _show_tallies(trial, entries, console)


def _converse(trial: Trial, console: PlainConsole) -> None:
    played = 0
    while True:
        prompt = "Enter: a round, j: a jackpot, a number: so many rounds, q: end"
        answer = _line(prompt)
        if answer is None and not played and not (sys.stdin and sys.stdin.isatty()):
            reason = "standard input is no terminal and has no line, so no round was played"
            raise UserError(f"{reason}: write --rounds 1000", exit_status=2)
        if answer in {None, "q"}:
            return
        if answer and answer.isdigit() and 0 < int(answer) <= _SEEDS:
            played += int(answer)
            _play(trial, int(answer))
            console.print_line(f"After {played:,} rounds: {meters_text(trial)}")
            continue
        if answer not in {"", "j"}:
            print_error(f"{answer!r} is none of these: {prompt}")
            continue
        tried, played = trial.play(stacked=answer == "j"), played + 1
        stacked = ", with a jackpot, so the sums at the end leave it out" if answer == "j" else ""
        console.print_line(f"Round {played:,}{stacked}")
        for line in round_text(trial.layout, tried):
            console.print_line(f"  {line}")
        console.print_line(f"  {meters_text(trial)}")


def _play(trial: Trial, rounds: int) -> None:
    with progress_bar() as progress:
        advance = begin_bar(progress, "rounds", "rounds")
        for done in range(rounds):
            trial.play()
            if done % 256 == 0:
                advance(done, rounds)


def _show_tallies(trial: Trial, entries: Sequence[OddsEntry], console: PlainConsole) -> None:
    if any(tally.wagers for tally in trial.tallies.values()):
        console.print(tally_table(trial, entries))


def _line(prompt: str) -> str | None:
    """Return the next line of standard input; None at its end."""
    if sys.stdin is None:
        return None
    if sys.stdin.isatty():
        print_error(prompt)
    text = sys.stdin.readline()
    return text.strip() if text else None


def _ask(question: str, default: str, check: Callable[[str], _Answer]) -> _Answer:
    while True:
        try:
            return check(typer.prompt(question, default=default, type=str).strip())
        except UserError as error:
            if not sys.stdin.isatty():
                raise
            print_error(f"{error}: try again")


def _asked(title: str) -> FirstGame:
    decides = _ask(
        "What decides the progressive wager: cards, a result of the whole table (such as a roll of"
        " dice), or a result of each position? cards, table or position",
        "cards",
        _decides,
    )
    hand, community, source = 0, 0, ""
    results: list[NamedChance] = []
    if decides == "cards":
        hand = _ask("How many cards has each position?", "5", _number(1, 7))
        shared = "How many community cards complete the hand?"
        community = _ask(shared, "0", lambda text: _cards(hand, _number(0, 7)(text)))
    else:
        question = "The results that can win, the best first, with commas between them"
        names = _ask(question, "Dragon 7, Panda 8", _names)
        for name in names:
            left = 1 - sum((Fraction(each.chance) for each in results), Fraction())
            question = f"The chance of {name}, as a fraction"
            results.append(NamedChance(name, _ask(question, "1/44", partial(_chance, left))))
        where = "Where do these chances come from?"
        source = _ask(where, "counted by the house", _printable)
    seed = "The seed of the jackpot for each $1 of the wager, in dollars"
    return FirstGame(
        title,
        decides,
        hand,
        community,
        results,
        source,
        _ask(seed, "10000", _number(1, 10_000_000)),
        _ask("The part of each wager that goes to the jackpot", "15%", _rate),
    )


def _title(text: str) -> str:
    text = _printable(text)
    if not data_name(text):
        raise UserError("a name begins with a letter from A to Z")
    return text


def _printable(text: str) -> str:
    if not text or '"' in text or "\\" in text or unprintable_problem(text):
        raise UserError("write a text without quotes, backslashes and control characters")
    return text


def _decides(text: str) -> Decides:
    if text not in get_args(Decides):
        raise UserError("answer cards, table or position")
    return cast("Decides", text)


def _number(least: int, most: int) -> Callable[[str], int]:
    def check(text: str) -> int:
        digits = text.replace(",", "").removeprefix("$")
        if not digits.isdigit() or not least <= int(digits[:20]) <= most:
            raise UserError(f"write a whole number from {least:,} to {most:,}")
        return int(digits)

    return check


def _cards(hand: int, community: int) -> int:
    if hand + community != 3 and hand + community not in FIVE_OF:
        raise UserError(
            f"{hand + community} cards form no hand here: together, 3 or {FIVE_OF.start} to"
            f" {FIVE_OF.stop - 1} do"
        )
    return community


def _names(text: str) -> list[str]:
    names = [data_name(each) for each in text.split(",")]
    if not all(names) or len(set(names)) < len(names):
        raise UserError("write different names, each beginning with a letter")
    return names


def _chance(left: Fraction, text: str) -> str:
    parts = text.replace(",", "").split("/")
    if len(parts) != 2 or not all(part.isdigit() and int(part[:99]) for part in parts):
        raise UserError("write a fraction such as 1/38")
    if Fraction(*map(int, parts)) >= left:
        raise UserError(f"the results together must leave a chance for Other: less than {left}")
    return "/".join(parts)


def _rate(text: str) -> str:
    try:
        read_rate_bps(text)
    except ChapterError as error:
        raise UserError(str(error)) from None
    return text
