"""A link without a broker: real intake, store and claims code on a real Redis."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final
from zoneinfo import ZoneInfo

import msgspec
import pytest
from redis.asyncio import Redis

from meters.acts.act_refusals import ActError
from meters.acts.claim_types import ClaimRow
from meters.acts.claim_views import hit_message
from meters.acts.claims import Claims
from meters.acts.correction_decisions import Asks
from meters.acts.link_view import MeterParameters
from meters.acts.links import Links
from meters.acts.meter_changes import Adjustment, ParameterChange, ProposalRow
from meters.audit.link_audit import Finding, LinkAudit
from meters.floor.facility import GamingDays
from meters.floor.floor_file import Floor, parse_floor
from meters.intake.batches import Arrival, BatchResult, LinkIntake
from meters.intake.table_catalog import table_topics
from meters.ledger.approved_configuration import LinkConfiguration
from meters.ledger.checkpoint import Checkpoint, Mark
from meters.ledger.link_state import Act, LedgerHead
from meters.ledger.money_terms import Parameter
from meters.restore.rebuild import Rebuild
from meters.service.service_metrics import Metrics
from meters.store.floor_file_approval import Configuration, Unapproved
from meters.store.hidden_value_seal import HiddenValues
from meters.store.link_acts import DuePromotions
from meters.store.link_store import LinkStore
from meters.wire.messages import Jackpot, Reply
from tests.approving import approve
from tests.floor_text import METERS, ONE_REJECTS, floor_text, link_text, meter_text, table_text
from tests.restore.stores import hold_alike, keys_of, read_store, rebuilt

AT: Final = "2026-11-20T02:14:07.250Z"
PROGRESSIVE: Final = "progressive"
FIVE_CARD: Final = "five_card_progressive"
FIVE_OF_SIX: Final = "five_of_six_progressive"
BONUS: Final = "five_card_hand_bonus"
DEALER_BONUS: Final = "five_card_hand_bonus_dealer"
CENT: Final = 10_000

# Cards without any win, for tests in which they do not matter.
DEALER: Final = "2c 7d 9h"
COMMUNITY: Final = "4c 8d"
RAGS: Final = "3h 6s Jc"

FLOOR: Final = floor_text(
    link_text(
        "pit",
        *map(meter_text, METERS),
        table_text("T-1", *METERS, asset="104211"),
        table_text("T-2", *METERS, asset="104212"),
        name="Three Card Poker Jackpot",
    ),
    name="Keystone Casino",
    two_people_reject_above=ONE_REJECTS,
)
"""One person rejects every win on this floor. `STRICT` has the default of the floor file."""

SERVICES_SECRET: Final = "a-secret-of-the-services-of-this-test-floor"  # noqa: S105
HIDDEN_VALUES: Final = HiddenValues([SERVICES_SECRET])

STRICT: Final = FLOOR.replace("two_people_reject_above = 1000000000\n", "")

_REPLY: Final = msgspec.json.Decoder(Reply)


class OpenBooks:
    def __init__(self, floor: Floor, store: LinkStore) -> None:
        self.store = store
        self.configuration = Configuration(floor, store)
        self.problem: str | None = None
        self.broker_problem: str | None = None

    @property
    def seen(self) -> Mark:
        return Mark(self.store.link.id)

    async def reload(self) -> None:
        await self.store.open("service")

    async def keep_mark(self) -> None:
        pass


class Pit:
    """The first link of a floor, played event by event; the workers share the events."""

    def __init__(
        self,
        redis: Redis,
        floor_text: str = FLOOR,
        *,
        workers: int = 1,
        hidden: HiddenValues = HIDDEN_VALUES,
    ) -> None:
        self.redis = redis
        self.floor: Floor = parse_floor(floor_text)
        self.link = self.floor.link[0]
        self.known = {
            table: known for (_, table), known in table_topics(self.floor, self.link).items()
        }
        self.store = LinkStore(redis, self.link, hidden)
        self.published: list[Jackpot] = []
        self.books = OpenBooks(self.floor, self.store)
        links = {self.link.id: self.books}
        self.claims = Claims(self.floor, links, lambda _, hit: self.published.append(hit))
        self.asks = Asks(self.floor, links, lambda: None)
        self.online: set[str] = set()
        self.link_acts = Links(links, {self.link.id: self.online})
        self.metrics = Metrics(self.floor)
        self._stores = [LinkStore(redis, self.link, hidden) for _ in range(workers)]
        self.intakes = [LinkIntake(store) for store in self._stores]
        digest = LinkConfiguration.of(self.floor, self.link).digest
        zone = ZoneInfo(self.floor.facility.timezone)
        self.promotions = [DuePromotions(one, zone, digest, "service") for one in self._stores]
        self.seq: defaultdict[str, int] = defaultdict(int)

    @classmethod
    async def opened(
        cls,
        redis: Redis,
        floor_text: str = FLOOR,
        *,
        workers: int = 1,
        hidden: HiddenValues = HIDDEN_VALUES,
    ) -> "Pit":
        pit = Pit(redis, floor_text, workers=workers, hidden=hidden)
        await pit.open()
        return pit

    @property
    def inoperable(self) -> str | None:
        return self.books.problem

    @inoperable.setter
    def inoperable(self, reason: str | None) -> None:
        self.books.problem = reason

    @property
    def head(self) -> LedgerHead:
        return self._stores[0].head

    async def adopt(self) -> None:
        """Judge events by the parameters now in force, as the service does."""
        for store in self._stores:
            await store.open("service")
        known = table_topics(self.floor, self.store.link)
        self.known = {table: each for (_, table), each in known.items()}

    async def open(self) -> None:
        """Seed the meters. Only an approval has the names of house wagers, and the promotions."""
        if self.floor.games.digests or self.link.promotion:
            await approve(Configuration(self.floor, self.store))
        await self.store.open("service")

    def restart(self, worker: int = 0, *, replays: bool = False) -> None:
        """Forget what a worker knows. With `replays`, it takes events as a restore does."""
        self.intakes[worker] = LinkIntake(self._stores[worker], replays=replays)
        self.promotions[worker].forget()

    async def take(self, events: Sequence[tuple[str, bytes]], *, worker: int = 0) -> BatchResult:
        outcome = await self.intakes[worker].apply_batch(
            [Arrival(self.known[table], payload) for table, payload in events]
        )
        self.metrics.add(outcome.counts)
        self.published += [hit_message(record, paid) for record, paid in outcome.hits]
        return outcome

    async def send(self, table: str, payload: bytes, *, worker: int = 0) -> bytes | None:
        """Return the reply, or None if the event must be repeated."""
        outcome = await self.take([(table, payload)], worker=worker)
        return outcome.replies[0][1] if outcome.replies else None

    async def event(self, table: str, kind: str, round_id: str, **fields: object) -> Reply:
        self.seq[table] += 1
        payload = event_bytes(self.seq[table], kind, round_id, **fields)
        for _ in range(3):
            reply = await self.send(table, payload)
            if reply is not None:
                return _REPLY.decode(reply)
        raise AssertionError(f"{payload!r} was never answered")

    async def wagers(
        self, bets: Mapping[int, str], *, table: str = "T-1", round_id: str = "R1",
        patrons: Mapping[int, str] | None = None,
    ) -> Reply:  # fmt: skip
        """Send the wagers of positions, by name separated by spaces, at the table's amounts."""
        offers = self.known[table].offers
        positions = [
            {
                "position": position,
                "wagers": {name: offers[name][0].wagers_cents[0] for name in names.split()},
                **({"patron": patrons[position]} if patrons and position in patrons else {}),
            }
            for position, names in bets.items()
        ]
        return await self.event(table, "wagers", round_id, positions=positions)

    async def result(
        self, hands: Mapping[int, str], *, table: str = "T-1", round_id: str = "R1",
        dealer: str = DEALER, community: str | None = COMMUNITY, folded: Sequence[int] = (),
    ) -> Reply:  # fmt: skip
        """Send the hands of positions, as card names separated by spaces; empty for no cards."""
        positions = [
            {"position": position, "folded": position in folded}
            | ({"cards": names.split()} if names else {})
            for position, names in hands.items()
        ]
        two = {} if community is None else {"community": community.split()}
        return await self.event(
            table, "result", round_id, positions=positions, dealer=dealer.split(), **two
        )

    async def void(self, *, table: str = "T-1", round_id: str = "R1") -> Reply:
        return await self.event(table, "void", round_id, reason="misdeal")

    async def round(
        self, bets: Mapping[int, str], hands: Mapping[int, str], *, table: str = "T-1",
        round_id: str = "R1", dealer: str = DEALER, community: str | None = COMMUNITY,
        folded: Sequence[int] = (), patrons: Mapping[int, str] | None = None,
    ) -> Reply:  # fmt: skip
        reply = await self.wagers(bets, table=table, round_id=round_id, patrons=patrons)
        assert reply.status == "accepted", reply
        reply = await self.result(
            hands, table=table, round_id=round_id, dealer=dealer, community=community, folded=folded
        )
        assert reply.status == "accepted", reply
        return reply

    async def decide(self, claim: str, act: Act, *, by: str | None = None) -> ClaimRow:
        """Have a floorperson decide a claim; another one pays it, with its Envy Bonuses."""
        by = by or ("fp-2" if act == "pay" else "fp-1")
        return await self.claims.decide(claim, act, by, envy_paid=True)

    async def pay(self, claim: str, slip: str | None = None) -> ClaimRow:
        await self.claims.decide(claim, "validate", "amy")
        return await self.claims.decide(claim, "pay", "ben", slip=slip)

    async def pay_all(self, claims: Iterable[str]) -> None:
        for claim in claims:
            if (await self.decide(claim, "validate")).paid_from == "hand_pay":
                await self.decide(claim, "pay")

    async def change(self, change: ParameterChange | Adjustment) -> ProposalRow:
        proposed = await self.link_acts.propose(self.link.id, "sue", change)
        return await self.link_acts.confirm(self.link.id, proposed.proposal, "tim")

    async def shown_meter(self, meter: str) -> MeterParameters:
        (view,) = await self.link_acts.links()
        return next(one for one in view.meters if one.meter == meter)

    async def reject_what_waits(self) -> None:
        for row in await self.claims.waiting():
            if row.state == "pending":
                await self.claims.decide(row.claim, "reject", "fp-1", envy_not_due=True)
            elif row.envy_state == "validated":
                await self.claims.decide_envy(row.claim, "reject_envy", "fp-1")

    async def pay_envy(self, claim: str, *, by: str = "fp-1") -> ClaimRow:
        return await self.claims.decide_envy(claim, "pay_envy", by)

    async def accounts(self) -> dict[str, int]:
        return (await self.store.snapshot()).accounts

    async def meter(self, meter: str) -> int:
        return (await self.accounts()).get(f"meter:{meter}", 0)

    async def reserve(self, meter: str) -> int:
        return (await self.accounts()).get(f"reserve:{meter}", 0)

    async def entries(self) -> list[dict[str, str]]:
        """Return the whole ledger, each entry's number as ``id``."""
        rows = await self.store.entries(0, 10_000)
        return [
            {"id": str(number)} | {name: value.decode() for name, value in fields.items()}
            for number, fields in rows
        ]

    async def rebuild(self) -> Rebuild:
        return await rebuilt(self.new_rebuild(), self.store)

    def new_rebuild(self) -> Rebuild:
        """Begin a rebuild that knows the assets of the tables, also if nobody approved the link."""
        assets: dict[str, tuple[str, ...]] = {one.id: (one.asset,) for one in self.link.table}
        days = GamingDays.of_facility(self.floor.facility)
        return Rebuild(self.link, days, Checkpoint(assets=assets))

    async def audit(self) -> Finding:
        return await LinkAudit(self.store).run()

    async def check_sound(self) -> None:
        assert (await self.audit()).problems == ()
        keys, made = self.store.keys, keys_of((await self.rebuild()).rows())
        hold_alike(made, await read_store(self.redis, keys), keys)


def event_bytes(seq: int, kind: str, round_id: str, **fields: object) -> bytes:
    return msgspec.json.encode({"seq": seq, "at": AT, "type": kind, "round": round_id} | fields)


def paid_of(reply: Reply, item: str) -> list[tuple[int, int]]:
    """Return position and cents of each paid line about an item, in paying order."""
    return [
        (line.position, line.paid)
        for line in reply.lines or ()
        if line.item == item and line.outcome == "paid"
    ]


def code(reply: Reply) -> str:
    return reply.error.code if reply.error else reply.status


def to(meter: str, parameter: Parameter, value: int | str) -> ParameterChange:
    return ParameterChange(meter=meter, parameter=parameter, value=value, reason="as planned")


async def not_approved(configuration: Configuration) -> Unapproved:
    """Return what is not approved of a floor file, which must be something."""
    found = await configuration.unapproved()
    assert found is not None
    return found


@contextmanager
def refused(code: str, words: str | None = None) -> Iterator[None]:
    with pytest.raises(ActError, match=words) as error:
        yield
    assert error.value.code == code, f"refused with {error.value.code}, and not with {code}"
