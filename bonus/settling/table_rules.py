"""The rules of one casino table: a chapter with the choices of the table's Rules Submission."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from bonus.cards import RANKS, Card, Deck
from bonus.hands.rankings import COMPARES, STRENGTHS, Judge, Ranking
from bonus.hands.three import QUEEN_HIGH
from bonus.law.chapter_file import (
    Bonus,
    CardsOf,
    Chapter,
    Main,
    MiniRoyal,
    PrintedTable,
    Version,
    WagerLimit,
    WagerTables,
)
from bonus.law.choices import MINI_ROYAL, VERSION, Choices
from bonus.law.game_rankings import deck_of, ranking_of
from bonus.law.games import GameMeters, Games, chapter_games
from bonus.law.paytables import (
    Paytable,
    chosen_of,
    paytables_of,
    read_times,
    rows_of,
    with_mini_royal,
)
from bonus.rounds import Outcome
from bonus.settling.bad_beats import BadBeatRule
from bonus.settling.payouts import (
    Decision,
    JudgedCards,
    PayoutLimit,
    SettlingStep,
    collected,
    judged_cards,
)
from bonus.settling.progressives_and_envy import BonusDraws, DealerBonus, ProgressiveWager
from bonus.settling.wagers_at_odds import MainTerms, MainWagers, OptionalWager
from bonus.wagers import PaidFrom, envy_item


@dataclass(frozen=True, slots=True)
class Placing:
    """Conditions under which a player can make a wager at a casino table.

    Attributes:
        rule: the subsection about placing the wager.
        needs: other wagers, of which the player must have placed one.
        cards: the cards that decide the wager; None for the two wagers against the dealer's hand.
        draws: true if the Magic Card and the Lucky Bonus are paid on the wager.
        validated_for_1: the lowest multiple of a progressive wager that a floorperson must
            validate; 0 means every win.
        choice: the missing choice of ``choice_rule``, without which the table does not offer the
            wager; empty if the table offers it.
    """

    rule: str
    needs: tuple[str, ...] = ()
    cards: CardsOf | None = None
    meters: tuple[str, ...] = ()
    draws: bool = False
    validated_for_1: int = 0
    fourth_card: bool = False
    choice: str = ""
    choice_rule: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class TableRules:
    """Rules of one casino table, compared by identity.

    Attributes:
        placings: the conditions for every wager of the chapter, in the order of settlement.
        steps: the steps of settlement for each position, in order; ``exposed_steps`` are the steps
            if a dealer's card was exposed.
        survivors: the wagers that a fold does not forfeit.
        version: the version of the game that the table offers (649a.7(e)).
        deck: the cards or the results of the game.
        whole: false if a round contains only the wagers that feed a meter.
        bad_beats: the bad beats, which are settled after the last position.
    """

    chapter: Chapter
    meters: GameMeters
    placings: Mapping[str, Placing]
    steps: tuple[SettlingStep, ...]
    exposed_steps: tuple[SettlingStep, ...]
    survivors: frozenset[str]
    version: Version | None
    limit: PayoutLimit | None
    choices: Choices
    deck: Deck
    whole: bool = True
    bad_beats: tuple[BadBeatRule, ...] = ()

    @property
    def bounds(self) -> tuple[WagerLimit, ...]:
        return self.version.bounds if self.version else ()


@cache
def meter_rules(game: str, games: Games | None = None) -> TableRules:
    """Return the rules for the wagers that feed a meter: the meter service gets no other wagers.

    Without games, use the chapters.
    """
    chapter = (games or chapter_games())[game]
    placings = {
        name: _placing(chapter, wager, name, "")
        for wager in chapter.wager
        if wager.fed
        for name in wager.names
    }
    feeding = [wager for wager in chapter.wager if wager.fed]
    steps = tuple(step for wager in feeding for step in _meter_steps(chapter, wager))
    survivors = _survivors(chapter)
    meters = GameMeters.of([chapter])
    deck = deck_of(chapter)
    return TableRules(
        chapter, meters, placings, steps, (), survivors, None, None, {}, deck, whole=False,
        bad_beats=_bad_beats(chapter),
    )  # fmt: skip


def table_rules(chapter: Chapter, choices: Choices) -> TableRules:
    """Return the rules of a casino table, from choices that ``choice_problem`` has accepted.

    A wager that feeds no meter is not offered or settled if it has several paytables, of which none
    is chosen.
    """
    build = _Builder(chapter, choices)
    placings, steps = build.main(chapter.main) if chapter.main else ({}, [])
    exposed: list[SettlingStep] = []
    for wager in chapter.wager:
        made = build.steps(wager)
        choice = "" if made else wager.names[0]
        placings |= {name: _placing(chapter, wager, name, choice) for name in wager.names}
        steps += made
        if wager.names[0] in chapter.irregular.settled:
            exposed += made
    chosen = str(choices.get(VERSION))
    return TableRules(
        chapter=chapter,
        meters=GameMeters.of([chapter]),
        placings=placings,
        steps=tuple(steps),
        exposed_steps=tuple(exposed),
        survivors=_survivors(chapter),
        version=next((version for version in chapter.version if version.name == chosen), None),
        limit=build.limit(),
        choices=choices,
        deck=deck_of(chapter),
        bad_beats=_bad_beats(chapter),
    )


def _placing(chapter: Chapter, wager: WagerTables, name: str, choice: str) -> Placing:
    cards = wager.cards[wager.names.index(name)]
    tables = wager.fourth_card.table if wager.fourth_card else wager.table
    least = wager.validation.least if wager.validation else ""
    return Placing(
        rule=wager.placing,
        needs=wager.needs,
        cards=cards,
        meters=wager.fed,
        draws=wager.draws is not None,
        validated_for_1=read_times(least, "for") if least else 0,
        fourth_card=wager.fourth_card is not None,
        choice=choice,
        choice_rule=tables[0].rule,
    )


def _survivors(chapter: Chapter) -> frozenset[str]:
    return frozenset(
        name
        for wager in chapter.wager
        if not wager.forfeited
        for name, cards in zip(wager.names, wager.cards, strict=True)
        if cards != "dealer"
    )


def _meter_steps(chapter: Chapter, wager: WagerTables) -> list[SettlingStep]:
    judge = ranking_of(chapter, wager.ranking).of
    name, meter = wager.names[0], wager.fed[0]
    judged = _judged(chapter, wager, 0, judge)
    if wager.cards[0] == "dealer":
        return [DealerBonus(name, meter, judged, wager.divided)]
    step = ProgressiveWager(name, meter, envy_item(name), judged, wager.forfeited)
    if not wager.draws:
        return [step]
    own, dealers = wager.names
    on_dealers = _judged(chapter, wager, 1, judge)
    return [
        step,
        DealerBonus(dealers, meter, on_dealers, wager.divided),
        BonusDraws(own, dealers, meter),
    ]


def _bad_beats(chapter: Chapter) -> tuple[BadBeatRule, ...]:
    return tuple(
        BadBeatRule(
            wager=wager.names[0],
            meters=wager.fed,
            cards=wager.cards[0],
            count=sum(chapter.deal.judged(wager.cards[0], wager.community_cards)),
            compare=STRENGTHS[wager.ranking],
            counting=ranking_of(chapter, wager.ranking).from_highest(wager.bad_beat.lowest),
            by_dealer=wager.bad_beat.beaten_by == "dealer",
            forfeited=bool(wager.forfeited),
        )
        for wager in chapter.wager
        if wager.bad_beat
    )


def _judged(chapter: Chapter, wager: WagerTables, at: int, judge: Judge) -> JudgedCards:
    cards, first = wager.cards[at], wager.community_cards
    if first:
        judge = _of_first(judge, sum(chapter.deal.judged(cards, first)))
    return judged_cards(judge, cards)


@cache
def _of_first(judge: Judge, number: int) -> Judge:
    """Return a function that judges the first cards: the community cards are always the last."""

    def of_first(cards: Sequence[Card], _counts: int | None = None) -> str:
        return judge(cards[:number])

    return of_first


class _Builder:
    def __init__(self, chapter: Chapter, choices: Choices) -> None:
        self._chapter = chapter
        self._choices = choices
        royal = choices.get(MINI_ROYAL)
        self._mini_royal: Mapping[str, int] = royal if isinstance(royal, Mapping) else {}

    def limit(self) -> PayoutLimit | None:
        of = self._chapter.limit
        chosen = self._choices.get(of.choice) if of else None
        return PayoutLimit(of.rule, chosen) if of and isinstance(chosen, int) else None

    def main(self, main: Main) -> tuple[dict[str, Placing], list[SettlingStep]]:
        """Return the conditions for the two main wagers, and the step if they are offered."""
        missing = [
            bonus
            for bonus in main.bonus
            if bonus.choice and self._chosen(bonus.table, bonus.choice, bonus.ranking) is None
        ]
        choice, choice_rule = "", ""
        if missing:
            choice, choice_rule = missing[0].choice, missing[0].table[0].rule
        placings = {
            main.stake: Placing(main.placing, choice=choice, choice_rule=choice_rule),
            main.follow: Placing(
                main.placing, needs=(main.stake,), choice=choice, choice_rule=choice_rule
            ),
        }
        return placings, [] if missing else [self._main_step(main)]

    def _main_step(self, main: Main) -> MainWagers:
        ranking = self._ranking(main.ranking)
        hands = ranking.names
        above = hands[: hands.index(main.highest)]
        names = {hand: main.highest if hand in above else hand for hand in hands}
        times = read_times(main.odds, "to")

        def at_odds(wager: str) -> dict[str, Decision]:
            return {
                hand: self._paid(wager, wager, name, times, main.odds_rule, stake_back=True)
                for hand, name in names.items()
            }

        follow_pays = at_odds(main.follow)
        if main.follow_pays:
            (paytable,) = paytables_of(main.follow_pays, hands)
            follow_pays = self._by_hand(main.follow, main.follow, paytable, ranking)
        terms = MainTerms(
            main=main,
            names=names,
            pays=(at_odds(main.stake), at_odds(main.follow)),
            follow_pays=follow_pays,
            bonuses=tuple((bonus, self._bonus(bonus)) for bonus in main.bonus),
        )
        return MainWagers(
            stake=main.stake,
            follow=main.follow,
            judged=judged_cards(ranking.of, "hand"),
            compare=COMPARES[main.ranking],
            qualifies=QUEEN_HIGH if main.not_qualified else 0,
            folded=collected(main.stake, main.asking),
            lost=tuple(collected(wager, main.lower) for wager in (main.stake, main.follow)),
            decisions={
                "not_qualified": {hand: terms.not_qualified(hand) for hand in hands},
                "higher": {hand: terms.higher(hand) for hand in hands},
                "equal": {hand: terms.equal(hand) for hand in hands},
                "lower": {hand: terms.lower_than_dealers(hand) for hand in hands},
            },
        )

    def _bonus(self, bonus: Bonus) -> dict[str, Decision]:
        paytable = self._chosen(bonus.table, bonus.choice, bonus.ranking)
        if paytable is None:
            raise ValueError(f"{bonus.item}: no paytable is chosen")
        return self._by_hand(
            bonus.item,
            bonus.on,
            paytable,
            self._ranking(bonus.ranking),
            royal=bonus.mini_royal,
            royal_times=self._mini_royal.get(bonus.item),
        )

    def steps(self, wager: WagerTables) -> list[SettlingStep]:
        """Return the steps for wagers that share paytables; none if they are not offered."""
        if wager.fed:
            return _meter_steps(self._chapter, wager)
        made = [self._optional(wager, at) for at in range(len(wager.names))]
        return [step for step in made if step]

    def _optional(self, wager: WagerTables, at: int) -> OptionalWager | None:
        name, item = wager.names[0], wager.names[at]
        ranking_name = wager.ranking
        if wager.readings:
            reading = str(self._choices.get(wager.readings.choice, ""))
            ranking_name = wager.readings.rankings.get(reading, ranking_name)
        ranking = self._ranking(ranking_name)
        fourth = wager.fourth_card
        chosen = self._chosen(wager.table, "" if fourth else name, ranking_name)
        on_fourth = self._chosen(fourth.table, name, ranking_name) if fourth else None
        if chosen is None or (fourth and on_fourth is None):
            return None
        shown = rows_of(chosen, ranking)
        lost_rule = wager.collected or chosen.rule
        lost = {hand: collected(item, lost_rule, row[0]) for hand, row in shown.items()}
        paid = self._by_hand(
            item,
            item,
            chosen,
            ranking,
            royal=wager.mini_royal,
            royal_times=self._mini_royal.get(name),
            paid_from=wager.paid_from,
        )
        fourth_paid: Mapping[str, Decision] = {}
        if on_fourth:
            fourth_paid = self._by_hand(item, item, on_fourth, ranking, paid_from=wager.paid_from)
        return OptionalWager(
            wager=item,
            judged=_judged(self._chapter, wager, at, ranking.of),
            by_hand={**lost, **paid},
            lost=collected(item, lost_rule),
            folded=collected(item, wager.forfeited) if wager.forfeited else None,
            fourth_rank=RANKS.index(fourth.rank) if fourth else None,
            by_hand_fourth={**lost, **fourth_paid},
        )

    def _chosen(self, tables: Sequence[PrintedTable], choice: str, ranking: str) -> Paytable | None:
        """Return the chosen or only paytable; None if there are several and none is chosen."""
        letter = self._choices.get(choice)
        hands = self._ranking(ranking).names
        return chosen_of(tables, hands, None if letter is None else str(letter))

    def _ranking(self, name: str) -> Ranking:
        return ranking_of(self._chapter, name)

    def _by_hand(
        self,
        item: str,
        on: str,
        paytable: Paytable,
        ranking: Ranking,
        *,
        royal: MiniRoyal | None = None,
        royal_times: int | None = None,
        paid_from: PaidFrom = PaidFrom.TABLE_INVENTORY,
    ) -> dict[str, Decision]:
        """Return the decision to pay, for each hand that a paytable pays.

        The payout of an added mini-royal names the subsection of its odds.
        """
        added = royal if royal_times else None
        if royal_times and added:
            paytable = with_mini_royal(paytable, royal_times)
        return {
            hand: self._paid(
                item,
                on,
                shown,
                payout.times,
                added.rule if added and shown == "mini_royal" else paytable.rule,
                stake_back=payout.stake_back,
                sum_cents=payout.sum_cents,
                paid_from=paid_from,
            )
            for hand, (shown, payout) in rows_of(paytable, ranking).items()
            if payout.wins
        }

    def _paid(
        self,
        item: str,
        on: str,
        shown: str,
        times: int,
        rule: str,
        *,
        stake_back: bool,
        sum_cents: int = 0,
        paid_from: PaidFrom = PaidFrom.TABLE_INVENTORY,
    ) -> Decision:
        """Return the decision to pay; a bonus has no stake to return (reading G2)."""
        limit = self._chapter.limit
        return Decision(
            wager=on,
            item=item,
            outcome=Outcome.PAID,
            hand=shown,
            rule=rule,
            times=times,
            stake_back=stake_back and item == on,
            sum_cents=sum_cents,
            paid_from=paid_from,
            limited=limit is not None and rule in limit.covers and shown not in limit.excluded,
        )
