from collections.abc import Callable
from functools import partial
from typing import Final, final

from bonus.wagers import MICROS_PER_CENT
from meters.books.link_state import LinkState
from meters.books.link_stats import LinkStats, WaitingCount
from meters.metrics.families import BOOKS, Audited, MetricFamilies

_NONE_WAIT: Final = WaitingCount()
_WAITING: Final = (
    ("claims_pending", "claims_oldest_age_seconds"),
    ("hand_pays_pending", "hand_pays_oldest_age_seconds"),
    ("envy_unpaid", "envy_oldest_age_seconds"),
    ("corrections_pending", "corrections_oldest_age_seconds"),
)
"""The gauges of what waits: the number, and the age of the oldest in seconds."""


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
