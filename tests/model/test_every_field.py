"""Every field of a floor's Redis, changed in every way: an audit names it, or it is listed.

Fields that no audit names are listed with the consequences, as in
`deploy/docs/compliance/threats.md`.
"""

import fnmatch
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, cast

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from meters.archive.archive_audit import audit_link
from meters.books.ledger_mark import Mark
from meters.books.outage_entries import Outage, OutageBook
from meters.floor_api.types import Adjustment
from meters.redis_client.user_keys import USERS_TAG
from meters.users.directory import UserDirectory
from meters.users.log_audit import check_log
from meters.users.log_macs import LogSecrets
from meters.users.pins import PinHashing
from meters.users.roles import Role
from meters.users.sign_in_attempts import Caller
from tests.model.kept import Kept
from tests.model.pit import PROGRESSIVE, to
from tests.model.tampering import play_a_while
from tests.users.staff import BY_COMMAND, PIN, WRONG, Register

pytestmark = pytest.mark.duty("D17")

UNNAMED: Final = {
    "meters version:* raised": "it goes on from there, and displays follow",
    "meters version:* lowered": "by as much as entries that one step wrote; by more it is named",
    "meters desk *": "the pages look at it to see that something changed",
    "meters day *": "the service sets it by its clock, or closes the day under another name",
    "meters file:* *": "where it is not the floor file's, the link does not open",
    "meters reading *": "it bounds the requests of the day; acts on earlier ones are named",
    "meters reading_at *": "it is for the metrics",
    "meters archived_at *": "it is for the metrics",
    "* schema *": "all scripts refuse the books then, or the people",
    "dealt *": "of two results with the same cards there is no warning",
    "log-head mac_by gone": "a service that lacks a renewed secret writes on with an earlier one",
    "pins-set * raised": "the two are no second person to each other for longer",
    "pins-set odd added": "the two are no second person to each other for a day",
    "account:command line*": "nobody signs in as the account of the machine",
    "claim:* returned gone": "the win cannot be reopened",
    "facility *": "links write it again when they open: THREATS says what holds until then",
    "acts * gone": "of an archived day, which has it: it is not on the page of acts",
    "wins * gone": "of an archived day, which has it: it is not on the page of wins",
    "carried entries *": "it bounds what the archive gives up next",
    "carried text gone": "the service's own audit says that entries are missing",
    "users * raised": "the order of the list",
    "user:* pin_by gone": "then it is who added them, which it was",
    "session:*": "it ends, or is another's: THREATS says that",
    "devices:*": "who signs in on a new device is locked out sooner",
    "locks:*": "what administrators see of failures",
    "tries:*": "failures to sign in, for a quarter of an hour",
}
"""Changes that no audit names, and their consequences."""


_SECRETS: Final = LogSecrets(lambda: ["a" * 43])


@dataclass(frozen=True)
class Change:
    """A change of one field or member of a key."""

    key: str
    field: bytes
    how: str
    value: bytes | float | None

    @property
    def label(self) -> str:
        """Label of the change in the list of exceptions."""
        name = self.key.partition("}:")[2] or self.key
        return f"{name} {self.field.decode('utf-8', 'replace')} {self.how}"


def _changes_of(value: bytes) -> dict[str, bytes | None]:
    if value.removeprefix(b"-").isdigit():
        number = int(value)
        ways = {"raised": number + 1, "lowered": number - 1}
        if number > 1:
            ways["halved"] = number // 2
        changed: dict[str, bytes | None] = {how: b"%d" % of for how, of in ways.items()}
        # A balance of zero may be missing.
        return changed | ({"gone": None} if number else {})
    if not value:
        return {"altered": b"x"}
    return {"altered": value[:-1] + bytes([value[-1] ^ 1]), "gone": None}


async def _changes(redis: Redis) -> AsyncIterator[Change]:
    for name in sorted([key.decode() async for key in redis.scan_iter()]):
        match cast("bytes", await redis.type(name)).decode():
            case "hash":
                fields = cast("dict[bytes, bytes]", await redis.hgetall(name))
                for field, value in sorted(fields.items()):
                    for how, other in _changes_of(value).items():
                        yield Change(name, field, how, other)
            case "zset":
                rows = await redis.zrange(name, 0, -1, withscores=True)
                for member, score in cast("list[tuple[bytes, float]]", rows):
                    yield Change(name, member, "raised", score + 1)
                    yield Change(name, member, "gone", None)
                yield Change(name, b"odd", "added", 1.0)
            case "set":
                for member in sorted(cast("set[bytes]", await redis.smembers(name))):
                    yield Change(name, member, "gone", None)
                yield Change(name, b"odd", "added", None)


async def _apply(redis: Redis, change: Change) -> None:
    key, field = change.key, cast("Any", change.field)
    kind = cast("bytes", await redis.type(key))
    if kind == b"set":
        await (redis.sadd if change.how == "added" else redis.srem)(key, field)
    elif kind == b"zset":
        await (
            redis.zrem(key, field)
            if change.value is None
            else redis.zadd(key, {field: cast("float", change.value)})
        )
    elif change.value is None:
        await redis.hdel(key, field)
    else:
        await redis.hset(key, field, cast("Any", change.value))


async def _played(kept: Kept) -> None:
    pit = kept.pit
    await play_a_while(pit)
    assert (await pit.wagers({1: PROGRESSIVE})).status == "refused"
    await pit.pay("pit.T-1-2-5", "A-1001")
    await pit.void(table="T-2", round_id="R3")
    await kept.days.keep(*[timedelta(days=1)] * 3)
    await kept.run()
    link_acts = pit.link_acts
    await link_acts.close("pit", "sue", "the felt is changed")
    await pit.change(to(PROGRESSIVE, "paytable", "B"))
    up = Adjustment(meter=PROGRESSIVE, amount=100, reason="malfunction")
    await link_acts.propose("pit", "sue", up)
    proposed = await link_acts.propose("pit", "sue", up)
    await link_acts.withdraw("pit", proposed.proposal, "sue")
    await OutageBook(pit.store, "service").note(Outage("o-1", "2026-11-20T02:14:07Z", ("x",)))


async def _staffed(redis: Redis) -> None:
    pins = PinHashing(time_cost=1, memory_kib=8)
    user_directory = UserDirectory.of(redis, 30, pins, log_secrets=_SECRETS)
    register = Register(redis, user_directory)
    await register.add("Ann", Role.ADMINISTRATOR)
    await register.add("Flo")
    await register.add("Tim", Role.AUDITOR)
    await user_directory.users.set_pin("Flo", WRONG, BY_COMMAND)
    await user_directory.users.disable("Tim", BY_COMMAND)
    opened = await register.sign_in("Ann", device="pad")
    await user_directory.sessions.choose_pin(opened.token, opened.person, PIN, WRONG, Caller("::1"))
    await register.refused("Flo", "000000")


async def _problems(kept: Kept, key: str = "") -> list[str]:
    pit, found = kept.pit, list[str]()
    if USERS_TAG not in key:
        finding = await audit_link(pit.store, kept.archive, Mark("pit"), lambda *_: None)
        found += finding.problems
    if not key or USERS_TAG in key:
        found += (await check_log(pit.redis, None, _SECRETS)).problems
    return found


async def test_every_change_of_one_field_is_named_but_for_those_listed(kept: Kept) -> None:
    redis = kept.pit.redis
    await _played(kept)
    await _staffed(redis)
    assert await _problems(kept) == []
    unnamed = set()
    changes = [one async for one in _changes(redis)]
    for change in changes:
        before = await redis.dump(change.key)
        await _apply(redis, change)
        try:
            if not await _problems(kept, change.key):
                unnamed.add(change.label)
        except (ValueError, RedisError):
            pass  # the audit ends by reporting that the data in Redis cannot be read
        await redis.restore(change.key, 0, cast("Any", before), replace=True)
    assert await _problems(kept) == []
    listed = {one for known in UNNAMED for one in fnmatch.filter(unnamed, known)}
    assert sorted(unnamed - listed) == []
    # Two steps of one meter have the same millisecond only by chance.
    assert {known for known in UNNAMED if not fnmatch.filter(unnamed, known)} <= {
        "meters version:* lowered"
    }
