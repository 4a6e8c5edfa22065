"""Data that stays in Redis permanently because no archive deletes it."""

from typing import Final

import msgspec

from meters.books.link_changes import ChangeBook
from meters.books.store import LinkStore
from meters.floor_api.types import Adjustment
from meters.links.proposals import adjustment
from meters.users.operators_log import OperatorsLog
from meters.users.store import UserStore
from tests.bench.floor import FloorParts, bench_floor_text
from tests.bench.sizing.memory import bytes_of
from tests.bench.sizing.place import a_place

_UNITS: Final = 1_000
_PROPOSALS: Final = 20


async def bytes_for_ever() -> dict[str, int]:
    """Return the bytes of an entry of the operators' log, a slip and a decided proposal."""
    async with a_place(_two_tables) as place:
        store = LinkStore(place.redis, place.floor.link[0])
        await store.open("benchmark")
        user_store = UserStore(place.redis)
        for claim in range(_UNITS):
            await OperatorsLog(user_store).note(
                "slip_printed", by="Ada Lane", about=_claim(claim), client="10.20.30.40"
            )
        slips = [text for slip in range(_UNITS) for text in (f"hp-{slip:07d}", _claim(slip))]
        await place.redis.hset(store.keys.slips, items=slips)
        for number in range(_PROPOSALS):
            await _propose(store, f"proposal-{number:016d}")
        proposals = [store.keys.proposal(f"proposal-{n:016d}") for n in range(_PROPOSALS)]
        return {
            "operators_log_entry": await bytes_of(place.redis, [user_store.keys.log]) // _UNITS,
            "slip": await bytes_of(place.redis, [store.keys.slips]) // _UNITS,
            "proposal": await bytes_of(place.redis, proposals) // _PROPOSALS,
        }


def _two_tables(parts: FloorParts) -> str:
    return bench_floor_text(parts, 2)


def _claim(number: int) -> str:
    return f"bench-a.B-000001-{number:08d}-1"


async def _propose(store: LinkStore, proposal: str) -> None:
    """Propose a correction of a meter, and withdraw it."""
    asked = Adjustment(meter="progressive", amount=100, reason="miscount")
    change = adjustment(proposal, "Ada Lane", store.link.meter[0], (10**9, 1), asked)
    book = ChangeBook(store)
    await book.propose(proposal, change.kind, change.by, msgspec.json.encode(change))
    withdrawn = msgspec.json.encode({"proposal": proposal, "by": change.by, "meter": change.meter})
    await book.decide(proposal, "withdraw", change.by, withdrawn, meter=change.meter)
