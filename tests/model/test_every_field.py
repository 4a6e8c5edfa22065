"""Every field of a floor's Redis, changed in every way: an audit names it, or it is listed.

Fields that no audit names are listed with the consequences, as in
`deploy/docs/compliance/threats.md`.
"""

import fnmatch
from collections.abc import AsyncIterator, Collection, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, cast

import msgspec
import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from meters.acts.meter_changes import Adjustment
from meters.floor.roles import Role
from meters.ledger.entry_messages import Outage
from meters.ledger.redis_layout import PACK, STATE
from meters.store.link_acts import note_outage
from meters.store.user_keys import USERS_TAG
from meters.users.log_audit import LogAudit
from meters.users.log_macs import LogSecrets
from meters.users.pins import PinHashing
from meters.users.sign_in_attempts import Caller
from meters.users.users import UserDirectory
from tests.model.kept import Kept
from tests.model.pit import BONUS, PROGRESSIVE, to
from tests.model.tampering import play_a_while
from tests.users.staff import BY_COMMAND, PIN, WRONG, Register

pytestmark = pytest.mark.duty("D17")

UNNAMED: Final = {
    "meters version:* raised": "it goes on from there, and displays follow",
    "meters version:* lowered": "by as much as entries that one step wrote; by more it is named",
    "meters changes *": "the pages look at it to see that something changed",
    "meters day *": "the service sets it by its clock, or closes the day under another name",
    "meters file:* *": "where it is not the floor file's, the link does not open",
    "* schema *": "all scripts refuse the books then, or the people",
    "dealt *": "of two results with the same cards there is no warning",
    "log-head mac_by gone": "a service that lacks a renewed secret writes on with an earlier one",
    "pins-set * raised": "the two are no second person to each other for longer",
    "pins-set odd added": "the two are no second person to each other for a day",
    "account:command line*": "nobody signs in as the account of the machine",
    "facility *": "links write it again when they open: THREATS says what holds until then",
    "acts * gone": "of an archived day, which has it: it is not on the page of acts",
    "wins * gone": "of an archived day, which has it: it is not on the page of wins",
    "checkpoint entries *": "it bounds what the archive gives up next",
    "checkpoint text gone": "the service's own audit says that entries are missing",
    "users * raised": "the order of the list",
    "session:*": "it ends, or is another's: THREATS says that",
    "devices:*": "who signs in on a new device is locked out sooner",
    "locks:*": "what administrators see of failures",
    "tries:*": "failures to sign in, for a quarter of an hour",
}
"""Changes that no audit names, and their consequences."""


NAMED: Final = {
    "accounts *": "{field} holds ",
    "tallies *": "{field} is at ",
    "approved *": "the approved configuration: {field} is ",
    "claim:* record.percent *": "claim {of}: ",
    "claim:* record.*": "claim {of}: {part} is ",
    "claim:* record *": "claim {of}: its record cannot be read",
    "claim:*": "claim {of}: {field} is ",
    "waiting odd *": "claim {field} is in redis's list of waiting claims",
    "waiting * raised": "claim {field}: its place in redis's list is ",
    "waiting *": "claim {field} waits, but is not in redis's list",
    "wins odd *": "the index of wins has '{field}'",
    "wins * raised": "1 wins are out of their order in the index",
    "wins *": "claim {win} is not in the index of wins",
    "acts 22 raised": "the index of acts has '22', which is no act",
    "acts odd *": "the index of acts has '{field}', which is no act",
    "acts * raised": "entry {field} is out of its order in the index of acts",
    "acts *": "entry {field} is not in the index of acts",
    "slips *": "slip '{field}' ",
    "reserved *": "slip '{field}' is ",
    "proposal:*": "proposal {of}: {field} is ",
    "proposals * gone": "proposal {field} waits, but is not in redis's list",
    "proposals *": "proposal '{field}' waits in redis, the ledger says otherwise",
    "meters terms:*": "meter {meter}: its record of terms is ",
    "meters pending:*": "meter {meter}: its count of pending claims is ",
    "meters version:*": "meter {meter} has version ",
    "meters *:*": "meter {meter}: its {kind} is ",
    "meters rounds *": "the link's count of open rounds is ",
    "meters day_closed *": "the link's last closed gaming day is ",
    "meters entries lowered": "the link's digest of the last entry is ",
    "meters entries *": "the ledger ends ",
    "meters chain *": "the link's digest of the last entry is ",
    "meters *": "the link's {field} is ",
    "tables *.held *": "table {field}: the wins that hold it cannot be read",
    "tables *.over *": "table {field}: its last finished round is ",
    "tables *.last *": "table {field}: it keeps no reply to event ",
    "tables T-1.*": "table t-1: it",
    "tables *.contributed *": "table {field}: the contributions of its open round",
    "tables *.known *": "table {field}: the entered cards of its correction requests ",
    "tables *.*": "table {field}: {part} is ",
    "tables * gone": "table {field}: its last event is 0",
    "tables *": "table {field}: its data in redis cannot be read: ",
    "rounds *": "table {field}: wagers is ",
    "repeated_claims *": "table {field}: its list of repeated claims is ",
    "replies *": "table {table}: ",
    "asks *": "table {field}: its correction request ",
    "user:* pin *": "user '{of}': the pin is not the pin ",
    "user:*": "user '{of}': {field} is ",
    "users odd *": "user '{field}' () is in redis",
    "users *": "user '{field}' is gone from redis",
    "account:* odd *": "the account of '{of}' has entry ",
    "account:* raised": "the account of '{of}' has entries out of their order",
    "account:*": "the account of '{of}' lacks entry {field} of the log",
    "administrators *": "they differ in {field}",
    "pins-set*": "redis lacks the record that the pin of ",
    "log-head mac_by *": "another secret than its last mac",
    "log-head *": "the operators' log: it",
    "*": "it is in UNNAMED",
}
"""The words by which a person finds what was changed, in small letters."""

_ALONE: Final = (
    "checkpoint *",
    "meters entries *",
    "meters chain *",
    "* schema *",
    "meters closed*",
)
"""Changes beside which an audit finds no other: they are made one at a time."""

_TOGETHER: Final = {
    **dict.fromkeys(("accounts *", "tallies *", "approved *", "meters *"), "{key} {field}"),
    **dict.fromkeys(("tables *", "rounds *", "repeated_claims *", "replies *", "asks *"), "tables"),
    **dict.fromkeys(("slips *", "reserved *"), "slips"),
    **dict.fromkeys(("account:*", "user*", "administrators *", "log-head *", "pins*"), "people"),
}
"""What an audit names once, of changes that it may not all name beside each other."""

_SECRETS: Final = LogSecrets(lambda: ["a" * 43])


@dataclass(frozen=True)
class Change:
    key: str
    field: bytes
    how: str
    value: bytes | float | None
    part: str = ""

    @property
    def label(self) -> str:
        name, part = self.key.partition("}:")[2] or self.key, self.part and f".{self.part}"
        return f"{name} {self.field.decode('utf-8', 'replace')}{part} {self.how}"

    @property
    def thing(self) -> str:
        """What an audit can name once, or an empty text: then it is changed alone."""
        if any(fnmatch.fnmatchcase(self.label, one) for one in _ALONE):
            return ""
        for label, thing in _TOGETHER.items():
            if fnmatch.fnmatchcase(self.label, label):
                return thing.format(key=self.key, field=self.field)
        return self.key

    def is_named(self, problems: str) -> bool:
        """Check whether one of the problems, in small letters, names what was changed."""
        field = self.field.decode("utf-8", "replace")
        words = next(of for one, of in NAMED.items() if fnmatch.fnmatchcase(self.label, one))
        said = words.format(
            of=self.label.split(" ")[0].partition(":")[2], field=field, part=self.part,
            meter=field.partition(":")[2], win=field.rpartition(":")[2],
            table=field.partition(":")[0], kind=field.partition(":")[0],
        )  # fmt: skip
        return said.lower() in problems


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


_ENVY: Final = {"position": 1, "patron": "x", "item": "progressive_envy", "amount": 5}


def _parts_of(key: str, field: bytes, value: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the name of each part of a packed field, and the field with another such part."""
    if key.endswith(":tables"):
        parts = msgspec.structs.asdict(STATE.decode(value))
    elif ":claim:" in key and field == b"record":
        parts = msgspec.json.decode(value, type=dict[str, Any])
    else:
        return
    for part, was in parts.items():
        other = parts | {part: _other(was)}
        yield (
            part,
            PACK.encode([*other.values()]) if "cards" not in parts else msgspec.json.encode(other),
        )


def _other(was: object) -> object:
    match was:
        case int():
            return was + 1
        case str():
            return f"{was}x"
        case None:
            return "x"
        case _:
            return () if was else (_ENVY,)


async def _changes(redis: Redis) -> AsyncIterator[Change]:
    for name in sorted([key.decode() async for key in redis.scan_iter()]):
        match cast("bytes", await redis.type(name)).decode():
            case "hash":
                fields = cast("dict[bytes, bytes]", await redis.hgetall(name))
                for field, value in sorted(fields.items()):
                    for how, other in _changes_of(value).items():
                        yield Change(name, field, how, other)
                    for part, packed in _parts_of(name, field, value):
                        yield Change(name, field, "altered", packed, part)
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


async def _batches(redis: Redis) -> list[dict[str, Change]]:
    """Return all changes, in batches of changes that an audit can name beside each other."""
    batches: list[dict[str, Change]] = []
    async for change in _changes(redis):
        fits = [one for one in batches if "" not in one and change.thing not in one]
        if change.thing and fits:
            fits[0][change.thing] = change
        else:
            batches.append({change.thing: change})
    return batches


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
    await link_acts.open("pit", "sue")
    await pit.adopt()
    await pit.wagers({1: f"{PROGRESSIVE} {BONUS}"}, table="T-2", round_id="R4")
    await link_acts.close("pit", "sue", "the felt is changed")
    up = Adjustment(meter=PROGRESSIVE, amount=100, reason="malfunction")
    await link_acts.propose("pit", "sue", up)
    proposed = await link_acts.propose("pit", "sue", up)
    await link_acts.withdraw("pit", proposed.proposal, "sue")
    await note_outage(pit.store, "service", Outage("o-1", "2026-11-20T02:14:07Z", ("x",)))


async def _staffed(redis: Redis) -> None:
    pins = PinHashing(time_cost=1, memory_kib=8)
    user_directory = UserDirectory(redis, 30, pins, log_secrets=_SECRETS)
    register = Register(redis, user_directory)
    await register.add("Ann", Role.ADMINISTRATOR)
    await register.add("Flo")
    await register.add("Tim", Role.AUDITOR)
    await user_directory.users.set_pin("Flo", WRONG, BY_COMMAND)
    await user_directory.users.disable("Tim", BY_COMMAND)
    opened = await register.sign_in("Ann", device="pad")
    await user_directory.sessions.choose_pin(opened.token, opened.person, PIN, WRONG, Caller("::1"))
    await register.refused("Flo", "000000")


async def _problems(kept: Kept, keys: Collection[str] = ()) -> list[str]:
    found: list[str] = []
    of_people = [USERS_TAG in key for key in keys]
    if not all(of_people) or not keys:
        found += (await kept.audit()).problems
    if any(of_people) or not keys:
        found += (await LogAudit(kept.pit.redis, _SECRETS).run()).problems
    return found


@pytest.mark.duty("D2", "D17", proof=True)
async def test_every_change_of_one_field_is_named_but_for_those_listed(kept: Kept) -> None:
    """Each change is named in words that say what was changed, also beside other changes."""
    redis = kept.pit.redis
    await _played(kept)
    await _staffed(redis)
    assert await _problems(kept) == []
    unnamed = set()
    for batch in await _batches(redis):
        before = {one.key: await redis.dump(one.key) for one in batch.values()}
        for change in batch.values():
            await _apply(redis, change)
        try:
            problems = "\n".join(["", *await _problems(kept, before)]).lower()
            unnamed |= {one.label for one in batch.values() if not one.is_named(problems)}
        except (ValueError, RedisError):
            # The audit ends by reporting that the data in Redis cannot be read.
            assert "" in batch, sorted(one.label for one in batch.values())
        for key, copy in before.items():
            await redis.restore(key, 0, cast("Any", copy), replace=True)
    assert await _problems(kept) == []
    listed = {one for known in UNNAMED for one in fnmatch.filter(unnamed, known)}
    assert sorted(unnamed - listed) == []
    # Two steps of one meter have the same millisecond only by chance.
    assert {known for known in UNNAMED if not fnmatch.filter(unnamed, known)} <= {
        "meters version:* lowered"
    }
