"""The numbers of payout slips, and the claim of the facility for which each is reserved.

One number pays one claim, on any link. In a Redis Cluster the links are in different slots, and no
script can read two of them. So a payment has two steps. First the number is reserved for its claim
in a hash of the whole facility. Then the link's own script pays and keeps the number.

A number is never used twice, and no claim is blocked forever, even if either step is interrupted:

- A payment runs its script only while the number is reserved for its claim. A reservation is one
  atomic step, and only one claim gets the number. So the other of two claims is refused before it
  is paid.
- The reservation remains after the payment. It also remains if nobody knows whether the payment was
  done: the store did not answer, or the process died between the steps. No other claim can then get
  the number. The same claim can be paid with it again, since a second reservation for the same
  claim is allowed.
- A reservation is released only by a payment whose script answered that it did nothing. Each try is
  counted, so a release does not affect another try that is in progress or has paid.
- The reservation of a process that died is replaced by another claim only if it cannot be used any
  more: the claim was finally decided, with another number or none, and its link does not have this
  number. Only an operable link is asked, since books that were lost do not know what paid.
- Restored books may lack a payment that was made. So a restore keeps each number that is reserved
  for a claim of its link and that no payment in the books has. The link has such a number from then
  on, with the claim and the entry of the restore (`kept_for`). It can pay this claim if the books
  have the claim, and nothing else. A claim that a table opens later is another win, even if it gets
  the id of a lost one.

The ledger remains the truth. An audit compares it with the reservations. A number may have paid a
claim and be reserved for none, since an earlier release paid it or the hash was lost. The service
reserves it again (`meters/books/claim_audit.py`). Until then a payment also reads the numbers of
all links.
"""

import contextlib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self, cast

from redis.exceptions import NoPermissionError

from bonus.printable import UNPRINTABLE
from meters.books.script_loader import load_script
from meters.redis_client.link_keys import LinkKeys
from meters.redis_client.shards import AnyRedis, every_redis, redis_of

SLIPS_TAG: Final = "@slips"
"""The hash tag of the reservations. No link can have this id."""

SLIPS_KEY: Final = f"pitlink:{{{SLIPS_TAG}}}:reserved"
"""Hash: a slip's folded number to the count of tries to pay with it, a blank, and the claim."""

SLIP_LENGTH_MAX: Final = 100
_SLIP: Final = re.compile(rf"[A-Za-z0-9-]{{1,{SLIP_LENGTH_MAX}}}")
_ALIKE: Final = str.maketrans(
    "авеікмнорстухѕјαβεζηικμνορτυχ\u02d7\u2043\u2212\u2796",
    "abeikmhopctyxsjabezhikmnoptyx----",
)
"""Letters of other alphabets whose capitals look like Latin ones, and signs that look like hyphens.
"""
_UNSEEN: Final = re.compile(rf"[\ufe00-\ufe0f{UNPRINTABLE}]")
"""Characters that earlier releases accepted in a number and that nobody can see, with variation
selectors.
"""
_AT_ONCE: Final = 500


def kept_for(claim: str, entry: int) -> str:
    """Return how a link's own hash notes the claim of a number that a restore keeps.

    >>> kept_for("main.TCP-01-42-1", 7)
    'main.TCP-01-42-1:7'
    """
    return f"{claim}:{entry}"


def claim_of(noted: str) -> str:
    """Return the claim of a number that paid, or that a restore keeps.

    >>> claim_of("main.TCP-01-42-1:7"), claim_of("main.TCP-01-42-1")
    ('main.TCP-01-42-1', 'main.TCP-01-42-1')
    """
    return noted.partition(":")[0]


class SlipError(ValueError):
    """Text that is not the number of a slip; with the error and what to do."""


def clean_slip(text: str) -> str:
    """Return a slip's number as it is kept, without blanks around it.

    >>> clean_slip(" A-1001 ")
    'A-1001'

    Raises:
        SlipError: it has a character that a number cannot have, even if it looks the same.
    """
    slip = text.strip(" ")
    if _SLIP.fullmatch(slip):
        return slip
    if len(slip) > SLIP_LENGTH_MAX:
        raise SlipError(f"a slip's number has {SLIP_LENGTH_MAX} characters at most")
    odd = next((sign for sign in slip if not _SLIP.fullmatch(sign)), None)
    if odd is None:
        raise SlipError("the slip number is missing: type the number from the slip")
    name = unicodedata.name(odd, "a control character").lower()
    raise SlipError(
        "a slip's number has letters A to Z, digits and hyphens only, and this has"
        f" U+{ord(odd):04X} ({name}): type the number from the slip"
    )


def fold_slip(slip: str) -> str:
    r"""Return a slip's number in the form in which the facility compares numbers.

    A number that an earlier release accepted may only look like a number that a slip has now.

    >>> fold_slip("A-1001"), fold_slip("\uff21-1001"), fold_slip("\u0410\u200b\u20111001")
    ('a-1001', 'a-1001', 'a-1001')
    """
    folded = _UNSEEN.sub("", unicodedata.normalize("NFKC", slip).casefold())
    seen = (sign for sign in folded if unicodedata.category(sign) != "Cf")
    plain = "".join("-" if unicodedata.category(sign) == "Pd" else sign for sign in seen)
    return " ".join(plain.translate(_ALIKE).split())


def fold_in_link(slip: str) -> str:
    """Return a slip's number in the form of a link's own hash.

    Earlier releases accepted any text as a number.
    """
    return " ".join(slip.casefold().split())


async def links_with_slips(redis: AnyRedis, tags: Iterable[str]) -> frozenset[str]:
    """Return the links that have numbers of payout slips, if Redis allows the search.

    The Redis ACL does not allow a service to list keys. The links of such a Redis are left out.

    Raises:
        RedisError: the store failed.
    """
    found = set[str]()
    for each in every_redis(redis, tags):
        with contextlib.suppress(NoPermissionError):
            async for key in each.scan_iter(match=LinkKeys("*").slips, count=1_000):
                found.add(key.decode().partition("{")[2].partition("}")[0])
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Reservation:
    """The claim for which a number is reserved, and the stored text of the reservation."""

    claim: str
    text: str

    @classmethod
    def of(cls, text: str) -> Self:
        """Read a reservation from its text."""
        tries, blank, claim = text.partition(" ")
        return cls(claim if blank and tries.isdecimal() else text, text)

    @property
    def link(self) -> str:
        """The claim's link."""
        return self.claim.partition(".")[0]


class SlipRegister:
    """The reservations of a facility."""

    def __init__(self, redis: AnyRedis) -> None:
        self._everywhere = redis
        self._redis = redis_of(redis, SLIPS_TAG)
        self._reserve = self._redis.register_script(load_script("reserve_slip"))
        self._release = self._redis.register_script(load_script("release_slip"))

    async def reserve(self, slip: str, claim: str, instead_of: str = "") -> Reservation | None:
        """Reserve a number for a claim. If another claim has it, return that reservation.

        A number that is reserved for the same claim is reserved once more.

        Args:
            slip: the number.
            claim: the claim to be paid with it, or for which a restore keeps it.
            instead_of: the text of a reservation that cannot be used any more.

        Raises:
            RedisError: the store failed: the number may be reserved.
        """
        answer = await self._reserve(
            keys=[SLIPS_KEY], args=[fold_slip(slip), claim_of(claim), instead_of]
        )
        status, *held = (text.decode() for text in answer)
        return None if status == "reserved" else Reservation.of(held[0])

    async def release(self, slip: str, claim: str) -> None:
        """Release one try to pay a claim with a number. That try paid nothing.

        Raises:
            RedisError: the store failed.
        """
        await self._release(keys=[SLIPS_KEY], args=[fold_slip(slip), claim])

    async def held(self, slips: Sequence[str]) -> Mapping[str, Reservation]:
        """Return the reservations of those of the numbers that are reserved, by the folded number.

        Raises:
            RedisError: the store failed.
        """
        folded, found = sorted({fold_slip(slip) for slip in slips}), dict[str, Reservation]()
        for begin in range(0, len(folded), _AT_ONCE):
            some = folded[begin : begin + _AT_ONCE]
            rows = cast("list[bytes | None]", await self._redis.hmget(SLIPS_KEY, some))
            pairs = zip(some, rows, strict=True)
            found |= {slip: Reservation.of(text.decode()) for slip, text in pairs if text}
        return found

    async def every(self) -> Mapping[str, Reservation]:
        """Return all reservations, by the number.

        Raises:
            RedisError: the store failed.
        """
        rows = cast("dict[bytes, bytes]", await self._redis.hgetall(SLIPS_KEY))
        return {slip.decode(): Reservation.of(text.decode()) for slip, text in rows.items()}

    async def unpaid_of(self, link: str) -> dict[str, str]:
        """Return the numbers reserved for claims of a link that it does not have, with the claims.

        Raises:
            RedisError: the store failed.
        """
        rows = await redis_of(self._everywhere, link).hkeys(LinkKeys(link).slips)
        has = {slip.decode() for slip in cast("list[bytes]", rows)}
        has |= {fold_slip(slip) for slip in has}
        every = await self.every()
        return {
            slip: held.claim
            for slip, held in every.items()
            if held.link == link and slip not in has
        }

    async def reserve_all_of(self, link: str) -> int:
        """Reserve the numbers that a link has, and return how many were free.

        Raises:
            RedisError: the store failed; some may be reserved.
        """
        rows = await redis_of(self._everywhere, link).hgetall(LinkKeys(link).slips)
        paid = cast("dict[bytes, bytes]", rows)
        return await self.reserve_paid({slip.decode(): paid[slip].decode() for slip in paid})

    async def reserve_paid(self, paid: Mapping[str, str]) -> int:
        """Reserve numbers, each for the claim that has it, and return how many were free.

        Raises:
            RedisError: the store failed; some may be reserved.
        """
        held = await self.held([*paid])
        free = {slip: claim for slip, claim in paid.items() if fold_slip(slip) not in held}
        for slip, claim in free.items():
            await self.reserve(slip, claim)
        return len(free)

    async def has_paid(self, slip: str, claim: str) -> bool:
        """Check in the link's own hash whether a claim has paid with a number, or keeps it.

        Raises:
            RedisError: the store failed.
        """
        return claim in await self._paid_by(slip, [claim.partition(".")[0]])

    async def paid_on(self, slip: str, links: Iterable[str]) -> str | None:
        """Return a claim of some links that has a number: it was paid with it, or keeps it.

        Raises:
            RedisError: the store failed.
        """
        return next(iter(await self._paid_by(slip, links)), None)

    async def _paid_by(self, slip: str, links: Iterable[str]) -> list[str]:
        found, folded = [], fold_slip(slip)
        for link in links:
            redis, key = redis_of(self._everywhere, link), LinkKeys(link).slips
            rows = cast("dict[bytes, bytes]", await redis.hgetall(key))
            found += [
                claim_of(noted.decode())
                for has, noted in rows.items()
                if fold_slip(has.decode()) == folded
            ]
        return found
