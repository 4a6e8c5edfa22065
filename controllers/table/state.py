"""The state of a table, and the fixed properties on which the state depends."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum, auto
from types import MappingProxyType
from typing import Final, Literal, Self

import msgspec
from msgspec.structs import replace

from bonus.display import item_words
from bonus.law.chapter_file import OF_COMMUNITY, Deal, Validation
from bonus.law.choices import Choices
from bonus.law.games import Games
from bonus.law.meter_terms import MeterTerms
from bonus.rounds import Line
from bonus.settling.table_rules import TableRules, table_rules
from bonus.wagers import is_on_dealer
from meters.floor.floor_file import Link, Meter, Table, paytables_of_meters
from meters.wire.messages import ClaimOpened, DrawMade, EnteredCards

Decision = Literal["validated", "rejected", "paid"]
FINAL: Final = frozenset({"paid", "rejected"})


@dataclass(frozen=True, slots=True)
class Layout:
    """Fixed properties of a table: its place on the floor, and its wagers.

    `terms` are the terms of the meters that the table feeds, by kind of meter. `paytables` are the
    options that the casino chose in its Rules Submission. With `require_all_hands`, the cards of
    every hand must be entered.
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
    titles: Mapping[str, str]
    require_all_hands: bool = False

    @classmethod
    def of(cls, link: Link, table: Table, *, require_all_hands: bool = False) -> Self:
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
            (*meters.values(), *link.must_hit_by_of(table)),
            table.games,
            link.titles,
            require_all_hands,
        )

    @property
    def deal(self) -> Deal:
        return self.rules.chapter.deal

    @property
    def has_results(self) -> bool:
        """True if the dealer enters results instead of cards."""
        return bool(self.rules.chapter.result)

    def words(self, item: str) -> str:
        return item_words(item, self.titles)

    def amount_cents(self, wager: str) -> int | None:
        terms = self.terms.get(self.rules.meters.meter_of.get(wager, ""))
        return None if terms is None else terms.wager_cents

    def amounts_cents(self, wager: str) -> tuple[int, ...]:
        """Return every amount that a wager can have, the largest first; none without a meter."""
        terms = self.terms.get(self.rules.meters.meter_of.get(wager, ""))
        return () if terms is None else terms.wagers_cents

    def is_electronic(self, wager: str) -> bool:
        tables = self.rules.meters.terms.get(wager)
        return tables is not None and tables.electronic

    def needs_community(self, wager: str) -> bool:
        """Return whether community cards are dealt for a wager (649a.8(d))."""
        placing = self.rules.placings.get(wager)
        return placing is not None and placing.cards in OF_COMMUNITY

    def validation(self, item: str) -> Validation:
        """Return the rules for wins of an item; for an unknown item, those of the first meter."""
        meters = self.rules.meters
        meter = meters.meter_of.get(item) or next(iter(meters.titles))
        found = meters.terms[meters.wagers_of(meter)[0]].validation
        if found is None:
            raise ValueError(f"the {meter} meter has no rules for its wins")
        return found


class Phase(StrEnum):
    """Phase of a table's round.

    Attributes:
        LOCKED: betting is locked; the dealer must count the value chips.
        DEALT: the dealer counted the right number of chips; hands can be entered.
        SETTLING: the result was sent to the service.
        HELD: a hand pay waits for its documents; the cards stay on the table (649a.11(c)(5)(iv)).
        LOCKED_OUT: the table and the service disagree about the open round; a floorperson must void
            the round.
    """

    OPEN = auto()
    LOCKED = auto()
    DEALT = auto()
    SETTLING = auto()
    HELD = auto()
    LOCKED_OUT = auto()


class _Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


class PlacedWager(_Record, frozen=True):
    position: int
    wager: str
    amount_cents: int
    patron: str | None = None


class Hand(_Record, frozen=True):
    position: int
    cards: tuple[str, ...]


class ClaimDecision(_Record, frozen=True):
    claim: str
    event: Decision


class EnvyDecision(_Record, frozen=True):
    """A floorperson's decision on an Envy Bonus; `line` is the index of its settlement line."""

    line: int
    event: Decision


class SettledRound(_Record, frozen=True):
    """The settlement of a round.

    The `lines` are in paying order. `done` has the indexes of the lines that the dealer has
    completed. A floorperson must validate the `claims`. `seq` is the number of the event that sent
    the result. The hands of the positions in `no_win` were declared to win nothing.
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

    def with_decision(self, claim: str, event: Decision) -> Self:
        """Return the settlement with a decision. A late or repeated decision changes nothing."""
        known = self.decision_on(claim)
        late = known is not None and not (known == "validated" and event in FINAL)
        if late or self.opened(claim) is None:
            return self
        others = tuple(each for each in self.decided if each.claim != claim)
        return replace(self, decided=(*others, ClaimDecision(claim, event)))

    def envy_decision_on(self, line: int) -> str | None:
        return next((decision.event for decision in self.envy if decision.line == line), None)

    def opened(self, claim: str) -> ClaimOpened | None:
        return next((opened for opened in self.claims if opened.claim == claim), None)

    @property
    def undecided(self) -> tuple[ClaimOpened, ...]:
        known = {decision.claim for decision in self.decided}
        return tuple(claim for claim in self.claims if claim.claim not in known)

    def decision_on(self, claim: str) -> str | None:
        return next((known.event for known in self.decided if known.claim == claim), None)


class Returned(_Record, frozen=True):
    """Wagers that are returned to the players, shown until the next wager or lock-out.

    If the round is `void`, the dealer also returns all its other wagers (649a.13).
    """

    reason: str
    wagers: tuple[PlacedWager, ...]
    void: bool = False


class Refused(_Record, frozen=True):
    event: str
    message: str


class WagerToCorrect(_Record, frozen=True):
    action: Literal["add", "take_back"]
    position: int
    wager: str
    patron: str | None = None
    amount_cents: int | None = None


class Asking(_Record, frozen=True):
    """Correction request to a floorperson, repeated until the decision.

    `since` is the time of the first request in UTC, as RFC 3339 text. `reason` is the reason of a
    void, or of the correction of a wager. If `confirm` is false, only the floor file requires the
    confirmation, not the device.
    """

    event: Literal["settle", "void", "correct_wager"]
    since: str
    reason: str = ""
    confirm: bool = True
    wager: WagerToCorrect | None = None


class TableState(_Record, frozen=True):
    """Complete state of a table.

    The outbox stores it, so an agent that was killed continues where it was (duty D11).

    Attributes:
        round: the name of the round; None if the service has no wagers of it.
        returned_chips: value chips returned because the service refused the wagers.
        held: claims of hand pays whose documents are not complete. If one was reopened during a
            round, it holds the table only after this round.
        hold: claims because of which the service refused wagers, with the decisions on them. The
            claims are of earlier rounds whose settlements were lost with an outbox.
        reason: why the table is locked out.
        draw: random draw at lock-out (649a.12(i)(3)).
        settled: settlement of the previous round; None after the dealer has closed it or locked
            betting for the next round.
        last_wagers: wagers of the previous round, which the players can repeat.
        collected: positions in `folded` whose cards are known to be in the discard rack.
        waiting: earlier rounds, oldest first, with a win that a floorperson must still decide, or a
            line that the dealer must still pay or acknowledge.
        last_settled: the settlement that was closed last.
        joined: positions whose player also has the next position (readings T9 and T17).
        last_joined: `joined` in the previous round.
        returned: wagers that were returned last, until the next wager or lock-out.
        refusal: last event that the service refused, until the next device event is accepted.
        differs: the dealer's last count of the chips if it was wrong.
        taken_back: cards and declarations retracted in this round, in order of time.
        collected_hands: hands whose cards were entered, and then collected because of a fold.
        asking: correction request that stops this round.
        no_win: positions whose hands the dealer declared to win nothing.
        rounds: number in the name of the last round that was sent to the service; 0 if it is not
            known. Each next round has the next number.
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
    taken_back: tuple[EnteredCards, ...] = ()
    collected_hands: tuple[Hand, ...] = ()
    asking: Asking | None = None
    no_win: tuple[int, ...] = ()
    rounds: int = 0

    @property
    def has_entries(self) -> bool:
        """True if cards, a fold or a declaration were entered in this round, even if retracted."""
        return bool(
            self.cards_shown()
            or self.folded
            or self.no_win
            or self.taken_back
            or self.collected_hands
        )

    def chips_due(self, layout: Layout) -> int:
        """Return how many value chips the dealer should count: one per chip wager (649a.8(b))."""
        return sum(not layout.is_electronic(placed.wager) for placed in self.wagers)

    def needs_community(self, layout: Layout) -> bool:
        return any(layout.needs_community(placed.wager) for placed in self.wagers)

    def unread(self, layout: Layout) -> Iterator[Literal["dealer", "community"] | int]:
        """Yield the missing entries, in the order in which cards are turned up (649a.11(c)).

        The dealer's hand, if there is one, is first. Then come the hands of the positions with a
        wager, from the dealer's right. The community cards are turned up after the hand of the
        first player whose wager needs them (649a.11(c)(7) and (8), reading T13). A folded hand has
        no turn, unless a wager keeps its cards on the table.
        """
        if self.dealer is None and layout.deal.dealer:
            yield "dealer"
        community = self.needs_community(layout) and self.community is None
        for position in reversed(self.lit):
            if layout.deal.hand and not self.is_entered(position):
                yield position
            turns = position not in self.folded or self.keeps_cards(layout, position)
            needs = any(layout.needs_community(each.wager) for each in self.wagers_at(position))
            if community and turns and needs:
                yield "community"
                community = False
        if community:
            yield "community"

    @property
    def lit(self) -> list[int]:
        return sorted({placed.position for placed in self.wagers})

    def wagers_at(self, position: int) -> list[PlacedWager]:
        return [placed for placed in self.wagers if placed.position == position]

    def lit_wager(self, position: int, wager: str) -> PlacedWager | None:
        """Return the wager if its light is on at a position (649a.7(d)(4))."""
        return next((each for each in self.wagers_at(position) if each.wager == wager), None)

    def boxes_of(self, position: int) -> tuple[int, ...]:
        """Return all positions of the player who plays at a position (readings T9 and T17)."""
        lowest = highest = position
        while lowest - 1 in self.joined:
            lowest -= 1
        while highest in self.joined:
            highest += 1
        return tuple(range(lowest, highest + 1))

    def patrons_given(self, positions: Collection[int]) -> frozenset[str]:
        """Return the patrons at some positions: named by a device, or made up at lock-out."""
        return frozenset(
            placed.patron
            for placed in self.wagers
            if placed.position in positions and placed.patron is not None
        )

    def patron_at(self, position: int) -> str | None:
        """Return the name of the patron who plays at a position, or None.

        An unnamed player at several positions has one made-up name.
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
        return next((hand.cards for hand in self.hands if hand.position == position), None)

    def keeps_cards(self, layout: Layout, position: int) -> bool:
        """Return whether a hand stays on the table after a fold (649a.11(c), reading T8)."""
        return any(each.wager in layout.rules.survivors for each in self.wagers_at(position))

    def needs_cards(self, layout: Layout, position: int) -> bool:
        """Return whether a position's cards must be entered as evidence (649a.12(i)(3)).

        The cards are needed if a Magic Card is drawn, or if the position is the Lucky position. The
        position must also have a wager on its own hand that the draw can decide.
        """
        draw = self.draw
        return (
            draw is not None
            and (draw.magic_card is not None or draw.lucky_position == position)
            and any(
                layout.rules.placings[each.wager].draws and not is_on_dealer(each.wager)
                for each in self.wagers_at(position)
            )
        )

    def is_entered(self, position: int) -> bool:
        return (
            self.cards_at(position) is not None
            or position in self.folded
            or position in self.no_win
        )

    def cards_shown(self) -> list[str]:
        """Return every entered card, without the cards that were taken back."""
        piles = [*(hand.cards for hand in self.hands), self.dealer or (), self.community or ()]
        return [card for pile in piles for card in pile]

    def holding(self, claim: str) -> tuple[ClaimOpened, str | None] | None:
        """Return a claim and the decision on it; None if the table does not know the claim.

        The decision is None while the claim waits.
        """
        for settled in (self.settled, *self.waiting, self.hold):
            if settled and (opened := settled.opened(claim)):
                return opened, settled.decision_on(claim)
        return None

    @property
    def shown(self) -> tuple[SettledRound, ...]:
        """The settlements in which something can be due."""
        return self.waiting if self.settled is None else (*self.waiting, self.settled)
