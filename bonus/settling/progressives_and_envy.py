"""The wagers that feed a meter: 649a.11(c)(5), (7), (8) and (9).

Wagers on the player's hand are settled alike in all games. The Five Card Hand Bonus (649a.11(c)(8))
also has the Magic Card, the Lucky Bonus, and a wager on the dealer's hand.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from msgspec.structs import replace

from bonus.law.meter_terms import MeterTerms, Row
from bonus.rounds import Due, Line, Outcome, PercentWon, RoundPosition, written_percent
from bonus.settling.payouts import Fact, JudgedCards, Turns, collected, decided
from bonus.wagers import (
    LUCKY_BONUS,
    MAGIC_CARD,
    PaidFrom,
    Percent,
    bad_beat_part,
    community_item,
    envy_share_item,
    is_community_share,
    is_envy,
    is_envy_share,
    is_jackpot,
    jackpot_item,
)

_On = Literal["player", "dealer"]


@dataclass(frozen=True, slots=True, eq=False)
class ProgressiveWager:
    """Settlement of a wager that feeds a meter, of its community shares and its Envy Bonuses.

    A player's hand can bring an Envy Bonus to every other player who made the wager; the Five Card
    Hand Bonus has no Envy Bonuses. A hand can also bring a part of a meter to all players who made
    the wager. ``envy`` is the item of the Envy Bonuses that are fixed sums. ``forfeited`` is the
    subsection under which a fold forfeits the wager; empty if a fold does not forfeit the wager.
    """

    wager: str
    meter: str
    envy: str
    judged: JudgedCards
    forfeited: str

    def concerns(self, made: frozenset[str]) -> bool:
        return self.wager in made

    def decided_by(self, box: RoundPosition, *, shown: bool) -> JudgedCards | None:
        return self.judged if shown else None

    def settle(self, turns: Turns, box: RoundPosition) -> None:
        """Settle the wager of a position, then the community share and the Envy Bonuses it brings.

        A hand brings them even if its holder did not make the wager (reading T10). A hand that was
        folded and collected (reading T8), or declared to win nothing, brings neither. The dealer's
        hand brings none either, because only the hands of positions are settled here (reading T12).
        All percentages of a meter that the hand wins are of the meter at the holder's turn.
        """
        terms = turns.terms[self.meter]
        hand = turns.hand(self.judged) if turns.shown else None
        row = None if hand is None else terms.rows_at(box.wagers.get(self.wager, 0))[hand]
        won: dict[str, Percent] = {}
        if self.wager in box.wagers:
            if box.no_win:
                turns.collect(self.wager, terms.rule)
            elif row is None or (box.folded and self.forfeited):
                turns.collect(self.wager, self.forfeited)
            else:
                settle_row(turns, self.wager, row, terms)
                won = dict(row.percents)
        if hand is not None and terms.rows[hand].brings:
            turns.repeats = False
            for meter, _ in terms.rows[hand].community:
                self._divide(turns, hand, terms, meter, won)
            for other in turns.bettors(self.wager):
                if other.player != box.player:
                    self._bring_envy(turns, other, hand, terms, won)

    def _bring_envy(
        self,
        turns: Turns,
        other: RoundPosition,
        hand: str,
        terms: MeterTerms,
        won: dict[str, Percent],
    ) -> None:
        row = terms.rows_at(other.wagers[self.wager])[hand]
        if row.envy_cents:
            self._pay_envy(turns, other, row, terms, turns.box.position)
        for meter, percent in row.envy_percents:
            before = won.get(meter, 0)
            turns.takes.append(PercentWon(meter, percent, before=before))
            won[meter] = before + percent
            take = len(turns.takes) - 1
            self._share(turns, other, row, envy_share_item(meter), percent, terms, take)

    def _divide(
        self, turns: Turns, hand: str, terms: MeterTerms, meter: str, won: dict[str, Percent]
    ) -> None:
        """Divide a part of a meter among the players who made the wager, not their positions.

        ``won`` has what the hand has won of each meter.
        """
        at = one_position_each(turns.bettors(self.wager), self.wager)
        percents = {cents: terms.rows_at(cents)[hand].community_of(meter) for cents in at.values()}
        on_link = self.wager if terms.community_on_link else ""
        takes, won[meter] = _divided(turns, meter, at, percents, won.get(meter, 0), on_link)
        for bettor in turns.bettors(self.wager):
            if (cents := at.get(bettor.position)) is not None:
                row, item = terms.rows_at(cents)[hand], community_item(meter)
                self._share(turns, bettor, row, item, percents[cents], terms, takes[cents])

    def _share(  # noqa: PLR0917  (every argument is a part of the line)
        self,
        turns: Turns,
        box: RoundPosition,
        row: Row,
        item: str,
        percent: Percent,
        terms: MeterTerms,
        take: int,
    ) -> None:
        """Add the line of a share of the percentage ``take``."""
        line = percent_line(item, row, terms, box.position, box.wagers[self.wager], percent)
        line = replace(line, rule=rule_of_item(item, terms), hand_of=turns.box.position)
        turns.dues.append(Due(line, take))

    def _pay_envy(
        self, turns: Turns, box: RoundPosition, row: Row, terms: MeterTerms, holder: int
    ) -> None:
        line = replace(
            _won(self.envy, row.hand, terms, box.position, box.wagers[self.wager]),
            paid=row.envy_cents,
            rule=terms.envy_rule,
            envy_of=holder,
        )
        turns.dues.append(Due(line))


def one_position_each(bettors: Sequence[RoundPosition], wager: str) -> dict[int, int]:
    """Return the position at which each player gets a share, with the amount of the wager there.

    ``bettors`` are in paying order. A player at several positions gets one share, at the position
    that is paid first (reading T17); if the amounts differ, at the first with the largest one.
    """
    found: dict[str | int, RoundPosition] = {}
    for bettor in bettors:
        before = found.setdefault(bettor.player, bettor)
        if bettor.wagers[wager] > before.wagers[wager]:
            found[bettor.player] = bettor
    return {each.position: each.wagers[wager] for each in found.values()}


def _divided(  # noqa: PLR0917  (every argument is a part of the percentage)
    turns: Turns,
    meter: str,
    at: Mapping[int, int],
    percents: Mapping[int, Percent],
    before: Percent = 0,
    link_wager: str = "",
) -> tuple[dict[int, int], Percent]:
    """Record a percentage of a meter that the players of a wager divide.

    ``at`` has the amount of the wager at the position of each player. With n players, each gets 1/n
    of the percentage in ``percents`` for this amount. There is one percentage for each amount, in
    paying order. Return their indexes by amount, and what the hand has won of the meter with them.
    """
    takes: dict[int, int] = {}
    paid_to = Counter(at.values())
    for position in sorted(at, reverse=True):
        cents = at[position]
        if cents not in takes:
            payees = paid_to[cents] if len(paid_to) > 1 else 0
            won = PercentWon(meter, percents[cents], len(at), before, payees, link_wager)
            turns.takes.append(won)
            takes[cents], before = len(turns.takes) - 1, won.after
    return takes, before


def settle_row(
    turns: Turns, wager: str, row: Row, terms: MeterTerms, *, take: int | None = None
) -> None:
    """Settle a wager that feeds a meter, according to the paytable row of its hand.

    If ``take`` is given, the payout is one share of the percentage with this index, which was
    recorded earlier. If not, the percentages of the row are recorded now. If the wager feeds
    several meters, or the row pays a percentage and a fixed amount, each percentage has its own
    line after the line of the wager.
    """
    box = turns.box
    wagered_cents = box.wagers[wager]
    turns.repeats = turns.repeats and not row.percents
    if take is None and row.percents and not _has_one_line(row, terms):
        turns.dues.append(Due(_row_line(wager, row, terms, box.position, wagered_cents)))
        for meter, percent in row.percents:
            turns.takes.append(PercentWon(meter, percent))
            line = percent_line(
                jackpot_item(meter), row, terms, box.position, wagered_cents, percent
            )
            turns.dues.append(Due(line, len(turns.takes) - 1))
        return
    if take is None and row.percents:
        ((meter, percent),) = row.percents
        turns.takes.append(PercentWon(meter, percent))
        take = len(turns.takes) - 1
    turns.dues.append(Due(_row_line(wager, row, terms, box.position, wagered_cents), take))


def percent_of_item(item: str, row: Row, terms: MeterTerms) -> Percent:
    """Return the percentage of the meter that the line of an item pays for a hand, or 0."""
    if part := bad_beat_part(item):
        return terms.bad_beat.of(part) if terms.bad_beat else 0
    if is_community_share(item):
        return row.community_of(terms.kind)
    if is_envy_share(item):
        return row.envy_of(terms.kind)
    if is_envy(item):
        return 0
    if is_jackpot(item) or _has_one_line(row, terms):
        return row.percent_of(terms.kind)
    return 0


def rule_of_item(item: str, terms: MeterTerms) -> str:
    """Return the subsection that decides an item that is no draw."""
    if bad_beat_part(item):
        return terms.bad_beat.rule if terms.bad_beat else ""
    if is_community_share(item):
        return terms.community_rule
    return terms.envy_rule if is_envy_share(item) else terms.rule


def _has_one_line(row: Row, terms: MeterTerms) -> bool:
    return not (terms.tiers or row.for_1 or row.sum_cents)


def _row_line(wager: str, row: Row, terms: MeterTerms, position: int, wagered_cents: int) -> Line:
    if not row.wins:
        return decided(collected(wager, terms.rule, row.hand), position, wagered_cents)
    if row.percents and _has_one_line(row, terms):
        ((_, percent),) = row.percents
        return percent_line(wager, row, terms, position, wagered_cents, percent)
    paid_cents = row.fixed_cents(wagered_cents)
    source = terms.paid_from if paid_cents else None
    line = _won(wager, row.hand, terms, position, wagered_cents)
    return replace(line, paid=paid_cents, paid_from=source)


def _won(item: str, hand: str | None, terms: MeterTerms, position: int, wagered_cents: int) -> Line:
    return Line(
        position=position,
        item=item,
        outcome=Outcome.PAID,
        hand=hand,
        wagered=wagered_cents,
        paid=0,
        returned=0,
        paid_from=terms.paid_from,
        rule=terms.rule,
    )


def percent_line(  # noqa: PLR0917  (every argument is a part of the line)
    item: str, row: Row, terms: MeterTerms, position: int, wagered_cents: int, percent: Percent
) -> Line:
    """Return the line of a hand pay: 649a.11(c)(5)(iv), (7)(iv), (8)(iii), (9)(iv)."""
    line = _won(item, row.hand, terms, position, wagered_cents)
    return replace(line, paid_from=PaidFrom.HAND_PAY, percent=written_percent(percent))


@dataclass(frozen=True, slots=True, eq=False)
class DealerBonus:
    """Settlement of a wager that the dealer's cards, or the one result of the table, decide.

    The wager on the player's own hand is settled first (reading T18). A fold forfeits neither wager
    (649a.11(b)(3)). Even if the player's hand was declared to win nothing, the dealer's cards
    decide this wager. ``divided`` is the subsection under which a jackpot is divided.
    """

    wager: str
    meter: str
    judged: JudgedCards
    divided: str

    def concerns(self, made: frozenset[str]) -> bool:
        return self.wager in made

    def decided_by(self, box: RoundPosition, *, shown: bool) -> JudgedCards | None:
        return self.judged if self.wager in box.wagers else None

    def settle(self, turns: Turns, box: RoundPosition) -> None:
        """Settle a position's wager on the dealer's hand.

        A percentage of the meter is one jackpot for all players who wagered on the dealer's hand.
        The percentage is subtracted when the first of these players is paid, and divided equally. A
        player receives one share, at the position that is paid first; the wagers at the player's
        other positions are collected, because the share includes them (649a.12(i)(2), reading T17).
        If the amounts differ, each player gets the part of an equal share that the amount wins.
        """
        if self.wager not in box.wagers:
            return
        terms = turns.terms[self.meter]
        hand, cents = turns.hand(self.judged), box.wagers[self.wager]
        row = terms.rows_at(cents)[hand]
        if not row.percent_of(self.meter):
            settle_row(turns, self.wager, row, terms)
        else:
            at, takes = turns.divided_takes.get(self.meter) or self._divide(turns, hand, terms)
            if box.position in at:
                settle_row(turns, self.wager, row, terms, take=takes[cents])
            else:
                turns.repeats = False
                turns.collect(self.wager, self.divided, row.hand)
        if self.judged.cards == "dealer":
            line = turns.dues[-1].line
            turns.dues[-1] = replace(turns.dues[-1], line=replace(line, on="dealer"))

    def _divide(
        self, turns: Turns, hand: str, terms: MeterTerms
    ) -> tuple[dict[int, int], dict[int, int]]:
        at = one_position_each(turns.bettors(self.wager), self.wager)
        percents = {
            cents: terms.rows_at(cents)[hand].percent_of(self.meter) for cents in at.values()
        }
        takes, _ = _divided(turns, self.meter, at, percents)
        turns.divided_takes[self.meter] = at, takes
        return at, takes


@dataclass(frozen=True, slots=True, eq=False)
class BonusDraws:
    """Settlement of the Magic Card and the Lucky Bonus, after both Five Card Hand Bonus wagers.

    ``wager`` is on the player's hand, ``dealers`` on the dealer's hand. A fold does not forfeit
    these bonuses (reading T19). A hand that was declared to win nothing has neither bonus.
    """

    wager: str
    dealers: str
    meter: str

    def concerns(self, made: frozenset[str]) -> bool:
        return self.wager in made or self.dealers in made

    def decided_by(self, box: RoundPosition, *, shown: bool) -> Fact | None:
        return self._drawn if self.concerns(frozenset(box.wagers)) else None

    def settle(self, turns: Turns, box: RoundPosition) -> None:
        for on, item in self._drawn(turns, box):
            cents = box.wagers[self.wager if on == "player" else self.dealers]
            turns.dues.append(_draw_due(turns.terms[self.meter], box.position, cents, on, item))

    def _drawn(self, turns: Turns, box: RoundPosition) -> tuple[tuple[_On, str], ...]:
        """Return the bonuses that a position receives, each with the side that its wager is on."""
        drawn: list[tuple[_On, str]] = []
        own = self.wager in box.wagers and not box.no_win
        dealers = self.dealers in box.wagers
        draw = turns.played.draw
        if draw.magic_card is not None:
            if own and draw.magic_card in turns.cards("hand_and_community"):
                drawn.append(("player", MAGIC_CARD))
            if dealers and draw.magic_card in turns.cards("dealer_and_community"):
                drawn.append(("dealer", MAGIC_CARD))
        if own and draw.lucky_position == box.position:
            drawn.append(("player", LUCKY_BONUS))
        if dealers and draw.lucky_position == "dealer":
            drawn.append(("dealer", LUCKY_BONUS))
        return tuple(drawn)


# The wagers on a meter have few amounts, so there are few different lines.
@lru_cache(maxsize=1_024)
def _draw_due(terms: MeterTerms, position: int, wagered_cents: int, on: _On, item: str) -> Due:
    for_1 = terms.magic_card_for_1 if item == MAGIC_CARD else terms.lucky_bonus_for_1
    line = _won(item, None, terms, position, wagered_cents)
    line = replace(line, paid=for_1 * wagered_cents, rule=terms.draw_rule, on=on)
    return Due(line)
