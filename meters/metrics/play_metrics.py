from collections.abc import Callable, Sequence
from typing import Final, Literal, final

from bonus.wagers import MICROS_PER_CENT
from meters.metrics.families import PLAY, UNKNOWN, MetricFamilies

CODES_MAX: Final = 64
"""Different refusal codes in the metrics at most; pitlink has far fewer."""

_TYPES: Final = frozenset({"wagers", "correct_wager", "result", "void", "withdrawal", "hello"})
_STATUSES: Final = frozenset({"accepted", "refused", "unconfirmed", "out_of_order", "repeated"})

WinKind = Literal["odds", "percent"]
TableCount = Literal[
    "table_voids_after_cards",
    "table_hands_reentered",
    "table_corrections_unconfirmed",
    "table_wagers_corrected",
]
Add = Callable[[float], None]

_OF_METER: Final = ("wagers", "wagered_cents", "contributions_cents")
_OF_TABLE: Final = ("table_wagers", "table_wagered_cents")


@final
class PlayMetrics:
    def __init__(self, families: MetricFamilies) -> None:
        families.declare(PLAY)
        self._families = families
        self._codes: set[str] = set()
        self._of_meter = {meter: self._adding(_OF_METER, meter) for meter in families.meters}
        self._of_table = {table: self._adding(_OF_TABLE, table) for table in families.tables}
        self._of_event: dict[tuple[str, str, str], Add] = {}
        for link in families.links:
            self.count_refusal(link, "unknown_table", 0)

    def _adding(self, names: Sequence[str], labels: tuple[str, str]) -> Sequence[Add]:
        return [self._families.counters[name].labels(*labels).inc for name in names]

    def count_event(self, link: str, event_type: str, status: str, events: int = 1) -> None:
        key = (link, event_type, status)
        count = self._of_event.get(key)
        if count is None:
            known = (
                self._families.known_link(link),
                event_type if event_type in _TYPES else UNKNOWN,
                status if status in _STATUSES else UNKNOWN,
            )
            count = self._families.counters["events"].labels(*known).inc
            if key == known:
                self._of_event[key] = count
        count(events)

    def count_refusal(self, link: str, code: str, events: int = 1) -> None:
        if code not in self._codes:
            if len(self._codes) >= CODES_MAX:
                code = UNKNOWN
            self._codes.add(code)
        self._families.count("refusals", events, self._families.known_link(link), code)

    def count_wagers(
        self, link: str, meter: str, *, wagers: int, wagered_cents: int, contributed_micros: int
    ) -> None:
        adding = self._of_meter.get((link, meter)) or self._adding(_OF_METER, (UNKNOWN, UNKNOWN))
        amounts = (wagers, wagered_cents, contributed_micros / MICROS_PER_CENT)
        for add, amount in zip(adding, amounts, strict=True):
            add(amount)

    def count_table(self, link: str, table: str, *, wagers: int, wagered_cents: int) -> None:
        adding = self._of_table.get((link, table)) or self._adding(_OF_TABLE, (UNKNOWN, UNKNOWN))
        for add, amount in zip(adding, (wagers, wagered_cents), strict=True):
            add(amount)

    def count_at_table(self, name: TableCount, link: str, table: str, number: int) -> None:
        self._families.count(name, number, *self._families.known_table(link, table))

    def count_dealt_twice(self, link: str, results: int) -> None:
        """Count results that repeat the round id and the cards of another table's result."""
        self._families.count("cards_dealt_twice", results, self._families.known_link(link))

    def count_wins(
        self, link: str, meter: str, kind: WinKind, *, wins: int, won_cents: int
    ) -> None:
        known = self._families.known_meter(link, meter)
        self._families.count("wins", wins, *known, kind)
        self._families.count("won_cents", won_cents, *known, kind)
