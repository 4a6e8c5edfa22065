"""The shapes of a round and of its settlement, as plain dictionaries from JSON."""

from typing import TypedDict


class MiniRoyal(TypedDict, total=False):
    """The odds to 1 of a mini-royal in the tables that may have it."""

    ante_bonus: int
    pair_plus: int


class Paytables(TypedDict, total=False):
    ante_bonus: str
    pair_plus: str
    progressive: str
    six_card_bonus: str
    mini_royal: MiniRoyal
    version: int
    bad_beat: str
    pair_bonus: str
    all_six: str
    prime: str
    aces_bonus: str
    aces_bonus_reading: str
    payout_limit: int


class Box(TypedDict, total=False):
    """One betting position with what was wagered there, in cents, and dealt.

    A folded position's cards are ``kept`` if they stayed on the table for another wager. A hand
    with ``no_win`` was declared to win nothing, and has no cards.
    """

    position: int
    patron: str
    cards: list[str]
    folded: bool
    kept: bool
    no_win: bool
    fourth_card: str
    wagers: dict[str, int]


class Draw(TypedDict, total=False):
    magic_card: str | None
    lucky_position: int | str | None


class Meter(TypedDict, total=False):
    """A meter before or after the round, in cents."""

    wager: int
    amount: int
    reserve: int
    limit: int
    overflow: int


class Round(TypedDict, total=False):
    game: str
    paytables: Paytables
    positions: list[Box]
    dealer: list[str]
    community: list[str]
    pair_bonus_community_card: str
    all_six_card: str
    draw: Draw
    meters: dict[str, Meter]
    irregularity: str


class RefusedError(ValueError):
    """A round that cannot be settled. The text is the code of the refusal."""


class Line(TypedDict, total=False):
    """The outcome of one wager, or an addition to it. Amounts are in cents."""

    position: int
    item: str
    outcome: str
    hand: str
    wagered: int
    paid: int
    returned: int
    paid_from: str
    percent: int | str
    envy_of: int
    on: str
    hand_of: int


class Settlement(TypedDict):
    """A round's lines in paying order, and its meters after it."""

    lines: list[Line]
    meters: dict[str, Meter]


def patron_of(box: Box) -> tuple[str, str | int]:
    """Return the patron of a position. A position without a name is a patron of its own."""
    if "patron" in box:
        return "named", box["patron"]
    return "unnamed", box["position"]


def from_the_right(played: Round) -> list[Box]:
    """Return the positions in paying order."""
    return sorted(played["positions"], key=lambda box: box["position"], reverse=True)
