"""Meter balances calculated from what was paid, and rounds settled again with them."""

import random
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from bonus.law.games import chapter_games
from bonus.law.meter_terms import meter_terms
from bonus.rounds import MeterHolding
from bonus.settling.round_text import decode_round, rules_of, terms_of
from bonus.settling.settle_round import settle_line
from bonus.wagers import MICROS_PER_CENT
from controllers.demo.resettlement import RoundRecord, held_before, settle_again
from tests.naive.declared import refusal
from tests.naive.rounds import random_round
from tests.rules.dealing import DEALER_BONUS, FIVE_CARD, HAND_BONUS, box, play

BONUS = "five_card_hand_bonus"
FIVE_CARD_METER = "five_card_progressive"


@pytest.mark.parametrize("amount_micros", [100_000_000, 987_654_321, 10**12 + 3, 9_999])
@pytest.mark.parametrize("reserve_micros", [0, 5_000_000, 123_456_789])
@pytest.mark.reading("T15")
@pytest.mark.reading("T17")
@pytest.mark.reading("T21")
def test_what_was_held_explains_what_was_paid(amount_micros: int, reserve_micros: int) -> None:
    """A royal, straight flushes below it, and shares of the dealer's one, in one round."""
    boxes = [
        box(7, "9s 8s 7s", HAND_BONUS, DEALER_BONUS, patron="amy"),
        box(6, "As Ks Qs", HAND_BONUS, DEALER_BONUS, patron="bob"),
        box(5, "2h 3h 4c", DEALER_BONUS, patron="amy"),
        box(4, "2d 3d 4d", DEALER_BONUS),
        box(3, "5h 6h 7h", HAND_BONUS, patron="bob"),
    ]
    for dealer, community in (("9d Td 2c", "Js Ts"), ("5s 6s 7c", "Js Ts"), ("8h 9h Th", "Jh 4h")):
        held = {BONUS: MeterHolding(amount_micros, reserve_micros)}
        played = play(*boxes, dealer=dealer, community=community, held=held)
        found = held_before(meter_terms(BONUS, 100), played.lines)
        if not any(line.percent for line in played.lines):
            assert found is None
            continue
        assert found is not None
        assert found.amount_micros % MICROS_PER_CENT == 0
        again = play(*boxes, dealer=dealer, community=community, held={BONUS: found})
        assert again.lines == played.lines


@pytest.mark.parametrize("amount_cents", [1_234_567, 999_999, 1])
def test_a_meter_without_a_reserve_is_followed_by_its_reseed(amount_cents: int) -> None:
    """A royal takes the whole meter, and a straight flush below it a tenth of the reseeded one."""
    held = {FIVE_CARD_METER: MeterHolding(amount_cents * MICROS_PER_CENT)}
    boxes = [
        box(5, "As Ks Qs", FIVE_CARD, patron="amy"),
        box(3, "9s 8s 7s", FIVE_CARD, patron="amy"),
    ]
    played = play(*boxes, community="Js Ts", held=held)
    paid = [line.paid for line in played.lines if line.percent]
    assert paid == [amount_cents, 100_000]
    assert held_before(meter_terms(FIVE_CARD_METER, 100), played.lines) == held[FIVE_CARD_METER]


@pytest.mark.duty("D3")
@pytest.mark.parametrize("reserve_cents", [0, 7_777])
@pytest.mark.parametrize("overflow_cents", [0, 1, 99_999, 123_456, 5_000_000])
def test_what_an_overflow_refilled_explains_what_was_paid(
    overflow_cents: int, reserve_cents: int
) -> None:
    """Two tenths, the whole meter and a tenth of what follows it, from a meter at its limit."""
    limit = 1_200_000
    boxes = [
        box(7, "9s 8s 7s", HAND_BONUS, patron="amy"),
        box(6, "As Ks Qs", HAND_BONUS, patron="bob"),
        box(5, "2h 3h 4c", DEALER_BONUS, patron="cal"),
    ]
    amounts = (limit, reserve_cents, overflow_cents, limit)
    held = {BONUS: MeterHolding(*(cents * MICROS_PER_CENT for cents in amounts))}
    played = play(*boxes, dealer="9d Td Qd", community="Js Ts", held=held)
    found = held_before(meter_terms(BONUS, 100), played.lines, limit)
    assert found is not None
    again = play(*boxes, dealer="9d Td Qd", community="Js Ts", held={BONUS: found})
    assert again.lines == played.lines


def test_what_cannot_have_been_paid_is_not_explained() -> None:
    played = play(box(7, "As Ks Qs", HAND_BONUS), box(6, "9s 8s 7s", HAND_BONUS), community="Js Ts")
    first, second = (line for line in played.lines if line.percent)
    twice = msgspec.structs.replace(second, item="five_card_hand_bonus", percent=100, paid=1)
    terms = meter_terms(BONUS, 100)
    assert held_before(terms, [first, second]) is not None
    assert held_before(terms, [twice, twice]) == MeterHolding(MICROS_PER_CENT, MICROS_PER_CENT)
    lower = msgspec.structs.replace(second, percent=10, paid=0)
    higher = msgspec.structs.replace(second, percent=10, paid=7)
    assert held_before(terms, [lower, higher]) is None


def played_and_settled(rng: random.Random) -> tuple[RoundRecord, bytes]:
    """Return a round as a table reports it, without meter balances, and its settlement."""
    played = random_round("three_card_poker", rng)
    while "irregularity" in played or refusal(played):
        played = random_round("three_card_poker", rng)
    fields: dict[str, Any] = dict(played)
    line = msgspec.json.encode(fields)
    settled = settle_line(line)
    items = chapter_games().meters.meter_of
    lines = tuple(line for line in settled.lines if line.item in items)
    text, _ = decode_round(line)
    terms = terms_of(text, rules_of(text))
    meters = fields.pop("meters", {})
    limits = {kind: meter["limit"] for kind, meter in meters.items() if "limit" in meter}
    record = RoundRecord(fields, terms, lines, items, limits_cents=limits)
    return record, msgspec.json.encode(settled.lines)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_a_round_settled_again_has_the_same_lines(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(100):
        record, lines = played_and_settled(rng)
        again = settle_again(record, {})
        assert again.same
        assert msgspec.json.encode(settle_line(again.round).lines) == lines
        assert msgspec.json.encode(settle_line(again.round)) == again.settlement


def test_a_line_with_another_amount_is_reported_as_different() -> None:
    rng = random.Random(11)
    changed = 0
    for _ in range(40):
        record, _ = played_and_settled(rng)
        paid = [line for line in record.lines if line.paid and not line.percent]
        if not paid:
            continue
        more = msgspec.structs.replace(paid[0], paid=paid[0].paid + 1)
        lines = tuple(more if line is paid[0] else line for line in record.lines)
        assert not settle_again(replace(record, lines=lines), {}).same
        assert not settle_again(replace(record, lines=record.lines[:-1]), {}).same
        changed += 1
    assert changed > 8


def test_a_round_that_cannot_be_settled_is_reported_as_different() -> None:
    record, _ = played_and_settled(random.Random(3))
    broken = replace(record, fields={**record.fields, "dealer": ["As"]})
    again = settle_again(broken, {})
    assert not again.same
    assert b'"code":"wrong_cards"' in again.settlement
