"""Claims, wins and correction requests in the floor page's API, in cents and in UTC."""

from typing import Annotated, Literal

import msgspec

from bonus.printable import PRINTABLE_WORDS
from bonus.rounds import WrittenPercent

ClaimState = Literal["pending", "validated", "paid", "rejected"]

Words = Annotated[str, msgspec.Meta(min_length=1, max_length=200, pattern=PRINTABLE_WORDS)]
"""Text that a person types: printable, not blank, and at most 200 characters."""

PAGE_MAX = 200
"""The largest number of wins or log entries in an answer."""

ENTRIES_MAX = 10**15
"""No ledger and no operators' log has more entries."""


class FloorRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base class of the types that the floor page receives."""


class Wagered(FloorRow, frozen=True, kw_only=True):
    """The wagers of one position at lock-out.

    Attributes:
        wagers: the cents of each wager, by its name.
    """

    position: int
    patron: str | None
    wagers: dict[str, int]


class EnvyOwed(FloorRow, frozen=True, kw_only=True):
    """An Envy Bonus that is owed to a position because another position won."""

    position: int
    patron: str | None
    item: str
    amount: int


class ClaimRequestRow(FloorRow, frozen=True, kw_only=True):
    """A request to reject or reopen a win, which another person must confirm (duty D4).

    Attributes:
        entry: the number of the request's ledger entry, which a confirmation names.
        act: ``reject``; or ``reopen``, if the win is already rejected.
        envy_not_due: true if the Envy Bonuses of the hand are to be rejected with the win.
        pin_set_by: the people who set the PIN of `by` in the 24 hours before the request.
    """

    entry: int
    act: Literal["reject", "reopen"]
    by: str
    at: str
    reason: str
    envy_not_due: bool
    pin_set_by: tuple[str, ...] = ()


class ClaimRow(FloorRow, frozen=True, kw_only=True):
    """A progressive win that a floorperson must decide or has decided (duties D5, D8 and D16).

    Fields that end with `_name` have the words for people.

    Attributes:
        claim: the permanent id of the claim.
        hand_record: a name that all claims of a hand have in common.
        order: the number of the win's ledger entry, which shows the order of wins at nearly the
            same time (duty D7).
        turn: the place of this win, from 1, among the round's wins that wait for a floorperson.
        turns: the number of the round's wins that wait for a floorperson.
        item: the wager that won, or the jackpot that it won.
        wager: the wager that took a must-hit-by meter to its hidden value; empty for every other
            win.
        wager_name: the name of `wager` for people.
        cards: the cards of the position; for a share of a meter, of the position `hand_of`.
        dealer: the dealer's cards; empty if they do not count.
        community: the community cards; empty if they do not count.
        counted: the cards that decide the wager, whoever holds them; empty if the games in the
            floor file no longer determine them.
        winning: the cards of `counted` that form the hand.
        meter_after: the meter balance after the win; if a hand wins several parts, after the last.
        percent: the percentage of the meter that was won; null for a win at odds.
        paid_from: ``hand_pay``, ``table_inventory`` or ``game_account``.
        rule: the subsection of the regulations that grants the win.
        wagers: all wagers that were accepted at lock-out, as evidence.
        chips: the number of value chips of these wagers. The table accepts no card before the
            dealer has counted this number.
        electronic: the names of the wagers that have no value chip.
        no_win: the positions whose hands the dealer declared to win nothing; their cards were not
            entered.
        envy: the Envy Bonuses that are owed to other positions for this hand.
        envy_not_due: true if the Envy Bonuses were declared as not due.
        envy_amount: the sum of the Envy Bonuses.
        envy_state: null if the hand causes no Envy Bonuses. ``pending``: the win is not decided.
            ``validated``: the bonuses are owed. ``paid``: they were paid. ``rejected``: they are
            not due.
        envy_by: the user who made the last decision on the Envy Bonuses, at `envy_at`.
        envy_at: the time of this decision, in UTC.
        envy_reason: the reason of a user who declared the Envy Bonuses as not due after the win was
            decided.
        only_envy: true if only Envy Bonuses are left to decide: no win of the hand waited for a
            floorperson, and `amount` is 0.
        state: ``pending`` until a floorperson decides. A hand pay is then ``validated`` until it is
            paid; every other validated win stays ``validated``.
        at: the time of the win.
        decided_by: the user who made the last decision, at `decided_at`.
        requested_by: the user who requested the last decision, which `decided_by` confirmed; null
            if the decision needed no request.
        validated_by: the user who validated the win, at `validated_at`.
        validated_at: the time of the validation, in UTC.
        paid_by: the user who recorded the payment, at `paid_at`.
        paid_at: the time of the payment, in UTC.
        reason: the reason of a rejection or a reopening.
        slip: the present number of the payout slip.
        slip_corrected_by: the user who last corrected the slip number, at `slip_corrected_at`.
        slip_corrected_at: the time of this correction, in UTC.
        request: the request about the claim that another user must still confirm.
        two_people_reject: true if two people must reject this win.
        tax_documents: true if the win is not below `tax_documents_from` of the floor file.
        pin_set_by: the people who set the PIN of `validated_by` in the 24 hours before the
            validation; empty unless the win waits for a hand pay.
        barred_by: the person who set a PIN that bars the signed-in user from paying the win or
            confirming its request (duty D4); null if no PIN bars the user.
        barred_until: the time at which this bar ends, in UTC; null if it does not end.
        hand_of: for a share of a meter, the position whose hand brings it; otherwise null.
        hand_table: the table of this hand, if it is another table of the link; otherwise empty.
    """

    claim: str
    hand_record: str = ""
    order: str
    turn: int = 1
    turns: int = 1
    link: str
    link_name: str = ""
    meter: str
    meter_name: str = ""
    table: str
    asset: str
    round: str
    position: int
    patron: str | None
    item: str
    item_name: str = ""
    wager: str = ""
    wager_name: str = ""
    hand: str
    hand_name: str = ""
    cards: tuple[str, ...]
    dealer: tuple[str, ...] = ()
    community: tuple[str, ...] = ()
    counted: tuple[str, ...] = ()
    winning: tuple[str, ...] = ()
    wagered: int = 0
    amount: int
    meter_after: int = 0
    percent: WrittenPercent | None
    paid_from: str
    rule: str = ""
    wagers: tuple[Wagered, ...] = ()
    chips: int = 0
    electronic: tuple[str, ...] = ()
    no_win: tuple[int, ...] = ()
    envy: tuple[EnvyOwed, ...] = ()
    envy_not_due: bool = False
    envy_amount: int = 0
    envy_state: ClaimState | None = None
    envy_by: str | None = None
    envy_at: str | None = None
    envy_reason: str | None = None
    only_envy: bool = False
    state: ClaimState
    at: str
    decided_by: str | None = None
    decided_at: str | None = None
    requested_by: str | None = None
    validated_by: str | None = None
    validated_at: str | None = None
    paid_by: str | None = None
    paid_at: str | None = None
    reason: str | None = None
    slip: str | None = None
    slip_corrected_by: str | None = None
    slip_corrected_at: str | None = None
    request: ClaimRequestRow | None = None
    two_people_reject: bool = False
    tax_documents: bool = False
    pin_set_by: tuple[str, ...] = ()
    barred_by: str | None = None
    barred_until: str | None = None
    hand_of: int | None = None
    hand_table: str = ""


class AskedCards(FloorRow, frozen=True, kw_only=True):
    """Entered cards that a correction request replaces or discards.

    Attributes:
        what: whose cards they are.
        position: the position of a ``hand``; null otherwise.
        before: the cards that were entered; empty if the hand was declared to win nothing.
        after: the cards that replace them in the result; empty for a void.
        taken_back: true if the dealer took the entered cards back.
        reason: the reason for the correction, if somebody entered one.
        before_no_win: true if the hand was declared to win nothing before the correction.
        after_no_win: true if the result declares that the hand wins nothing.
        after_folded: true if the hand is folded in the result.
    """

    what: Literal["hand", "dealer", "community"]
    position: int | None
    before: tuple[str, ...]
    after: tuple[str, ...]
    taken_back: bool
    reason: str | None
    before_no_win: bool = False
    after_no_win: bool = False
    after_folded: bool = False


class AskedWager(FloorRow, frozen=True, kw_only=True):
    """A wager that a correction request adds or takes back.

    Attributes:
        wager: the name of the wager.
        patron: the patron, as the table named them; null if it named none.
    """

    position: int
    wager: str
    amount: int
    patron: str | None


class AskRow(FloorRow, frozen=True, kw_only=True):
    """A correction request. The correction is made only after a floorperson has confirmed it.

    Attributes:
        ask: the id of the request, which a decision names.
        what: ``void`` to void the round after its cards or results were entered, ``result`` to
            enter a hand or result differently, ``add_wager`` or ``take_back_wager`` to correct a
            wager before the first card or result.
        reason: the reason for the correction; null for a result.
        cards: the cards that the correction discards or replaces.
        wager: the wager that the correction adds or takes back; null for another correction.
        at: the time at which the table first sent the request.
    """

    ask: str
    link: str
    link_name: str
    table: str
    asset: str
    round: str
    what: Literal["void", "result", "add_wager", "take_back_wager"]
    reason: str | None
    cards: tuple[AskedCards, ...]
    wager: AskedWager | None = None
    at: str


class WinSearch(FloorRow, frozen=True, kw_only=True):
    """A search for wins. Each field that is not None limits the search.

    Attributes:
        words: words that must all be in the texts of the win: claim, round, table, asset,
            position, patron, wager, hand, meter, amount, slip, reason, or the names of the users
            who decided.
        since: the earliest time of the win, RFC 3339 in UTC.
        until: a time, RFC 3339 in UTC: only wins before this time are found.
        meter_awards: true to find only wins of a percentage of a meter, and no wins at odds.
        before: the value `WinPage.next` of the previous page: only wins with a lower ledger entry
            number (`order`) are found.
    """

    link: str | None = None
    meter: str | None = None
    table: str | None = None
    state: ClaimState | None = None
    words: str | None = None
    since: str | None = None
    until: str | None = None
    meter_awards: bool = False
    before: str | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=PAGE_MAX)] = 25


class WinPage(FloorRow, frozen=True, kw_only=True):
    """A page of wins, latest first.

    Attributes:
        wins: at most as many as the search asked for.
        next: the value of `before` in the search for the next page; null on the last page.
    """

    wins: tuple[ClaimRow, ...]
    next: str | None
