"""What the tables play: events, refusals, wagers, contributions, wins."""

from collections.abc import Callable
from typing import Final, Literal, final

from prometheus_client import CollectorRegistry, Counter

from bonus.wagers import MICROS_PER_CENT
from meters.metrics.labels import UNKNOWN, FloorLabels

CODES_MAX: Final = 64
"""How many refusal codes are told apart; there are far fewer."""

_TYPES: Final = frozenset({"wagers", "result", "void", "withdrawal", "hello"})
_STATUSES: Final = frozenset({"accepted", "refused", "unconfirmed", "out_of_order", "repeated"})

WinKind = Literal["odds", "percent"]
Add = Callable[[float], None]


@final
class PlayMetrics:
    """Counts what is played.

    Args:
        registry: where the metrics are.
        labels: those that there can be.
    """

    def __init__(self, registry: CollectorRegistry, labels: FloorLabels) -> None:
        self._labels = labels
        self._codes: set[str] = set()
        self._make(registry)
        self._of_meter = {meter: self._meter(*meter) for meter in labels.meters}
        self._of_table = {table: self._table(*table) for table in labels.tables}
        self._of_event: dict[tuple[str, str, str], Add] = {}
        for link in labels.links:
            self.count_refusal(link, "unknown_table", 0)
            self.count_dealt_twice(link, 0)
        for table in labels.tables:
            self.count_void_after_cards(*table, 0)
            self.count_reentered(*table, 0)
            self.count_unconfirmed(*table, 0)

    def _make(self, of: CollectorRegistry) -> None:
        meter, table = ("link", "meter"), ("link", "table")
        self._events = Counter(
            "pitlink_events", "Table events answered.", ("link", "type", "status"), registry=of
        )
        self._refusals = Counter(
            "pitlink_refusals", "Table events refused, by code.", ("link", "code"), registry=of
        )
        self._wagers = Counter("pitlink_wagers", "Wagers accepted.", meter, registry=of)
        self._wagered = Counter(
            "pitlink_wagered_cents", "Accepted wagers in cents.", meter, registry=of
        )
        self._contributions = Counter(
            "pitlink_contributions_cents", "What accepted wagers added, in cents.", meter,
            registry=of,
        )  # fmt: skip
        self._wins = Counter(
            "pitlink_wins", "Progressive wins, at odds or a percentage.", (*meter, "kind"),
            registry=of,
        )  # fmt: skip
        self._won = Counter(
            "pitlink_won_cents", "What these won, in cents.", (*meter, "kind"), registry=of
        )
        self._table_wagers = Counter(
            "pitlink_table_wagers", "Wagers accepted at a table.", table, registry=of
        )
        self._table_wagered = Counter(
            "pitlink_table_wagered_cents", "Wagers accepted at a table, in cents.", table,
            registry=of,
        )  # fmt: skip

        self._voids_after_cards = Counter(
            "pitlink_table_voids_after_cards",
            "Rounds of a table that were void after cards were entered.", table, registry=of,
        )  # fmt: skip
        self._reentered = Counter(
            "pitlink_table_hands_reentered",
            "Hands of a table that were taken back and entered differently.", table, registry=of,
        )  # fmt: skip
        self._unconfirmed = Counter(
            "pitlink_table_corrections_unconfirmed",
            "Voids after cards and results with hands entered differently that nobody confirmed.",
            table, registry=of,
        )  # fmt: skip
        self._dealt_twice = Counter(
            "pitlink_cards_dealt_twice",
            "Results with the round id and the cards of another table's.", ("link",), registry=of,
        )  # fmt: skip

    def _meter(self, link: str, meter: str) -> "_MeterCounters":
        for kind in ("odds", "percent"):
            self._wins.labels(link, meter, kind)
            self._won.labels(link, meter, kind)
        return _MeterCounters(
            self._wagers.labels(link, meter).inc,
            self._wagered.labels(link, meter).inc,
            self._contributions.labels(link, meter).inc,
        )

    def _table(self, link: str, table: str) -> tuple[Add, Add]:
        return (
            self._table_wagers.labels(link, table).inc,
            self._table_wagered.labels(link, table).inc,
        )

    def count_event(self, link: str, event_type: str, status: str, events: int = 1) -> None:
        """Count events of one type that got one status as their reply."""
        key = (link, event_type, status)
        count = self._of_event.get(key)
        if count is None:
            known = (
                self._labels.link(link),
                event_type if event_type in _TYPES else UNKNOWN,
                status if status in _STATUSES else UNKNOWN,
            )
            count = self._events.labels(*known).inc
            if key == known:
                self._of_event[key] = count
        count(events)

    def count_refusal(self, link: str, code: str, events: int = 1) -> None:
        """Count refused events by their code."""
        if code not in self._codes:
            if len(self._codes) >= CODES_MAX:
                code = UNKNOWN
            self._codes.add(code)
        self._refusals.labels(self._labels.link(link), code).inc(events)

    def count_wagers(
        self, link: str, meter: str, *, wagers: int, wagered_cents: int, contributed_micros: int
    ) -> None:
        """Count accepted wagers on one meter: how many, how much, and what they added."""
        counters = self._of_meter.get((link, meter)) or self._meter(UNKNOWN, UNKNOWN)
        counters.wagers(wagers)
        counters.wagered_cents(wagered_cents)
        counters.contributed_cents(contributed_micros / MICROS_PER_CENT)

    def count_table(self, link: str, table: str, *, wagers: int, wagered_cents: int) -> None:
        """Count accepted wagers of one table."""
        counters = self._of_table.get((link, table)) or self._table(UNKNOWN, UNKNOWN)
        add_wagers, add_cents = counters
        add_wagers(wagers)
        add_cents(wagered_cents)

    def count_void_after_cards(self, link: str, table: str, voids: int) -> None:
        """Count rounds of a table that were void after cards were entered."""
        self._voids_after_cards.labels(*self._known_table(link, table)).inc(voids)

    def count_reentered(self, link: str, table: str, hands: int) -> None:
        """Count hands of a table that were taken back and entered differently."""
        self._reentered.labels(*self._known_table(link, table)).inc(hands)

    def count_unconfirmed(self, link: str, table: str, corrections: int) -> None:
        """Count corrections of a table that no floorperson confirmed."""
        self._unconfirmed.labels(*self._known_table(link, table)).inc(corrections)

    def count_dealt_twice(self, link: str, results: int) -> None:
        """Count results with the round id and the cards of another table's."""
        self._dealt_twice.labels(self._labels.link(link)).inc(results)

    def _known_table(self, link: str, table: str) -> tuple[str, str]:
        return (link, table) if (link, table) in self._of_table else (UNKNOWN, UNKNOWN)

    def count_win(self, link: str, meter: str, kind: WinKind, won_cents: int) -> None:
        """Count a progressive win and what it came to."""
        known = (link, meter) if (link, meter) in self._of_meter else (UNKNOWN, UNKNOWN)
        self._wins.labels(*known, kind).inc()
        self._won.labels(*known, kind).inc(won_cents)


@final
class _MeterCounters:
    """One meter's children, resolved once."""

    __slots__ = ("contributed_cents", "wagered_cents", "wagers")

    def __init__(self, wagers: Add, wagered_cents: Add, contributed_cents: Add) -> None:
        self.wagers: Final = wagers
        self.wagered_cents: Final = wagered_cents
        self.contributed_cents: Final = contributed_cents
