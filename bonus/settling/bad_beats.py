"""Bad beats: parts of a meter that are won when a high hand is beaten by a higher hand."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from msgspec.structs import replace

from bonus.cards import Card
from bonus.hands.rankings import Compare
from bonus.law.chapter_file import CardsOf
from bonus.rounds import Due, PercentWon, RoundPosition
from bonus.settling.payouts import Turns
from bonus.settling.progressives_and_envy import one_position_each, percent_line
from bonus.wagers import BAD_BEAT_PARTS, BadBeatPart, Percent, bad_beat_item

_DEALERS: Final[dict[CardsOf, CardsOf]] = {
    "hand": "dealer",
    "hand_and_community": "dealer_and_community",
}


class _Hand(NamedTuple):
    box: RoundPosition
    hand: str
    strength: int


@dataclass(frozen=True, slots=True, eq=False)
class BadBeatRule:
    """Settlement of the bad beat of a wager, after the last position of a round.

    Attributes:
        meters: the meters that the wager feeds.
        cards: the cards that form a hand; the first ``count`` of them count.
        counting: the hands that count when they are beaten.
        by_dealer: true if the dealer's hand must beat them, not that of another player.
        forfeited: true if a fold forfeits the wager.
    """

    wager: str
    meters: tuple[str, ...]
    cards: CardsOf
    count: int
    compare: Compare
    counting: frozenset[str]
    by_dealer: bool
    forfeited: bool

    def dues(self, turns: Turns) -> list[Due]:
        """Return the lines of the round's bad beat, and record its percentages; empty if none.

        The beaten hand is the highest that is really lower than the winning one, if it counts. Only
        hands that are turned up take part, with the wager. Against other players, each player takes
        part with the highest of their hands, so nobody beats their own hand (reading T17).
        """
        hands = [*self._hands(turns)]
        if self.by_dealer:
            highest = self._dealers_strength(turns) if hands else 0
            winners: list[_Hand] = []
        else:
            hands = _highest_of_players(hands)
            highest = max((each.strength for each in hands), default=0)
            winners = [each for each in hands if each.strength == highest]
        beaten = [each for each in hands if each.strength < highest and each.hand in self.counting]
        top = max((each.strength for each in beaten), default=0)
        losers = _highest_of_players([each for each in beaten if each.strength == top])
        if not losers:
            return []
        first = losers[0]
        bettors = turns.bettors(self.wager)
        at = one_position_each(bettors, self.wager)
        table = [_Hand(box, first.hand, 0) for box in bettors if box.position in at]
        found: list[Due] = []
        for meter in self.meters:
            found += self._parts(turns, meter, first, {
                "loser": losers, "winner": winners, "table": table,
            })  # fmt: skip
        return found

    def _parts(
        self, turns: Turns, meter: str, beaten: _Hand, payees: dict[BadBeatPart, list[_Hand]]
    ) -> Iterator[Due]:
        terms = turns.terms[meter]
        if terms.bad_beat is None:
            return
        before: Percent = 0
        for part in BAD_BEAT_PARTS:
            percent, paid = terms.bad_beat.of(part), payees[part]
            if not percent or not paid:
                continue
            turns.takes.append(PercentWon(meter, percent, len(paid), before))
            before += percent
            for box, hand, _ in paid:
                row, item = terms.rows[hand], bad_beat_item(meter, part)
                wagered = box.wagers[self.wager]
                line = percent_line(item, row, terms, box.position, wagered, percent)
                of = beaten.box.position if part == "table" else None
                line = replace(line, rule=terms.bad_beat.rule, hand_of=of)
                yield Due(line, len(turns.takes) - 1)

    def _hands(self, turns: Turns) -> Iterator[_Hand]:
        for box in turns.boxes():
            forfeits = box.folded and self.forfeited
            if self.wager in box.wagers and turns.shown and not forfeits:
                hand, strength = self.compare(self._counted(turns.cards(self.cards)))
                yield _Hand(box, hand, strength)

    def _dealers_strength(self, turns: Turns) -> int:
        return self.compare(self._counted(turns.cards(_DEALERS[self.cards])))[1]

    def _counted(self, cards: Sequence[Card]) -> Sequence[Card]:
        return cards[: self.count]


def _highest_of_players(hands: Sequence[_Hand]) -> list[_Hand]:
    """Return the highest hand of each player; of equal hands, the one that is paid first."""
    best: dict[str | int, _Hand] = {}
    for each in hands:
        known = best.get(each.box.player)
        if known is None or each.strength > known.strength:
            best[each.box.player] = each
    return [*best.values()]
