"""What the panel shows, as one document: the page draws from it and knows nothing of its own.

Money is in integer cents, cards are their two characters, words are those that a dealer reads.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from controllers.table.line_states import LineState
from meters.wire.messages import DrawMade


class _View(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What all parts of the document share."""


class MeterView(_View, frozen=True):
    """A meter that the table feeds; `amount` in cents, None while it is not known to be current."""

    meter: str
    name: str
    wager: str
    amount: int | None
    pending: bool


class WagerView(_View, frozen=True):
    """A wager that can be placed here: its name, in short too, and its one amount in cents."""

    wager: str
    name: str
    short: str
    amount: int


class PositionView(_View, frozen=True):
    """A betting position.

    Attributes:
        position: its number; 1 is farthest to the dealer's left.
        lit: the wagers whose light is lit (649a.7(d)(4)).
        cards: its hand, where it is entered.
        folded: whether it has folded.
        needs: whether its hand, or its fold, is still to be entered.
        stays: whether its cards stay on the table though it folds (reading T8).
        lucky: whether it was drawn for the Lucky Bonus.
        joined_next: whether one player has this box and the next one (readings T9 and T17).
        can: what can be done there now: ``hand``, ``fold`` (its cards are collected),
            ``fold stay`` (they stay), ``retract hand``, ``retract fold``, ``join`` and ``part``
            (this box and the next one are one player's, or no longer).
    """

    position: int
    lit: Sequence[str]
    cards: Sequence[str] | None
    folded: bool
    needs: bool
    stays: bool
    lucky: bool
    joined_next: bool
    can: Sequence[str]


class LitView(_View, frozen=True):
    """The chip wagers that were accepted at a position, for the count."""

    position: int
    wagers: Sequence[str]


class ClosedView(_View, frozen=True):
    """Why no progressive wager is accepted, and what that means for the round."""

    code: str
    title: str
    reason: str
    then: str


LineKind = Literal["wager", "envy", "magic_card", "lucky"]


class LineView(_View, frozen=True):
    """One line of the settlement.

    Attributes:
        line: its place in the settlement, from 0.
        position: whom it is about.
        kind: an Envy Bonus, a Magic Card or a Lucky Bonus stands out.
        item: what it is, in words.
        hand: the hand by name, or empty.
        amount: what the player gets for it, in cents, his wager included where it goes back.
        state: what the dealer does about it.
        act: the same in words.
        source: where it is paid from, in words, or empty.
        payer: who pays it, in words, or empty.
        rule: the subsection that decides it.
        why: the subsections, in words.
        percent: the percentage of the meter, or None.
        envy_of: the position whose hand brings an Envy Bonus, or None.
        claimed: whether a floorperson's decision is needed, or was, before it is paid.
    """

    line: int
    position: int
    kind: LineKind
    item: str
    hand: str
    amount: int
    state: LineState
    act: str
    source: str
    payer: str
    rule: str
    why: Sequence[str]
    percent: int | None
    envy_of: int | None
    claimed: bool


class TurnView(_View, frozen=True):
    """The lines of one player's turn, the Envy Bonuses that his hand brings to others included."""

    position: int
    cards: Sequence[str] | None
    lines: Sequence[LineView]


class DueView(_View, frozen=True):
    """What a position gets in all, in cents: now, and once a floorperson has decided.

    Attributes:
        position: whom it is about.
        pay: from the table inventory, now.
        credit: to the game account, now.
        wait: once a floorperson has validated it.
        hand_pay: by hand, never at the table.
        ask: Envy Bonuses under a win that was rejected: the floorperson is asked.
    """

    position: int
    pay: int
    credit: int
    wait: int
    hand_pay: int
    ask: int


class SettledView(_View, frozen=True):
    """The settlement of a round.

    Attributes:
        round: the round.
        turns: the lines, turn by turn in paying order.
        due: what each position gets in all.
        dealer: the dealer's hand.
        community: the community cards.
        draw: what was drawn at lock-out.
        undecided: how many of its wins no floorperson has decided.
        claimed: the lines that a floorperson's decision is needed for, or was.
        open: those of them that are not paid or acknowledged.
        seen: the lines that the dealer sees to before they go on, by their places from 0, each with
            its state: what they have then seen is what they say that they have.
        told: what the dealer is to do about the round, in a sentence.
    """

    round: str
    turns: Sequence[TurnView]
    due: Sequence[DueView]
    dealer: Sequence[str] | None
    community: Sequence[str] | None
    draw: DrawMade | None
    undecided: int
    claimed: Sequence[LineView]
    open: Sequence[LineView]
    seen: Mapping[int, LineState]
    told: str


class ReturnedPositionView(_View, frozen=True):
    """What goes back to a position.

    Attributes:
        position: the position.
        chips: how many value chips.
        credit_cents: what goes back to the player's game account, in cents.
        items: each wager, in words.
    """

    position: int
    chips: int
    credit_cents: int
    items: Sequence[str]


class ReturnedView(_View, frozen=True):
    """What goes back to whom, and why (649a.13).

    Attributes:
        reason: why, in words.
        others: what goes back beside these wagers, in words, or empty.
        positions: the positions, 1 first.
    """

    reason: str
    others: str
    positions: Sequence[ReturnedPositionView]


class RefusalView(_View, frozen=True):
    """What the service did not take: the device event, and why."""

    event: str
    message: str


class DiffersView(_View, frozen=True):
    """A count that is not that of the chip wagers accepted (649a.8(b))."""

    counted: int


class HeldView(_View, frozen=True):
    """A claim that holds the table (649a.11(c)(5)(iv), (7)(iv), (8)(iii), (9)(iv))."""

    claim: str
    position: int | None
    item: str
    amount: int | None
    validated: bool
    told: str
    rule: str


class AskingView(_View, frozen=True):
    """What a floorperson is asked to confirm: the device event, why, since when; UTC."""

    event: str
    reason: str
    since: str


class View(_View, frozen=True):
    """A table as its panel shows it.

    Attributes:
        table: the table's id.
        link: the link's name.
        game: the game, in words.
        linked: whether the table feeds any meter.
        demonstration: whether it is one, which every page then says.
        phase: where the table is in its round.
        round: the round's name, where the service knows it.
        controller: the controller's state, in a word.
        shut: why no progressive wager is accepted, or None.
        unanswered: what waits for the service's answer: ``lockout``, ``settle``, ``void``, or None.
        waiting: the rounds before with a win that a floorperson has not decided, or whose decision
            the dealer has not acknowledged (``done``), the oldest first.
        reason: why the table is locked out.
        meters: the meters that it feeds.
        wagers: the wagers that can be placed.
        positions: the positions, 1 first.
        draw: what was drawn for this round.
        chips: how many chip wagers were accepted.
        chips_returned: how many chips of refused wagers go back to the players.
        lit: the chip wagers by position, for the count.
        hand_cards: how many cards a position is dealt.
        dealer_cards: how many cards the dealer is dealt.
        dealer: the dealer's hand.
        community: the community cards.
        needs_community: whether they are dealt in this round (649a.8(d)).
        seen: every card that was entered.
        next: what is to be entered next, as the cards are turned up: ``dealer``, a position's
            number, ``community``, or None where nothing is missing.
        missing: what must be entered before the round can be settled, in words.
        can: what can be done now: ``lockout``, ``chips``, ``settle``, ``void``, ``next``,
            ``repeat``, ``retract dealer``, ``retract community``, ``retract chips``.
        repeat: the wagers of the round before, which ``repeat`` places again.
        settled: the settlement of the round before, until the dealer goes on.
        last: the settlement that was put away last.
        returned: what goes back to whom, until the next wager or lock-out, or None.
        refusal: the last event that the service refused, until the next one is taken, or None.
        differs: the wrong count of the chips, or None.
        held: the claims that hold the table.
        asking: what a floorperson is asked to confirm, or None; then all that can be done is to
            ``withdraw`` it.
    """

    table: str
    link: str
    game: str
    linked: bool
    demonstration: bool
    phase: str
    round: str | None
    controller: str
    shut: ClosedView | None
    unanswered: str | None
    waiting: Sequence[SettledView]
    reason: str
    meters: Sequence[MeterView]
    wagers: Sequence[WagerView]
    positions: Sequence[PositionView]
    draw: DrawMade | None
    chips: int
    chips_returned: int
    lit: Sequence[LitView]
    hand_cards: int
    dealer_cards: int
    dealer: Sequence[str] | None
    community: Sequence[str] | None
    needs_community: bool
    seen: Sequence[str]
    next: str | None
    missing: Sequence[str]
    can: Sequence[str]
    repeat: Sequence[tuple[int, str]]
    settled: SettledView | None
    last: SettledView | None
    returned: ReturnedView | None
    refusal: RefusalView | None
    differs: DiffersView | None
    held: Sequence[HeldView]
    asking: AskingView | None
