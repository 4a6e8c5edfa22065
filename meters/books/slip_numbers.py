"""The numbers of payout slips. Each number is reserved for only one claim of the facility.

One slip number can pay only one claim of the facility, on any link. In a Redis Cluster the data of
each link is in another slot, and no script can read two slots. So a payment has two steps. First, a
script reserves the number for the claim, in one Redis hash for the whole facility. Second, a script
of the link pays the claim and stores the number in the link's data.

Even if one of the two steps is interrupted, no number pays two claims, and no claim remains
unpayable:

- The second step runs only if the number is reserved for the claim. To reserve is one atomic step,
  so only one claim gets the number. Payments of all other claims with it are refused.
- The reservation remains after the payment. It also remains if the result of the payment is not
  known: Redis did not answer, or the process died between the two steps. No other claim can get a
  reserved number. It can be reserved several times for the same claim, so a later try can pay the
  same claim with it.
- A reservation is released only if the script of the second step answered that it did nothing. It
  counts the tries to pay, so the release of one try does not affect another that is in progress or
  has paid.
- If a process died after it reserved a number for claim A, claim B can replace the reservation
  under two conditions: claim A was finally decided, with another number or without a number, and
  the data of A's link does not have the number. Only the data of an operable link is read for this,
  because damaged or lost data does not show what was paid.
- A correction of a paid claim's number has the same two steps, and the claim keeps its old number
  too. A paid claim can be corrected at any time, so no other claim replaces a number that a process
  reserved for a correction before it died. A rejected claim can be reopened until the gaming day of
  the rejection is closed. Its reservation can be replaced only after that.
- After a restore, the data of a link can lack a payment that was made. So the restore looks for
  numbers that are reserved for claims of the link, but that no restored payment has, and stores
  each in the link's data, with the claim and the number of the restore's ledger entry (`kept_for`).
  Such a number can pay only this claim, and only if the claim was restored. A claim that a table
  opens after the restore is another win, even if it has the id of a lost claim.

The ledger decides which number paid which claim, and an audit compares the reservations with the
ledger. If the hash of reservations was lost, the audit of a service reserves the numbers that paid
a claim again (`meters/books/claim_audit.py`). Before this audit, no other payment can use such a
number, because each payment also reads the numbers in the data of all links.

For a person who looks for a paper slip, hyphens, capital letters and leading zeros make no
difference. So `fold_slip` removes them, and Redis has each number only in the folded form. The
ledger has it as it was typed.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self, cast

from meters.books.script_loader import load_script
from meters.redis_client.link_keys import LinkKeys
from meters.redis_client.shards import AnyRedis, redis_of

SLIPS_TAG: Final = "@slips"
"""The hash tag in the Redis key of the reservations. No link can have this text as its id."""

SLIPS_KEY: Final = f"pitlink:{{{SLIPS_TAG}}}:reserved"
"""The Redis key of the hash with the reservations. Its fields are slip numbers in the form that
`fold_slip` returns; the value has the count of tries to pay with the number, a blank, and the
claim."""

SLIP_LENGTH_MAX: Final = 100
_SLIP: Final = re.compile(rf"(?=-*[A-Za-z0-9])[A-Za-z0-9-]{{1,{SLIP_LENGTH_MAX}}}")
_SIGN: Final = re.compile(r"[A-Za-z0-9-]")
_LEADING_ZEROS: Final = re.compile(r"(?<![0-9])0+(?=[0-9])")
_AT_ONCE: Final = 500
_CORRECTS: Final = "!"
"""The end of a reservation's text if the number is reserved for a correction."""


def kept_for(claim: str, entry: int) -> str:
    """Return the text with which a restore keeps a slip number for a claim in the link's data.

    >>> kept_for("main.TCP-01-42-1", 7)
    'main.TCP-01-42-1:7'
    """
    return f"{claim}:{entry}"


def correction_of(claim: str) -> str:
    """Return the text with which a number is reserved to correct a claim's slip number.

    >>> correction_of("main.TCP-01-42-1")
    'main.TCP-01-42-1!'
    """
    return claim + _CORRECTS


def claim_of(noted: str) -> str:
    """Return the claim from the text that a link's data has for a slip number.

    >>> claim_of("main.TCP-01-42-1:7"), claim_of("main.TCP-01-42-1")
    ('main.TCP-01-42-1', 'main.TCP-01-42-1')
    """
    return noted.partition(":")[0]


class SlipError(ValueError):
    """A text that is not a slip number. The message says what is wrong and what to do."""


def clean_slip(text: str) -> str:
    """Check a slip number, and return it without blanks at its beginning and end.

    >>> clean_slip(" A-1001 ")
    'A-1001'

    Raises:
        SlipError: the text is empty or too long, or a character is not allowed. Characters that
            only look like allowed ones are refused too.
    """
    slip = text.strip(" ")
    if _SLIP.fullmatch(slip):
        return slip
    if len(slip) > SLIP_LENGTH_MAX:
        raise SlipError(f"a slip's number has {SLIP_LENGTH_MAX} characters at most")
    odd = next((sign for sign in slip if not _SIGN.fullmatch(sign)), None)
    if odd is None:
        raise SlipError("the slip number is missing: type the number from the slip")
    name = unicodedata.name(odd, "a control character").lower()
    raise SlipError(
        "a slip's number has letters A to Z, digits and hyphens only, and this has"
        f" U+{ord(odd):04X} ({name}): type the number from the slip"
    )


def fold_slip(slip: str) -> str:
    """Return a slip number in the folded form, in which pitlink compares slip numbers.

    Hyphens, capital letters and the zeros in front of a number make no difference. Two numbers with
    the same letters and digits are the same, wherever their hyphens are. So a zero between two
    digits counts, also behind a hyphen.

    >>> fold_slip("S-0001"), fold_slip("s1"), fold_slip("S-0-0-0-1"), fold_slip("00-B-0")
    ('s1', 's1', 's1', '0b0')
    >>> fold_slip("S-0010"), fold_slip("A-01-B-02"), fold_slip("2026-0001"), fold_slip("2026-1")
    ('s10', 'a1b2', '20260001', '20261')
    """
    return _LEADING_ZEROS.sub("", slip.replace("-", "").casefold())


@dataclass(frozen=True, slots=True)
class Reservation:
    """The reservation of a slip number: its claim, and its text in Redis."""

    claim: str
    text: str

    @classmethod
    def of(cls, text: str) -> Self:
        tries, blank, claim = text.partition(" ")
        return cls((claim if blank and tries.isdecimal() else text).removesuffix(_CORRECTS), text)

    @property
    def corrects(self) -> bool:
        """Was the number reserved for a correction of the claim's slip number?"""
        return self.text.endswith(_CORRECTS)

    @property
    def link(self) -> str:
        return self.claim.partition(".")[0]


class SlipRegister:
    """The slip numbers that are reserved in a facility.

    Every method that waits raises a `RedisError` if Redis fails.
    """

    def __init__(self, redis: AnyRedis) -> None:
        self._everywhere = redis
        self._redis = redis_of(redis, SLIPS_TAG)
        self._reserve = self._redis.register_script(load_script("reserve_slip"))
        self._release = self._redis.register_script(load_script("release_slip"))

    async def reserve(self, slip: str, claim: str, instead_of: str = "") -> Reservation | None:
        """Reserve a slip number for a claim, or return the reservation of another claim.

        If the number was already reserved for this claim, the reservation remains, and its count of
        tries rises by one. A reservation of another claim is replaced if Redis still has exactly
        its text `instead_of`.

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
        """Return the reservations that some slip numbers have, by the number in its folded form."""
        folded, found = sorted({fold_slip(slip) for slip in slips}), dict[str, Reservation]()
        for begin in range(0, len(folded), _AT_ONCE):
            some = folded[begin : begin + _AT_ONCE]
            rows = cast("list[bytes | None]", await self._redis.hmget(SLIPS_KEY, some))
            pairs = zip(some, rows, strict=True)
            found |= {slip: Reservation.of(text.decode()) for slip, text in pairs if text}
        return found

    async def every(self) -> Mapping[str, Reservation]:
        """Return all reservations, by the slip number in its folded form."""
        rows = cast("dict[bytes, bytes]", await self._redis.hgetall(SLIPS_KEY))
        return {slip.decode(): Reservation.of(text.decode()) for slip, text in rows.items()}

    async def unpaid_of(self, link: str) -> dict[str, str]:
        """Return numbers that are reserved for a link's claims, but missing in the link's data.

        Each has the claim for which it is reserved.
        """
        # Not HKEYS: the Redis users of the service are not allowed to run it.
        rows = await redis_of(self._everywhere, link).hgetall(LinkKeys(link).slips)
        has = {slip.decode() for slip in cast("dict[bytes, bytes]", rows)}
        every = await self.every()
        return {
            slip: held.claim
            for slip, held in every.items()
            if held.link == link and slip not in has
        }

    async def reserve_all_of(self, link: str) -> int:
        """Reserve all slip numbers in a link's data. Return the count of newly reserved numbers.

        Raises:
            RedisError: some of the numbers can be reserved already.
        """
        rows = await redis_of(self._everywhere, link).hgetall(LinkKeys(link).slips)
        paid = cast("dict[bytes, bytes]", rows)
        return await self.reserve_paid({slip.decode(): paid[slip].decode() for slip in paid})

    async def reserve_paid(self, paid: Mapping[str, str]) -> int:
        """Reserve slip numbers for their claims. Return the count of newly reserved numbers.

        `paid` has for each number the claim that it paid, or for which a restore keeps it.

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
        """Return the claim on one of `links` that a number paid, or that a restore keeps it for."""
        return next(iter(await self._paid_by(slip, links)), None)

    async def _paid_by(self, slip: str, links: Iterable[str]) -> list[str]:
        found, folded = [], fold_slip(slip)
        for link in links:
            redis, key = redis_of(self._everywhere, link), LinkKeys(link).slips
            noted = cast("bytes | None", await redis.hget(key, folded))
            if noted is not None:
                found.append(claim_of(noted.decode()))
        return found
