"""A second settlement of house games, from the text of their files alone.

It shares no code with the product: it reads the file as TOML, names hands with `tests.naive`, and
pays cell by cell, in the order of the file.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations
from pathlib import Path
from typing import Any, Final

from tests.naive.pai_gow import pai_gow_named
from tests.naive.ranking import FIVE_CARD, best_five_card_named, best_five_strength

HOUSE = Path(__file__).with_name("house")

Law = Mapping[str, Any]
Line = dict[str, Any]

_DECK: Final = tuple(rank + suit for rank in "29364857TKJAQ" for suit in "cdhs")
"""The low and far ranks are mixed, so that hands without a win come first."""


@cache
def law_of(game: str) -> Law:
    return read_law((HOUSE / f"{game}.toml").read_text())


def read_law(text: str) -> Law:
    return tomllib.loads(text)


def hand_of(law: Law, wager: Law, position: Law, played: Law) -> str:
    """Return the hand of a wager. A royal flush of spades counts separately only if it is paid."""
    if "result" in law:
        result: str = (played["dealer"] if wager["cards"] == ["dealer"] else position["cards"])[0]
        return result
    cards = [*position["cards"]]
    of = wager["cards"][0]
    if "community" in of:
        cards += played["community"][: wager.get("community_cards")]
    if "dealer" in of:
        cards += played["dealer"]
    patterns = law.get("pattern", ())
    if described := [each for each in patterns if each["ranking"] == wager["ranking"]]:
        return next((each["name"] for each in described if _fits(each, cards, law)), "other")
    if wager["ranking"] == "pai_gow":
        return pai_gow_named(cards)
    hand = best_five_card_named(tuple(cards))
    hand = {"nothing": "high_card", "two_pairs": "two_pair"}.get(hand, hand)
    first = next(iter(wager["table"][0]["pays"]))
    return "royal_flush" if hand == "royal_flush_spades" and first == "royal_flush" else hand


def _fits(pattern: Law, cards: Sequence[str], law: Law) -> bool:
    own = law["deal"]["hand"]
    parts = {"all": cards, "hand": cards[:own], "dealer": cards[own:]}
    return all(_have(pattern[part], dealt) for part, dealt in parts.items() if part in pattern)


def _have(told: Law, cards: Sequence[str]) -> bool:
    ranks, suits = ["".join(each) for each in zip(*cards, strict=True)]
    colors = suits.translate(str.maketrans("hc", "ds"))
    if told.get("same") and len(set({"suit": suits, "color": colors}[told["same"]])) > 1:
        return False
    if told.get("sequence") and not any(
        set(ranks) == set(run)
        for straight in ["A23456789TJQKA"]
        for run in (straight[at : at + len(cards)] for at in range(15 - len(cards)))
    ):
        return False
    several = sorted((ranks.count(rank) for rank in set(ranks)), reverse=True)
    if "of_a_kind" in told and [each for each in several if each > 1] != told["of_a_kind"]:
        return False
    points = [10 if rank in "TJQK" else 1 if rank == "A" else int(rank) for rank in ranks]
    total = sum(points) + (10 if "A" in ranks and sum(points) <= 11 else 0)
    if total not in told.get("blackjack_total", [total]):
        return False
    if sum(points) % 10 not in told.get("baccarat_total", range(10)):
        return False
    asked = told.get("cards", [])
    return any(
        all(card[0] in (_ranks(text) or card[0]) and card[1] in (_suits(text) or card[1])
            for text, card in zip(asked, some, strict=True))
        for some in permutations(cards, len(asked))
    )  # fmt: skip


def _ranks(text: str) -> str:
    return text.strip("cdhs")


def _suits(text: str) -> str:
    return text.strip("23456789TJQKA")


def cell_of(wager: Law, hand: str, choices: Mapping[str, str]) -> str:
    """Return the printed cell of a hand; empty if the table has none."""
    table = wager["table"][0]
    cell = table["pays"].get(hand, "")
    if isinstance(cell, str):
        return cell
    column: str = cell[table["choices"].index(choices[wager["names"][0]])]
    return column


def live_after_a_fold(law: Law) -> Sequence[str]:
    """Return the wagers that a fold does not forfeit."""
    return [wager["names"][0] for wager in law["wager"] if "forfeited" not in wager]


def is_holder(law: Law, position: Law) -> bool:
    """Check whether the cards of a position are on the table at its turn (reading T8)."""
    if position.get("no_win"):
        return False
    live = any(wager in position["wagers"] for wager in live_after_a_fold(law))
    return not position.get("folded", False) or live or position.get("kept", False)


def wins_with_every_hand(played: Law, position: Law) -> bool:
    """Check whether a wager of a position is paid, whatever its cards are."""
    law = law_of(played["game"])
    made = [wager for wager in law["wager"] if wager["names"][0] in position["wagers"]]
    decks = law["deal"].get("decks", 1)
    seen = [*played.get("community", ()), *played.get("dealer", ())]
    if "result" in law:
        return False  # each wager can lose with the result "other"
    for other in played["positions"]:
        seen += other.get("cards", ())
    unseen = [card for card in _DECK if seen.count(card) < decks]
    return bool(made) and not any(
        all(
            hand_of(law, wager, {"cards": cards}, played) not in wager["table"][0]["pays"]
            for wager in made
        )
        for cards in combinations(unseen, law["deal"]["hand"])
    )


def terms_of(wager: Law, meter: str) -> Law:
    table = wager["table"][0]
    terms: Law = table.get("progression") or table["progressions"][meter]
    return {key: each[0] if isinstance(each, list) else each for key, each in terms.items()}


def reseed_cents(wager: Law, meter: str, wagered: int) -> int:
    return _dollars(terms_of(wager, meter)["reseed"].removesuffix(" for 1")) // 100 * wagered


def fed_by(wager: Law) -> Sequence[str]:
    one = wager.get("meter")
    several: Sequence[str] = [one] if one else wager.get("meters", [])
    return several


class NaiveRound:
    def __init__(self, played: Mapping[str, Any]) -> None:
        self.played = played
        self.law = law_of(played["game"])
        self.meters = {name: dict(meter) for name, meter in played.get("meters", {}).items()}
        self.lines: list[Line] = []
        self.shares: dict[str, dict[int, int]] = {}
        self.of_hand: dict[tuple[object, str], tuple[int, Fraction]] = {}
        for position in sorted(played["positions"], key=lambda one: -one["position"]):
            for wager in self.law["wager"]:
                self._settle(position, wager)
        for wager in self.law["wager"]:
            if "bad_beat" in wager:
                self._pay_bad_beat(wager, wager["bad_beat"])

    def report(self, line: Line) -> None:
        self.lines.append(line)

    def _settle(self, position: Law, wager: Law) -> None:
        name = wager["names"][0]
        folded = position.get("folded", False)
        rule = wager["table"][0]["rule"]
        of_table = wager["cards"] == ["dealer"]
        shown = of_table or is_holder(self.law, position)
        hand = hand_of(self.law, wager, position, self.played) if shown else None
        if name in position["wagers"]:
            if position.get("no_win") and not of_table:
                self._line(position, name, "collected", None, rule=rule)
            elif folded and "forfeited" in wager:
                self._line(position, name, "collected", None, rule=wager["forfeited"])
            else:
                assert hand is not None
                self._pay(position, wager, hand, rule)
        if hand is not None:
            self._pay_community(position, wager, hand)
            self._pay_envy(position, wager, hand)

    def _pay_community(self, position: Law, wager: Law, hand: str) -> None:
        """Divide a part of a meter among the players with the wager, at their first positions."""
        pays = wager.get("community", {"pays": {}})["pays"]
        name, sharing = wager["names"][0], self._sharing(wager)
        for meter, percent in _percents(wager, pays.get(hand, "")):
            shared = self.divide(meter, percent, wager, (position["position"], name))
            for other in sharing:
                wagered = other["wagers"][name]
                self._line(
                    other, f"{meter}_community_share", "paid", hand,
                    paid=shared[other["position"]], percent=self.part(meter, percent, wagered),
                    rule=wager["community"]["rule"], source="hand_pay",
                    wagered=wagered, hand_of=position["position"],
                )  # fmt: skip
            if shared:
                self.pay_elsewhere(meter, name, position["position"], max(shared.values()))

    def elsewhere(self, meter: str, wager: str) -> int:
        """Return how many players at other tables divide a community share too."""
        return 0

    def pay_elsewhere(self, meter: str, wager: str, holder: int, cents: int) -> None:
        """Pay each player at other tables their part of a community share."""

    def _sharing(self, wager: Law) -> Sequence[Law]:
        """Return one position of each player with the wager: the first with their most money."""
        name, found = wager["names"][0], dict[object, Law]()
        for box in sorted(self.played["positions"], key=lambda one: one["position"]):
            most = found.get(_player(box), {"wagers": {name: 0}})["wagers"][name]
            if box["wagers"].get(name, 0) >= most and name in box["wagers"]:
                found[_player(box)] = box
        return sorted(found.values(), key=lambda one: -one["position"])

    def part(self, meter: str, percent: Fraction, wagered: int) -> Fraction:
        """Return the percentage that a wager of this amount wins."""
        return percent * Fraction(wagered, self.meters[meter]["wager"])

    def divide(
        self, meter: str, percent: Fraction, wager: Law, hand: object = None
    ) -> dict[int, int]:
        """Divide a percentage; return the cents of each position, whose amounts can differ."""
        name, sharing = wager["names"][0], self._sharing(wager)
        others = 0 if hand is None else self.elsewhere(meter, name)
        cents: dict[int, int] = {}
        for box in sharing:
            alike = [one for one in sharing if one["wagers"][name] == box["wagers"][name]]
            if box is alike[0]:
                own = self.part(meter, percent, box["wagers"][name])
                every, payees = len(sharing) + others, len(alike) + others
                share = self.take(meter, own, wager, every, hand, payees)
                cents |= {one["position"]: share for one in alike}
        return cents

    def _pay_bad_beat(self, wager: Law, beat: Law) -> None:
        """Pay the beaten hand, the hand that beats it, and the table, of one amount of the meter.

        Each player's best hand is compared with the best hands of the others, or each hand with
        the dealer's.
        """
        name = wager["names"][0]
        with_wager = [
            one
            for one in sorted(self.played["positions"], key=lambda one: -one["position"])
            if name in one["wagers"]
        ]
        hands = [
            (best_five_strength(tuple(one["cards"])), one)
            for one in with_wager
            if is_holder(self.law, one) and not (one.get("folded") and "forfeited" in wager)
        ]
        if beat.get("beaten_by") == "dealer":
            top = best_five_strength(tuple(self.played["dealer"]))
        else:
            hands = [
                (each, one)
                for each, one in hands
                if each == max(other for other, of in hands if _player(of) == _player(one))
            ]
            top = max((each for each, _ in hands), default=(0, []))
        lowest = FIVE_CARD.index(beat["lowest"])
        beaten = [each for each, _ in hands if each < top and each[0] >= lowest]
        if not beaten:
            return
        losers = _once([one for each, one in hands if each == max(beaten)])
        of = losers[0]
        for part, payees in (
            ("loser", losers),
            ("winner", _once([one for each, one in hands if each == top])),
            ("table", self._sharing(wager)),
        ):
            for meter, percent in _percents(wager, beat.get(part, "")):
                cents = self.take(meter, percent, wager, len(payees), f"beat {name}")
                for payee in sorted(payees, key=lambda one: -one["position"]):
                    hand = hand_of(self.law, wager, of if part == "table" else payee, self.played)
                    more = {"hand_of": of["position"]} if part == "table" else {}
                    self._line(
                        payee, f"{meter}_bad_beat_{part}", "paid", hand, paid=cents,
                        percent=percent, rule=beat["rule"], source="hand_pay",
                        wagered=payee["wagers"][name], **more,
                    )  # fmt: skip

    def _pay_envy(self, position: Law, wager: Law, hand: str) -> None:
        name = wager["names"][0]
        if "envy" not in wager:
            return
        envy = wager["envy"]
        schedules = {_dollars(one["wager"]): one for one in envy["schedule"]}
        for other in sorted(self.played["positions"], key=lambda one: -one["position"]):
            if (cents := other["wagers"].get(name)) and _player(other) != _player(position):
                full = schedules[self.meters[fed_by(wager)[0]]["wager"]]
                schedule = schedules[cents]
                for meter, percent in _percents(wager, full["pays"].get(hand, "")):
                    of = (position["position"], name)
                    own = self.part(meter, percent, cents)
                    paid = self.take(meter, own, wager, 1, of)
                    self._line(
                        other, f"{meter}_envy_share", "paid", hand, paid=paid, percent=own,
                        rule=envy["rule"], source="hand_pay", wagered=cents,
                        hand_of=position["position"],
                    )  # fmt: skip
                if "$" in schedule["pays"].get(hand, ""):
                    self.report({
                        "position": other["position"],
                        "item": f"{name.removesuffix('_progressive')}_envy",
                        "outcome": "paid", "hand": hand, "wagered": cents,
                        "paid": _dollars(schedule["pays"][hand]), "returned": 0,
                        "paid_from": wager["paid_from"], "rule": wager["envy"]["rule"],
                        "envy_of": position["position"],
                    })  # fmt: skip

    def _pay(self, position: Law, wager: Law, hand: str, rule: str) -> None:
        name = wager["names"][0]
        wagered = position["wagers"][name]
        cell = cell_of(wager, hand, self.played.get("paytables", {}))
        percents: list[tuple[str, Fraction]] = []
        paid, back = 0, 0
        for part in cell.split(" + ") if cell else ():
            if found := re.fullmatch(r"([\d.]+)% of (\w+)", part):
                meter = wager["meter"] if found[2] == "meter" else found[2]
                percents.append((meter, Fraction(found[1])))
            elif found := re.fullmatch(r"([\d,]+) (to|for) 1", part):
                paid += int(found[1].replace(",", "")) * wagered
                back = wagered if found[2] == "to" else 0
            else:
                paid += _dollars(part)
        if not cell:
            lost = rule if "meter" in wager or "meters" in wager else wager.get("collected", rule)
            self._line(position, name, "collected", hand, rule=lost)
            return
        alone = "meter" in wager and percents and not paid
        divided = percents and wager["cards"] == ["dealer"]
        if divided and position["position"] not in {
            box["position"] for box in self._sharing(wager)
        }:
            self._line(position, name, "collected", hand, rule=wager["divided"])
            return
        if not alone:
            self._line(
                position, name, "paid", hand, rule=rule, paid=paid, back=back,
                source=wager["paid_from"] if paid else None,
            )  # fmt: skip
        for meter, percent in percents:
            self._line(
                position, name if alone else f"{meter}_jackpot", "paid", hand, rule=rule,
                paid=self._share(position, meter, percent, wager, wagered), source="hand_pay",
                percent=self.part(meter, percent, wagered), wagered=wagered,
            )  # fmt: skip

    def _share(self, position: Law, meter: str, percent: Fraction, wager: Law, wagered: int) -> int:
        """Return what one player wins. All players of a wager on the table's result divide it."""
        name = wager["names"][0]
        if wager["cards"] != ["dealer"]:
            own = self.part(meter, percent, wagered)
            return self.take(meter, own, wager, 1, (position["position"], name))
        if name not in self.shares:
            self.shares[name] = self.divide(meter, percent, wager, "dealer")
        return self.shares[name][position["position"]]

    def take(  # noqa: PLR0917
        self, meter: str, percent: Fraction, wager: Law, shares: int = 1, hand: object = None,
        payees: int = 0,
    ) -> int:  # fmt: skip
        """Take a percentage off a meter, and return a share in cents. Reseed a won meter.

        What one `hand` wins is of one amount of the meter, and wins the meter whole together. If
        the percentage is divided, `payees` of the `shares` are paid.
        """
        held = self.meters[meter]
        amount, before = held["amount"], Fraction(0)
        if hand is not None:
            amount, before = self.of_hand.get((hand, meter), (amount, before))
        payees = payees or shares
        after = before + percent * payees / shares
        if hand is not None:
            self.of_hand[hand, meter] = amount, after
        cents: int = amount * percent // 100 // shares
        held["amount"] -= cents * payees
        if after == 100:
            held["amount"] += reseed_cents(wager, meter, held["wager"]) + held.get("reserve", 0)
            if "reserve" in held:
                held["reserve"] = 0
        if "limit" in held:  # what is over it waits in the overflow
            pool = held["amount"] + held["overflow"]
            held["amount"] = min(pool, held["limit"])
            held["overflow"] = pool - held["amount"]
        return cents

    def _line(
        self, position: Law, item: str, outcome: str, hand: str | None, *, rule: str,
        paid: int = 0, back: int = 0, source: str | None = None, percent: Fraction | None = None,
        wagered: int | None = None, hand_of: int | None = None,
    ) -> None:  # fmt: skip
        line: Line = {"position": position["position"], "item": item, "outcome": outcome}
        if hand is not None:
            line["hand"] = hand
        line["wagered"] = position["wagers"][item] if wagered is None else wagered
        line |= {"paid": paid, "returned": back}
        if source:
            line["paid_from"] = source
        if percent:
            decimals = str(Decimal(percent.numerator) / percent.denominator)
            line["percent"] = int(percent) if percent.denominator == 1 else decimals
        wagers = [wager for wager in self.law["wager"] if wager["names"] == [item]]
        of_table = any(wager["cards"] == ["dealer"] and fed_by(wager) for wager in wagers)
        if hand_of is not None:
            line["hand_of"] = hand_of
        self.report(line | {"rule": rule} | ({"on": "dealer"} if of_table else {}))


def settled(played: Mapping[str, Any]) -> tuple[Sequence[Line], Mapping[str, Any]]:
    naive = NaiveRound(played)
    meters = {
        name: {key: held[key] for key in ("amount", "reserve", "overflow") if key in held}
        for name, held in naive.meters.items()
    }
    return naive.lines, meters


def _percents(wager: Law, cell: str) -> list[tuple[str, Fraction]]:
    """Return the percentages of meters in a cell; a wager's only meter is called "meter" there."""
    found = re.findall(r"([\d.]+)% of (\w+)", cell)
    return [(wager["meter"] if of == "meter" else of, Fraction(number)) for number, of in found]


def _once(boxes: Sequence[Law]) -> list[Law]:
    """Return the first position of each player."""
    return [one for one in boxes if one is next(of for of in boxes if _player(of) == _player(one))]


def _player(position: Law) -> tuple[bool, str | int]:
    return "patron" in position, position.get("patron", position["position"])


def _dollars(text: str) -> int:
    return int(text.removeprefix("$").replace(",", "")) * 100
