"""What Prometheus reads of the service. It is never the ledger: it may be lost without harm.

Every label is bounded: links and meters are those of the floor file, and whatever a stranger may
send is counted as ``unknown``. The children of the hot path are resolved once and kept.
"""

import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Final, Literal, final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector
from prometheus_client.exposition import choose_encoder

from bonus.settling.holdings import MICROS_PER_CENT
from meters.wire.floor import Floor

UNKNOWN: Final = "unknown"
CODES_MAX: Final = 64
"""How many refusal codes are told apart; there are far fewer."""

_TYPES: Final = frozenset({"wagers", "result", "void", "hello"})
_STATUSES: Final = frozenset({"accepted", "refused", "out_of_order", "repeated"})
_BATCH_EVENTS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
_SCRIPT_SECONDS: Final = (
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5
)  # fmt: skip


WinKind = Literal["odds", "percent"]


@final
class Metrics:
    """The service's counters, gauges and histograms, in a registry of their own.

    Args:
        floor: its links and meters are the only ones that get labels of their own, and they have
            them from the start, so that a rate is right from the first wager on.
        now: seconds since the epoch, against which the oldest claim is aged at each reading.
    """

    def __init__(self, floor: Floor, now: Callable[[], float] = time.time) -> None:
        self.registry: Final = CollectorRegistry()
        self._now = now
        self._links = frozenset(link.id for link in floor.link)
        self._codes: set[str] = set()
        self._oldest_claim: dict[str, float] = {}
        self._make_counters()
        self._make_gauges()
        self._meters = {
            (link.id, meter.meter_id): self._meter(link.id, meter.meter_id)
            for link in floor.link
            for meter in link.meter
        }
        self._seen_events: dict[tuple[str, str, str], Callable[[float], None]] = {}
        for link in sorted(self._links):
            self._make_link(link)

    def _make_counters(self) -> None:
        of = self.registry
        meter = ("link", "meter")
        self._events = Counter(
            "pitlink_events", "Table events answered.", ("link", "type", "status"), registry=of
        )
        self._refusals = Counter(
            "pitlink_refusals", "Table events refused, by code.", ("link", "code"), registry=of
        )
        self._dropped = Counter(
            "pitlink_messages_dropped", "Messages let go: a flood on one topic.", ("link",),
            registry=of,
        )  # fmt: skip
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
        self._batch = Histogram(
            "pitlink_batch_events", "Events of one link applied in one step.",
            buckets=_BATCH_EVENTS, registry=of,
        )  # fmt: skip
        self._script = Histogram(
            "pitlink_script_seconds", "Duration of one atomic step, as the service waits for it.",
            buckets=_SCRIPT_SECONDS, registry=of,
        )  # fmt: skip

    def _make_gauges(self) -> None:
        of = self.registry
        self._amounts = Gauge(
            "pitlink_meter_amount_cents", "A meter's value.", ("link", "meter"), registry=of
        )
        self._claims = Gauge(
            "pitlink_claims_pending", "Wins that wait for a floorperson.", ("link",), registry=of
        )
        self._ages = Gauge(
            "pitlink_claims_oldest_age_seconds",
            "How long the oldest of them has waited; 0 where none does.", ("link",), registry=of,
        )  # fmt: skip
        self._operable = Gauge(
            "pitlink_link_operable", "1 while the link is operable.", ("link",), registry=of
        )
        self._online = Gauge(
            "pitlink_tables_online", "Tables whose agent is connected.", ("link",), registry=of
        )
        Info("pitlink_build", "The running version.", registry=of).info(
            {"version": version("pitlink")}
        )
        ProcessCollector(registry=of)

    def _make_link(self, link: str) -> None:
        self._dropped.labels(link)
        self._claims.labels(link)
        self._operable.labels(link)
        self._online.labels(link)
        self._ages.labels(link).set_function(lambda: self._age_of_oldest(link))

    def _meter(self, link: str, meter: str) -> "_MeterCounters":
        for kind in ("odds", "percent"):
            self._wins.labels(link, meter, kind)
        return _MeterCounters(
            self._wagers.labels(link, meter).inc,
            self._wagered.labels(link, meter).inc,
            self._contributions.labels(link, meter).inc,
            self._amounts.labels(link, meter).set,
        )

    def _meter_of(self, link: str, meter: str) -> "_MeterCounters":
        try:
            return self._meters[link, meter]
        except KeyError:
            return self._meter(UNKNOWN, UNKNOWN)

    def _link_of(self, link: str) -> str:
        return link if link in self._links else UNKNOWN

    def count_event(self, link: str, event_type: str, status: str, events: int = 1) -> None:
        """Count events of one type that got one status as their reply."""
        key = (link, event_type, status)
        count = self._seen_events.get(key)
        if count is None:
            known = (
                self._link_of(link),
                event_type if event_type in _TYPES else UNKNOWN,
                status if status in _STATUSES else UNKNOWN,
            )
            count = self._events.labels(*known).inc
            if key == known:
                self._seen_events[key] = count
        count(events)

    def count_refusal(self, link: str, code: str, events: int = 1) -> None:
        """Count refused events by their code."""
        if code not in self._codes:
            if len(self._codes) >= CODES_MAX:
                code = UNKNOWN
            self._codes.add(code)
        self._refusals.labels(self._link_of(link), code).inc(events)

    def count_dropped(self, link: str) -> None:
        """Count a message that was let go; `link` where a table of it sent it."""
        self._dropped.labels(self._link_of(link)).inc()

    def count_wagers(
        self, link: str, meter: str, *, wagers: int, wagered_cents: int, contributed_micros: int
    ) -> None:
        """Count accepted wagers on one meter: how many, how much, and what they added."""
        counters = self._meter_of(link, meter)
        counters.wagers(wagers)
        counters.wagered_cents(wagered_cents)
        counters.contributed_cents(contributed_micros / MICROS_PER_CENT)

    def count_win(self, link: str, meter: str, kind: WinKind) -> None:
        """Count a progressive win."""
        known = (link, meter) if (link, meter) in self._meters else (UNKNOWN, UNKNOWN)
        self._wins.labels(*known, kind).inc()

    def show_amount(self, link: str, meter: str, amount_cents: int) -> None:
        """Show a meter's value in cents."""
        self._meter_of(link, meter).amount_cents(amount_cents)

    def show_claims(self, link: str, pending: int, oldest_s: float | None) -> None:
        """Show how many claims wait, and since when the oldest does, in seconds of the epoch."""
        link = self._link_of(link)
        self._claims.labels(link).set(pending)
        if oldest_s is None:
            self._oldest_claim.pop(link, None)
        else:
            self._oldest_claim[link] = oldest_s

    def show_operable(self, link: str, *, operable: bool) -> None:
        """Show whether a link is operable."""
        self._operable.labels(self._link_of(link)).set(int(operable))

    def show_tables_online(self, link: str, tables: int) -> None:
        """Show how many tables of a link are connected."""
        self._online.labels(self._link_of(link)).set(tables)

    def observe_step(self, events: int, seconds: float) -> None:
        """Note one atomic step: the events that it applied and how long it took."""
        self._batch.observe(events)
        self._script.observe(seconds)

    def exposition(self, accept: str) -> tuple[bytes, str]:
        """Everything as Prometheus reads it, and the media type that suits what it accepts."""
        encode, media_type = choose_encoder(accept)
        return encode(self.registry), media_type

    def _age_of_oldest(self, link: str) -> float:
        oldest_s = self._oldest_claim.get(link)
        return 0.0 if oldest_s is None else max(0.0, self._now() - oldest_s)


@final
class _MeterCounters:
    """One meter's children, resolved once."""

    __slots__ = ("amount_cents", "contributed_cents", "wagered_cents", "wagers")

    def __init__(
        self,
        wagers: Callable[[float], None],
        wagered_cents: Callable[[float], None],
        contributed_cents: Callable[[float], None],
        amount_cents: Callable[[float], None],
    ) -> None:
        self.wagers: Final = wagers
        self.wagered_cents: Final = wagered_cents
        self.contributed_cents: Final = contributed_cents
        self.amount_cents: Final = amount_cents
