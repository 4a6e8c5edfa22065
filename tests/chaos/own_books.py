"""Independent sum of what the meters must hold, in micros, from the answers to the tables.

From the ledger it uses only the order of events (duty D7): which table's wagers, result or void
came when. The value of each follows from the device events and the rates of the law. It is the only
check that adds up the devices' answers in micros while parts between them and ledger are killed.
Which hand wins what it reads from the result lines, as `tests.naive` settles those.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tests.naive.tables_649a import FIVE_CARD, FIVE_OF_SIX, HAND_BONUS, PROGRESSIVE

CENT: Final = 10_000
_LAWS: Final = {
    "five_card_progressive": FIVE_CARD,
    "five_of_six_progressive": FIVE_OF_SIX,
    "five_card_hand_bonus": HAND_BONUS,
}
SEED_FOR_1: Final = {"progressive": PROGRESSIVE["A"].seed} | {
    kind: law.seed for kind, law in _LAWS.items()
}
"""A progressive's seed is the same on both paytables. Its rate comes with the link."""

RATE_BPS: Final = {kind: law.primary * 100 for kind, law in _LAWS.items()}
RESERVE_BPS: Final = HAND_BONUS.reserve * 100
METER: Final = {"five_card_hand_bonus_dealer": "five_card_hand_bonus"}


@dataclass
class OwnBooks:
    """The four meters of one link, calculated independently."""

    wager_cents: int
    progressive_bps: int
    meters: dict[str, int] = field(default_factory=dict)
    reserve: int = 0
    cycles: Counter[str] = field(default_factory=Counter)
    _open: dict[str, tuple[Mapping[str, int], dict[str, int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.meters = {kind: times * self.wager_cents * CENT for kind, times in SEED_FOR_1.items()}

    def wagers(self, table: str, wagered: Mapping[str, int]) -> None:
        """Add a table's accepted wagers, cents by wager."""
        for wager, cents in wagered.items():
            kind = METER.get(wager, wager)
            self.meters[kind] += cents * RATE_BPS.get(kind, self.progressive_bps)
            if kind == "five_card_hand_bonus":
                self.reserve += cents * RESERVE_BPS
        self._open[table] = (wagered, dict(self.cycles))

    def void(self, table: str) -> None:
        """Subtract the round again, except on a meter that was won meanwhile."""
        wagered, cycles = self._open.pop(table)
        for wager, cents in wagered.items():
            kind = METER.get(wager, wager)
            if self.cycles[kind] != cycles.get(kind, 0):
                continue
            self.meters[kind] -= cents * RATE_BPS.get(kind, self.progressive_bps)
            if kind == "five_card_hand_bonus":
                self.reserve -= cents * RESERVE_BPS

    def reject(self, meter: str, cents: int) -> None:
        """Return a rejected percentage to its meter."""
        self.meters[meter] += cents * CENT

    def result(self, table: str, lines: Sequence[Mapping[str, Any]]) -> None:
        """Subtract the percentages, one after the other, in the order of the lines."""
        self._open.pop(table)
        shares = Counter(
            line["item"] for line in lines if line.get("percent") and line["item"] in METER
        )
        known: set[str] = set()
        for line in lines:
            percent, item = line.get("percent"), line["item"]
            if not percent or item in known:
                continue
            kind, parts = METER.get(item, item), 1
            if item in METER:
                known.add(item)
                parts = shares[item]
            each = self.meters[kind] // CENT * percent // 100 // parts
            assert line["paid"] == each, (table, line, each)
            self.meters[kind] -= each * parts * CENT
            if percent == 100:
                self.cycles[kind] += 1
                if kind == "five_card_hand_bonus":
                    self.meters[kind] += self.reserve
                    self.reserve = 0
                else:
                    self.meters[kind] += SEED_FOR_1[kind] * self.wager_cents * CENT
