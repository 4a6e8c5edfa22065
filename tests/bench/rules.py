"""Speed of the rules: rounds settled a second on one core, and the odds of every wager."""

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Final

import msgspec

from bonus.cards import DECK, card_name
from bonus.errors import UserError
from bonus.law.chapter import chapters
from bonus.law.chapter_file import Chapter
from bonus.law.choices import offered
from bonus.settling.table_rules import table_rules
from meters.terminal.console import PlainConsole
from meters.terminal.printing import print_json

_SEED: Final = 649
_ROUNDS_MIN: Final = 1_000
_ROUNDS_MAX: Final = 20_000
_ROUNDS_A_SECOND: Final = 10_000
_ANTE_CENTS: Final = (500, 1_000, 1_500, 2_500, 5_000, 10_000)
_SIDE_CENTS: Final = (500, 1_000, 2_500)
_ODDS_WITHIN_S: Final = 900.0
_PITLINK: Final = (sys.executable, "-P", "-c", "from meters.cli.main import run; run()")
_KIB_PER_MIB: Final = 1024
_METER_CENTS: Final = {"wager": 100, "amount": 1_234_567}


class SettleFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Rounds a second of CPU time of `pitlink settle`, from file to file, without its start."""

    rounds_per_s: int
    rounds_per_s_by_pass: list[int]
    rounds: int
    positions: int
    wagers_a_round: int
    lines_a_round: float


class OddsFigures(msgspec.Struct, frozen=True, kw_only=True):
    """`pitlink odds --json` for all games without a cache; memory of one process."""

    seconds: float
    cpu_seconds: float
    largest_process_mib: int
    entries: int


class RulesReport(msgspec.Struct, frozen=True, kw_only=True):
    """Output of `python -m tests bench --rules`."""

    cores: int
    settle: dict[str, SettleFigures]
    odds: OddsFigures


def measure_rules(*, seconds: float, passes: int) -> None:
    """Measure, and print one JSON object.

    Args:
        seconds: about the time for which a game's rounds are settled in each pass, at most two.
        passes: number of passes over the games. The figures are medians.

    Raises:
        UserError: `pitlink odds` failed.
    """
    console = PlainConsole(stderr=True)
    settle = {}
    for game, chapter in chapters().items():
        console.print(f"settling {game}")
        settle[game] = _settle_figures(chapter, seconds, passes)
    console.print("the odds of everything")
    report = RulesReport(
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1,
        settle=settle,
        odds=_odds_figures(),
    )
    print_json(msgspec.json.format(msgspec.json.encode(report)))


def _settle_figures(chapter: Chapter, seconds: float, passes: int) -> SettleFigures:
    """Measure `pitlink settle` from file to file, without the time of its start.

    Raises:
        UserError: a round was refused.
    """
    count = max(_ROUNDS_MIN, min(_ROUNDS_MAX, round(seconds * _ROUNDS_A_SECOND)))
    rounds = _rounds(chapter, count, random.Random(_SEED))
    rates: list[int] = []
    with tempfile.TemporaryDirectory() as directory:
        source, sink = Path(directory, "rounds"), Path(directory, "settlements")
        source.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in rounds))
        for _ in range(passes):
            start_s = _settle_cpu_s(Path(os.devnull), sink)
            rates.append(round(count / (_settle_cpu_s(source, sink) - start_s)))
        lines = sink.read_bytes().count(b'"item"')
    return SettleFigures(
        rounds_per_s=round(median(rates)),
        rounds_per_s_by_pass=rates,
        rounds=count,
        positions=chapter.deal.positions,
        wagers_a_round=chapter.deal.positions * len(table_rules(chapter, {}).placings),
        lines_a_round=round(lines / count, 1),
    )


def _settle_cpu_s(source: Path, sink: Path) -> float:
    """Return the CPU seconds in which a process settles the rounds of a file.

    Raises:
        UserError: a round was refused.
    """
    began_s = _children_cpu_s()
    with source.open("rb") as rounds, sink.open("wb") as settlements:
        command = [*_PITLINK, "settle"]
        done = subprocess.run(command, stdin=rounds, stdout=settlements, check=False)
    if done.returncode:
        raise UserError("a round of the benchmark was refused")
    return _children_cpu_s() - began_s


def _children_cpu_s() -> float:
    used = os.times()
    return used.children_user + used.children_system


def _rounds(chapter: Chapter, count: int, rng: random.Random) -> Iterator[Mapping[str, object]]:
    """Yield rounds with every position occupied and every wager placed, in usual amounts."""
    deal = chapter.deal
    paytables = _paytables(chapter)
    cards_of = {of for wager in chapter.wager for of in wager.cards}
    for _ in range(count):
        deck = iter([card_name(card) for card in rng.sample(DECK, len(DECK))])

        def dealt(count: int, deck: Iterator[str] = deck) -> list[str]:
            return [next(deck) for _ in range(count)]

        fields: dict[str, object] = {
            "game": chapter.game,
            "paytables": paytables,
            "positions": [
                {
                    "position": at,
                    "patron": f"p{at}",
                    "cards": dealt(deal.hand),
                    "wagers": _wagers(chapter, rng),
                }
                for at in range(1, deal.positions + 1)
            ],
            "dealer": dealt(deal.dealer),
        }
        if any(wager.fourth_card for wager in chapter.wager):
            fields["pair_bonus_community_card"] = dealt(1)[0]
        if "hand_and_all_six" in cards_of:
            fields["all_six_card"] = dealt(1)[0]
        if "hand_and_community" in cards_of:
            fields["community"] = dealt(2)
        if any(wager.draws for wager in chapter.wager):
            fields["draw"] = {"magic_card": card_name(rng.choice(DECK)), "lucky_position": 3}
        meters = {wager.meter: _METER_CENTS for wager in chapter.wager if wager.meter}
        yield {**fields, "meters": meters} if meters else fields


def _wagers(chapter: Chapter, rng: random.Random) -> dict[str, int]:
    main = chapter.main_game
    wagers = {
        name: _METER_CENTS["wager"] if placing.meters else rng.choice(_SIDE_CENTS)
        for name, placing in table_rules(chapter, {}).placings.items()
    }
    ante_cents = rng.choice(_ANTE_CENTS)
    return {**wagers, main.stake: ante_cents, main.follow: main.times[-1] * ante_cents}


def _paytables(chapter: Chapter) -> dict[str, object]:
    """Return the first choice of each term except the version, and a payout limit if one exists."""
    first = {name: choices[0] for name, choices in offered(chapter).items() if name != "version"}
    return {**first, chapter.limit.choice: 5_000_000} if chapter.limit else dict(first)


def _odds_figures() -> OddsFigures:
    """Run `pitlink odds` for all games in a separate process.

    Raises:
        UserError: it failed.
    """
    import resource  # noqa: PLC0415  (it is not there on every system)

    command = [*_PITLINK, "odds", "--json", "--no-cache"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, timeout=_ODDS_WITHIN_S, check=False)
    seconds = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise UserError(f"pitlink odds ended with status {done.returncode}")
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return OddsFigures(
        seconds=round(seconds, 1),
        cpu_seconds=round(cpu_s, 1),
        largest_process_mib=after.ru_maxrss // _KIB_PER_MIB,
        entries=len(msgspec.json.decode(done.stdout, type=list[msgspec.Raw])),
    )
