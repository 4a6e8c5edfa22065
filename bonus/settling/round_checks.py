"""Checks that the wagers and cards of a round are possible.

The checks are made once, when the round is received, and settlement relies on them. If the rules of
the game forbid a wager, its refusal names the subsection.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, islice
from math import comb
from typing import Final

from msgspec.structs import replace

from bonus.cards import DECK, Card, card_name
from bonus.errors import nearest
from bonus.law.chapter_file import DEALERS_ALONE, OF_COMMUNITY, CardsOf, Main
from bonus.law.meter_terms import MeterTerms
from bonus.rounds import KeptWagers, Outcome, Round, RoundError, RoundPosition, kept_wagers, refuse
from bonus.settling.settlement import settle_round
from bonus.settling.table_rules import Placing, TableRules

WAGER_CENTS_MAX: Final = 10**10
"""The highest wager, $100,000,000: its payout at any odds of a chapter stays below 2**53 cents."""

Terms = Mapping[str, MeterTerms]


def check_wagers(
    positions: Sequence[RoundPosition], rules: TableRules, terms: Terms, *, decided: bool = True
) -> None:
    """Check the positions and wagers of a round.

    ``decided`` is false if the round ended before every player had folded or made the wager after
    the Ante.

    Raises:
        RoundError: the code is ``bad_position``, ``position_twice``, ``unknown_wager``,
            ``not_offered``, ``bad_amount``, ``unknown_meter`` (the table has no meter for the
            wager), ``wrong_amount``, ``wager_missing`` (another wager that is needed is missing),
            ``after_fold``, ``undecided`` or ``nothing_folded``. ``wrong_amount`` has three reasons:
            the meter requires another amount (reading T22), the wager after the Ante is no allowed
            multiple of the Ante, or a wager exceeds a limit of 649a.7(e).
    """
    errors: list[RoundError] = []
    seen: set[int] = set()
    prices_cents = tuple(
        [terms[meter].wagers_cents if meter in terms else () for meter in rules.meters.titles]
    )
    positions_max = rules.chapter.deal.positions
    for index, box in enumerate(positions):
        if not 1 <= box.position <= positions_max:
            rule = rules.chapter.deal.positions_rule
            message = (
                f"position {box.position}: a table has positions 1 to {positions_max} ({rule})"
            )
            errors.append(RoundError("bad_position", message, f"positions[{index}].position"))
        if box.position in seen:
            message = f"position {box.position} occurs twice ({rules.chapter.deal.positions_rule})"
            errors.append(RoundError("position_twice", message, f"positions[{index}].position"))
        seen.add(box.position)
        try:
            _check_position(rules, prices_cents, kept_wagers(box.wagers), box.folded, decided)
        except RoundError as error:
            errors += [
                RoundError(each.code, each.message, f"positions[{index}].{each.field}")
                for each in error.all
            ]
    refuse(errors)


# Players often repeat their wagers. So the wagers that were accepted are kept, and are accepted
# again without a check. Refused wagers are not kept.
@lru_cache(maxsize=8_192)
def _check_position(
    rules: TableRules,
    prices_cents: tuple[tuple[int, ...], ...],
    wagers: KeptWagers,
    folded: bool,  # noqa: FBT001  (the cache is slower with keyword arguments)
    decided: bool,  # noqa: FBT001
) -> None:
    """Check the wagers of one position; ``prices_cents`` has the amounts of a wager on each meter.

    The fields in errors are relative to the position.
    """
    prices = dict(zip(rules.meters.titles, prices_cents, strict=True))
    errors = list(_wager_errors(wagers, rules, prices))
    main = rules.chapter.main
    if rules.whole:
        error = _main_error(wagers, main, folded=folded, decided=decided) if main else None
        if error := error or _bound_error(wagers, rules):
            errors.append(error)
    refuse(errors)


def _wager_errors(
    wagers: Mapping[str, int], rules: TableRules, prices_cents: Mapping[str, Sequence[int]]
) -> Iterator[RoundError]:
    for wager, cents in wagers.items():
        placing = rules.placings.get(wager)
        if placing is None:
            meant = nearest(wager, rules.placings)
            code = "unknown_wager"
            message = f"{wager!r} is not a wager of {rules.chapter.game}{meant}"
        elif placing.choice:
            code = "not_offered"
            message = (
                f"{wager} is not offered: the table has chosen no {placing.choice} of "
                f"{placing.choice_rule}"
            )
        elif lacking := [meter for meter in placing.meters if not prices_cents[meter]]:
            code = "unknown_meter"
            message = f"{wager}: no meter {lacking[0]} is given for it ({placing.rule})"
        elif wrong := [meter for meter in placing.meters if cents not in prices_cents[meter]]:
            needed = " or ".join(str(each) for each in prices_cents[wrong[0]])
            price = f"the meter needs {needed} cents ({placing.rule})"
            code, message = "wrong_amount", f"{wager} of {cents} cents: {price}"
        elif not placing.meters and not 1 <= cents <= WAGER_CENTS_MAX:
            code = "bad_amount"
            message = f"{wager} of {cents} cents: a wager is 1 to {WAGER_CENTS_MAX} cents"
        elif rules.whole and placing.needs and wagers.keys().isdisjoint(placing.needs):
            needs = " or ".join(placing.needs)
            code = "wager_missing"
            message = f"{wager} without {needs}: it is an additional wager ({placing.rule})"
        else:
            continue
        yield RoundError(code, message, f"wagers.{wager}")


def _main_error(
    wagers: Mapping[str, int], main: Main, *, folded: bool, decided: bool
) -> RoundError | None:
    """Check that the player folds or wagers: 649a.11(b), 679a.11(b), 682a.11(b)."""
    stake, follow = wagers.get(main.stake), wagers.get(main.follow)
    field = f"wagers.{main.follow}"
    if folded:
        if follow is not None:
            message = f"a {main.follow} after a fold: a fold ends participation ({main.asking})"
            return RoundError("after_fold", message, field)
        if wagers and stake is None:
            message = f"a fold without an {main.stake}: there is nothing to fold ({main.asking})"
            return RoundError("nothing_folded", message, "folded")
    if stake is None:
        return None
    if follow is None:
        if decided and not folded:
            message = f"an {main.stake} needs a {main.follow} or a fold ({main.asking})"
            return RoundError("undecided", message, field)
    elif follow not in [times * stake for times in main.times]:
        return RoundError("wrong_amount", _wrong_follow(main, follow), field)
    return None


def _wrong_follow(main: Main, cents: int) -> str:
    words = {1: "one", 2: "two", 3: "three"}
    *others, last = [words.get(times, str(times)) for times in main.times]
    multiples = f"{', '.join(others)} or {last}" if others else last
    be = f"is {multiples} times the {main.stake}"
    if main.times == (1,):
        be = f"equals the {main.stake}"
    return f"{main.follow} of {cents} cents: it {be} ({main.placing})"


def _bound_error(wagers: Mapping[str, int], rules: TableRules) -> RoundError | None:
    """Return the error of a wager above a limit of the table's version (649a.7(e)), or None."""
    for bound in rules.bounds:
        cents, of_cents = wagers.get(bound.wager, 0), wagers.get(bound.of, 0)
        if cents > bound.at_most * of_cents:
            rule = rules.version.rule if rules.version else ""
            least = f"1/{bound.at_most} of this" if bound.at_most > 1 else "as much"
            message = (
                f"{bound.wager} of {cents} cents: {bound.of} must be at least {least} ({rule})"
            )
            return RoundError("wrong_amount", message, f"wagers.{bound.wager}")
    return None


def check_cards(played: Round, rules: TableRules) -> None:
    """Check that all cards that decide wagers were dealt, and that no card occurs twice.

    Raises:
        RoundError: the code is ``cards_missing``, ``community_missing`` (649a.8(d)), ``card_twice``
            or ``bad_position`` (the table cannot have this Lucky position). ``cards_missing`` is
            for a hand that stays on the table (reading T8), the dealer's hand, the fourth card or
            the All-Six Bonus card. ``no_win_with_cards`` and ``no_win_folded`` are for a hand that
            was declared to win nothing.
    """
    errors: list[RoundError] = []
    repeated = rules.deck.too_often(_dealt(played))
    seen: list[Card] = []
    for index, box in enumerate(played.positions):
        # In most rounds no card is repeated. Then a position with cards has no error.
        if not repeated and box.cards is not None and not box.no_win:
            continue
        if error := _hand_error(played, rules, box, index, seen):
            errors.append(error)
    if repeated:
        for field, cards in _table_cards(played):
            if error := _twice_error(cards, seen, rules, field):
                errors.append(error)
    errors += _undealt_errors(played, rules)
    lucky = played.draw.lucky_position
    if isinstance(lucky, int) and not 1 <= lucky <= rules.chapter.deal.positions:
        message = f"{rules.chapter.game} has no position {lucky}"
        errors.append(RoundError("bad_position", message, "draw.lucky_position"))
    refuse(errors)


def _dealt(played: Round) -> list[Card]:
    dealt: list[Card] = []
    for box in played.positions:
        dealt += box.cards or ()
        if box.fourth_card is not None:
            dealt.append(box.fourth_card)
    for _, cards in _table_cards(played):
        dealt += cards
    return dealt


def _hand_error(
    played: Round, rules: TableRules, box: RoundPosition, index: int, seen: list[Card]
) -> RoundError | None:
    if box.no_win and (error := _declared_error(box, index)):
        return error
    if box.cards is not None:
        if error := _twice_error(box.cards, seen, rules, f"positions[{index}].cards"):
            return error
    elif _needs_hand(box, played, rules):
        rule = rules.chapter.asking
        message = f"position {box.position} has no cards, but its hand stays on the table ({rule})"
        return RoundError("cards_missing", message, f"positions[{index}].cards")
    if box.fourth_card is None:
        return None
    return _twice_error([box.fourth_card], seen, rules, f"positions[{index}].fourth_card")


def _declared_error(box: RoundPosition, index: int) -> RoundError | None:
    if box.cards is not None:
        message = f"position {box.position} is declared to win nothing: leave out its cards"
        return RoundError("no_win_with_cards", message, f"positions[{index}].no_win")
    if box.folded:
        message = f"position {box.position} folded: do not also declare that it wins nothing"
        return RoundError("no_win_folded", message, f"positions[{index}].no_win")
    return None


def _table_cards(played: Round) -> Iterator[tuple[str, tuple[Card, ...]]]:
    yield "dealer", played.dealer or ()
    yield "community", played.community or ()
    if played.pair_bonus_community_card is not None:
        yield "pair_bonus_community_card", (played.pair_bonus_community_card,)
    if played.all_six_card is not None:
        yield "all_six_card", (played.all_six_card,)


def _needs_hand(box: RoundPosition, played: Round, rules: TableRules) -> bool:
    if box.no_win or not rules.chapter.deal.hand:
        return False
    if played.dealer_exposed:
        return not box.wagers.keys().isdisjoint(rules.chapter.irregular.settled)
    return box.shows_cards(rules.survivors)


def _undealt_errors(played: Round, rules: TableRules) -> Iterator[RoundError]:
    missing = _missing(played)
    no_common = played.pair_bonus_community_card is None
    undealt = _undealt(rules, tuple(missing), no_common, played.dealer_exposed)
    if not undealt:
        return
    for index, box in enumerate(played.positions):
        for wager in box.wagers:
            placing = undealt.get(wager)
            if placing is None:
                continue
            if placing.cards is not None and placing.cards in missing:
                code, problem, field = missing[placing.cards]
            elif box.no_win or box.fourth_card is not None:
                continue
            else:
                code, field = "cards_missing", f"positions[{index}].fourth_card"
                problem = "neither the position nor the table has a fourth card"
            yield RoundError(code, f"{wager}: {problem} ({rules.chapter.deal.rule})", field)


@lru_cache(maxsize=256)
def _undealt(
    rules: TableRules,
    missing: tuple[CardsOf, ...],
    no_common: bool,  # noqa: FBT001  (the cache is slower with keyword arguments)
    exposed: bool,  # noqa: FBT001
) -> Mapping[str, Placing]:
    """Return the wagers that cannot be settled, because the cards in ``missing`` were not dealt.

    ``no_common`` is true if there is no fourth card that all positions share.
    """
    settled = rules.chapter.irregular.settled if exposed else rules.placings
    return {
        wager: placing
        for wager, placing in rules.placings.items()
        if placing.cards in missing or (placing.fourth_card and no_common)
        if wager in settled
    }


def _missing(played: Round) -> Mapping[CardsOf, tuple[str, str, str]]:
    missing: dict[CardsOf, tuple[str, str, str]] = {}
    if not played.community:
        community = ("community_missing", "the community cards are missing", "community")
        missing |= dict.fromkeys(OF_COMMUNITY, community)
    if played.all_six_card is None:
        all_six = ("cards_missing", "the All-Six Bonus card is missing", "all_six_card")
        missing["hand_and_all_six"] = all_six
    if played.dealer is None:
        dealers = ("cards_missing", "the dealer's hand is missing", "dealer")
        missing["dealer"] = missing["hand_and_dealer"] = dealers
    return missing


def check_round(played: Round, rules: TableRules, terms: Terms) -> None:
    errors: list[RoundError] = []
    try:
        check_wagers(played.positions, rules, terms, decided=not played.dealer_exposed)
    except RoundError as error:
        errors += error.all
    if played.dealer is None and rules.chapter.deal.dealer and not played.dealer_exposed:
        message = f"the dealer's hand is missing ({rules.chapter.deal.rule})"
        errors.append(RoundError("cards_missing", message, "dealer"))
    try:
        check_cards(played, rules)
    except RoundError as error:
        errors += error.all
    refuse(errors)
    check_no_win(played, rules, terms)


def _twice_error(
    cards: Sequence[Card], seen: list[Card], rules: TableRules, field: str
) -> RoundError | None:
    """Find a card that was seen too often: 649a.3(a), 679a.3(a) and 682a.3(a) have one deck."""
    seen += cards
    twice = rules.deck.too_often(seen).intersection(cards)
    if not twice:
        return None
    name, deck_rule = card_name(min(twice)), rules.chapter.deal.deck_rule
    times = "twice" if rules.deck.copies == 1 else f"more than {rules.deck.copies} times"
    return RoundError("card_twice", f"{name} occurs {times} ({deck_rule})", field)


_TRIED_MAX: Final = 512
"""Number of possible hands that are tried. If a hand can lose, usually one of the first loses."""
_MIXING: Final = 23


def check_no_win(played: Round, rules: TableRules, terms: Terms) -> None:
    """Refuse a declaration that a hand wins nothing if one of its wagers cannot lose.

    The other checks have accepted the round. A declared hand loses each wager that its own cards
    decide, and brings no Envy Bonus. It also loses both main wagers. So if the chapter returns
    the wagers of equal hands, a hand that equals the dealer's must not be declared. The position
    can still win what other hands decide: Envy Bonuses, and the wager on the dealer's hand.

    Raises:
        RoundError: ``cards_missing``: the Magic Card is none of the known cards, so only the cards
            of the hand show if the Magic Card pays (649a.12(i)(3)).
            ``no_win_wins``: with each possible hand that is tried, a wager is paid or returned. For
            example, the dealer's hand does not qualify, or a community card is the Magic Card.
    """
    if not [box for box in played.positions if box.no_win]:
        return
    seen = _dealt(played)
    for index, box in enumerate(played.positions):
        if box.no_win:
            _check_magic_card(played, rules, box, index, seen)
            if not _can_lose(played, rules, terms, box, seen):
                message = (
                    f"position {box.position} is declared to win nothing, but with the other cards"
                    " and the draws of this round, one of its wagers is paid or returned: enter its"
                    " cards"
                )
                raise RoundError("no_win_wins", message, f"positions[{index}].no_win")


def _check_magic_card(
    played: Round, rules: TableRules, box: RoundPosition, index: int, seen: Sequence[Card]
) -> None:
    magic = played.draw.magic_card
    if magic is None or magic in seen:
        return
    for wager in box.wagers:
        placing = rules.placings[wager]
        if placing.draws and placing.cards == "hand_and_community":
            message = (
                f"the Magic Card {card_name(magic)} is drawn: the cards of position"
                f" {box.position} decide if its {wager} wins it (649a.12(i)(3))"
            )
            raise RoundError("cards_missing", message, f"positions[{index}].cards")


def _can_lose(
    played: Round, rules: TableRules, terms: Terms, box: RoundPosition, seen: Sequence[Card]
) -> bool:
    """Return whether one of the tried hands loses all wagers that depend on more than its cards."""
    wagers = {
        wager: cents
        for wager, cents in box.wagers.items()
        if _depends_on_others(played, rules, wager)
    }
    if not wagers:
        return True
    for cards in _possible_hands(seen, rules):
        tried = replace(box, cards=cards, no_win=False, wagers=wagers)
        alone = settle_round(replace(played, positions=(tried,)), rules, terms)
        if all(due.line.outcome is Outcome.COLLECTED for due in alone.dues):
            return True
    return False


def _depends_on_others(played: Round, rules: TableRules, wager: str) -> bool:
    """Return whether a wager depends on the position's cards and on other cards or a draw."""
    if played.dealer_exposed and wager not in rules.chapter.irregular.settled:
        return False
    cards = rules.placings[wager].cards
    return cards != "hand" and cards not in DEALERS_ALONE


def _possible_hands(seen: Sequence[Card], rules: TableRules) -> Iterator[tuple[Card, ...]]:
    """Yield hands of different cards at equal distances in the list of all such hands."""
    count = rules.chapter.deal.hand
    every = rules.deck.numbers.values()
    left = (card for card in every if seen.count(card) < rules.deck.copies)
    unseen = sorted(left, key=_mixed)
    apart = max(1, comb(len(unseen), count) // _TRIED_MAX)
    return islice(combinations(unseen, count), 0, None, apart)


def _mixed(card: Card) -> int:
    return card * _MIXING % len(DECK)
