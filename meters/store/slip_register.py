"""The numbers of payout slips. Each number can pay only one claim of the facility, on any link.

In a Redis Cluster, the data of each link is in another slot, and no script can read two slots. So a
payment has two steps. First, a script reserves the number for the claim, in one Redis hash for the
whole facility. Second, a script of the link pays the claim and stores the number in the link's
data.

Even if a step is interrupted, no number pays two claims, and every claim can still be paid:

- The second step runs only if the number is reserved for the claim. The reservation is one atomic
  step, so only one claim gets the number. A payment of another claim with this number is refused.
- The reservation remains after the payment. It also remains if the result of the payment is not
  known: Redis did not answer, or the process died between the two steps. The same claim can reserve
  its number again for a later try.
- A reservation counts the tries to pay. If the script of the second step answers that it did
  nothing, its try is released. Other tries, in progress or paid, are not affected.
- If a process died after it reserved a number for claim A, claim B can replace the reservation
  under two conditions: claim A was finally decided without this number, and the data of A's link
  does not have the number. Only the data of an operable link is read for this, because damaged or
  lost data does not show what was paid.
- A correction of a paid claim's number has the same two steps, and the claim keeps its old number
  too. Such a correction can be repeated at any time, so no other claim replaces its reservation. A
  rejected claim can be reopened until the gaming day of the rejection is closed, so its reservation
  can be replaced only after this.
- After a restore, the data of a link can lack a payment that was made. So the restore looks for
  numbers that are reserved for the link's claims, and that no restored payment has. The restore
  stores each such number in the link's data, with the claim and the number of the restore's ledger
  entry (`kept_for`). The number can pay only this claim, and only if the claim was restored. A
  claim that a table opens after the restore is another win, even if it has the id of a lost claim.

The ledger decides which number paid which claim, and an audit compares the reservations with the
ledger. If the hash of reservations was lost, the audit of a service reserves the paid numbers again
(`meters/audit/claim_audit.py`). Before this audit, no other payment can use such a number, because
each payment also reads the numbers in the data of all links.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self, cast

from meters.ledger.redis_layout import LinkKeys
from meters.ledger.slip_numbers import CORRECTS, claim_of, fold_slip
from meters.store.redis_clients import AnyRedis, redis_of
from meters.store.script_loader import load_script

SLIPS_TAG: Final = "@slips"
"""The hash tag in the Redis key of the reservations. No link can have this id."""

SLIPS_KEY: Final = f"pitlink:{{{SLIPS_TAG}}}:reserved"
"""The Redis key of the hash with the reservations. A field is a slip number as `fold_slip` returns
it; the value has the number of tries to pay with the number, a blank, and the claim."""

_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class Reservation:
    """The reservation of a slip number: its claim, and its text in Redis."""

    claim: str
    text: str

    @classmethod
    def of(cls, text: str) -> Self:
        tries, blank, claim = text.partition(" ")
        return cls((claim if blank and tries.isdecimal() else text).removesuffix(CORRECTS), text)

    @property
    def corrects(self) -> bool:
        """True if the number was reserved for a correction of the claim's slip number."""
        return self.text.endswith(CORRECTS)

    @property
    def link(self) -> str:
        return self.claim.partition(".")[0]


class SlipRegister:
    """The slip numbers that are reserved in a facility.

    If Redis fails, every method that waits raises a `RedisError`.
    """

    def __init__(self, redis: AnyRedis) -> None:
        self._everywhere = redis
        self._redis = redis_of(redis, SLIPS_TAG)
        self._reserve = self._redis.register_script(load_script("reserve_slip"))
        self._release = self._redis.register_script(load_script("release_slip"))

    async def reserve(self, slip: str, claim: str, instead_of: str = "") -> Reservation | None:
        """Reserve a slip number for a claim, or return the reservation of another claim.

        If the number is reserved for this claim, its number of tries rises by one. The reservation
        of another claim is replaced only if its text in Redis is still `instead_of`.

        Raises:
            RedisError: it is not known whether the number is reserved.
        """
        answer = await self._reserve(
            keys=[SLIPS_KEY], args=[fold_slip(slip), claim_of(claim), instead_of]
        )
        status, *held = (text.decode() for text in answer)
        return None if status == "reserved" else Reservation.of(held[0])

    async def release(self, slip: str, claim: str) -> None:
        """Withdraw one try to pay a claim with a slip number, because this try paid nothing.

        If no try is left, the reservation is removed, and another claim can use the number.
        """
        await self._release(keys=[SLIPS_KEY], args=[fold_slip(slip), claim])

    async def held(self, slips: Sequence[str]) -> Mapping[str, Reservation]:
        folded, found = sorted({fold_slip(slip) for slip in slips}), dict[str, Reservation]()
        for begin in range(0, len(folded), _AT_ONCE):
            some = folded[begin : begin + _AT_ONCE]
            rows = cast("list[bytes | None]", await self._redis.hmget(SLIPS_KEY, some))
            pairs = zip(some, rows, strict=True)
            found |= {slip: Reservation.of(text.decode()) for slip, text in pairs if text}
        return found

    async def every(self) -> Mapping[str, Reservation]:
        rows = cast("dict[bytes, bytes]", await self._redis.hgetall(SLIPS_KEY))
        return {slip.decode(): Reservation.of(text.decode()) for slip, text in rows.items()}

    async def unpaid_of(self, link: str) -> dict[str, str]:
        """Return the numbers that are reserved for a link's claims, but missing in the link's data.

        The result has the claim of each number.
        """
        # The Redis users of the service have no permission for HKEYS.
        rows = await redis_of(self._everywhere, link).hgetall(LinkKeys(link).slips)
        has = {slip.decode() for slip in cast("dict[bytes, bytes]", rows)}
        every = await self.every()
        return {
            slip: held.claim
            for slip, held in every.items()
            if held.link == link and slip not in has
        }

    async def reserve_all_of(self, link: str) -> int:
        """Reserve all slip numbers in a link's data. Return how many were not reserved before.

        Raises:
            RedisError: some of the numbers can be reserved already.
        """
        rows = await redis_of(self._everywhere, link).hgetall(LinkKeys(link).slips)
        paid = cast("dict[bytes, bytes]", rows)
        return await self.reserve_paid({slip.decode(): paid[slip].decode() for slip in paid})

    async def reserve_paid(self, paid: Mapping[str, str]) -> int:
        """Reserve slip numbers for their claims. Return how many were not reserved before.

        `paid` has, for each number, the claim that it paid, or for which a restore keeps it.

        Raises:
            RedisError: some of the numbers can be reserved already.
        """
        held = await self.held([*paid])
        free = {slip: claim for slip, claim in paid.items() if fold_slip(slip) not in held}
        for slip, claim in free.items():
            await self.reserve(slip, claim)
        return len(free)

    async def has_paid(self, slip: str, claim: str) -> bool:
        """Check in Redis if a slip number paid a claim, or if a restore keeps it for the claim."""
        return claim in await self._paid_by(slip, [claim.partition(".")[0]])

    async def paid_on(self, slip: str, links: Iterable[str]) -> str | None:
        """Return the claim on one of `links` that a number paid, or for which it is kept."""
        return next(iter(await self._paid_by(slip, links)), None)

    async def _paid_by(self, slip: str, links: Iterable[str]) -> list[str]:
        found, folded = [], fold_slip(slip)
        for link in links:
            redis, key = redis_of(self._everywhere, link), LinkKeys(link).slips
            noted = cast("bytes | None", await redis.hget(key, folded))
            if noted is not None:
                found.append(claim_of(noted.decode()))
        return found
