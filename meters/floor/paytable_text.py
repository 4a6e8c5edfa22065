"""Texts that show patrons what each hand wins (duty D1), by the present terms of the link."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bonus.display import hand_words, percent_text, short_money
from bonus.law.meter_terms import MeterTerms, Row
from meters.floor.floor_file import Meter

_ENVY: Final = "Envy Bonus"


@dataclass(frozen=True, slots=True)
class Pays:
    """A paytable for patrons: what each hand wins, in one game or in several games.

    `columns` are the headings after that of the hands. `rows` have the name of each hand and its
    cells, the highest first, and at the end the draws. Amounts are in dollars, for one wager.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    has_envy: bool


@dataclass(frozen=True, slots=True)
class _GamePays:
    """Payouts of each hand in one game; `hands` are those that have any, the highest first."""

    hands: tuple[str, ...]
    wins: Mapping[str, str]
    envy: Mapping[str, str]

    @property
    def has_envy(self) -> bool:
        return any(self.envy.values())


def pays_of(meter: Meter) -> Pays:
    """Return the paytable of a meter; games that pay differently have columns of their own."""
    games = {game: _pays_in(meter, game) for game in _games_of(meter)}
    first, *others = games.values()
    shown = {"Wins": first}
    if any(pays != first for pays in others):
        shown = {meter.games[game].title: pays for game, pays in games.items()}
    columns = [
        column
        for title, pays in shown.items()
        for column in ([title, _ENVY] if pays.has_envy else [title])
    ]
    rows = [
        (hand_words(hand), *(cell for pays in shown.values() for cell in _cells(pays, hand)))
        for hand in _merged(pays.wins for pays in shown.values())
        if any(hand in pays.hands for pays in shown.values())
    ]
    terms = meter.terms
    if meter.magic_card_every:
        rows.append(("Magic Card", _dollars(meter, terms.magic_card_for_1)))
    if meter.lucky_every:
        rows.append(("Lucky Bonus", _dollars(meter, terms.lucky_bonus_for_1)))
    filled = tuple((*row, *("" for _ in columns[len(row) - 1 :])) for row in rows)
    return Pays(tuple(columns), filled, _ENVY in columns)


def winners_of(meter: Meter) -> str:
    """Return the hands that win a percentage of the meter, in a line for each differing game.

    A display can break a line between words, but not before a percentage.
    """
    won = {game: _winners_in(meter, game) for game in _games_of(meter)}
    first, *others = won.values()
    if all(hands == first for hands in others):
        return f"Wins: {first}"
    return "\n".join(f"{meter.games[game].title}: {hands}" for game, hands in won.items() if hands)


def _games_of(meter: Meter) -> tuple[str, ...]:
    """Return the games that feed a meter; an empty name is the first game with such a meter."""
    return meter.fed_in or ("",)


def _pays_in(meter: Meter, game: str) -> _GamePays:
    terms = meter.terms_in(game)
    # The meters (tiers) of the wager, the highest first. What the wager pays at odds is shown with
    # the first. An Envy Bonus is shown once, with the first meter where its hand is shown.
    fed = meter.games.meters.terms[terms.wagers[0]].fed
    wins = {hand: " + ".join(_wins(meter, row, fed)) for hand, row in terms.rows.items()}
    envy = {
        hand: short_money(row.envy_cents)
        if row.envy_cents and meter.kind == _first_shown(row, fed)
        else ""
        for hand, row in terms.rows.items()
    }
    shown = {hand: wins[hand] or envy[hand] for hand in terms.rows}
    return _GamePays(_shown(terms, shown), wins, envy)


def _first_shown(row: Row, fed: Sequence[str]) -> str:
    if row.for_1 or row.sum_cents:
        return fed[0]
    return next((kind for kind in fed if row.percent_of(kind)), fed[0])


def _winners_in(meter: Meter, game: str) -> str:
    terms = meter.terms_in(game)
    percents = {hand: row.percent_of(meter.kind) for hand, row in terms.rows.items()}
    return "; ".join(
        f"{hand_words(hand)}\N{NO-BREAK SPACE}{percent_text(percents[hand])}%"
        for hand in _shown(terms, percents)
    )


def _shown(terms: MeterTerms, wins: Mapping[str, object]) -> tuple[str, ...]:
    """Return the hands with a text in `wins`, highest first; royals can share a row."""
    return tuple(dict.fromkeys(row.hand for hand, row in terms.rows.items() if wins[hand]))


def _merged(rankings: Iterable[Iterable[str]]) -> list[str]:
    found: list[str] = []
    for hands in rankings:
        at = 0
        for hand in hands:
            if hand not in found:
                found.insert(at, hand)
            at = found.index(hand) + 1
    return found


def _cells(pays: _GamePays, hand: str) -> Iterator[str]:
    yield pays.wins.get(hand, "")
    if pays.has_envy:
        yield pays.envy.get(hand, "")


def _wins(meter: Meter, row: Row, fed: Sequence[str]) -> Iterator[str]:
    if percent := row.percent_of(meter.kind):
        yield f"{percent_text(percent)}% of the meter"
    if meter.kind == fed[0] and (fixed_cents := row.fixed_cents(meter.wager)):
        yield short_money(fixed_cents)


def _dollars(meter: Meter, for_1: int) -> str:
    return short_money(for_1 * meter.wager)
