"""Public messages about a link: meter values, heartbeats, wins, and decisions on wins."""

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, Protocol

import msgspec

from bonus.cards import are_cards
from bonus.settling.winning_cards import winning_cards
from meters.acts.claim_views import is_reopened, state_message
from meters.acts.claims import LISTED_MAX
from meters.floor.floor_file import Link
from meters.ledger.claim_records import ClaimRecord, record_of
from meters.ledger.link_state import LinkState, OpenDay
from meters.process.clock import now_text
from meters.service.publishing_turn import MeterTurns, OtherServices, same
from meters.service.service_metrics import Metrics
from meters.service.won_today import WonToday
from meters.store.link_store import LinkStore
from meters.web.display_state import HIT_NEWS_S, DisplayState, MeterRow, WinningHand
from meters.wire import topics
from meters.wire.messages import ControllerBeat, Jackpot, LedgerSeal, MeterValue


class Post(Protocol):
    """Publishes a message as `BrokerConnection.post` does; returns False if there is no broker."""

    def __call__(
        self, topic: str, payload: bytes, *, retain: bool = False, expires_s: int | None = None
    ) -> bool: ...


_REPEAT_EVERY_BEATS: Final = 10
"""After this number of heartbeats, a service repeats the last values that it published: the broker
can have received an older value last."""

_BEAT_EXPIRES_S: Final = 3
"""After this time, the broker deletes a heartbeat, except one about an inoperable link."""

_STOPPED: Final = "the service was stopped"

LATEST_MAX: Final = 25
"""Limit on the wins of a meter that one read returns. In one second, a meter has far fewer wins."""

COALESCE_S: Final = 0.1
"""Shortest time between two publications of a meter. The last value is always published."""


class LinkPublisher:
    """Publisher of one link's messages, at the broker and on the display pages of this service.

    While another service (`others`) operates the link, this service publishes a failure only if
    every service of the link has this failure. With a `broker_problem`, this service serves no
    table, so its pages show the link as inoperable.
    """

    def __init__(
        self, store: LinkStore, displays: DisplayState, metrics: Metrics, post: Post
    ) -> None:
        self._store = store
        self._displays = displays
        self._metrics = metrics
        self._post = post
        self._shown_of: tuple[int, OpenDay] | None = None
        self._won_today = WonToday(store)
        self._link = store.link.id
        self._meters = {meter.meter_id: meter for meter in store.link.meter}
        self._fixed_jackpots = store.link.fixed_jackpots
        self._last: dict[str, MeterValue] = {}
        self._beat = 0
        self._silent = False
        self._ended = False
        self.others = OtherServices()
        self.turns = MeterTurns()
        self.broker_problem: str | None = None

    def adopt(self, link: Link) -> None:
        self._displays.put_terms(link)
        self._meters = {meter.meter_id: meter for meter in link.meter}
        self._fixed_jackpots = link.fixed_jackpots

    def publish_meters(self, state: LinkState, since: int) -> float | None:
        """Publish each meter of an operable link, if the meter's topic has another value.

        `since` is the number of values that were heard before `state` was read. Return the seconds
        after which the state must be read again; None if every meter is published.
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
                continue  # this value is older than the value on the displays
            value = self._show_meter(value)
            if wait_s := self._publish_meter(value, since):
                waits.append(wait_s)
        return min(waits, default=None)

    def publish_inoperable(self, *, of_all: bool = False) -> None:
        """Publish the meters, in their newest versions, as inoperable (duty D14).

        `of_all` is true if the problem exists for every service of the link.
        """
        for last in list(self._last.values()):
            value = self._show_meter(
                msgspec.structs.replace(last, state="inoperable", at=now_text())
            )
            if of_all or not self.others.may_operate:
                newest = self.turns.newest(value)
                newest = msgspec.structs.replace(
                    newest, state="inoperable", at=max(newest.at, value.at)
                )
                self._publish_meter(newest, self.turns.heard, urgent=True)

    def _show_meter(self, value: MeterValue) -> MeterValue:
        last = self._last.get(value.meter)
        if last is not None and last.version == value.version and value.at < last.at:
            # The machine's clock was set back. Displays order values of one version by their times.
            value = msgspec.structs.replace(value, at=last.at)
        if not same(value, last):
            self._last[value.meter] = value
            self._displays.put_meter(MeterRow.of(self._link, self._meters[value.meter], value))
            self._metrics.set("meter_amount_cents", value.amount, self._link, value.meter)
        return value

    def _publish_meter(
        self, value: MeterValue, since: int, *, urgent: bool = False
    ) -> float | None:
        """Publish a meter and return 0, or return the seconds to wait.

        Return None if the value need not be published.
        """
        if self._ended:
            return None
        wait_s = self.turns.wait_s(value, since, urgent=urgent)
        if wait_s == 0.0:
            self._post_meter(value)
        return wait_s

    def _post_meter(self, value: MeterValue) -> None:
        payload = msgspec.json.encode(value)
        if self._post(topics.meter(self._link, value.meter), payload, retain=True):
            self.turns.note_posted(value, payload)

    def publish_heartbeat(
        self, problem: str | None, closed: str | None, *, of_all: bool = False
    ) -> None:
        """Publish the link's heartbeat: operable, inoperable or closed (duty D13).

        If the heartbeat is missing, its readers assume a failure. While another service operates
        the link, a service with a `problem` of its own (not `of_all`) publishes no heartbeat. Only
        its own displays show the failure (duty D14). `closed` is why a person closed the link.
        """
        # The time makes this number rise even after a restart, or from one service to the next.
        self._beat = max(self._beat + 1, int(time.time()))
        beat = ControllerBeat(
            state="inoperable" if problem else "operable" if closed is None else "closed",
            reason=problem or closed or "",
            beat=self._beat,
            at=now_text(),
        )
        shown = beat
        if self.broker_problem and not problem:
            shown = msgspec.structs.replace(beat, state="inoperable", reason=self.broker_problem)
        self._displays.put_controller(self._link, shown)
        if self._silent or (problem and not of_all and self.others.may_operate):
            return
        payload = msgspec.json.encode(beat)
        self.others.note_own(payload)
        expires_s = None if problem else _BEAT_EXPIRES_S
        self._post(topics.controller(self._link), payload, retain=True, expires_s=expires_s)
        if self._beat % _REPEAT_EVERY_BEATS == 0:
            for meter, last in self._last.items():
                announced = self.turns.ours(meter)
                if announced is not None and announced.version >= last.version:
                    self._post_meter(announced)

    def fall_silent(self) -> None:
        """If another service can be operating the link, stop the heartbeats and listen.

        Earlier heartbeats of the other service do not count: if two services stopped at the same
        time, each would expect the other to continue.
        """
        if self.others.may_operate:
            self._silent = True
            self.others.listen_again()

    def publish_end(self) -> None:
        """At the end, publish that the link is inoperable, unless another service operates it."""
        if not self.others.may_operate:
            self._silent = False
            self.publish_heartbeat(_STOPPED, None)
            self.publish_inoperable()
        self._silent = self._ended = True

    def publish_seal(self, entries: int, seal: str) -> None:
        """Publish the ledger's seal, which other programs can store (duty D17)."""
        message = LedgerSeal(entries=entries, seal=seal, at=now_text())
        self._post(topics.ledger(self._link), msgspec.json.encode(message), retain=True)

    async def show_waiting(self) -> None:
        """When the link begins to operate, show waiting wins without celebrating them (duty D8)."""
        for _, hit, hand in await self._current(await self._store.waiting(LISTED_MAX)):
            if hit.event == "hit":
                self._displays.put_jackpot(self._link, hit, hand, news=False)

    async def _current(
        self, claims: Sequence[str]
    ) -> list[tuple[Mapping[str, str], Jackpot, WinningHand]]:
        """Return the fields, the present message and the hand of each claim that displays show."""
        found: list[tuple[Mapping[str, str], Jackpot, WinningHand]] = []
        for fields in filter(None, await self._store.claims(claims)):
            record = record_of(fields)
            hit = state_message(record, fields)
            if hand := self._hand_of(record, hit):
                found.append((fields, hit, hand))
        return found

    def _hand_of(self, record: ClaimRecord, message: Jackpot) -> WinningHand | None:
        """Return what displays show of a win besides its message; None if they do not show it.

        They show a win of a percentage of a meter, and a win of a fixed jackpot.
        """
        fixed = "" if record.percent is not None else self._fixed_jackpot_of(record, message)
        if record.percent is None and not fixed:
            return None
        dealt_at = record.hand_table or record.table
        tables = (table for table in self._store.link.table if table.id == dealt_at)
        cards = winning_cards(
            [table.chapter for table in tables],
            record.item,
            hand=record.cards,
            dealer=record.dealer,
            community=record.community,
        )
        shown = cards.winning or record.cards
        # A result that the dealer entered is not drawn as a card.
        shown = shown if are_cards(shown) else ()
        return WinningHand(shown, record.shown_percent, fixed)

    def _fixed_jackpot_of(self, record: ClaimRecord, message: Jackpot) -> str:
        """Return the id of the fixed jackpot that a win is of; empty if it is of none.

        A win of another amount, under earlier terms, is not announced: displays have the present
        amount. But a decision on such a win is shown, because it can be on displays already.
        """
        for jackpot in self._fixed_jackpots:
            meter = jackpot.meter
            if record.hand != jackpot.hand or record.item not in meter.wagers:
                continue
            if message.event == "hit" and message.amount != jackpot.amount_cents:
                continue
            if any(
                table.id == record.table and meter.meter_id in table.meters
                for table in self._store.link.table
            ):
                return jackpot.id
        return ""

    async def show_recorded(self, state: LinkState) -> None:
        """Show the wins and decisions that any service has recorded since the last call."""
        if (state.floor_changes, state.day) == self._shown_of:
            return
        shown = {hit.claim for hit in self._displays.pending_jackpots(self._link)}
        found = set(shown)
        for meter in state.meters:
            if meter.pending:
                page = await self._store.wins(meter.meter, None, LATEST_MAX, meter_awards=True)
                found.update(claim for _, claim in page)
        if self._fixed_jackpots:
            found.update(await self._store.waiting(LISTED_MAX))
        for fields, hit, hand in await self._current(sorted(found)):
            if is_reopened(fields):
                self._displays.put_reopened(self._link, hit, hand)
            elif hit.event == "hit":
                age = datetime.now(UTC) - datetime.fromisoformat(fields["at"])
                news = age.total_seconds() < HIT_NEWS_S
                self._displays.put_jackpot(self._link, hit, hand, news=news)
            elif hit.claim in shown:
                self._displays.put_jackpot(self._link, hit, hand)
        self._displays.put_wins(await self._won_today.read(self._store.link, state.day.open))
        self._shown_of = (state.floor_changes, state.day)

    def publish_jackpot(
        self, record: ClaimRecord, jackpot: Jackpot, *, reopened: bool = False
    ) -> None:
        """Publish a win or decision (duty D8).

        Displays show the win only if it is of a percentage of a meter, or of a fixed jackpot.
        """
        hand = self._hand_of(record, jackpot) if jackpot.claim == record.claim else None
        if hand is not None:
            show = self._displays.put_reopened if reopened else self._displays.put_jackpot
            show(self._link, jackpot, hand)
        self._post(topics.jackpot(self._link), msgspec.json.encode(jackpot))
