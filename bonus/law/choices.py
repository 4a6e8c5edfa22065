"""Checks of the choices (paytables, options) that a casino declares in its Rules Submission."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from bonus.errors import nearest
from bonus.law.chapter_file import Bonus, Chapter, Limit, MiniRoyal, PrintedTable
from bonus.law.paytables import read_cents, read_times

MINI_ROYAL: Final = "mini_royal"
VERSION: Final = "version"

_ODDS_MAX: Final = 200_000
"""The highest odds to 1 in any chapter. Payouts at these odds stay below 2**53 cents."""

Choices = Mapping[str, str | int | Mapping[str, int]]


def offered(chapter: Chapter) -> dict[str, dict[str, str]]:
    """Return the options of each choice, and the subsection that allows each option.

    The odds of a mini-royal and the payout limit are numbers, so they are not included.
    """
    found = {bonus.choice: _options(bonus.table) for bonus in chapter.main_bonuses if bonus.choice}
    for wager in chapter.wager:
        if options := _options((wager.fourth_card or wager).table):
            found[wager.names[0]] = options
        if wager.readings:
            rules = ", ".join(dict.fromkeys(table.rule for table in wager.table))
            found[wager.readings.choice] = dict.fromkeys(wager.readings.rankings, rules)
    if chapter.version:
        found[VERSION] = {version.name: version.rule for version in chapter.version}
    return found


def _options(tables: Iterable[PrintedTable]) -> dict[str, str]:
    return {choice: table.rule for table in tables for choice in table.choices}


def mini_royals(chapter: Chapter) -> dict[str, MiniRoyal]:
    """Return the optional mini-royal odds (649a.12(g)) by the wager or bonus that can have them."""
    found = {bonus.item: bonus.mini_royal for bonus in chapter.main_bonuses if bonus.mini_royal}
    found |= {wager.names[0]: wager.mini_royal for wager in chapter.wager if wager.mini_royal}
    return found


def choice_problem(
    chapter: Chapter, name: str, choice: object, chosen: Mapping[str, object]
) -> str | None:
    """Return why a chapter does not allow a choice, with the subsection; None if it is allowed.

    ``chosen`` are all choices of the table.
    """
    royals = mini_royals(chapter)
    if name == MINI_ROYAL and royals:
        return _mini_royal_problem(chapter, royals, choice, chosen)
    if chapter.limit and name == chapter.limit.choice:
        return _limit_problem(chapter.limit, choice)
    choices = offered(chapter)
    if name not in choices:
        known = [*choices, *([chapter.limit.choice] if chapter.limit else [])]
        return f"{chapter.game} has no choice {name}{nearest(name, known)} ({chapter.chapter}.12)"
    if not isinstance(choice, str | int) or str(choice) not in choices[name]:
        rules = ", ".join(dict.fromkeys(choices[name].values()))
        if name == VERSION:
            rules = _versions_rule(chapter)
        return f"{name} is offered as {', '.join(choices[name])}, not {choice} ({rules})"
    for bonus in chapter.main_bonuses:
        if bonus.choice == name:
            return _version_problem(chapter, bonus, str(choice), chosen)
    return None


def _version_problem(
    chapter: Chapter, bonus: Bonus, choice: str, chosen: Mapping[str, object]
) -> str | None:
    """Check that a table pays by 649a.12(c) if and only if it has a version (reading T2)."""
    of_versions = [table for table in bonus.table if table.version]
    table = _table_of(bonus.table, choice)
    if not of_versions or table is None or table.version == (VERSION in chosen):
        return None
    names = [version.name for version in chapter.version]
    versions = _versions_rule(chapter)
    if table.version:
        needed = f"the paytables of {table.rule} need a version of {versions}"
        return f"{needed}: choose version {_either(names)}"
    if str(chosen[VERSION]) not in names:
        return None  # the version itself is refused
    rules = _either(list(dict.fromkeys(each.rule for each in of_versions)))
    return (
        f"a table with a version of {versions} pays by {rules}: choose"
        f" {_either(list(_options(of_versions)))}, or leave {VERSION} out"
    )


def _either(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def _limit_problem(limit: Limit, choice: object) -> str | None:
    """Return why a limit is not allowed: 679a.12(h) and 682a.12(g) set a minimum (reading G6)."""
    least_cents = read_cents(limit.least)
    if not isinstance(choice, int):
        return f"a {limit.choice} is a whole number of cents ({limit.rule})"
    if choice >= least_cents:
        return None
    return f"a {limit.choice} is at least {least_cents} cents ({limit.least}, {limit.rule})"


def _mini_royal_problem(
    chapter: Chapter, royals: Mapping[str, MiniRoyal], choice: object, chosen: Mapping[str, object]
) -> str | None:
    if not isinstance(choice, Mapping):
        return f"{MINI_ROYAL} needs odds under the name {' or '.join(royals)}, not {choice}"
    for item, times in choice.items():
        royal = royals.get(str(item))
        if royal is None:
            rule = next(iter(royals.values())).rule.rpartition("(")[0]
            return (
                f"a mini-royal can be added only to {' or '.join(royals)}, not to {item} ({rule})"
            )
        least = read_times(royal.least, "to")
        if not isinstance(times, int) or times < least:
            return f"{MINI_ROYAL} pays at least {royal.least} for {item} ({royal.rule})"
        if times > _ODDS_MAX:
            return f"{MINI_ROYAL} pays at most {_ODDS_MAX:,} to 1 for {item}"
        for bonus in chapter.main_bonuses:
            table = _table_of(bonus.table, str(chosen.get(bonus.choice)))
            if bonus.item == item and table and table.rule != royal.among:
                return (
                    f"a mini-royal can be added only to the paytables of {royal.among}, not to"
                    f" those of {table.rule} (reading T4)"
                )
    return None


def _versions_rule(chapter: Chapter) -> str:
    return chapter.version[0].rule.rpartition("(")[0]


def _table_of(tables: Sequence[PrintedTable], choice: str) -> PrintedTable | None:
    return next((table for table in tables if choice in table.choices), None)
