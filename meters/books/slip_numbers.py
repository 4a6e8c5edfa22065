"""The numbers of payout slips: what one is, and for which claim of the facility each is reserved.

One number pays one claim, whatever its link. In a Redis Cluster the links are in different slots,
and no script can look at two of them. So a payment has two steps: the number is reserved for its
claim in a hash of the whole facility, and then the link's own script pays and keeps the number.

Why a number is never used twice, and nobody is hindered for ever, wherever either step is cut off:

- A payment runs its script only while the number is reserved for its claim. Reserving is one atomic
  step, and gives the number to one claim only. So of two claims one is refused before it is paid.
- The reservation stays when the payment is done, and when nobody knows whether it is: the store did
  not answer, or the process died between the steps. The number is then nobody else's, and the same
  claim can be paid with it again, since reserving it once more for the same claim is allowed.
- It is taken back only by a payment whose script said that it did nothing. Each try is counted, so
  that this does not take it from another try that is under way or has paid.
- What a process that died has left is given to another claim only if it cannot be used any more:
  the claim was decided for good, with another number or none, and its link does not have this one.

The ledger stays the truth. An audit compares it with the reservations. A number that paid and is
reserved for nobody, since an earlier release paid it or the hash was lost, is reserved again by the
service (`meters/books/claim_audit.py`); until then a payment looks at all links' own numbers too.
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
"""The hash tag of the reservations, which no link's id can be."""

SLIPS_KEY: Final = f"pitlink:{{{SLIPS_TAG}}}:reserved"
"""Hash: a slip's folded number to the count of tries to pay with it, a blank, and the claim."""

SLIP_LENGTH_MAX: Final = 100
_SLIP: Final = re.compile(rf"[A-Za-z0-9-]{{1,{SLIP_LENGTH_MAX}}}")
_ALIKE: Final = str.maketrans(
    "авеікмнорстухѕјαβεζηικμνορτυχ\u02d7\u2043\u2212\u2796",
    "abeikmhopctyxsjabezhikmnoptyx----",
)
"""Letters of other alphabets whose capitals look like ours, and signs that look like hyphens."""
_UNSEEN: Final = re.compile(rf"[\ufe00-\ufe0f{UNPRINTABLE}]")
"""What earlier releases took and nobody sees in a number: selectors of a variant too."""
_AT_ONCE: Final = 500


class SlipError(ValueError):
    """Text that is no slip's number; what is wrong with it, and what to do."""


def clean_slip(text: str) -> str:
    """A slip's number as it is kept, without blanks around it.

    >>> clean_slip(" A-1001 ")
    'A-1001'

    Raises:
        SlipError: it has a character that a number does not have, though it may look the same.
    """
    slip = text.strip(" ")
    if _SLIP.fullmatch(slip):
        return slip
    if len(slip) > SLIP_LENGTH_MAX:
        raise SlipError(f"a slip's number has {SLIP_LENGTH_MAX} characters at most")
    odd = next((sign for sign in slip if not _SLIP.fullmatch(sign)), None)
    if odd is None:
        raise SlipError("the number of the slip is needed")
    name = unicodedata.name(odd, "a control character").lower()
    raise SlipError(
        "a slip's number has letters A to Z, digits and hyphens only, and this has"
        f" U+{ord(odd):04X} ({name}): type the number from the slip"
    )


def fold_slip(slip: str) -> str:
    r"""A slip's number as numbers are compared over the facility.

    What earlier releases took may only look like a number that a slip has now.

    >>> fold_slip("A-1001"), fold_slip("\uff21-1001"), fold_slip("\u0410\u200b\u20111001")
    ('a-1001', 'a-1001', 'a-1001')
    """
    folded = _UNSEEN.sub("", unicodedata.normalize("NFKC", slip).casefold())
    seen = (sign for sign in folded if unicodedata.category(sign) != "Cf")
    plain = "".join("-" if unicodedata.category(sign) == "Pd" else sign for sign in seen)
    return " ".join(plain.translate(_ALIKE).split())


def fold_in_link(slip: str) -> str:
    """A slip's number as a link's own hash has it; earlier releases took numbers of any text."""
    return " ".join(slip.casefold().split())


async def links_with_slips(redis: AnyRedis, tags: Iterable[str]) -> frozenset[str]:
    """The links that have numbers of payout slips, as far as Redis lets us look for them.

    Redis's list of users does not let a service list keys; nobody else is asked.

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
    """For which claim a number is reserved, and the text that says so."""

    claim: str
    text: str

    @classmethod
    def of(cls, text: str) -> Self:
        """The reservation that a text holds."""
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
        """Reserve a number for a claim, once more where it is; give the other claim that has it.

        Args:
            slip: the number.
            claim: the claim that is to be paid with it.
            instead_of: the text of a reservation that cannot be used any more.

        Raises:
            RedisError: the store failed: it may be reserved.
        """
        answer = await self._reserve(keys=[SLIPS_KEY], args=[fold_slip(slip), claim, instead_of])
        status, *held = (text.decode() for text in answer)
        return None if status == "reserved" else Reservation.of(held[0])

    async def release(self, slip: str, claim: str) -> None:
        """Take back one try to pay a claim with a number: nothing was paid by it.

        Raises:
            RedisError: the store failed.
        """
        await self._release(keys=[SLIPS_KEY], args=[fold_slip(slip), claim])

    async def held(self, slips: Sequence[str]) -> Mapping[str, Reservation]:
        """The reservations of some numbers, by the number as it is compared; of those that are.

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
        """All reservations, by the number.

        Raises:
            RedisError: the store failed.
        """
        rows = cast("dict[bytes, bytes]", await self._redis.hgetall(SLIPS_KEY))
        return {slip.decode(): Reservation.of(text.decode()) for slip, text in rows.items()}

    async def reserve_all_of(self, link: str) -> int:
        """Reserve the numbers that paid claims of a link; how many there are.

        Raises:
            RedisError: the store failed; some may be reserved.
        """
        rows = await redis_of(self._everywhere, link).hgetall(LinkKeys(link).slips)
        for slip, claim in cast("dict[bytes, bytes]", rows).items():
            await self.reserve(slip.decode(), claim.decode())
        return len(rows)

    async def has_paid(self, slip: str, claim: str) -> bool:
        """Whether a number paid a claim, by the link's own hash.

        Raises:
            RedisError: the store failed.
        """
        return claim in await self._paid_by(slip, [claim.partition(".")[0]])

    async def paid_on(self, slip: str, links: Iterable[str]) -> str | None:
        """A claim of some links that a number has paid.

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
                claim.decode() for has, claim in rows.items() if fold_slip(has.decode()) == folded
            ]
        return found
