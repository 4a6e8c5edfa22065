"""The paytables among which a table's Rules Submission chooses, as the floor file names them."""

from collections.abc import Mapping
from typing import Final

from meters.wire.mistakes import nearest

_CHOICES: Final[Mapping[str, Mapping[str, str]]] = {
    "three_card_poker": {
        "ante_bonus": "b-A b-B b-C c-A c-B c-C",
        "pair_plus": "A B C D E",
        "progressive": "A B",
        "six_card_bonus": "A B C D E",
        "version": "1 2 3",
    },
    "three_card_prime": {"bad_beat": "A B C D", "pair_bonus": "A B C D", "all_six": "A B C D E"},
    "four_card_prime": {
        "bad_beat": "A B C D",
        "prime": "A B",
        "aces_bonus": "A B C D E F G H",
        "aces_bonus_reading": "five_cards best_four",
        "all_six": "A B C D E",
    },
}
_PAYOUT_LIMIT_LEAST_CENTS: Final = 5_000_000
_MINI_ROYAL_LEAST: Final = {"ante_bonus": 5, "pair_plus": 40}


def choice_problem(
    game: str, wager: str, choice: object, chosen: Mapping[str, object]
) -> str | None:
    """Why a table's choice cannot be, or None.

    Args:
        game: the table's game.
        wager: what is chosen for.
        choice: what is chosen.
        chosen: all choices of the table.
    """
    if wager == "payout_limit" and game != "three_card_poker":
        return _payout_limit_problem(choice)
    if wager == "mini_royal" and game == "three_card_poker":
        return _mini_royal_problem(choice)
    offered = _CHOICES[game].get(wager, "").split()
    if not offered:
        return f"{game} has no choice {wager}{nearest(wager, _CHOICES[game])}"
    if str(choice) not in offered:
        return f"{wager} is offered as {', '.join(offered)}, not {choice}"
    if str(choice).startswith("c-") and "version" not in chosen:
        return "the tables of 649a.12(c) go with a version of 649a.7(e): give version 1, 2 or 3"
    return None


def _payout_limit_problem(choice: object) -> str | None:
    """Reading G6: the aggregate limit of 679a.12(h) and 682a.12(g)."""
    if isinstance(choice, int) and choice >= _PAYOUT_LIMIT_LEAST_CENTS:
        return None
    return f"a payout_limit is at least {_PAYOUT_LIMIT_LEAST_CENTS} cents ($50,000)"


def _mini_royal_problem(choice: object) -> str | None:
    if isinstance(choice, dict) and all(
        key in _MINI_ROYAL_LEAST and odds >= _MINI_ROYAL_LEAST[key] for key, odds in choice.items()
    ):
        return None
    return "mini_royal pays at least 5 to 1 as ante_bonus, 40 to 1 as pair_plus (649a.12(g))"
