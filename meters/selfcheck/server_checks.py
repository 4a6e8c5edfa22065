"""Checks of the broker and the Redis in the floor file, and of the data in Redis (D9, D10)."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from redis.asyncio import Redis
from redis.exceptions import AuthenticationError, NoPermissionError, RedisError, ResponseError

from bonus.display import money
from bonus.errors import UserError
from bonus.wagers import MICROS_PER_CENT
from meters.audit.link_audit import LinkAudit
from meters.floor.floor_file import Floor, Link
from meters.floor.key_bundle import CHECK
from meters.floor.own_credentials import broker_address
from meters.ledger.accounts import meter_account, overflow_account
from meters.ledger.link_state import Snapshot
from meters.ledger.money_terms import adopted, terms_text
from meters.ledger.redis_layout import schema_problem
from meters.mqtt.broker_connect import connect_broker
from meters.mqtt.connection import BrokerConnection, BrokerError, prove_size
from meters.selfcheck.check_result import Check, failure, judged, passed, warning
from meters.store.client_name import refusals
from meters.store.floor_file_approval import LOST, Configuration
from meters.store.health import read_replication, redis_problem, redis_warnings
from meters.store.ledger_mark import LedgerMark
from meters.store.link_store import LinkStore
from meters.store.redis_clients import AnyRedis, every_redis, redis_of
from meters.store.slip_register import SLIPS_TAG
from meters.store.user_keys import USERS_TAG, UserKeys
from meters.users.log_audit import LogAudit, LogMark
from meters.users.log_macs import LogSecrets
from meters.users.user_store import UsersError, UserStore
from meters.wire import topics

WITHIN_S: Final = 5.0
_HEARD_WITHIN_S: Final = 1.0

_FORBIDDEN: Final = f"{topics.ROOT}/check"
_NO_ACCESS_LIST: Final = (
    "anybody can publish and read everything there, because the broker's access list is not in"
    " force: let mosquitto read broker/acl, and restart mosquitto"
)
_OTHER_LIST: Final = (
    "Redis refuses the Redis user for users and the operators' log, so nobody can sign in. The"
    " list of Redis users was not written together with services/: copy redis/ from the machine"
    " where `pitlink keys` was run, and restart Redis"
)
_BUNDLE_LACKS: Final = (
    "Redis denies the service's user access to users and the operators' log, and services/ has no"
    " redis-people-password, so nobody can sign in: copy services/ from the machine where `pitlink"
    " keys` was run, and restart the services"
)
_LIST_ALLOWS: Final = (
    "the Redis user of the links' data can read users and the operators' log, because Redis's"
    " list of users allows it: run `pitlink keys`, copy redis/, and restart Redis"
)

_PROBE: Final = """
local strings = getmetatable('')
if strings and pcall(function() strings.__index = strings.__index end) then return 1 end
return 0
"""
"""A script that returns 1 if it may change the methods of strings, which the scripts of all Redis
users share. It sets the present value again, so nothing changes.
"""

_FIXED: Final[Mapping[str, Mapping[tuple[int, int], int]]] = {
    "Redis": {
        (6, 2): 24, (7, 2): 16, (7, 4): 11, (8, 2): 9, (8, 4): 6, (8, 6): 6, (8, 8): 2, (8, 10): 1,
    },
    "Valkey": {(8, 0): 11, (8, 1): 9, (9, 0): 6, (9, 1): 1},
}  # fmt: skip
"""For each line of versions with corrections, the first version without the weaknesses known in
November 2026. The worst are CVE-2025-49844 (scripts), and the TLS weaknesses CVE-2026-81934 of
Redis and CVE-2026-56684 of Valkey.
"""

_OF_DISTRIBUTIONS: Final = frozenset({("Redis", "7.0.15"), ("Redis", "8.0.2"), ("Valkey", "8.1.1")})
"""Versions in Debian 12 and 13. Debian corrects them without a new version number."""


async def store_checks(floor: Floor, redis: AnyRedis) -> AsyncIterator[Check]:
    """Check Redis's settings and each link's data.

    Raises:
        TimeoutError: Redis does not answer.
    """
    tags = [SLIPS_TAG, *(link.id for link in floor.link)]
    async with asyncio.timeout(WITHIN_S):
        users = await _check_redis_users(redis, floor.link[0].id)
    users_readable = users is None or not users.fails
    async with asyncio.timeout(WITHIN_S):
        everywhere = every_redis(redis, [USERS_TAG, *tags] if users_readable else tags)
        check = await redis_check(everywhere)
    yield check
    if (weaknesses := await check_weaknesses(everywhere)) is not None:
        yield weaknesses
    # If Redis does not answer, the check above says so.
    with contextlib.suppress(RedisError, OSError):
        warnings = [each for one in everywhere for each in await redis_warnings(one)]
        if check.holds and warnings:
            yield warning("disk and memory of redis", "; ".join(dict.fromkeys(warnings)))
        for each in await check_replicas(everywhere):
            yield each
    if check.holds:
        if users is not None:
            yield users
        # No two services may connect to the broker with the same key bundle.
        same = "; ".join(await refusals(redis, floor.link[0].id))
        yield judged("services", same, "no two of them use the same keys")
        if users_readable:
            yield await _check_schema("schema of the users", UserStore(redis).schema())
            yield await _check_log(redis, floor)
        for link in floor.link:
            store = LinkStore(redis, link)
            yield await _check_schema(f"schema of {link.id}", store.schema())
            yield await _check_configuration(Configuration(floor, store), link.id)
            yield await _check_books(store, Path(floor.service.data))
            for each in meters_without_tables(link, await store.snapshot()):
                yield each


async def redis_check(everywhere: Mapping[Redis, str]) -> Check:
    found = [await redis_problem(each, tag) for each, tag in everywhere.items()]
    return judged("redis", "; ".join(dict.fromkeys(filter(None, found))), "keeps every write")


async def check_replicas(everywhere: Iterable[Redis]) -> Sequence[Check]:
    """For each primary, check that its replicas are connected and have its data.

    Missing sentinels, replicas and nodes are named: the floor works without one, but possibly not
    without two. If required replicas are missing, the check of Redis itself says so.
    """
    return [
        Check(
            f"replicas of {found.primary}" if found.primary else "replicas",
            holds=not found.missing and not any(each.problem for each in found.replicas),
            seen=", ".join(
                [
                    *(f"{each.address} {each.problem or 'in step'}" for each in found.replicas),
                    *found.missing,
                ]
            ),
            warns=True,
        )
        for found in await read_replication(everywhere)
        if found.replicas or found.missing
    ]


async def _check_redis_users(redis: AnyRedis, link: str) -> Check | None:
    """Check that exactly one Redis user can use the data of pitlink's users (duty D20).

    Return None if Redis does not answer, or if the links' data has the same Redis user and Redis
    lets this user use both.
    """
    what, books, users = "users at redis", redis_of(redis, link), redis_of(redis, USERS_TAG)
    try:
        try:
            await users.exists(UserKeys().log_head)
        except AuthenticationError:
            return None if users is books else failure(what, _OTHER_LIST)
        except NoPermissionError:
            return failure(what, _BUNDLE_LACKS if users is books else _OTHER_LIST)
        if users is books or _user_of(users) == _user_of(books):
            return None
        try:
            await books.exists(UserKeys().log_head)
        except NoPermissionError:
            return passed(what, "the links' data and the users each have their own Redis user")
        except ResponseError:
            """If this user may use the keys, a cluster node that does not have them answers so."""
    except (RedisError, OSError):
        return None
    return warning(what, _LIST_ALLOWS)


def _user_of(redis: Redis) -> object:
    return redis.connection_pool.connection_kwargs.get("username")


async def check_weaknesses(everywhere: Iterable[Redis]) -> Check | None:
    """Warn of known weaknesses in the versions of all primaries.

    Return None if Redis does not answer, or refuses the script: other checks say so.
    """
    try:
        async with asyncio.timeout(WITHIN_S):
            found = [await _read_weakness(each) for each in everywhere]
    except (RedisError, OSError):
        return None
    wrong = [seen for seen, is_weak in found if is_weak]
    seen = "; ".join(dict.fromkeys(wrong or (seen for seen, _ in found)))
    return Check("redis version", holds=not wrong, seen=seen, warns=True)


async def _read_weakness(redis: Redis) -> tuple[str, bool]:
    facts: Mapping[str, Any] = await redis.info("server")
    is_writable = bool(await redis.register_script(_PROBE)())
    # Valkey also names the version of Redis that it is compatible with.
    maker = "Valkey" if "valkey_version" in facts else "Redis"
    return weakness(maker, str(facts[f"{maker.lower()}_version"]), is_writable=is_writable)


def weakness(maker: str, version: str, *, is_writable: bool) -> tuple[str, bool]:
    """Return what is known about a version, and whether the version has a weakness.

    >>> weakness("Redis", "7.2.16", is_writable=False)
    ('Redis 7.2.16: no weakness known in November 2026', False)
    """
    name = f"{maker} {version}"
    if is_writable:
        seen = (
            f"{name} lets a script of one Redis user change the scripts of the others"
            " (CVE-2025-46818), and has other known weaknesses: install a later version"
        )
        return seen, True
    if (maker, version) in _OF_DISTRIBUTIONS:
        seen = (
            f"{name} of Debian or Ubuntu, with their corrections. The version does not say which"
            " corrections these are: install all updates"
        )
        return seen, False
    numbers = [int(part) for part in version.split(".") if part.isdecimal()]
    major, minor, patch = [*numbers, 0, 0, 0][:3]
    line, fixed = (major, minor), _FIXED[maker]
    newest = max(fixed)
    if line > newest or (line in fixed and patch >= fixed[line]):
        return f"{name}: no weakness known in November 2026", False
    better = line if line in fixed else newest
    seen = (
        f"{name} has known weaknesses, unless its distribution corrected them without a new version"
        f" number: install {better[0]}.{better[1]}.{fixed[better]} or later"
    )
    return seen, True


async def _check_log(redis: AnyRedis, floor: Floor) -> Check:
    """Check the operators' log against its mark, and the users against the log (duty D17)."""
    mark = LogMark(Path(floor.service.data))
    seen = mark.seen
    finding = await LogAudit(redis, LogSecrets.of(floor.service)).run(seen)
    lost = mark.problem(finding.entries, seen.entries)
    problems = "; ".join([*([lost] if lost else []), *finding.problems])
    return judged("operators' log", problems, f"{finding.entries} entries, unaltered")


async def _check_schema(what: str, schema: Awaitable[int | None]) -> Check:
    try:
        version = await schema
    except (UsersError, ValueError) as error:
        return failure(what, str(error))
    good = f"version {version}" if version else "not begun yet"
    return judged(what, schema_problem("it is", version), good)


async def _check_configuration(configuration: Configuration, link: str) -> Check:
    what, short = f"configuration of {link}", f"SHA-256 {configuration.filed.digest}"
    found = await configuration.unapproved()
    if found is not None:
        # Before the first approval, nothing is wrong: people have not begun yet.
        return Check(what, holds=False, seen=f"{found.problem} ({short})", warns=found.first)
    approved = await configuration.approved()
    if approved is None:
        return failure(what, f"{LOST} ({short})")
    by = f"{approved.first_by} and {approved.by}" if approved.first_by else approved.by
    return passed(what, f"as {by} approved it, {approved.at} ({short})")


async def _check_books(store: LinkStore, data: Path) -> Check:
    what, mark = f"data of {store.link.id}", LedgerMark(data, store.link.id)
    snapshot = await store.snapshot()
    held = mark.seen
    if lost := mark.problem(snapshot.last_entry, held.entries):
        return failure(what, lost)
    if not snapshot.meters:
        return passed(what, "not opened yet")
    for meter in adopted(store.link, snapshot.meters).meter:
        stored = snapshot.meters.get(f"terms:{meter.meter_id}")
        if stored is not None and stored != terms_text(meter):
            return failure(what, f"meter {meter.meter_id} has other terms in Redis: {stored}")
    finding = await LinkAudit(store).run(held)
    good = f"{finding.entries} ledger entries balance to the micro"
    if not held.entries:
        good += "; this machine has no ledger mark to compare them with"
    return Check(what, finding.balanced, "; ".join(finding.problems) or good)


def meters_without_tables(link: Link, snapshot: Snapshot) -> Iterator[Check]:
    """Warn of each meter that no table feeds, because nobody can win its money.

    A meter that was ended stays in the floor file without tables. Once its money was taken off, it
    needs no warning. Nobody can withdraw a reserve, so it does not count.
    """
    for meter in link.meter:
        if any(meter.meter_id in table.meters for table in link.table):
            continue
        accounts = meter_account(meter.meter_id), overflow_account(meter.meter_id)
        cents = [snapshot.accounts.get(account, 0) // MICROS_PER_CENT for account in accounts]
        begun = f"terms:{meter.meter_id}" in snapshot.meters
        seen = "no table feeds it: name it in `meters` of a table"
        if begun:
            seen = f"no table feeds it, so nobody can win its {money(sum(cents))}"
            seen += ": name it in `meters` of a table, or end the meter"
        what = f"meter {meter.meter_id} on {link.id}"
        ended = begun and not any(cents)
        good = "no table feeds it, and it has no money: it was ended"
        yield judged(what, None if ended else seen, good, warns=True)


async def broker_check(floor: Floor, *, listens: bool = True) -> Check:
    """Check that the broker answers; with `listens`, also that it uses its access list."""
    if floor.service.broker == "embedded":
        return passed("broker", "embedded: started with the service")
    try:
        address = broker_address(floor.service, CHECK)
    except UserError as error:
        return failure("broker", str(error))
    address_text = f"{address.host}:{address.port}"
    try:
        async with asyncio.timeout(WITHIN_S), connect_broker(address, "pitlink-check") as broker:
            # With the key bundle and user name of `pitlink check`, this client has no rights.
            ours = (
                listens and address.files is not None and address.username in {None, CHECK.username}
            )
            await prove_size(broker, _FORBIDDEN)
            if ours and await _hears_itself(broker):
                return failure("broker", f"{address_text}: {_NO_ACCESS_LIST}")
            return passed("broker", f"answers at {address_text}")
    except TimeoutError:
        return failure("broker", f"{address_text}: no answer within {WITHIN_S:.0f} s")
    except BrokerError as error:
        return failure("broker", f"{address_text}: {error}")


async def _hears_itself(broker: BrokerConnection) -> bool:
    """Return whether a broker delivers a message on a topic that nobody may use (duty D20).

    A broker that uses its access list delivers nothing, or ends the connection.
    """
    try:
        async with asyncio.timeout(_HEARD_WITHIN_S):
            await broker.subscribe(_FORBIDDEN)
            await broker.publish(_FORBIDDEN, b"")
            await broker.batch(1)
    except (TimeoutError, BrokerError):
        return False
    return True
