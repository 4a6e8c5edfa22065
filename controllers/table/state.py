"""Layout and state of a table, and values that are calculated from them.

Layout, state and all parts of the state are immutable. The functions are pure.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum, auto
from types import MappingProxyType
from typing import Final, Literal, Self

import msgspec
from msgspec.structs import replace

from bonus.law.chapter_file import OF_COMMUNITY
from bonus.law.choices import Choices
from bonus.law.games import Games
from bonus.law.meter_terms import MeterTerms
from bonus.settling.settlement_lines import Line
from bonus.settling.table_rules import TableRules, table_rules
from bonus.wagers import is_on_dealer
from meters.floor.floor_file import Link, Meter, Table, paytables_of_meters
from meters.wire.messages import ClaimOpened, DrawMade

FINAL: Final = frozenset({"paid", "rejected"})
"""The final decisions on a win."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Fixed properties of a table: its place on the floor, and its wagers.

    Attributes:
        link: id of the link.
        table: id of the table.
        positions: number of betting positions.
        terms: terms of the meters that the table feeds, by kind of meter.
        rules: rules of the table's game, with the options in `paytables`.
        paytables: options that the casino chose in its Rules Submission.
        link_name: name of the link for people.
        game: name of the game, as in the contract.
        meters: the meters that the table feeds, from the floor file.
        games: the games of the floor.
        require_all_hands: true if the cards of every hand must be entered.
    """

    link: str
    table: str
    positions: int
    terms: Mapping[str, MeterTerms]
    rules: TableRules
    paytables: Choices
    link_name: str
    game: str
    meters: tuple[Meter, ...]
    games: Games
    require_all_hands: bool = False

    @classmethod
    def of(cls, link: Link, table: Table, *, require_all_hands: bool = False) -> Self:
        """Return the layout of a table in the floor file."""
        meters = link.meters_of(table)
        paytables = {**table.paytables, **paytables_of_meters(table, meters.values())}
        return cls(
            link.id,
            table.id,
            table.positions,
            MappingProxyType({kind: meter.terms_in(table.game) for kind, meter in meters.items()}),
            table_rules(table.chapter, paytables),
            MappingProxyType(paytables),
            link.name,
            table.game,
            tuple(meters.values()),
            table.games,
            require_all_hands,
        )

    @property
    def hand_cards(self) -> int:
        """Number of cards that are dealt to a position."""
        return self.rules.chapter.deal.hand

    @property
    def dealer_cards(self) -> int:
        """Number of cards that are dealt to the dealer."""
        return self.rules.chapter.deal.dealer

    @property
    def community_cards(self) -> int:
        """Number of community cards."""
        return self.rules.chapter.deal.community

    def amount_cents(self, wager: str) -> int | None:
        """Return the amount of a wager in cents, or None if the table has no meter for it."""
        terms = self.terms.get(self.rules.meters.meter_of.get(wager, ""))
        return None if terms is None else terms.wager_cents

    def is_electronic(self, wager: str) -> bool:
        """Return whether a wager is placed without a value chip (649a.7(d)(7))."""
        tables = self.rules.meters.terms.get(wager)
        return tables is not None and tables.electronic

    def is_drawn(self, wager: str) -> bool:
        """Return whether the draw at lock-out can decide a wager (649a.12(i)(3))."""
        tables = self.rules.meters.terms.get(wager)
        return tables is not None and tables.draws is not None

    def needs_community(self, wager: str) -> bool:
        """Return whether community cards are dealt for a wager (649a.8(d))."""
        placing = self.rules.placings.get(wager)
        return placing is not None and placing.cards in OF_COMMUNITY


class Phase(StrEnum):
    """Phase of a table's round.

    Attributes:
        OPEN: the table accepts wagers.
        LOCKED: betting is locked; the dealer must count the value chips.
        DEALT: the dealer counted the right number of chips; hands are entered.
        SETTLING: the result was sent to the service.
        HELD: a hand pay waits for its documents; the cards stay on the table (649a.11(c)(5)(iv)).
        LOCKED_OUT: the table and the service do not agree on the round; a floorperson must void it.
    """

    OPEN = auto()
    LOCKED = auto()
    DEALT = auto()
    SETTLING = auto()
    HELD = auto()
    LOCKED_OUT = auto()


class _Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base of the parts of a table's state."""


class PlacedWager(_Record, frozen=True):
    """An accepted wager; its light is lit."""

    position: int
    wager: str
    amount_cents: int
    patron: str | None = None


class Hand(_Record, frozen=True):
    """The cards of a position."""

    position: int
    cards: tuple[str, ...]


class TakenBack(_Record, frozen=True):
    """Cards that were entered and retracted in this round.

    `cards` is empty for a declaration that a hand wins nothing.
    """

    what: Literal["hand", "dealer", "community"]
    cards: tuple[str, ...]
    position: int | None = None
    reason: str | None = None


class ClaimDecision(_Record, frozen=True):
    """A floorperson's decision on a claim."""

    claim: str
    event: Literal["validated", "rejected", "paid"]


class EnvyDecision(_Record, frozen=True):
    """A floorperson's decision on an Envy Bonus.

    `line` is the index of the Envy Bonus's line in the settlement, from 0.
    """

    line: int
    event: Literal["validated", "rejected", "paid"]


class SettledRound(_Record, frozen=True):
    """The settlement of a round, shown to the dealer until the next round begins.

    Attributes:
        round: name of the round.
        lines: lines of the settlement, in paying order.
        claims: wins that a floorperson must validate.
        decided: decisions on these claims so far.
        hands: hands that were entered.
        dealer: the dealer's hand.
        community: the community cards.
        draw: random draw at lock-out.
        done: indexes, from 0, of the lines that the dealer has paid or otherwise completed.
        seq: sequence number of the round's result.
        envy: decisions on the Envy Bonuses of the round so far.
        no_win: positions whose hands were declared to win nothing.
    """

    round: str
    lines: tuple[Line, ...]
    claims: tuple[ClaimOpened, ...] = ()
    decided: tuple[ClaimDecision, ...] = ()
    hands: tuple[Hand, ...] = ()
    dealer: tuple[str, ...] | None = None
    community: tuple[str, ...] | None = None
    draw: DrawMade | None = None
    done: tuple[int, ...] = ()
    seq: int = 0
    envy: tuple[EnvyDecision, ...] = ()
    no_win: tuple[int, ...] = ()

    def with_done(self, lines: tuple[int, ...]) -> Self:
        """Return a copy of the settlement in which exactly `lines` are completed."""
        return replace(self, done=lines)

    def with_decision(self, claim: str, event: Literal["validated", "rejected", "paid"]) -> Self:
        """Return a copy of the settlement with a decision on a claim.

        A late or repeated decision changes nothing.
        """
        known = self.decision_on(claim)
        if self.opened(claim) is None:
            return self
        if known is not None and not (known == "validated" and event in FINAL):
            return self
        others = tuple(each for each in self.decided if each.claim != claim)
        return replace(self, decided=(*others, ClaimDecision(claim, event)))

    def with_envy(self, decision: EnvyDecision) -> Self:
        """Return a copy of the settlement with a decision on an Envy Bonus.

        The decision replaces an earlier decision on the same Envy Bonus.
        """
        return replace(
            self, envy=(*(one for one in self.envy if one.line != decision.line), decision)
        )

    def envy_decision_on(self, line: int) -> str | None:
        """Return the decision on the Envy Bonus of a line, or None."""
        return next((decision.event for decision in self.envy if decision.line == line), None)

    def opened(self, claim: str) -> ClaimOpened | None:
        """Return the claim with the id `claim`, or None if the settlement does not have it."""
        return next((opened for opened in self.claims if opened.claim == claim), None)

    @property
    def undecided(self) -> tuple[ClaimOpened, ...]:
        """The claims without a decision."""
        known = {decision.claim for decision in self.decided}
        return tuple(claim for claim in self.claims if claim.claim not in known)

    def decision_on(self, claim: str) -> str | None:
        """Return the decision on a claim, or None if there is no decision yet."""
        return next((known.event for known in self.decided if known.claim == claim), None)


class Returned(_Record, frozen=True):
    """Wagers that are returned to the players, shown until the next wager or lock-out.

    Attributes:
        reason: reason of the return.
        wagers: the returned wagers.
        void: true if the round is void. The dealer then also returns all wagers of the round that
            are not in `wagers` (649a.13).
    """

    reason: str
    wagers: tuple[PlacedWager, ...]
    void: bool = False


class Refused(_Record, frozen=True):
    """Refusal of a device event by the service: name of the event, and reason."""

    event: str
    message: str


class WagerToCorrect(_Record, frozen=True):
    """The wager that a correction request adds or takes back."""

    action: Literal["add", "take_back"]
    position: int
    wager: str
    patron: str | None = None


class Asking(_Record, frozen=True):
    """Correction request to a floorperson.

    The table repeats the event of the request until a floorperson decides.

    Attributes:
        event: the device event that led to the request.
        since: time of the first request in UTC, as RFC 3339 text.
        reason: reason of a void or of the correction of a wager; empty for a settlement.
        wager: wager that is corrected, or None.
        confirm: true if the device requested the confirmation; false if only the floor file
            requires it.
    """

    event: Literal["settle", "void", "correct_wager"]
    since: str
    reason: str = ""
    confirm: bool = True
    wager: WagerToCorrect | None = None


class TableState(_Record, frozen=True):
    """Complete state of a table.

    The outbox stores this state, so an agent that was killed continues in the same state (duty
    D11).

    Attributes:
        phase: phase of the round.
        round: name of the round; None if the round's wagers were not sent to the service.
        wagers: the accepted wagers.
        returned_chips: number of value chips returned because the service refused the wagers.
        hands: hands entered so far.
        folded: positions that folded.
        dealer: the dealer's hand.
        community: the community cards.
        held: claims of hand pays whose documents are not complete. If a hand pay was reopened
            during a round, the table is held when this round has ended.
        hold: claims because of which the service refused wagers, with the decisions on these
            claims. They are claims of earlier rounds. The table has no settlements of these rounds,
            because an outbox was lost.
        reason: the reason why the table is locked out.
        draw: random draw at lock-out (649a.12(i)(3)).
        settled: settlement of the previous round; None after the dealer has closed it or locked
            betting for the next round.
        last_wagers: wagers of the previous round, which the players can repeat.
        collected: positions in `folded` whose cards are known to be in the discard rack.
        waiting: earlier rounds with a settlement line that is not completed, the oldest first. A
            floorperson must still decide the win of the line, or the dealer must still pay or
            acknowledge the line.
        last_settled: the settlement that was closed last.
        joined: positions whose player also has the next position (readings T9 and T17).
        last_joined: value of `joined` in the previous round.
        returned: wagers that were returned last, until the next wager or lock-out.
        refusal: last event that the service refused, until the next device event is accepted.
        differs: the dealer's last count of the chips if this count was wrong; otherwise None.
        taken_back: cards retracted in this round, in order of time.
        collected_hands: hands whose cards were entered, and then collected because of a fold.
        asking: correction request that stops this round, or None.
        no_win: positions whose hands the dealer declared to win nothing, without cards.
        rounds: number in the name of the last round whose wagers were sent to the service; 0 if it
            is not known. The names of rounds are numbered without gaps.
    """

    phase: Phase = Phase.OPEN
    round: str | None = None
    wagers: tuple[PlacedWager, ...] = ()
    returned_chips: int = 0
    hands: tuple[Hand, ...] = ()
    folded: tuple[int, ...] = ()
    dealer: tuple[str, ...] | None = None
    community: tuple[str, ...] | None = None
    held: tuple[str, ...] = ()
    reason: str = ""
    draw: DrawMade | None = None
    settled: SettledRound | None = None
    last_wagers: tuple[PlacedWager, ...] = ()
    collected: tuple[int, ...] = ()
    waiting: tuple[SettledRound, ...] = ()
    last_settled: SettledRound | None = None
    joined: tuple[int, ...] = ()
    last_joined: tuple[int, ...] = ()
    returned: Returned | None = None
    refusal: Refused | None = None
    differs: int | None = None
    hold: SettledRound | None = None
    taken_back: tuple[TakenBack, ...] = ()
    collected_hands: tuple[Hand, ...] = ()
    asking: Asking | None = None
    no_win: tuple[int, ...] = ()
    rounds: int = 0

    @property
    def has_entries(self) -> bool:
        """True if cards, a fold or a declaration were entered in this round, even if retracted."""
        return bool(
            self.cards_seen()
            or self.folded
            or self.no_win
            or self.taken_back
            or self.collected_hands
        )

    def chips_due(self, layout: Layout) -> int:
        """Return the number of value chips that the dealer should count: one per chip wager.

        649a.8(b).
        """
        return sum(not layout.is_electronic(placed.wager) for placed in self.wagers)

    def needs_community(self, layout: Layout) -> bool:
        """Return whether community cards are dealt (649a.8(d))."""
        return any(layout.needs_community(placed.wager) for placed in self.wagers)

    def awaits_dealer(self, layout: Layout) -> bool:
        """Return whether the dealer's hand must still be entered. Some games have none."""
        return self.dealer is None and layout.dealer_cards > 0

    def turns_community(self, layout: Layout, position: int) -> bool:
        """Return whether the turn of a position needs the community cards.

        It needs them if the position has a wager that depends on them, and its cards are on the
        table. The cards of a folded hand are not on the table, unless a wager keeps them there.
        """
        collected = position in self.folded and not self.keeps_cards(layout, position)
        return not collected and any(
            placed.position == position and layout.needs_community(placed.wager)
            for placed in self.wagers
        )

    def is_lit(self, position: int, wager: str) -> bool:
        """Return whether a wager's light is lit at a position (649a.7(d)(4))."""
        return any(placed.position == position and placed.wager == wager for placed in self.wagers)

    def boxes_of(self, position: int) -> tuple[int, ...]:
        """Return all positions of the player who plays at a position (readings T9 and T17)."""
        lowest = highest = position
        while lowest - 1 in self.joined:
            lowest -= 1
        while highest in self.joined:
            highest += 1
        return tuple(range(lowest, highest + 1))

    def patrons_given(self, positions: Collection[int]) -> frozenset[str]:
        """Return the names of the patrons at the given positions, as far as the names are known.

        A name is known if a device named the patron, or if the name was sent to the service.
        """
        return frozenset(
            placed.patron
            for placed in self.wagers
            if placed.position in positions and placed.patron is not None
        )

    def patron_at(self, position: int) -> str | None:
        """Return the name of the patron at a position, or None if the name is not known.

        If a player has several positions and no known name, these positions share a made-up name.
        """
        boxes = self.boxes_of(position)
        if given := self.patrons_given(boxes):
            return min(given)
        if len(boxes) == 1:
            return None
        name = f"p{boxes[0]}"
        others = {placed.patron for placed in self.wagers if placed.position not in boxes}
        while name in others:
            name += "-"
        return name

    def cards_at(self, position: int) -> tuple[str, ...] | None:
        """Return the cards entered for a position, or None."""
        return next((hand.cards for hand in self.hands if hand.position == position), None)

    def keeps_cards(self, layout: Layout, position: int) -> bool:
        """Return whether a hand stays on the table after a fold (649a.11(c), reading T8)."""
        return any(
            placed.position == position and placed.wager in layout.rules.survivors
            for placed in self.wagers
        )

    def needs_cards(self, layout: Layout, position: int) -> bool:
        """Return whether a position's cards must be entered, because they are needed as evidence.

        This is true if the position has a wager with draws on its own hand, and if a Magic Card is
        drawn or the position is the Lucky position (649a.12(i)(3)).
        """
        draw = self.draw
        return (
            draw is not None
            and (draw.magic_card is not None or draw.lucky_position == position)
            and any(
                placed.position == position
                and layout.rules.placings[placed.wager].draws
                and not is_on_dealer(placed.wager)
                for placed in self.wagers
            )
        )

    def is_entered(self, position: int) -> bool:
        """Return whether a position has a hand, a fold or a declaration that it wins nothing."""
        return (
            self.cards_at(position) is not None
            or position in self.folded
            or position in self.no_win
        )

    def cards_seen(self) -> frozenset[str]:
        """Return every card that was entered in this round."""
        piles = [*(hand.cards for hand in self.hands), self.dealer or (), self.community or ()]
        return frozenset(card for pile in piles for card in pile)

    def holding(self, claim: str) -> tuple[ClaimOpened, str | None] | None:
        """Return the claim with the id `claim`, and its decision, which can be None.

        Return None if the table's state does not have the claim.
        """
        for settled in (self.settled, *self.waiting, self.hold):
            if settled and (opened := settled.opened(claim)):
                return opened, settled.decision_on(claim)
        return None

    @property
    def claims_wait(self) -> bool:
        """True if a win in a settlement of this state is not decided."""
        settlements = self.waiting if self.settled is None else (*self.waiting, self.settled)
        return any(settled.undecided for settled in settlements)
