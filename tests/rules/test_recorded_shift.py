"""The recorded shift of eight tables, settled by the rules alone, against an independent sum.

The tables are played one after the other in the order of their names. Each link's four meters are
kept here as plain sums of micros.
"""

import json
import tomllib
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import pytest

from bonus.cards import Card
from bonus.law.meter_terms import MeterTerms, meter_terms
from bonus.rounds import MeterHolding, Outcome, Round, RoundPosition
from bonus.settling.round_checks import check_round
from bonus.settling.settlement import contributions, resolve, settle_round
from bonus.settling.table_rules import meter_rules
from bonus.wagers import MICROS_PER_CENT
from tests.chaos.recording import SHIFT, lines_of
from tests.rules.dealing import cards, seeds, three

RULES = meter_rules("three_card_poker")


@dataclass
class Table:
    wagers: defaultdict[int, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    hands: dict[int, tuple[Card, Card, Card]] = field(default_factory=dict)
    folded: set[int] = field(default_factory=set)
    dealer: tuple[Card, Card, Card] | None = None
    community: tuple[Card, Card] | None = None

    def take(self, event: dict[str, Any]) -> None:
        match event["event"]:
            case "wager":
                self.wagers[event["position"]][event["wager"]] = event["amount"]
            case "withdraw":
                del self.wagers[event["position"]][event["wager"]]
            case "hand":
                self.hands[event["position"]] = three(" ".join(event["cards"]))
            case "fold":
                self.folded.add(event["position"])
            case "dealer":
                self.dealer = three(" ".join(event["cards"]))
            case "community":
                first, second = cards(" ".join(event["cards"]))
                self.community = first, second

    def chips(self) -> int:
        """Return how many wagers were made with value chips."""
        electronic = ("five_card_hand_bonus", "five_card_hand_bonus_dealer")
        return sum(wager not in electronic for made in self.wagers.values() for wager in made)

    def round(self) -> Round:
        """Return the round after the deal; a hand that was folded and collected has no cards."""
        assert self.dealer is not None
        return Round(
            tuple(
                RoundPosition(
                    position,
                    None,
                    self.hands.get(position),
                    position in self.folded,
                    dict(self.wagers[position]),
                )
                for position in sorted(self.hands.keys() | self.folded)
            ),
            self.dealer,
            self.community,
        )


@dataclass
class Books:
    holdings: dict[str, dict[str, MeterHolding]] = field(default_factory=dict)
    awards: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))
    rounds: int = 0
    voids: int = 0
    wagers: int = 0
    wagered_cents: int = 0


def link_terms(link: dict[str, Any]) -> dict[str, MeterTerms]:
    return {
        meter["kind"]: meter_terms(meter["kind"], meter["wager"], meter.get("paytable"))
        for meter in link["meter"]
    }


def settle(books: Books, link: str, table: Table, terms: dict[str, MeterTerms]) -> None:
    played = table.round()
    check_round(played, RULES, terms)
    made = [amount for box in played.positions for amount in box.wagers.values()]
    books.wagers += len(made)
    books.wagered_cents += sum(made)
    held = books.holdings[link]
    added = contributions(played.positions, RULES, terms)
    for kind, more in added.items():
        held[kind] = MeterHolding(
            held[kind].amount_micros + more.amount_micros,
            held[kind].reserve_micros + more.reserve_micros,
        )
    dues, books.holdings[link] = resolve(settle_round(played, RULES, terms), held, terms)
    for line in [due.line for due in dues]:
        if line.outcome is Outcome.PAID:
            name = line.item + (f" {line.percent}%" if line.percent else "")
            books.awards[name][0] += 1
            books.awards[name][1] += line.paid


def play() -> Books:
    floor = tomllib.loads((SHIFT / "floor.toml").read_text())
    books = Books()
    for link in floor["link"]:
        terms = link_terms(link)
        books.holdings[link["id"]] = seeds(terms)
        for seat in link["table"]:
            table = Table()
            for event in map(json.loads, lines_of(seat["id"])):
                table.take(event)
                if event["event"] == "chips":
                    assert event["count"] == table.chips()
                elif event["event"] == "settle":
                    settle(books, link["id"], table, terms)
                if event["event"] in {"settle", "void"}:
                    books.rounds += 1
                    books.voids += event["event"] == "void"
                    table = Table()
    return books


@pytest.mark.reading("T8")
@pytest.mark.reading("T14")
@pytest.mark.section("649a.12(e)(4)")
def test_the_shift_equals_an_independent_sum() -> None:
    expected = json.loads((SHIFT / "expected.json").read_text())
    books = play()
    assert {
        link: {
            kind: {
                "amount": holding.amount_micros // MICROS_PER_CENT,
                "reserve": holding.reserve_micros // MICROS_PER_CENT,
            }
            for kind, holding in held.items()
        }
        for link, held in books.holdings.items()
    } == {
        link: {
            kind: {"amount": meter["amount"], "reserve": meter.get("reserve", 0)}
            for kind, meter in meters.items()
        }
        for link, meters in expected["links"].items()
    }
    assert dict(books.awards) == expected["awards"]
    assert books.rounds == expected["rounds"]
    assert books.voids == expected["voids"]
    assert books.wagers == expected["wagers"]
    assert books.wagered_cents == expected["wagered_cents"]
