"""A floor that plays in this process for the sizing run: real intake, claims and gaming days.

There is no broker, because the run measures what the books keep, not how fast events arrive.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import msgspec
from redis.asyncio import Redis

from bonus.errors import UserError
from meters.acts.claims import Claims
from meters.acts.meter_changes import Adjustment, adjustment
from meters.acts.simulated_floorperson import settle
from meters.floor.facility import GamingDays
from meters.floor.floor_file import Floor
from meters.intake.batches import Arrival, LinkIntake
from meters.intake.table_catalog import CatalogTable, table_topics
from meters.process.clock import now, text_of
from meters.store.link_acts import CloseReadings, decide_change, propose_change
from meters.store.link_store import LinkStore
from meters.store.old_entries import compress_entries
from tests.bench.events import EventWriter
from tests.bench.floor import METERS, POSITIONS

_ACTOR: Final = "benchmark"
_ACCEPTED: Final = b'"status":"accepted"'
_AT_ONCE: Final = 16
_AHEAD: Final = timedelta(days=30)
"""Lead of the floor's clock, so a service that is started on the floor closes no day."""


@dataclass(frozen=True, slots=True)
class Mix:
    """Wagers of a round: number of positions, each of which wagers on each of the meters."""

    name: str
    positions: int
    meters: tuple[str, ...]

    @property
    def wagers_a_round(self) -> int:
        return self.positions * len(self.meters)


MIXES: Final = (Mix("full_table", POSITIONS, METERS), Mix("usual_table", 4, METERS[:1]))


class PlayedLink:
    problem: str | None = None

    def __init__(self, store: LinkStore) -> None:
        self.store = store

    async def keep_mark(self) -> None:
        """Do nothing: the mark belongs to the service, which does not run here."""


class PlayedFloor:
    def __init__(
        self, floor: Floor, redis: Redis, mix: Mix, seed: int, begins: datetime | None = None
    ) -> None:
        self.stores = [LinkStore(redis, link) for link in floor.link]
        self.rounds = self.claims = 0
        self._mix = mix
        self._writer = EventWriter(seed, mix.positions, mix.meters)
        self._links: list[tuple[LinkIntake, list[CatalogTable]]] = [
            (LinkIntake(store), list(table_topics(floor, store.link).values()))
            for store in self.stores
        ]
        self._played = 0
        self.now = begins or now() + _AHEAD
        self._days = [
            CloseReadings(store, GamingDays.of_facility(floor.facility), _ACTOR, self._clock)
            for store in self.stores
        ]
        self._claims = Claims(
            floor,
            {store.link.id: PlayedLink(store) for store in self.stores},
            on_decision=lambda _record, _message: None,
        )

    @property
    def wagers(self) -> int:
        return self.rounds * self._mix.wagers_a_round

    async def open(self) -> None:
        for store in self.stores:
            await store.open(_ACTOR)
        await self._keep_days()
        await self.close_day()

    async def play(self, rounds: int) -> None:
        self._writer.at = text_of(self.now).encode()
        for _ in range(rounds):
            self._played += 1
            for write in (self._writer.wagers, self._writer.result):
                seq = 2 * self._played - (write == self._writer.wagers)
                await asyncio.gather(
                    *(self._send(at, write, seq) for at in range(len(self._links)))
                )
            self.rounds += sum(len(tables) for _, tables in self._links)
            # A hand pay that is not decided holds its table.
            await self._decide()

    async def _send(self, link: int, write: Callable[[int, int], bytes], seq: int) -> None:
        intake, tables = self._links[link]
        outcome = await intake.apply_batch(
            [Arrival(table, write(seq, self._played)) for table in tables]
        )
        if [reply for _, reply in outcome.replies if _ACCEPTED not in reply]:
            raise UserError(f"the benchmark's event {seq} was not accepted")
        self.claims += len(outcome.hits)

    async def _decide(self) -> None:
        while waiting := await self._claims.waiting():
            for begin in range(0, len(waiting), _AT_ONCE):
                some = waiting[begin : begin + _AT_ONCE]
                await asyncio.gather(*(settle(self._claims, claim) for claim in some))

    async def close_day(self) -> None:
        self.now += timedelta(days=1)
        await self._keep_days()

    async def compress(self) -> None:
        """Compress the entries in Redis, as `pitlink archive` does every half hour."""
        for store in self.stores:
            await compress_entries(store)

    async def _keep_days(self) -> None:
        for store, book in zip(self.stores, self._days, strict=True):
            await book.keep((await store.state()).day)

    def _clock(self) -> datetime:
        return self.now

    async def entries(self) -> int:
        return sum([(await store.snapshot()).last_entry for store in self.stores])


async def withdraw_a_proposal(store: LinkStore, number: int) -> str:
    proposal, meter = f"proposal-{number:016d}", store.link.meter[0]
    asked = Adjustment(meter=meter.meter_id, amount=100, reason="miscount")
    change = adjustment(proposal, "Ada Lane", store.link, meter, held=(10**9, 1), request=asked)
    await propose_change(store, proposal, change.kind, change.by, msgspec.json.encode(change))
    withdrawn = msgspec.json.encode({"proposal": proposal, "by": change.by, "meter": change.meter})
    await decide_change(store, proposal, "withdraw", change.by, withdrawn, meter=change.meter)
    return store.keys.proposal(proposal)
