"""Checks of the floor file's broker and Redis, and of the data in Redis (D9, D10)."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path
from typing import Final

from redis.asyncio import Redis
from redis.exceptions import RedisError

from bonus.errors import UserError
from meters.books.audit import LinkAudit
from meters.books.ledger_mark import LedgerMark
from meters.books.money_terms import adopted, terms_text
from meters.books.schema import schema_problem
from meters.books.slip_numbers import SLIPS_TAG
from meters.books.store import LinkStore
from meters.floor.credentials import broker_address
from meters.floor.floor_file import Floor
from meters.floor.key_bundle import CHECK
from meters.mqtt.client_name import refusals
from meters.mqtt.connect import connect_broker
from meters.mqtt.connection import BrokerConnection, BrokerError, prove_size
from meters.redis_client.health import redis_problem, redis_warnings
from meters.redis_client.replication import read_replication
from meters.redis_client.shards import AnyRedis, every_redis
from meters.redis_client.user_keys import USERS_TAG
from meters.selfcheck.approval_checks import Configuration
from meters.selfcheck.check_result import Check
from meters.selfcheck.redis_users import check_redis_users
from meters.selfcheck.redis_weaknesses import check_weaknesses
from meters.users.errors import UsersError
from meters.users.log_audit import check_log
from meters.users.log_macs import LogSecrets
from meters.users.log_mark import LogMark
from meters.users.store import UserStore
from meters.wire import topics

WITHIN_S: Final = 5.0
_HEARD_WITHIN_S: Final = 1.0

_FORBIDDEN: Final = f"{topics.ROOT}/check"
_NO_ACCESS_LIST: Final = (
    "anybody may publish and read everything there, because its access list is not in force: let"
    " mosquitto read broker/acl, and restart it"
)


async def store_checks(floor: Floor, redis: AnyRedis) -> AsyncIterator[Check]:
    """Check Redis's settings, and each link's configuration, ledger and balances.

    Raises:
        TimeoutError: Redis does not answer.
    """
    tags = [SLIPS_TAG, *(link.id for link in floor.link)]
    async with asyncio.timeout(WITHIN_S):
        users = await check_redis_users(redis, floor.link[0].id)
    users_readable = users is None or not users.fails
    async with asyncio.timeout(WITHIN_S):
        everywhere = every_redis(redis, [USERS_TAG, *tags] if users_readable else tags)
        found = [await redis_problem(each, tag) for each, tag in everywhere.items()]
    problem = "; ".join(dict.fromkeys(filter(None, found))) or None
    yield Check("redis", problem is None, problem or "keeps every write")
    weaknesses = await check_weaknesses(everywhere)
    if weaknesses is not None:
        yield weaknesses
    # If Redis does not answer, the line above says so.
    with contextlib.suppress(RedisError, OSError):
        warnings = [each for one in everywhere for each in await redis_warnings(one)]
        if problem is None and warnings:
            seen = "; ".join(dict.fromkeys(warnings))
            yield Check("disk and memory of redis", holds=False, seen=seen, warns=True)
        for check in await check_replicas(everywhere):
            yield check
    if problem is None:
        if users is not None:
            yield users
        yield await _check_services(floor, redis)
        if users_readable:
            yield await _check_users(UserStore(redis))
            yield await _check_log(redis, floor)
        for link in floor.link:
            store = LinkStore(redis, link)
            yield await _check_link_schema(store)
            yield await Configuration(floor, store).check()
            yield await _check_books(store, Path(floor.service.data))


async def check_replicas(everywhere: Iterable[Redis]) -> Sequence[Check]:
    """Check for each primary which replicas are connected, and if they have its data.

    A sentinel, replica or node that is missing is named: the floor continues without it, but
    possibly not without the next one. A primary without any of them is left out. That required
    replicas are missing is reported by the check of Redis itself.
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


async def _check_services(floor: Floor, redis: AnyRedis) -> Check:
    """Check that no two services connect to the broker with the same key bundle."""
    found = await refusals(redis, floor.link[0].id)
    seen = "; ".join(found) or "no two of them use the same keys"
    return Check("services", holds=not found, seen=seen)


async def _check_users(store: UserStore) -> Check:
    """Check that the data of users has the layout (schema version) of this release."""
    try:
        return _check_schema("schema of the people", await store.schema())
    except UsersError as error:
        return Check("schema of the people", holds=False, seen=error.message)


async def _check_log(redis: AnyRedis, floor: Floor) -> Check:
    """Check the operators' log against its mark, and the users against the log (D17)."""
    mark = LogMark(Path(floor.service.data))
    seen = mark.seen
    finding = await check_log(redis, seen, LogSecrets.of(floor.service))
    lost = mark.problem(finding.entries, seen.entries)
    problems = "; ".join([*([lost] if lost else []), *finding.problems])
    return Check(
        "operators' log", not problems, problems or f"{finding.entries} entries, unaltered"
    )


async def _check_link_schema(store: LinkStore) -> Check:
    what = f"schema of {store.link.id}"
    try:
        return _check_schema(what, await store.schema())
    except ValueError as error:
        return Check(what, holds=False, seen=str(error))


def _check_schema(what: str, version: int | None) -> Check:
    """Check that data has the layout (schema version) of this release (duty D10)."""
    if problem := schema_problem("it is", version):
        return Check(what, holds=False, seen=problem)
    return Check(what, holds=True, seen=f"version {version}" if version else "not begun yet")


async def _check_books(store: LinkStore, data: Path) -> Check:
    """Check the terms in Redis against the floor file, and the balances against the ledger."""
    link = store.link.id
    mark = LedgerMark(data, link)
    snapshot = await store.snapshot()
    held = mark.seen
    if lost := mark.problem(snapshot.last_entry, held.entries):
        return Check(f"data of {link}", holds=False, seen=lost)
    if not snapshot.meters:
        return Check(f"data of {link}", holds=True, seen="not opened yet")
    for meter in adopted(store.link, snapshot.meters).meter:
        stored = snapshot.meters.get(f"terms:{meter.meter_id}")
        if stored is not None and stored != terms_text(meter):
            seen = f"meter {meter.meter_id} has other terms in Redis: {stored}"
            return Check(f"data of {link}", holds=False, seen=seen)
    finding = await LinkAudit(store).run(held)
    good = f"{finding.entries} ledger entries balance to the micro"
    if not held.entries:
        good += "; no mark of them was kept here to compare with"
    seen = "; ".join(finding.problems) or good
    return Check(f"data of {link}", finding.balanced, seen)


async def broker_check(floor: Floor, *, listens: bool = True) -> Check:
    """Check that the broker answers, and with `listens`, that its access list is in force."""
    if floor.service.broker == "embedded":
        return Check("broker", holds=True, seen="embedded: started with the service")
    try:
        address = broker_address(floor.service, CHECK)
    except UserError as error:
        return Check("broker", holds=False, seen=str(error))
    address_text = f"{address.host}:{address.port}"
    try:
        async with asyncio.timeout(WITHIN_S), connect_broker(address, "pitlink-check") as broker:
            # This client has the key bundle and the user name of `pitlink check`, so it has no
            # rights at all.
            ours = (
                listens and address.files is not None and address.username in {None, CHECK.username}
            )
            await prove_size(broker, _FORBIDDEN)
            if ours and await _hears_itself(broker):
                return Check("broker", holds=False, seen=f"{address_text}: {_NO_ACCESS_LIST}")
            return Check("broker", holds=True, seen=f"answers at {address_text}")
    except TimeoutError:
        return Check(
            "broker", holds=False, seen=f"{address_text}: no answer within {WITHIN_S:.0f} s"
        )
    except BrokerError as error:
        return Check("broker", holds=False, seen=f"{address_text}: {error}")


async def _hears_itself(broker: BrokerConnection) -> bool:
    """Check if a broker delivers a message on a topic that nobody is allowed to use (duty D20).

    A broker whose access list is in force delivers nothing, or ends the connection.
    """
    try:
        async with asyncio.timeout(_HEARD_WITHIN_S):
            await broker.subscribe(_FORBIDDEN)
            await broker.publish(_FORBIDDEN, b"")
            await broker.batch(1)
    except (TimeoutError, BrokerError):
        return False
    return True
