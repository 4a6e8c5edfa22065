"""A table as it stands: its layout, its state, and what can be read off them. Pure and frozen."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum, auto
from types import MappingProxyType
from typing import Final, Literal, Self

import msgspec
from msgspec.structs import replace

from bonus.law.chapter import chapters
from bonus.law.choices import Choices
from bonus.law.meter_terms import MeterTerms
from bonus.settling.settlement_lines import Line
from bonus.settling.table_rules import TableRules, meter_rules, table_rules
from bonus.wagers import METER_OF, MeterKind, Wager
from meters.floor.floor_file import Link, Meter, Table
from meters.wire.messages import ClaimOpened, DrawMade

ELECTRONIC: Final = frozenset({Wager.FIVE_CARD_HAND_BONUS, Wager.FIVE_CARD_HAND_BONUS_DEALER})
"""Wagers made on an electronic device, without a value chip (649a.7(d)(7))."""

FINAL: Final = frozenset({"paid", "rejected"})
"""The decisions on a win after which nothing more comes."""

NEED_COMMUNITY: Final = ELECTRONIC | {Wager.FIVE_CARD_PROGRESSIVE}
"""Wagers for which the two community cards are dealt (649a.8(d))."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What a table is: where it stands on the floor, and what can be wagered there.

    Attributes:
        link: the link's id.
        table: the table's id.
        positions: how many betting positions it has.
        terms: the terms of the meters that it feeds.
        rules: the rules of its game, with the choices of its Rules Submission.
        paytables: those choices.
        link_name: the link's name, as people read it.
        game: the game, as the contract names it.
        meters: the meters that it feeds, as the floor file has them.
    """

    link: str
    table: str
    positions: int
    terms: Mapping[MeterKind, MeterTerms]
    rules: TableRules
    paytables: Choices
    link_name: str
    game: str
    meters: tuple[Meter, ...]

    @classmethod
    def of(cls, link: Link, table: Table) -> Self:
        """The layout of a table in the floor file."""
        meters = link.meters_of(table)
        paytables = dict(table.paytables)
        progressive = meters.get(MeterKind.PROGRESSIVE)
        if progressive and progressive.paytable:
            paytables[MeterKind.PROGRESSIVE.value] = progressive.paytable
        return cls(
            link.id,
            table.id,
            table.positions,
            MappingProxyType({kind: meter.terms for kind, meter in meters.items()}),
            table_rules(chapters()[table.game], paytables),
            MappingProxyType(paytables),
            link.name,
            table.game,
            tuple(meters.values()),
        )

    @property
    def hand_cards(self) -> int:
        """How many cards a position is dealt."""
        return self.rules.chapter.deal.hand

    @property
    def dealer_cards(self) -> int:
        """How many cards the dealer is dealt."""
        return self.rules.chapter.deal.dealer

    def amount_cents(self, wager: Wager) -> int | None:
        """The amount of a wager here, or None where the table has no meter for it."""
        kind = METER_OF.get(wager)
        terms = None if kind is None else self.terms.get(kind)
        return None if terms is None else terms.wager_cents


class Phase(StrEnum):
    """Where a table is in its round.

    Attributes:
        OPEN: wagers are taken.
        LOCKED: betting is locked; the value chips are to be counted.
        DEALT: the count was right; hands are entered.
        SETTLING: the result is with the service.
        HELD: a hand pay waits for its documents, and the cards stay (649a.11(c)(5)(iv)).
        LOCKED_OUT: the table and the service do not agree on the round; a floorperson voids it.
    """

    OPEN = auto()
    LOCKED = auto()
    DEALT = auto()
    SETTLING = auto()
    HELD = auto()
    LOCKED_OUT = auto()


class _Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the parts of a table's state share."""


class PlacedWager(_Record, frozen=True):
    """A wager that was accepted: its light is lit."""

    position: int
    wager: Wager
    amount_cents: int
    patron: str | None = None


class Hand(_Record, frozen=True):
    """The cards of a position."""

    position: int
    cards: tuple[str, ...]


class TakenBack(_Record, frozen=True):
    """Cards that were entered and taken back in this round."""

    what: Literal["hand", "dealer", "community"]
    cards: tuple[str, ...]
    position: int | None = None
    reason: str | None = None


class ClaimDecision(_Record, frozen=True):
    """What became of a claim."""

    claim: str
    event: Literal["validated", "rejected", "paid"]


class EnvyDecision(_Record, frozen=True):
    """What became of an Envy Bonus, by the place of its line in the settlement, from 0."""

    line: int
    event: Literal["validated", "rejected", "paid"]


class SettledRound(_Record, frozen=True):
    """The settlement of a round, kept for the dealer until the next one begins.

    Attributes:
        round: the round.
        lines: what is paid, in paying order.
        claims: the wins that a floorperson validates.
        decided: what became of them so far.
        hands: the hands that were entered.
        dealer: the dealer's hand.
        community: the community cards.
        draw: what was drawn at lock-out.
        done: the lines that the dealer has paid, or seen to otherwise, by their places from 0.
        seq: the number of the round's result.
        envy: what the floor has said of its Envy Bonuses.
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

    def with_done(self, lines: tuple[int, ...]) -> Self:
        """The settlement with these lines done."""
        return replace(self, done=lines)

    def with_decision(self, claim: str, event: Literal["validated", "rejected", "paid"]) -> Self:
        """The settlement once a claim is decided; what is told twice, or late, changes nothing."""
        known = self.decision_on(claim)
        if all(opened.claim != claim for opened in self.claims):
            return self
        if known is not None and not (known == "validated" and event in FINAL):
            return self
        others = tuple(each for each in self.decided if each.claim != claim)
        return replace(self, decided=(*others, ClaimDecision(claim, event)))

    def with_envy(self, decision: EnvyDecision) -> Self:
        """The settlement once the floor has said what became of an Envy Bonus; the last counts."""
        return replace(
            self, envy=(*(one for one in self.envy if one.line != decision.line), decision)
        )

    def envy_decision_on(self, line: int) -> str | None:
        """What the floor has said of the Envy Bonus of a line, or None."""
        return next((told.event for told in self.envy if told.line == line), None)

    @property
    def undecided(self) -> tuple[ClaimOpened, ...]:
        """The claims that nobody has decided."""
        known = {decision.claim for decision in self.decided}
        return tuple(claim for claim in self.claims if claim.claim not in known)

    def decision_on(self, claim: str) -> str | None:
        """What became of a claim, or None."""
        return next((known.event for known in self.decided if known.claim == claim), None)


class Returned(_Record, frozen=True):
    """What goes back to the players, kept for the dealer until the next wager or lock-out.

    Attributes:
        reason: why.
        wagers: the wagers that go back.
        void: whether the round is void, so that every other wager goes back too (649a.13).
    """

    reason: str
    wagers: tuple[PlacedWager, ...]
    void: bool = False


class Refused(_Record, frozen=True):
    """What the service did not take: the device event, and its reason."""

    event: str
    message: str


class Asking(_Record, frozen=True):
    """What a floorperson is asked to confirm; the table tries it again until somebody decides.

    Attributes:
        event: the device event that led to it.
        since: when it was first tried, RFC 3339 in UTC.
        reason: why the round is to be void.
        confirm: whether the table asked of itself, or only because the floor file wants it.
    """

    event: Literal["settle", "void"]
    since: str
    reason: str = ""
    confirm: bool = True


class TableState(_Record, frozen=True):
    """A table's whole state. It goes into the outbox, so that a killed agent is where it was (D11).

    Attributes:
        phase: where the table is in its round.
        round: the round's name, once its wagers went to the service; None where none did.
        wagers: the wagers that stand.
        returned_chips: the value chips of wagers that the service refused, given back.
        hands: the hands entered so far.
        folded: the positions that folded.
        dealer: the dealer's hand.
        community: the community cards.
        held: the claims whose documents are not done.
        hold: those of them that the service named when it refused wagers for them, and what became
            of them: no settlement that is kept here has them.
        reason: why the table is locked out.
        draw: what was drawn at lock-out (649a.12(i)(3)).
        settled: the settlement of the round before, until the dealer goes on or this one begins.
        last_wagers: the wagers of the round before, for players who repeat them.
        collected: those of `folded` whose cards are known to be in the discard rack.
        waiting: the rounds before with a line that is not done: its win is undecided, or what was
            decided is still to be paid or acknowledged; the oldest first.
        last_settled: the settlement that was put away last.
        joined: each position whose player has the next one too (readings T9 and T17).
        last_joined: the same, of the round before.
        returned: what went back to the players last, until the next wager or lock-out.
        refusal: the last event that the service refused, until the next device event is taken.
        differs: the last count of the chips, where it was wrong.
        taken_back: the cards that were taken back in this round, the first one first.
        collected_hands: hands that were entered and then collected with a fold.
        asking: what a floorperson is asked to confirm before this round goes on, or None.
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

    @property
    def chips_due(self) -> int:
        """How many value chips the dealer should count (649a.8(b)): one for each chip wager."""
        return sum(placed.wager not in ELECTRONIC for placed in self.wagers)

    @property
    def needs_community(self) -> bool:
        """Whether community cards are dealt (649a.8(d))."""
        return any(placed.wager in NEED_COMMUNITY for placed in self.wagers)

    def is_lit(self, position: int, wager: str) -> bool:
        """Whether a wager's light is lit at a position (649a.7(d)(4))."""
        return any(placed.position == position and placed.wager == wager for placed in self.wagers)

    def boxes_of(self, position: int) -> tuple[int, ...]:
        """The positions that one player has, a position among them (readings T9 and T17)."""
        lowest = highest = position
        while lowest - 1 in self.joined:
            lowest -= 1
        while highest in self.joined:
            highest += 1
        return tuple(range(lowest, highest + 1))

    def patrons_given(self, positions: Collection[int]) -> frozenset[str]:
        """Who wagered at some positions, as far as a device said so or the service was told."""
        return frozenset(
            placed.patron
            for placed in self.wagers
            if placed.position in positions and placed.patron is not None
        )

    def patron_at(self, position: int) -> str | None:
        """Who has a position, as far as it was said; boxes of one player have one name."""
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
        """The cards entered for a position, or None."""
        return next((hand.cards for hand in self.hands if hand.position == position), None)

    def keeps_cards(self, position: int) -> bool:
        """Whether a hand stays on the table when it is folded (649a.11(c), reading T8)."""
        return any(
            placed.position == position and placed.wager in meter_rules().survivors
            for placed in self.wagers
        )

    def cards_seen(self) -> frozenset[str]:
        """Every card that was entered in this round."""
        piles = [*(hand.cards for hand in self.hands), self.dealer or (), self.community or ()]
        return frozenset(card for pile in piles for card in pile)

    def holding(self, claim: str) -> tuple[ClaimOpened, str | None] | None:
        """A claim that holds the table, and what became of it so far; None where nothing says."""
        for settled in (self.settled, self.hold):
            for opened in settled.claims if settled else ():
                if settled and opened.claim == claim:
                    return opened, settled.decision_on(claim)
        return None

    @property
    def claims_wait(self) -> bool:
        """Whether a win of a round before is still undecided."""
        settlements = self.waiting if self.settled is None else (*self.waiting, self.settled)
        return any(settled.undecided for settled in settlements)
