"""Public messages of a link: meter values, the controller's heartbeat, wins, decisions on wins."""

import time
from typing import Final, Protocol

import msgspec

from meters.books.link_state import LinkState
from meters.books.store import LinkStore
from meters.displays.display_state import DisplayState, MeterRow
from meters.floor.floor_file import Link
from meters.metrics import Metrics
from meters.service.meter_topics import MeterTopics, same
from meters.service.other_services import OtherServices
from meters.wire import topics
from meters.wire.clock import now_text
from meters.wire.messages import ControllerBeat, Jackpot, LedgerSeal, MeterValue


class Post(Protocol):
    """Function that publishes a payload under a topic. Without a broker it does nothing."""

    def __call__(self, topic: str, payload: bytes, *, retain: bool = False) -> bool:
        """Publish a message without waiting; return True if a broker is connected.

        With `retain`, the broker keeps the message for later subscribers.
        """
        ...


_REPEAT_EVERY_BEATS: Final = 10
"""Number of heartbeats between two repeats of the meter messages. An older message can reach the
broker after a newer one. Then the broker retains the older value until the next repeat."""

_STOPPED: Final = "the service was stopped"

COALESCE_S: Final = 0.1
"""Shortest time between two publications of a meter. The last value is always published."""


class Announcer:
    """Publisher of one link's messages, on the broker and on the service's own displays.

    Attributes:
        others: the other services of the link. While one of them operates the link, this service
            publishes only failures that all services have.
        topics: the last values on the meter topics, published by any service.
    """

    def __init__(
        self, store: LinkStore, displays: DisplayState, metrics: Metrics, post: Post
    ) -> None:
        self._store = store
        self._displays = displays
        self._metrics = metrics
        self._post = post
        self._link = store.link.id
        self._meters = {meter.meter_id: meter for meter in store.link.meter}
        self._last: dict[str, MeterValue] = {}
        self._beat = 0
        self._silent = False
        self._ended = False
        self.others = OtherServices()
        self.topics = MeterTopics()

    def publish_all_again(self) -> None:
        """Forget the values on the meter topics, so that every meter is published again.

        The broker may have lost its retained messages.
        """
        self.topics.forget()

    def adopt(self, link: Link) -> None:
        """Show the link's current meters and paytables on the displays from now on."""
        self._displays.put_terms(link)
        self._meters = {meter.meter_id: meter for meter in link.meter}

    def publish_meters(self, state: LinkState, since: int) -> float | None:
        """Publish the meters of an operable link whose values differ from those on their topics.

        Args:
            state: the link's state in its books.
            since: the number of values received from the topics before the state was read.

        Returns:
            The seconds after which the books must be read again; None if every meter is published.
            The books must be read again if another service publishes a meter, or if the broker has
            not sent back this service's last value.
        """
        waits = []
        for meter in state.meters:
            value = MeterValue(
                meter=meter.meter,
                amount=meter.amount_cents,
                version=meter.version,
                cycle=meter.cycle,
                state="closed" if state.closure else "pending" if meter.pending else "open",
                at=now_text(),
            )
            last = self._last.get(value.meter)
            if last is not None and value.version < last.version:
                continue  # this value is older than the last one shown
            value = self._show_meter(value)
            if wait_s := self._publish_meter(value, since):
                waits.append(wait_s)
        return min(waits, default=None)

    def publish_inoperable(self, *, of_all: bool = False) -> None:
        """Publish that no meter can be played, for example because the store fails (duty D14).

        Another service may have published a newer version of a meter than this service has read.
        Then the newer version is published as inoperable.

        Args:
            of_all: whether the problem exists for every service of the link.
        """
        for last in list(self._last.values()):
            value = self._show_meter(
                msgspec.structs.replace(last, state="inoperable", at=now_text())
            )
            if of_all or not self.others.may_operate:
                newest = self.topics.newest(value)
                newest = msgspec.structs.replace(
                    newest, state="inoperable", at=max(newest.at, value.at)
                )
                self._publish_meter(newest, self.topics.heard, urgent=True)

    def _show_meter(self, value: MeterValue) -> MeterValue:
        """Show a meter value on the service's own displays; return the value that is shown.

        The time of this value is not earlier than that of the last value with the same version.
        """
        value, last = self._no_earlier(value), self._last.get(value.meter)
        if not same(value, last):
            self._last[value.meter] = value
            self._displays.put_meter(MeterRow.of(self._link, self._meters[value.meter], value))
            self._metrics.books.show_amount(self._link, value.meter, value.amount)
        return value

    def _publish_meter(
        self, value: MeterValue, since: int, *, urgent: bool = False
    ) -> float | None:
        """Publish a meter unless it must wait or is already published.

        Returns:
            The seconds to wait; 0 if the value is published now, None if it need not be published.
        """
        if self._ended:
            return None
        wait_s = self.topics.wait_s(value, since, urgent=urgent)
        if wait_s == 0.0:
            self._post_meter(value)
        return wait_s

    def _post_meter(self, value: MeterValue) -> None:
        payload = msgspec.json.encode(value)
        if self._post(topics.meter(self._link, value.meter), payload, retain=True):
            self.topics.note_posted(value, payload)

    def _no_earlier(self, value: MeterValue) -> MeterValue:
        """Return a meter value, with no earlier time than the last value that was shown.

        This applies to values with the same version: displays order such values by their times. The
        machine's clock may have been set back between two values.
        """
        last = self._last.get(value.meter)
        if last is None or last.version != value.version or last.at <= value.at:
            return value
        return msgspec.structs.replace(value, at=last.at)

    def publish_heartbeat(
        self, problem: str | None, closed: str | None, *, of_all: bool = False
    ) -> None:
        """Publish the controller's heartbeat: operable, inoperable or closed (duty D13).

        Readers treat a missing heartbeat as a failure. If this service alone cannot operate the
        link, it is silent while another service operates the link. The service's own displays and
        metrics show the failure in any case (duty D14).

        Args:
            problem: why the link is inoperable; None if it is operable.
            closed: why people have closed the link; None if it is not closed.
            of_all: whether the problem exists for every service of the link. Such a problem is
                published even if another service operates the link.
        """
        # After a restart, and when another worker sends the heartbeat, this number still increases.
        self._beat = max(self._beat + 1, int(time.time()))
        beat = ControllerBeat(
            state="inoperable" if problem else "operable" if closed is None else "closed",
            reason=problem or closed or "",
            beat=self._beat,
            at=now_text(),
        )
        self._displays.put_controller(self._link, beat)
        if self._silent or (problem and not of_all and self.others.may_operate):
            return
        payload = msgspec.json.encode(beat)
        self.others.note_own(payload)
        self._post(topics.controller(self._link), payload, retain=True)
        if self._beat % _REPEAT_EVERY_BEATS == 0:
            for meter, last in self._last.items():
                announced = self.topics.ours(meter)
                if announced is not None and announced.version >= last.version:
                    self._post_meter(announced)

    def fall_silent(self) -> None:
        """Stop the heartbeat if another service possibly operates the link; listen for that one.

        Only heartbeats that arrive after this call count. Otherwise two services that stop at the
        same time would each expect the other service to continue.
        """
        if self.others.may_operate:
            self._silent = True
            self.others.listen_again()

    def publish_end(self) -> None:
        """Publish that the link is inoperable, unless another service operates it.

        Publish no heartbeat and no meter after that.
        """
        if not self.others.may_operate:
            self._silent = False
            self.publish_heartbeat(_STOPPED, None)
            self.publish_inoperable()
        self._silent = self._ended = True

    def publish_seal(self, entries: int, seal: str) -> None:
        """Publish the seal of the ledger, so that other programs can store the seal (duty D17)."""
        message = LedgerSeal(entries=entries, seal=seal, at=now_text())
        self._post(topics.ledger(self._link), msgspec.json.encode(message), retain=True)

    def show_hit(self, jackpot: Jackpot, *, news: bool) -> None:
        """Show a waiting win on the displays, unless they already show it (duty D8).

        The win can be older than this service, or another service has recorded it.

        Args:
            jackpot: the win.
            news: whether the win has just happened.
        """
        self._displays.put_jackpot(self._link, jackpot, news=news)

    def show_decision(self, jackpot: Jackpot) -> None:
        """Show a decision that another service has recorded on a win (duty D8)."""
        self._displays.put_jackpot(self._link, jackpot)

    def pending_jackpots(self) -> frozenset[str]:
        """Return the claim ids of the wins that the displays show as pending."""
        return frozenset(hit.claim for hit in self._displays.pending_jackpots(self._link))

    def publish_jackpot(self, jackpot: Jackpot, *, of_meter: bool) -> None:
        """Publish a win, or a decision on a win (duty D8).

        The displays show it only if `of_meter` is true: if the win is paid from the meter.
        """
        if of_meter:
            self._displays.put_jackpot(self._link, jackpot)
        self._post(topics.jackpot(self._link), msgspec.json.encode(jackpot))
