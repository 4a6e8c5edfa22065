from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from bonus.cards import ACE, Card, rank_of
from bonus.hands.rankings import COMPARES
from bonus.law.chapter_file import Main
from bonus.odds.dealer_duels import Duel

FOLD: Final = 0
"""The wager after the Ante, as a multiple of the Ante, if a strategy folds the hand."""

_RANK_NAMES: Final = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "jack", "queen", "king", "ace",
)  # fmt: skip
_NUMBER_NAMES: Final = ("no", "one", "two", "three", "four")
_PLAYING: Final = {"three_card": 3, "four_card": 4}


@dataclass(frozen=True, slots=True)
class NamedStrength:
    """Name of a strength: "a pair of tens with ace-three", of the group "a pair of tens"."""

    group: str
    full: str


def name_hand(ranking: str, cards: Sequence[Card]) -> NamedStrength:
    """Return the name, in words, of the best hand of a ranking that cards form.

    >>> from bonus.cards import parse_card
    >>> name_hand("three_card", [parse_card(name) for name in ("6c", "Qd", "4h")]).full
    'queen-six-four'
    """
    compare = COMPARES[ranking]
    hand, strength = compare(cards)
    playing = next(
        chosen
        for chosen in combinations(cards, _PLAYING[ranking])
        if compare(chosen)[1] == strength
    )
    held = [rank_of(card) for card in playing]
    ranks = sorted(held, key=lambda rank: (held.count(rank), rank), reverse=True)
    top = _RANK_NAMES[ranks[1] if ranks[0] == ACE and ranks[-1] == 0 else ranks[0]]
    names = [_RANK_NAMES[rank] for rank in ranks]
    group, full = _group_and_full(hand.value, names, top)
    return NamedStrength(group, full)


def _group_and_full(hand: str, names: list[str], top: str) -> tuple[str, str]:
    # `names` are the ranks, the most frequent first; `top` is the highest rank of a straight.
    many, last = _plural(names[0]), _plural(names[-1])
    straight = f"a straight to the {top}"
    three = f"three {many}"
    pair = f"a pair of {many}"
    both = f"two pairs, {many} and {last}"
    return {
        "high_card": (f"{names[0]} high", "-".join(names)),
        "pair": (pair, f"{pair} with {'-'.join(names[2:])}"),
        "two_pair": (both, both),
        "flush": (f"a flush, {names[0]} high", f"a flush of {'-'.join(names)}"),
        "straight": (straight, straight),
        "three_of_a_kind": (three, " with ".join([three, *names[3:]])),
        "four_of_a_kind": (f"four {many}", f"four {many}"),
    }.get(hand, (f"a straight flush to the {top}", f"a straight flush to the {top}"))


def strategy_in_words(
    ranking: str, main: Main, duel: Duel, times: npt.NDArray[np.int64]
) -> tuple[str, ...]:
    """Return a sentence for each wager after the Ante, and one for the hands that are folded.

    Hands of equal strength are sometimes played in different ways, because of suits or of cards
    that are not part of the best hand. The sentence then says with how many of these hands the
    player makes the wager. For each row of ``duel``, ``times`` has the wager after the Ante as a
    multiple of the Ante; 0 is a fold.
    """
    chosen = _chosen(duel, times)
    names = {
        strength: name_hand(ranking, [Card(card) for card in duel.examples[strength]])
        for strength in chosen
    }
    used = {wager for counts in chosen.values() for wager in counts}
    verb = main.follow.capitalize()
    all_play = all(len(cards) == _PLAYING[ranking] for cards in duel.examples.values())
    decides = "the suits decide" if all_play else "the suits and the cards that do not play decide"
    sentences: list[str] = []
    for wager in sorted(used - {FOLD}, reverse=True):
        often = "1 time" if wager == 1 else f"{wager} times"
        act = verb if len(main.times) == 1 else f"{verb} {often} the Ante"
        share = _Share(chosen, names, wager)
        suits = _suits_that_play(duel, times, wager) if all_play else None
        sentences.append(f"{act} {_with_which(share, decides, suits, rest=bool(sentences))}.")
    if FOLD in used:
        sentences.append("Fold everything else.")
    return tuple(sentences)


class _Share:
    """For each strength, the number of all hands (`all`) and of `played` hands.

    A hand is played if the player makes at least the wager `wager`, a multiple of the Ante, on it.
    """

    def __init__(
        self, chosen: dict[int, Counter[int]], names: dict[int, NamedStrength], wager: int
    ) -> None:
        self.names = names
        self.strengths = sorted(chosen, reverse=True)
        self.all = {at: counts.total() for at, counts in chosen.items()}
        self.played = {
            at: sum(number for times, number in counts.items() if times >= wager)
            for at, counts in chosen.items()
        }

    def split(self) -> tuple[list[int], list[int]]:
        """Return the strengths that are always played with the wager, and the lower strengths.

        The second list ends with the lowest strength with which the player ever makes the wager.
        """
        whole = next(
            (index for index, at in enumerate(self.strengths) if self.played[at] < self.all[at]),
            len(self.strengths),
        )
        some = max(
            (index + 1 for index, at in enumerate(self.strengths) if self.played[at]), default=0
        )
        return self.strengths[:whole], self.strengths[whole:some]


def _suits_that_play(duel: Duel, times: npt.NDArray[np.int64], wager: int) -> str | None:
    """Return the numbers of suits with which the player makes the wager, such as "two or three".

    Only strengths whose hands are played in several ways count. Return None if there is no such
    strength, or if the number of suits alone does not decide.
    """
    by_strength: dict[int, dict[bool, set[int]]] = {}
    for strength, suits, made in zip(duel.strength, duel.suits, times.tolist(), strict=True):
        by_strength.setdefault(strength, {}).setdefault(made >= wager, set()).add(len(suits))
    mixed = [found for found in by_strength.values() if len(found) > 1]
    playing = {frozenset(found[True]) for found in mixed}
    if len(playing) != 1 or any(found[True] & found[False] for found in mixed):
        return None
    (counts,) = playing
    return " or ".join(_NUMBER_NAMES[count] for count in sorted(counts))


def mixed_hands(
    ranking: str, duel: Duel, times: npt.NDArray[np.int64]
) -> tuple[tuple[str, dict[int, int]], ...]:
    """Return the strengths whose hands are played in several ways, by name.

    Each name has the number of hands by the wager, a multiple of the Ante; 0 is a fold.
    """
    chosen = _chosen(duel, times)
    return tuple(
        (name_hand(ranking, [Card(card) for card in duel.examples[at]]).full, dict(chosen[at]))
        for at in sorted(chosen, reverse=True)
        if len(chosen[at]) > 1
    )


def _chosen(duel: Duel, times: npt.NDArray[np.int64]) -> dict[int, Counter[int]]:
    chosen: dict[int, Counter[int]] = {}
    for strength, hands, wager in zip(duel.strength, duel.hands, times.tolist(), strict=True):
        chosen.setdefault(strength, Counter())[wager] += hands
    return chosen


def _with_which(share: _Share, decides: str, suits: str | None, *, rest: bool) -> str:
    whole, mixed = share.split()
    parts = []
    if whole:
        lowest = _down_to(share, whole[-1])
        parts.append(f"with the rest down to {lowest}" if rest else f"with {lowest} or better")
    if mixed and suits:
        first, last = share.names[mixed[0]].full, share.names[mixed[-1]].full
        which = first if first == last else f"{first} down to {last}"
        parts.append(f"with {which} in {suits} suits ({_of(share, mixed)} hands)")
    elif mixed:
        parts.append(f"with {_some_of(share, mixed)}, as {decides}")
    return ", and ".join(parts)


def _some_of(share: _Share, mixed: list[int]) -> str:
    groups: dict[str, list[int]] = {}
    for at in mixed:
        groups.setdefault(share.names[at].group, []).append(at)
    first, last = share.names[mixed[0]].full, share.names[mixed[-1]].full
    words = f"{_of(share, mixed)} hands of {first}"
    if len(mixed) > 1:
        words += f" down to {last}"
    if len(groups) > 1:
        each = "; ".join(f"{group}: {_of(share, ats)}" for group, ats in groups.items())
        words += f" ({each})"
    return words


def _down_to(share: _Share, strength: int) -> str:
    """Return the shortest name that distinguishes a strength from the next lower strength."""
    below = dict(pairwise(share.strengths)).get(strength)
    named = share.names[strength]
    if below is None or share.names[below].group != named.group:
        return named.group
    return named.full


def _of(share: _Share, strengths: Sequence[int]) -> str:
    played = sum(share.played[at] for at in strengths)
    return f"{played:,} of {sum(share.all[at] for at in strengths):,}"


def _plural(rank: str) -> str:
    return f"{rank}es" if rank == "six" else f"{rank}s"
