"""Selection of odds by names; the refusal of an unknown name lists the known ones."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bonus.errors import UserError, nearest
from bonus.odds.offers import Offer

_WRONG_USAGE = 2


@dataclass(frozen=True, slots=True)
class OddsQuery:
    """Names of games, wagers and paytables whose odds a user wants.

    An offer is selected if it matches each list that is not empty.
    """

    games: Sequence[str] = ()
    wagers: Sequence[str] = ()
    paytables: Sequence[str] = ()


def asked_for(offers: Sequence[Offer], query: OddsQuery) -> list[Offer]:
    """Return the offers that a query selects; a name that no offer has is a UserError."""
    of_games = _named(offers, [offer.chapter.game for offer in offers], query.games, "game")
    for offer in of_games:
        for name in query.wagers:
            if name in _beside(offer):
                reason = f"{name} is part of {offer.chapter.main_game.stake}: ask for that wager"
                raise UserError(reason, exit_status=_WRONG_USAGE)
    of_wagers = _named(of_games, [offer.wager for offer in of_games], query.wagers, "wager")
    letters = [offer.paytable or "" for offer in of_wagers]
    return _named(of_wagers, letters, query.paytables, "paytable")


def _beside(offer: Offer) -> set[str]:
    """Return the names in a main game that a query must not use.

    A query selects a main game by the name of its first wager. The others are the second wager, and
    the bonuses with their choices.
    """
    bonuses = offer.chapter.main_bonuses
    names = {name for bonus in bonuses for name in (bonus.item, bonus.choice)}
    return {*offer.chapter.main_wagers[1:], *names}


def _named(
    offers: Sequence[Offer], names: Sequence[str], wanted: Sequence[str], what: str
) -> list[Offer]:
    known = list(dict.fromkeys(name for name in names if name))
    for name in wanted:
        if name not in known:
            raise UserError(_refusal(what, name, known), exit_status=_WRONG_USAGE)
    return [
        offer for offer, name in zip(offers, names, strict=True) if not wanted or name in wanted
    ]


def _refusal(what: str, name: str, known: Iterable[str]) -> str:
    there_is = list(known)
    if not there_is:
        return f"there is no {what} to choose here: leave out {name!r}"
    meant = nearest(name, there_is)
    choices = "" if ": it is one of " in meant else f" There is {', '.join(there_is)}."
    return f"no {what} is called {name!r}{meant}{choices}"
