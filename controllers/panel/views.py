"""The view of a panel as one JSON document. The page adds only what the dealer began to enter.

Money is in integer cents, and a card is two characters. Sentences for the dealer are in English,
and the page says them in the dealer's language. Names and texts of the service are not translated.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from bonus.rounds import WrittenPercent
from controllers.table.open_settlements import LineState
from controllers.table.state import Refused
from meters.wire.messages import DrawMade


class _View(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class Said(_View, frozen=True, kw_only=False, omit_defaults=True):
    """A sentence, which the catalogs translate, and the values for its braces."""

    text: str
    values: Mapping[str, str | int] = {}

    def __str__(self) -> str:
        return self.text.format(**self.values)


class MeterView(_View, frozen=True):
    """A meter that the table feeds.

    `amount` is None if the meter is closed, or if its value can be out of date.
    """

    meter: str
    name: str
    wager: Said
    amount: int | None
    pending: bool


class WagerView(_View, frozen=True):
    """A wager. If it is `correctable`, it can be corrected after lock-out.

    `amounts` are the amounts that it can have, the largest first.
    """

    wager: str
    name: str
    short: str
    amounts: Sequence[int]
    correctable: bool


class PositionView(_View, frozen=True):
    """A betting position.

    Attributes:
        position: 1 is farthest to the dealer's left.
        lit: the wagers whose light is on (649a.7(d)(4)), and `amounts` has their amounts.
        needs: true if the position's hand or fold is missing.
        stays: true if the cards stay on the table after a fold (reading T8).
        lucky: true if the position was drawn for the Lucky Bonus.
        joined_next: true if one player has this position and the next one (readings T9 and T17).
        can: the actions that are possible now: ``hand``, ``fold`` (the cards are collected), ``fold
            stay`` (the cards stay), ``retract hand``, ``retract fold``, ``retract no_win``,
            ``join`` (one player has this position and the next one), and ``part``.
    """

    position: int
    lit: Sequence[str]
    amounts: Mapping[str, int]
    cards: Sequence[str] | None
    folded: bool
    no_win: bool
    needs: bool
    stays: bool
    lucky: bool
    joined_next: bool
    can: Sequence[str]


class LitView(_View, frozen=True):
    position: int
    wagers: Sequence[str]


class ClosedView(_View, frozen=True):
    code: str
    title: Said
    reason: Said | str
    then: Said


LineKind = Literal["wager", "envy", "magic_card", "lucky"]


class LineView(_View, frozen=True):
    """One line of the settlement.

    Attributes:
        line: index of the line in the settlement.
        kind: what the line pays. The page highlights Envy Bonuses, Magic Cards and Lucky Bonuses.
        amount: what the player gets, a returned wager included.
        state: determines the dealer's task, which `act` says in words.
        source: where the payout comes from.
        payer: who pays.
        rule: the subsection of the regulations that decides the line; `why` explains it.
        percent: the percentage of the meter that is paid.
        envy_of: for an Envy Bonus or another share of a meter, the position of the winning hand
            that brings it.
    """

    line: int
    position: int
    kind: LineKind
    item: Said | str
    hand: str
    amount: int
    state: LineState
    act: Said
    source: Said | None
    payer: Said | None
    rule: str
    why: Sequence[Said]
    percent: WrittenPercent | None
    envy_of: int | None


class TurnView(_View, frozen=True):
    """A position's turn, with the Envy Bonuses that its hand caused."""

    position: int
    cards: Sequence[str] | None
    lines: Sequence[LineView]


class DueView(_View, frozen=True):
    """Sums of a position: due now, and due after a floorperson's decision.

    Attributes:
        pay: from the table inventory.
        credit: to the game account.
        wait: due when a floorperson has validated the win.
        hand_pay: never paid at the table.
        ask: Envy Bonuses that depend on a rejected win: the dealer must ask the floorperson.
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
        round: the name of the round, or of the claim, if the settlement is only one win.
        title: the name of the round; empty for a claim.
        turns: the lines, turn by turn in paying order.
        undecided: number of wins in the round that have no decision.
        open: the lines that depend on a floorperson's decision and are neither paid nor
            acknowledged.
        seen: the state of each line that the dealer must complete before the next round, by the
            line's index. The page sends these states back when the dealer continues. So a line is
            completed only if the dealer saw its present state.
        told: the dealer's next task for the round, in sentences.
    """

    round: str
    title: str
    turns: Sequence[TurnView]
    due: Sequence[DueView]
    dealer: Sequence[str] | None
    community: Sequence[str] | None
    draw: DrawMade | None
    undecided: int
    open: Sequence[LineView]
    seen: Mapping[int, LineState]
    told: Sequence[Said]


class ReturnedPositionView(_View, frozen=True):
    """Returned wagers of a position: number of chips, credit to the game account, and texts."""

    position: int
    chips: int
    credit_cents: int
    items: Sequence[Said]


class ReturnedView(_View, frozen=True):
    """Returned wagers and the reason (649a.13); `others` names wagers outside `positions`."""

    reason: str
    others: Said | None
    positions: Sequence[ReturnedPositionView]


class DiffersView(_View, frozen=True):
    counted: int


class DeclaredWinView(_View, frozen=True):
    """A hand that is declared to win nothing, and earlier cards with which it would win.

    `wager` and `hand` are names for people. The earlier cards were entered at the position
    `entered_at`, and taken back.
    """

    position: int
    cards: Sequence[str]
    entered_at: int
    wager: str
    hand: str


class HeldView(_View, frozen=True):
    """A claim that holds the table (649a.11(c)(5)(iv), (7)(iv), (8)(iii), (9)(iv))."""

    claim: str
    position: int | None
    item: Said | str
    amount: int | None
    validated: bool
    told: Said
    rule: str


class AskingView(_View, frozen=True):
    """Correction request to a floorperson; the time is in UTC.

    `wager` is the wager that is added or taken back; None for other corrections.
    """

    event: str
    wager: Said | None
    reason: str
    since: str


class View(_View, frozen=True):
    """View of a table.

    Attributes:
        linked: true if the table feeds any meter.
        round: the name of the round; None if the service has no wagers of it.
        controller: state of the link for this table: ``operable``, ``inoperable``, ``closed`` or
            ``not reached``.
        shut: why no new progressive wager is accepted.
        unanswered: event that waits for the service's reply: ``lockout``, ``settle``, ``void`` or
            ``correct_wager``.
        waiting: earlier rounds, oldest first, with a win that is not decided, or a decision that
            the dealer has not acknowledged with the button Done.
        chips: number of accepted chip wagers.
        chips_returned: chips that are returned because the service refused the wagers.
        lit: the chip wagers by position, for the count of the chips.
        results: the results that the dealer can enter, if the game has results and no cards.
        decks: how often each card can be entered; 0 if the dealer enters results.
        hand_cards: number of cards of a position's hand.
        needs_community: true if community cards are dealt in this round (649a.8(d)).
        seen: every entered card, without the cards that were taken back.
        next: entry that is needed next, in the order in which cards are turned up: ``dealer``, a
            position's number or ``community``.
        missing: entries that are missing before the round can be settled, in words.
        envy_unread: true if Envy Bonuses can depend on cards that are not entered.
        declared_wins: hands that were declared to win nothing, though earlier cards would win.
        can: actions that are possible now: ``lockout``, ``chips``, ``settle``, ``void``, ``next``,
            ``repeat``, ``no_win`` (the hands that are missing win nothing), ``retract dealer``,
            ``retract community``, ``retract chips``, ``correct_wager``. During a correction
            request, only ``withdraw`` is possible.
        repeat: wagers of the previous round, which ``repeat`` places again.
        settled: settlement of the previous round, until the dealer has closed it.
        last: the settlement that was closed last.
        returned: wagers that were returned last, until the next wager or lock-out.
        refusal: last event that the service refused, until the next event is accepted.
        first_community_cards: the numbers of first community cards that wagers are on, such as 3
            for a wager on the flop. If there are any, the order of the community cards matters.
        joker: true if the deck has a joker.
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
    meters: Sequence[MeterView]
    wagers: Sequence[WagerView]
    positions: Sequence[PositionView]
    draw: DrawMade | None
    chips: int
    chips_returned: int
    lit: Sequence[LitView]
    results: Sequence[str]
    decks: int
    hand_cards: int
    dealer_cards: int
    community_dealt: int
    dealer: Sequence[str] | None
    community: Sequence[str] | None
    needs_community: bool
    seen: Sequence[str]
    next: str | None
    missing: Sequence[Said]
    envy_unread: bool
    declared_wins: Sequence[DeclaredWinView]
    can: Sequence[str]
    repeat: Sequence[tuple[int, str]]
    settled: SettledView | None
    last: SettledView | None
    returned: ReturnedView | None
    refusal: Refused | None
    differs: DiffersView | None
    held: Sequence[HeldView]
    asking: AskingView | None
    first_community_cards: Sequence[int]
    joker: bool
