"""What `pitlink check` looks at: the floor file, and each part that it names."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import aiomqtt
from redis.exceptions import RedisError
from rich.console import Console

from bonus.errors import UserError
from bonus.law.chapter import chapters
from bonus.returns import hand_bonus_return
from bonus.settling.table_rules import table_rules
from meters.books.audit import LinkAudit
from meters.books.mark import LedgerMark
from meters.books.redis_health import redis_problem
from meters.books.store import LinkStore
from meters.books.terms import adopted, terms_text
from meters.keys.outlook import look_at_keys
from meters.mqtt.connection import BrokerConnection
from meters.service import open_redis
from meters.web.dress import read_logo
from meters.wire.credentials import broker_address, keys_directory
from meters.wire.floor import Floor, fewest_positions, read_floor
from meters.wire.parties import CHECK

_WITHIN_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Check:
    """One thing checked: whether it holds, and what was seen. `warns` where it only should."""

    what: str
    holds: bool
    seen: str
    warns: bool = False


async def run_check(config: Path) -> bool:
    """Check a floor file and its parts, print a line each; whether the floor can operate.

    Raises:
        FloorError: the floor file itself cannot be used.
    """
    floor = read_floor(config)
    console = Console(highlight=False)
    tables = sum(len(link.table) for link in floor.link)
    found = [Check("floor file", holds=True, seen=f"{len(floor.link)} links, {tables} tables")]
    found.append(_check_look(floor))
    found += _check_offers(floor)
    found += _check_returns(floor)
    if keys := keys_directory(floor.service):
        found += [Check(*seen) for seen in look_at_keys(keys)]
    found += await _check_redis(floor)
    found.append(await _check_broker(floor))
    for one in found:
        mark = "ok  " if one.holds else "warn" if one.warns else "FAIL"
        console.print(f"{mark}  {one.what}: {one.seen}", soft_wrap=True, markup=False)
    return all(one.holds or one.warns for one in found)


def _check_look(floor: Floor) -> Check:
    try:
        logo = read_logo(floor.signage)
    except UserError as error:
        return Check("signage", holds=False, seen=str(error))
    return Check("signage", holds=True, seen="its logo can be shown" if logo else "no logo")


def _check_offers(floor: Floor) -> list[Check]:
    """Warn where a table has not chosen what the game against the dealer needs."""
    found = []
    for link in floor.link:
        for table in link.table:
            rules = table_rules(chapters()[table.game], table.paytables)
            stake = rules.chapter.main.stake
            lacking = rules.placings[stake]
            if lacking.choice:
                seen = f"no {stake} is offered: no {lacking.choice} of {lacking.choice_rule} chosen"
                found.append(Check(f"paytables of {table.id}", holds=False, seen=seen, warns=True))
    return found


def _check_returns(floor: Floor) -> list[Check]:
    """Warn where a Five Card Hand Bonus gives back more than is wagered (reading T19)."""
    found = []
    for link in floor.link:
        for meter in link.meter:
            if not (meter.magic_card_every or meter.lucky_every):
                continue
            back = hand_bonus_return(
                meter.terms,
                magic_card_every=meter.magic_card_every,
                lucky_every=meter.lucky_every,
                positions=fewest_positions(link, meter),
            )
            tenths = back * 1000 // 1
            found.append(
                Check(
                    f"return of {meter.meter_id} on {link.id}",
                    holds=back <= 1,
                    seen=f"{tenths // 10}.{tenths % 10}% at the seed, with its draws"
                    + ("" if back <= 1 else ": the house loses; draw less often"),
                    warns=True,
                )
            )
    return found


async def _check_redis(floor: Floor) -> list[Check]:
    try:
        async with open_redis(floor) as redis:
            async with asyncio.timeout(_WITHIN_S):
                problem = await redis_problem(redis)
            found = [Check("redis", problem is None, problem or "keeps every write")]
            if problem is None:
                found += [
                    await _check_books(LinkStore(redis, link), Path(floor.service.data))
                    for link in floor.link
                ]
            return found
    except TimeoutError:
        return [Check("redis", holds=False, seen=f"no answer within {_WITHIN_S:.0f} seconds")]
    except (RedisError, OSError, ValueError, UserError) as error:
        return [Check("redis", holds=False, seen=str(error))]


async def _check_books(store: LinkStore, data: Path) -> Check:
    """The stored terms against the floor file's, the balances against the ledger."""
    link = store.link.id
    mark = LedgerMark(data, link)
    snapshot = await store.snapshot()
    held = mark.seen
    if lost := mark.problem(snapshot.last_entry, held.entries):
        return Check(f"books of {link}", holds=False, seen=lost)
    if not snapshot.meters:
        return Check(f"books of {link}", holds=True, seen="not opened yet")
    for meter in adopted(store.link, snapshot.meters).meter:
        stored = snapshot.meters.get(f"terms:{meter.meter_id}")
        if stored is not None and stored != terms_text(meter):
            seen = f"meter {meter.meter_id} has other terms in the store: {stored}"
            return Check(f"books of {link}", holds=False, seen=seen)
    finding = await LinkAudit(store).run(held)
    seen = "; ".join(finding.problems) or f"{finding.entries} ledger entries balance to the micro"
    return Check(f"books of {link}", finding.balanced, seen)


async def _check_broker(floor: Floor) -> Check:
    if floor.service.broker == "embedded":
        return Check("broker", holds=True, seen="embedded: started with the service")
    try:
        address = broker_address(floor.service, CHECK)
    except UserError as error:
        return Check("broker", holds=False, seen=str(error))
    place = f"{address.host}:{address.port}"
    try:
        async with asyncio.timeout(_WITHIN_S), BrokerConnection(address, "pitlink-check"):
            return Check("broker", holds=True, seen=f"answers at {place}")
    except TimeoutError:
        return Check("broker", holds=False, seen=f"{place}: no answer within {_WITHIN_S:.0f} s")
    except aiomqtt.MqttError as error:
        return Check("broker", holds=False, seen=f"{place}: {error}")
