"""Metrics of what happens on links, and of their data in Redis."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Literal, final

from bonus.wagers import MICROS_PER_CENT
from meters.ledger.link_state import LinkState
from meters.metrics.families import BOOKS, PLAY, UNKNOWN, Audited, MetricFamilies
from meters.store.link_stats import LinkStats, WaitingCount

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


_NONE_WAIT: Final = WaitingCount()
_WAITING: Final = (
    ("claims_pending", "claims_oldest_age_seconds"),
    ("hand_pays_pending", "hand_pays_oldest_age_seconds"),
    ("envy_unpaid", "envy_oldest_age_seconds"),
    ("corrections_pending", "corrections_oldest_age_seconds"),
)
"""The gauges of what waits: the number, and the age of the oldest in seconds."""


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
        known = (link, table) in self._families.tables
        self._families.count(name, number, *((link, table) if known else (UNKNOWN, UNKNOWN)))

    def count_dealt_twice(self, link: str, results: int) -> None:
        """Count results that repeat the round id and the cards of another table's result."""
        self._families.count("cards_dealt_twice", results, self._families.known_link(link))

    def count_wins(
        self, link: str, meter: str, kind: WinKind, *, wins: int, won_cents: int
    ) -> None:
        known = self._families.known_meter(link, meter)
        self._families.count("wins", wins, *known, kind)
        self._families.count("won_cents", won_cents, *known, kind)


@final
class LinkMetrics:
    """The metrics of the data in Redis; `now` returns seconds since the epoch."""

    def __init__(self, families: MetricFamilies, now: Callable[[], float]) -> None:
        families.declare(BOOKS)
        self._now = now
        self._families = families
        self._since_s: dict[tuple[str, str], float | None] = {}
        self.show_operators_log(holds=True)
        for link in families.links:
            for _, age in _WAITING:
                families.gauges[age].labels(link).set_function(partial(self._age_s, age, link))

    def show_amount(self, link: str, meter: str, amount_cents: int) -> None:
        self._families.set(
            "meter_amount_cents", amount_cents, *self._families.known_meter(link, meter)
        )

    def show_link_state(self, link: str, state: LinkState, figures: LinkStats, sealed: int) -> None:
        """Set the metrics of a link's state and data.

        `sealed` is the last ledger entry up to which an audit found no error.
        """
        for meter, micros in figures.reserve_micros.items():
            self._families.set("meter_reserve_cents", micros // MICROS_PER_CENT, link, meter)
        for meter, micros in figures.overflow_micros.items():
            self._families.set("meter_overflow_cents", micros // MICROS_PER_CENT, link, meter)
        self.show_waiting(
            link, figures.claims, figures.hand_pays, figures.envy, figures.corrections
        )
        shown = {
            "proposals_pending": figures.proposals,
            "rounds_open": state.rounds_open,
            "ledger_entries": state.head.entry,
            "ledger_live_entries": figures.entries_live,
            "ledger_sealed_entries": sealed,
            "ledger_archived_entries": figures.entries_archived,
            "archive_timestamp_seconds": figures.archived_s,
            "reading_timestamp_seconds": figures.read_s,
        }
        for name, value in shown.items():
            if value is not None:
                self._families.set(name, value, link)

    def show_waiting(
        self,
        link: str,
        claims: WaitingCount,
        hand_pays: WaitingCount,
        envy: WaitingCount = _NONE_WAIT,
        corrections: WaitingCount = _NONE_WAIT,
    ) -> None:
        link = self._families.known_link(link)
        waiting = (claims, hand_pays, envy, corrections)
        for (name, age), counted in zip(_WAITING, waiting, strict=True):
            self._families.set(name, counted.count, link)
            self._since_s[age, link] = counted.since_s

    def show_approval(self, link: str, *, due: bool) -> None:
        self._families.set("approvals_due", int(due), link)

    def show_audit(self, link: str, result: Audited, took_s: float) -> None:
        """Set the metrics of an audit's result, and count the audit.

        If it could not read Redis, it is only counted: the other metrics keep the result of the
        last complete audit.
        """
        self._families.count("audits", 1, link, result)
        if result is Audited.FAILED:
            return
        self._families.set("audit_balanced", int(result is Audited.BALANCED), link)
        self._families.set("audit_timestamp_seconds", self._now(), link)
        self._families.set("audit_duration_seconds", took_s, link)

    def show_operators_log(self, holds: bool) -> None:  # noqa: FBT001  (a callback's only word)
        self._families.gauges["operators_log_holds"].set(int(holds))

    def _age_s(self, age: str, link: str) -> float:
        since_s = self._since_s.get((age, link))
        return 0.0 if since_s is None else max(0.0, self._now() - since_s)
