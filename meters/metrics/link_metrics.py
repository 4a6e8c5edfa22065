"""What the books hold, what waits in them, and whether they were found in order."""

from collections.abc import Callable
from enum import StrEnum
from typing import Final, final

from prometheus_client import CollectorRegistry, Counter, Gauge

from bonus.wagers import MICROS_PER_CENT
from meters.books.link_state import LinkState
from meters.books.link_stats import LinkStats, WaitingCount
from meters.metrics.labels import UNKNOWN, FloorLabels

_NONE_WAIT: Final = WaitingCount()


class Audited(StrEnum):
    """What came of an audit; `failed` where the store could not be read."""

    BALANCED = "balanced"
    DIFFERS = "differs"
    FAILED = "failed"


@final
class LinkMetrics:
    """Shows a floor's books.

    Args:
        registry: where the metrics are.
        labels: those that there can be.
        now: seconds since the epoch.
    """

    def __init__(
        self, registry: CollectorRegistry, labels: FloorLabels, now: Callable[[], float]
    ) -> None:
        self._now = now
        self._labels = labels
        self._since: dict[tuple[str, str], float] = {}
        self._make_meters(registry)
        self._make_waiting(registry)
        self._make_ledger(registry)
        self._set_amount = {meter: self._amounts.labels(*meter).set for meter in labels.meters}
        for link in labels.links:
            self._make_link(link)

    def _make_meters(self, of: CollectorRegistry) -> None:
        meter = ("link", "meter")
        self._amounts = Gauge("pitlink_meter_amount_cents", "A meter's value.", meter, registry=of)
        self._reserves = Gauge(
            "pitlink_meter_reserve_cents", "What a meter's reserve holds.", meter, registry=of
        )
        self._overflows = Gauge(
            "pitlink_meter_overflow_cents", "What a meter could not hold for its limit.", meter,
            registry=of,
        )  # fmt: skip

    def _make_waiting(self, of: CollectorRegistry) -> None:
        link = ("link",)
        self._claims = Gauge(
            "pitlink_claims_pending", "Wins that wait for a floorperson.", link, registry=of
        )
        self._claims_age = Gauge(
            "pitlink_claims_oldest_age_seconds",
            "How long the oldest of them has waited; 0 where none does.", link, registry=of,
        )  # fmt: skip
        self._hand_pays = Gauge(
            "pitlink_hand_pays_pending", "Those of them that are paid by hand.", link, registry=of
        )
        self._hand_pays_age = Gauge(
            "pitlink_hand_pays_oldest_age_seconds",
            "How long the oldest hand pay has waited; 0 where none does.", link, registry=of,
        )  # fmt: skip
        self._envy = Gauge(
            "pitlink_envy_unpaid",
            "Hands whose Envy Bonuses are owed and not confirmed as paid.", link, registry=of,
        )  # fmt: skip
        self._envy_age = Gauge(
            "pitlink_envy_oldest_age_seconds",
            "How long ago the oldest of them was won; 0 where there is none.", link, registry=of,
        )  # fmt: skip
        self._corrections = Gauge(
            "pitlink_corrections_pending",
            "Corrections that tables ask a floorperson to confirm.", link, registry=of,
        )  # fmt: skip
        self._corrections_age = Gauge(
            "pitlink_corrections_oldest_age_seconds",
            "How long ago the oldest of them was first asked for; 0 where there is none.", link,
            registry=of,
        )  # fmt: skip
        self._proposals = Gauge(
            "pitlink_proposals_pending", "Proposals that wait for a second person.", link,
            registry=of,
        )  # fmt: skip
        self._approvals = Gauge(
            "pitlink_approvals_due", "1 while the floor file is not as it was last approved.", link,
            registry=of,
        )  # fmt: skip
        self._rounds = Gauge(
            "pitlink_rounds_open", "Rounds with wagers and no result yet.", link, registry=of
        )

    def _make_ledger(self, of: CollectorRegistry) -> None:
        link = ("link",)
        self._entries = Gauge(
            "pitlink_ledger_entries", "Ledger entries ever written.", link, registry=of
        )
        self._live = Gauge(
            "pitlink_ledger_live_entries", "Ledger entries in Redis.", link, registry=of
        )
        self._archived = Gauge(
            "pitlink_ledger_archived_entries", "Ledger entries in sealed archives.", link,
            registry=of,
        )  # fmt: skip
        self._sealed = Gauge(
            "pitlink_ledger_sealed_entries", "The last entry that an audit found in order.", link,
            registry=of,
        )  # fmt: skip
        self._audits = Counter(
            "pitlink_audits", "Audits by result.", ("link", "result"), registry=of
        )
        self._operators = Gauge(
            "pitlink_operators_log_holds",
            "1 where the last audit found the operators' log and the users in order.", registry=of,
        )  # fmt: skip
        self._operators.set(1)
        self._balanced = Gauge(
            "pitlink_audit_balanced", "1 where the last audit found all in order.", link,
            registry=of,
        )  # fmt: skip
        self._audited = Gauge(
            "pitlink_audit_timestamp_seconds", "When the last audit ended.", link, registry=of
        )
        self._audit_took = Gauge(
            "pitlink_audit_duration_seconds", "How long the last audit took.", link, registry=of
        )
        self._read = Gauge(
            "pitlink_reading_timestamp_seconds",
            "When the meters were last read for a gaming day; 0 for never.", link, registry=of,
        )  # fmt: skip
        self._archive = Gauge(
            "pitlink_archive_timestamp_seconds",
            "When a gaming day was last archived; 0 for never.", link, registry=of,
        )  # fmt: skip

    def _make_link(self, link: str) -> None:
        for gauge in (
            self._claims, self._hand_pays, self._envy, self._corrections, self._proposals,
            self._approvals, self._rounds, self._entries, self._live, self._archived, self._sealed,
            self._read, self._archive,
        ):  # fmt: skip
            gauge.labels(link)
        for result in Audited:
            self._audits.labels(link, result)
        self._claims_age.labels(link).set_function(lambda: self._age_s("claims", link))
        self._hand_pays_age.labels(link).set_function(lambda: self._age_s("hand_pays", link))
        self._envy_age.labels(link).set_function(lambda: self._age_s("envy", link))
        self._corrections_age.labels(link).set_function(lambda: self._age_s("corrections", link))

    def show_amount(self, link: str, meter: str, amount_cents: int) -> None:
        """Show a meter's value in cents."""
        show = self._set_amount.get((link, meter)) or self._amounts.labels(UNKNOWN, UNKNOWN).set
        show(amount_cents)

    def show_link_state(self, link: str, state: LinkState, figures: LinkStats, sealed: int) -> None:
        """Show where a link's books stand; `sealed` is the last entry found in order."""
        for meter, micros in figures.reserve_micros.items():
            self._reserves.labels(link, meter).set(micros // MICROS_PER_CENT)
        for meter, micros in figures.overflow_micros.items():
            self._overflows.labels(link, meter).set(micros // MICROS_PER_CENT)
        self.show_waiting(
            link, figures.claims, figures.hand_pays, figures.envy, figures.corrections
        )
        self._proposals.labels(link).set(figures.proposals)
        self._rounds.labels(link).set(state.rounds_open)
        self._entries.labels(link).set(state.head.entry)
        self._live.labels(link).set(figures.entries_live)
        self._sealed.labels(link).set(sealed)
        self._archived.labels(link).set(figures.entries_archived)
        for gauge, at_s in ((self._archive, figures.archived_s), (self._read, figures.read_s)):
            if at_s is not None:
                gauge.labels(link).set(at_s)

    def show_waiting(
        self,
        link: str,
        claims: WaitingCount,
        hand_pays: WaitingCount,
        envy: WaitingCount = _NONE_WAIT,
        corrections: WaitingCount = _NONE_WAIT,
    ) -> None:
        """Show what waits: wins, those paid by hand, unpaid Envy, corrections to confirm."""
        link = self._labels.link(link)
        self._claims.labels(link).set(claims.count)
        self._hand_pays.labels(link).set(hand_pays.count)
        self._envy.labels(link).set(envy.count)
        self._corrections.labels(link).set(corrections.count)
        for what, waiting in (
            ("claims", claims), ("hand_pays", hand_pays), ("envy", envy),
            ("corrections", corrections),
        ):  # fmt: skip
            if waiting.since_s is None:
                self._since.pop((what, link), None)
            else:
                self._since[what, link] = waiting.since_s

    def show_approval(self, link: str, *, due: bool) -> None:
        """Show whether the floor file waits for somebody's approval."""
        self._approvals.labels(link).set(int(due))

    def show_audit(self, link: str, result: Audited, took_s: float) -> None:
        """Show what came of an audit; one that could not be made leaves the last result."""
        self._audits.labels(link, result).inc()
        if result is Audited.FAILED:
            return
        self._balanced.labels(link).set(int(result is Audited.BALANCED))
        self._audited.labels(link).set(self._now())
        self._audit_took.labels(link).set(took_s)

    def show_operators_log(self, holds: bool) -> None:  # noqa: FBT001  (a callback's only word)
        """Show whether the operators' log and the users were found in order."""
        self._operators.set(int(holds))

    def _age_s(self, what: str, link: str) -> float:
        since_s = self._since.get((what, link))
        return 0.0 if since_s is None else max(0.0, self._now() - since_s)
