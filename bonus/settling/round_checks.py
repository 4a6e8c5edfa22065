"""Checks that the wagers and cards of a round are possible.

The checks are made once, when the round is received. If a wager is not allowed, the refusal names
the subsection that forbids it. Settlement relies on these checks.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from bonus.cards import Card, card_name
from bonus.errors import nearest
from bonus.law.chapter_file import Main
from bonus.law.meter_terms import MeterTerms
from bonus.settling.no_win import check_no_win
from bonus.settling.rounds import Round, RoundError, RoundPosition, refuse
from bonus.settling.table_rules import Placing, TableRules
from bonus.wagers import MeterKind

WAGER_CENTS_MAX: Final = 10**10
"""The highest wager that is accepted: $100,000,000.

A payout of this wager, at any odds of a chapter, stays below 2**53 cents.
"""

Terms = Mapping[MeterKind, MeterTerms]


def check_wagers(
    positions: Sequence[RoundPosition], rules: TableRules, terms: Terms, *, decided: bool = True
) -> None:
    """Check the positions and wagers of a round.

    Args:
        positions: the positions of the round.
        rules: the rules of the casino table.
        terms: the terms of the table's meters.
        decided: true if every player must have folded or made the wager after the Ante. False if
            the round ended before the players decided.

    Raises:
        RoundError: the code is ``bad_position``, ``position_twice``, ``unknown_wager``,
            ``not_offered``, ``bad_amount``, ``unknown_meter`` (the table has no meter for the
            wager), ``wrong_amount``, ``wager_missing`` (another wager that is needed is missing),
            ``after_fold``, ``undecided`` or ``nothing_folded``. ``wrong_amount`` has three reasons:
            the meter requires another wager amount (reading T22), a Play does not equal the Ante,
            or a wager exceeds a limit of 649a.7(e).
    """
    errors: list[RoundError] = []
    seen: set[int] = set()
    positions_max = rules.chapter.deal.positions
    for index, box in enumerate(positions):
        if not 1 <= box.position <= positions_max:
            rule = rules.chapter.deal.positions_rule
            message = f"position {box.position}: a table has 1 to {positions_max} ({rule})"
            errors.append(RoundError("bad_position", message, f"positions[{index}].position"))
        if box.position in seen:
            message = f"position {box.position} occurs twice ({rules.chapter.deal.positions_rule})"
            errors.append(RoundError("position_twice", message, f"positions[{index}].position"))
        seen.add(box.position)
        for wager in box.wagers:
            try:
                _check_wager(box, wager, rules, terms, index)
            except RoundError as error:
                errors.append(error)
        if rules.whole:
            try:
                _check_main(box, rules, index, decided=decided)
                _check_bounds(box, rules, index)
            except RoundError as error:
                errors.append(error)
    refuse(errors)


def _check_wager(
    box: RoundPosition, wager: str, rules: TableRules, terms: Terms, index: int
) -> None:
    cents = box.wagers[wager]
    placing = rules.placings.get(wager)
    if placing is None:
        meant = nearest(wager, rules.placings)
        message = f"{wager!r} is not a wager of {rules.chapter.game}{meant}"
        raise RoundError("unknown_wager", message, _field(index, wager))
    if placing.choice:
        message = (
            f"{wager} is not offered: the table has chosen no {placing.choice} of "
            f"{placing.choice_rule}"
        )
        raise RoundError("not_offered", message, _field(index, wager))
    if placing.meter is not None:
        _check_amount(wager, cents, placing, terms, index)
    elif not 1 <= cents <= WAGER_CENTS_MAX:
        message = f"{wager} of {cents} cents: a wager has 1 to {WAGER_CENTS_MAX}"
        raise RoundError("bad_amount", message, _field(index, wager))
    if rules.whole and placing.needs and not any(need in box.wagers for need in placing.needs):
        needs = " or ".join(placing.needs)
        message = f"{wager} without {needs}: it is an additional wager ({placing.rule})"
        raise RoundError("wager_missing", message, _field(index, wager))


def _check_amount(wager: str, cents: int, placing: Placing, terms: Terms, index: int) -> None:
    kind = placing.meter
    if kind is None or kind not in terms:
        message = f"{wager}: there is no {kind} meter here ({placing.rule})"
        raise RoundError("unknown_meter", message, _field(index, wager))
    wager_cents = terms[kind].wager_cents
    if cents != wager_cents:
        message = f"{wager} of {cents} cents: the meter is for {wager_cents} ({placing.rule})"
        raise RoundError("wrong_amount", message, _field(index, wager))


def _check_main(box: RoundPosition, rules: TableRules, index: int, *, decided: bool) -> None:
    """Check the player's decision after the deal: a fold, or a wager of an allowed amount.

    649a.11(b), 679a.11(b), 682a.11(b).
    """
    main = rules.chapter.main
    stake, follow = box.wagers.get(main.stake), box.wagers.get(main.follow)
    if box.folded:
        if follow is not None:
            message = f"a {main.follow} after a fold: a fold ends participation ({main.asking})"
            raise RoundError("after_fold", message, _field(index, main.follow))
        if box.wagers and stake is None:
            message = f"a fold without an {main.stake}: nothing to fold ({main.asking})"
            raise RoundError("nothing_folded", message, f"positions[{index}].folded")
    if stake is None:
        return
    if follow is None:
        if decided and not box.folded:
            message = f"an {main.stake} needs a {main.follow} or a fold ({main.asking})"
            raise RoundError("undecided", message, _field(index, main.follow))
    elif follow not in [times * stake for times in main.times]:
        raise RoundError("wrong_amount", _wrong_follow(main, follow), _field(index, main.follow))


def _wrong_follow(main: Main, cents: int) -> str:
    words = {1: "one", 2: "two", 3: "three"}
    *others, last = [words.get(times, str(times)) for times in main.times]
    multiples = f"{', '.join(others)} or {last}" if others else last
    be = f"is {multiples} times the {main.stake}"
    if main.times == (1,):
        be = f"equals the {main.stake}"
    return f"{main.follow} of {cents} cents: it {be} ({main.placing})"


def _check_bounds(box: RoundPosition, rules: TableRules, index: int) -> None:
    """Check the limits that a table's version of the game sets for wagers (649a.7(e)).

    Each of these limits allows a wager only up to a multiple of another wager.
    """
    for bound in rules.bounds:
        cents, of_cents = box.wagers.get(bound.wager, 0), box.wagers.get(bound.of, 0)
        if cents > bound.at_most * of_cents:
            rule = rules.version.rule if rules.version else ""
            least = f"at least 1/{bound.at_most} of it" if bound.at_most > 1 else "at least as high"
            message = f"{bound.wager} of {cents} cents: its {bound.of} must be {least} ({rule})"
            raise RoundError("wrong_amount", message, _field(index, bound.wager))


def check_cards(played: Round, rules: TableRules) -> None:
    """Check that all cards that decide wagers were dealt, and that no card occurs twice.

    Raises:
        RoundError: the code is ``cards_missing``, ``community_missing`` (649a.8(d)), ``card_twice``
            or ``bad_position`` (the table cannot have this Lucky position). ``cards_missing`` means
            that one of these is missing: a hand that stays on the table (reading T8), the dealer's
            hand, the fourth card or the All-Six Bonus card. Two codes are for a hand that was
            declared to win nothing: ``no_win_with_cards`` and ``no_win_folded``.
    """
    errors: list[RoundError] = []
    seen: set[Card] = set()
    for index, box in enumerate(played.positions):
        try:
            _check_hand(played, rules, box, index, seen)
        except RoundError as error:
            errors.append(error)
    for field, cards in _table_cards(played):
        try:
            _check_unseen(cards, seen, rules, field)
        except RoundError as error:
            errors.append(error)
    for index, box in enumerate(played.positions):
        for wager in box.wagers:
            try:
                _check_dealt(played, rules, box, wager, index)
            except RoundError as error:
                errors.append(error)
    lucky = played.draw.lucky_position
    if isinstance(lucky, int) and not 1 <= lucky <= rules.chapter.deal.positions:
        message = f"no table has a position {lucky}"
        errors.append(RoundError("bad_position", message, "draw.lucky_position"))
    refuse(errors)


def _check_hand(
    played: Round, rules: TableRules, box: RoundPosition, index: int, seen: set[Card]
) -> None:
    """Check the cards of one position."""
    if box.no_win:
        _check_declared(box, index)
    if box.cards is not None:
        _check_unseen(box.cards, seen, rules, f"positions[{index}].cards")
    elif _needs_hand(box, played, rules):
        rule = rules.chapter.main.asking
        message = f"the cards of position {box.position}, whose hand stays, are missing ({rule})"
        raise RoundError("cards_missing", message, f"positions[{index}].cards")
    if box.fourth_card is not None:
        _check_unseen([box.fourth_card], seen, rules, f"positions[{index}].fourth_card")


def _check_declared(box: RoundPosition, index: int) -> None:
    """Check that a hand that was declared to win nothing has no cards and is not folded."""
    if box.cards is not None:
        message = f"position {box.position} is declared to win nothing, so its cards are left out"
        raise RoundError("no_win_with_cards", message, f"positions[{index}].no_win")
    if box.folded:
        message = f"position {box.position} folded, so it is not declared to win nothing"
        raise RoundError("no_win_folded", message, f"positions[{index}].no_win")


def _table_cards(played: Round) -> Iterator[tuple[str, tuple[Card, ...]]]:
    """Yield the cards that belong to no position, each with the name of its field in the round."""
    yield "dealer", played.dealer or ()
    yield "community", played.community or ()
    for field, card in (
        ("pair_bonus_community_card", played.pair_bonus_community_card),
        ("all_six_card", played.all_six_card),
    ):
        yield field, () if card is None else (card,)


def _needs_hand(box: RoundPosition, played: Round, rules: TableRules) -> bool:
    if box.no_win:
        return False
    if played.dealer_exposed:
        return not box.wagers.keys().isdisjoint(rules.chapter.irregular.settled)
    return box.shows_cards(rules.survivors)


def _check_dealt(
    played: Round, rules: TableRules, box: RoundPosition, wager: str, index: int
) -> None:
    """Check that the cards that decide a wager, other than the player's hand, were dealt."""
    placing = rules.placings.get(wager)
    deal = rules.chapter.deal
    if placing is None:
        return  # `check_wagers` refuses the wager
    if played.dealer_exposed and wager not in rules.chapter.irregular.settled:
        return
    if placing.cards in {"hand_and_community", "dealer_and_community"} and not played.community:
        message = f"{wager}: the two community cards are missing ({deal.rule})"
        raise RoundError("community_missing", message, "community")
    if placing.cards == "hand_and_all_six" and played.all_six_card is None:
        message = f"{wager}: the All-Six Bonus card is missing ({deal.rule})"
        raise RoundError("cards_missing", message, "all_six_card")
    if placing.cards == "hand_and_dealer" and played.dealer is None:
        message = f"{wager}: the dealer's hand is missing ({deal.rule})"
        raise RoundError("cards_missing", message, "dealer")
    common = played.pair_bonus_community_card
    if placing.fourth_card and not box.no_win and box.fourth_card is None and common is None:
        message = f"{wager}: the fourth card is missing, its own or the table's ({deal.rule})"
        raise RoundError("cards_missing", message, f"positions[{index}].fourth_card")


def check_round(played: Round, rules: TableRules, terms: Terms) -> None:
    """Check that the wagers and cards of a round are possible.

    Raises:
        RoundError: the codes are those of ``check_wagers``, ``check_cards`` and ``check_no_win``.
    """
    errors: list[RoundError] = []
    try:
        check_wagers(played.positions, rules, terms, decided=not played.dealer_exposed)
    except RoundError as error:
        errors += error.all
    if played.dealer is None and not played.dealer_exposed:
        message = f"the dealer's hand is missing ({rules.chapter.deal.rule})"
        errors.append(RoundError("cards_missing", message, "dealer"))
    try:
        check_cards(played, rules)
    except RoundError as error:
        errors += error.all
    refuse(errors)
    check_no_win(played, rules, terms)


def _check_unseen(cards: Iterable[Card], seen: set[Card], rules: TableRules, field: str) -> None:
    """Check that no card occurs twice.

    A table plays with one deck (649a.3(a), 679a.3(a), 682a.3(a)).
    """
    for card in cards:
        if card in seen:
            rule = rules.chapter.deal.deck_rule
            raise RoundError("card_twice", f"{card_name(card)} occurs twice ({rule})", field)
        seen.add(card)


def _field(index: int, wager: str) -> str:
    return f"positions[{index}].wagers.{wager}"
