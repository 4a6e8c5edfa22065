"""Bookings of a settled round in the second books, line by line as its game settles it.

The game decides who wins what. Here the meters are accounts that are followed from event to
event. A win that a floorperson validates is a claim of the reply, and an Envy Bonus is owed under
it.
"""

from fractions import Fraction
from math import floor
from typing import Any

from tests.model.second_books import SecondBooks, SecondClaim, round_of
from tests.naive.shapes import Line

Record = dict[str, Any]


class Settling:
    """One round as its result settles it, with the lines and claims that the reply must have."""

    def __init__(self, books: SecondBooks, table_id: str, event: Record) -> None:
        self.lines: list[Line] = []
        self.claims: list[Record] = []
        self.link_share: list[Record] = []
        self.on_link = False
        self._won_elsewhere: list[SecondClaim] = []
        self._books = books
        self._table = books.tables[table_id]
        self._table_id = table_id
        self._event = event
        self._of_hand: dict[tuple[object, str], tuple[Fraction, Fraction]] = {}
        self._parts: dict[tuple[object, str], list[SecondClaim]] = {}
        self._own_parts: list[SecondClaim] = []

    def run(self) -> None:
        played = round_of(self._table, self._event)
        meters = {kind: self._books.meters[meter] for kind, meter in self._table.meters.items()}
        self._table.game.settle(played, meters, self, self._book, self)
        for line in self.lines:
            if "envy_of" in line:
                self._owe(line, line["envy_of"])
        for number, won in enumerate(self._won_elsewhere, start=len(self.claims) + 1):
            claim = f"{self._books.link}.{self._table_id}-{self._event['seq']}-{number}"
            self._books.claims[claim] = won
            self._books.move("pot", f"claim:{claim}", Fraction(won.cents))
        self._books.tallies["rounds"] += 1
        self._books.end(self._table_id)

    def take(
        self, kind: str, percent: int | Fraction, shares: int, hand: object | None = None,
        payees: int = 0,
    ) -> int:  # fmt: skip
        """Take a percentage off a meter for later claims. Return the cents of one share.

        Some of the `shares` can stay on the meter: `payees` are the paid ones, by default all.
        """
        payees = payees or shares
        meter = self._table.meters[kind]
        of, before = self._books.held(meter), Fraction(0)
        if hand is not None:
            of, before = self._of_hand.get((hand, meter), (of, before))
            self._of_hand[hand, meter] = of, before + Fraction(percent) * payees / shares
        whole = before + Fraction(percent) * payees / shares == 100
        share = self._books.take_off(meter, percent, shares, of, payees=payees, whole=whole)
        self._own_parts = [] if hand is None else self._parts.setdefault((hand, meter), [])
        for part in self._own_parts:
            part.after_cents = floor(self._books.held(meter))
        return share

    def players(self, kind: str, wager: str) -> list[tuple[str, int]]:
        """Return each player with a wager in an open round of another table: the first place."""
        found: dict[tuple[str, object], tuple[str, int]] = {}
        for name, table in sorted(self._books.tables.items()):
            if name == self._table_id or table.meters.get(kind) != self._table.meters[kind]:
                continue
            for position, bet in sorted(table.bets.items(), reverse=True):
                if wager in bet["wagers"]:
                    found.setdefault((name, bet.get("patron") or position), (name, position))
        return [*found.values()]

    def pay(self, kind: str, wager: str, holder: int, cents: int) -> None:
        meter, tallies = self._table.meters[kind], self._books.tallies
        self.on_link = True
        at: dict[str, list[int]] = {}
        for name, position in self.players(kind, wager):
            at.setdefault(name, []).append(position)
            won = SecondClaim(
                meter, cents, floor(self._books.held(meter)), percent=True, hand_pay=True,
                table=name, holds=False,
            )  # fmt: skip
            self._own_parts.append(won)
            self._won_elsewhere.append(won)
            for tally, by in (("wins", 1), ("won_cents", cents)):
                tallies[tally] += by
                tallies[f"{tally}:{meter}"] += by
            tallies[f"hits:{meter}"] += 1
        players = [
            {"table": name, "round": self._books.tables[name].round, "positions": positions}
            for name, positions in at.items()
        ]
        if players:
            item = f"{kind}_community_share"
            named = any(share["item"] == item for share in self.link_share)
            self.link_share.append(
                {"item": item, "hand_of": holder, **({} if named else {"players": players}),
                 "amount": cents}
            )  # fmt: skip

    def _book(self, line: Line) -> None:
        """Book a line when it is settled. The meter's balance at that moment is part of a claim."""
        self.lines.append(line)
        if line["outcome"] != "paid" or not (line["paid"] or "percent" in line):
            return
        meter, cents = self._meter(line), line["paid"]
        if "percent" in line:
            self._books.move("pot", self._open_claim(line), Fraction(cents))
            self._books.tallies[f"hits:{meter}"] += 1
        elif self._waits(line):
            self._books.move("house", self._open_claim(line), Fraction(cents))
        elif "envy_of" not in line:
            self._pay_at_table(meter, cents)
        for name, by in (("wins", 1), ("won_cents", cents)):
            self._books.tallies[name] += by
            self._books.tallies[f"{name}:{meter}"] += by

    def _meter(self, line: Line) -> str:
        return self._table.meters[self._table.game.meter_of[line["item"]]]

    def _waits(self, line: Line) -> bool:
        large = line["paid"] >= self._books.validate_from_cents
        return large and self._table.game.is_validated(line)

    def _open_claim(self, line: Line) -> str:
        claim = f"{self._books.link}.{self._table_id}-{self._event['seq']}-{len(self.claims) + 1}"
        self.claims.append(
            {"claim": claim, "position": line["position"], "item": line["item"],
             "amount": line["paid"]}
            | ({"hand_of": line["hand_of"]} if "hand_of" in line else {})
        )  # fmt: skip
        meter = self._meter(line)
        won = self._books.claims[claim] = SecondClaim(
            meter, line["paid"], floor(self._books.held(meter)), "percent" in line,
            line["paid_from"] == "hand_pay", self._table_id,
        )  # fmt: skip
        if won.percent:
            self._own_parts.append(won)
        return f"claim:{claim}"

    def _owe(self, envy: Line, holder: int) -> None:
        """Owe an Envy Bonus under the win by which a floorperson looks at its hand, if any.

        That is the win of the same wager, or else the first of the hand that waits.
        """
        meter, cents = self._meter(envy), envy["paid"]
        of_hand = [
            claim
            for claim in self.claims
            if claim["position"] == holder and "hand_of" not in claim
            if "_bad_beat_" not in claim["item"]
        ]
        same = [claim for claim in of_hand if _envy_item(claim["item"]) == envy["item"]]
        if under := (same or of_hand)[:1]:
            self._books.owe(under[0]["claim"], meter, cents, alone=False)
        elif cents >= self._books.validate_from_cents:
            claim = f"{self._books.link}.{self._table_id}-{self._event['seq']}-e{holder}"
            self._books.owe(claim, meter, cents, alone=True)
        else:
            self._pay_at_table(meter, cents)

    def _pay_at_table(self, meter: str, cents: int) -> None:
        self._books.move("house", "paid", Fraction(cents))
        self._books.tallies[f"table_paid_cents:{meter}"] += cents


def _envy_item(wager: str) -> str:
    return f"{wager.removesuffix('_progressive')}_envy"
