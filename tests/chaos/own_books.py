"""Independent sum of what the meters must hold, in micros, from the answers to the tables.

From the ledger it uses only the order of events (duty D7): which table's wagers, result or void
came when. The value of each follows from the device events and the rates of the law. It is the only
check that adds up the devices' answers in micros while parts between them and ledger are killed.
Which hand wins what it reads from the result lines, as `tests.naive` settles those. For games of
the house, `tests.chaos.house_rounds` settles the rounds again.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from tests.naive.tables_649a import FIVE_CARD, FIVE_OF_SIX, HAND_BONUS, METER_OF, PROGRESSIVE

CENT: Final = 10_000


@dataclass(frozen=True, slots=True)
class OwnMeter:
    """Terms of a meter: seed and reseed in cents, and its rates in basis points."""

    seed_cents: int
    reseed_cents: int
    rate_bps: int
    reserve_bps: int = 0


@dataclass(frozen=True, slots=True)
class OwnTerms:
    """Terms of a link.

    Attributes:
        meters: the meters.
        fed: the meters that each wager feeds.
        meter_of: the meter of each item that can win a percentage.
        divided: the items whose percentage is divided among several lines of a round.
    """

    meters: Mapping[str, OwnMeter]
    fed: Mapping[str, Sequence[str]]
    meter_of: Mapping[str, str]
    divided: Collection[str] = ()


def poker_terms(wager_cents: int, progressive_bps: int) -> OwnTerms:
    """Return the terms of a link of Three Card Poker with all four meters.

    The seed of a progressive is the same on both paytables. Its rate is passed in.
    """
    laws = {
        "progressive": PROGRESSIVE["A"],
        "five_card_progressive": FIVE_CARD,
        "five_of_six_progressive": FIVE_OF_SIX,
        "five_card_hand_bonus": HAND_BONUS,
    }
    meters = {
        meter: OwnMeter(
            law.seed * wager_cents,
            law.reseed * wager_cents,
            progressive_bps if meter == "progressive" else int(law.primary * 100),
            int(law.reserve * 100),
        )
        for meter, law in laws.items()
    }
    fed = {wager: (meter,) for wager, meter in METER_OF.items()}
    return OwnTerms(meters, fed, METER_OF, ("five_card_hand_bonus_dealer",))


@dataclass
class OwnBooks:
    """The meters of one link and their reserves, calculated independently."""

    terms: OwnTerms
    meters: dict[str, int] = field(default_factory=dict)
    reserves: dict[str, int] = field(default_factory=dict)
    cycles: Counter[str] = field(default_factory=Counter)
    _open: dict[str, tuple[Mapping[str, int], dict[str, int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for meter, terms in self.terms.meters.items():
            self.meters[meter] = terms.seed_cents * CENT
            if terms.reserve_bps:
                self.reserves[meter] = 0

    def wagers(self, table: str, wagered: Mapping[str, int]) -> None:
        for wager, cents in wagered.items():
            for meter in self.terms.fed[wager]:
                self._add(meter, cents)
        self._open[table] = (wagered, dict(self.cycles))

    def void(self, table: str) -> None:
        """Subtract the round again, except on a meter that was won meanwhile."""
        wagered, cycles = self._open.pop(table)
        for wager, cents in wagered.items():
            for meter in self.terms.fed[wager]:
                if self.cycles[meter] == cycles.get(meter, 0):
                    self._add(meter, -cents)

    def _add(self, meter: str, cents: int) -> None:
        terms = self.terms.meters[meter]
        self.meters[meter] += cents * terms.rate_bps
        if terms.reserve_bps:
            self.reserves[meter] += cents * terms.reserve_bps

    def reject(self, meter: str, cents: int) -> None:
        self.meters[meter] += cents * CENT

    def result(self, table: str, lines: Sequence[Mapping[str, Any]]) -> None:
        """Subtract the percentages, one after the other, in the order of the lines."""
        self.end(table)
        divided = self.terms.divided
        shares = Counter(
            line["item"] for line in lines if line.get("percent") and line["item"] in divided
        )
        known: set[str] = set()
        for line in lines:
            percent, item = line.get("percent"), line["item"]
            if not percent or item in known:
                continue
            if item in divided:
                known.add(item)
            each = self.take(self.terms.meter_of[item], Fraction(percent), shares.get(item, 1))
            assert line["paid"] == each, (table, line, each)

    def end(self, table: str) -> None:
        self._open.pop(table)

    def take(self, kind: str, percent: int | Fraction, shares: int) -> int:
        """Take a percentage off a meter in equal shares, and return the cents of one share.

        A meter that was won whole restarts with its reserve and its reseed.
        """
        each = self.meters[kind] // CENT * percent // 100 // shares
        self.meters[kind] -= each * shares * CENT
        if percent == 100:
            self.cycles[kind] += 1
            self.meters[kind] += self.terms.meters[kind].reseed_cents * CENT
            if kind in self.reserves:
                self.meters[kind] += self.reserves[kind]
                self.reserves[kind] = 0
        return each
