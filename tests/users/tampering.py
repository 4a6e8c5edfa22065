"""What a holder of the Redis password for users does to them and to the operators' log."""

from collections.abc import Callable
from typing import cast

from meters.ledger.chain import link_entry
from meters.users.expected_users import pin_digest
from tests.users.staff import HERE, PIN, Register, fast_pins

Fields = dict[bytes, bytes]
Entry = tuple[bytes, Fields]


async def entries(register: Register) -> list[Entry]:
    return cast("list[Entry]", await register.redis.xrange(register.keys.log))


async def replace_log(register: Register, rows: list[Entry]) -> None:
    """Write other entries instead of the log's, as they are; the separate head stays."""
    await register.redis.delete(register.keys.log)
    for id_, fields in rows:
        await register.redis.xadd(register.keys.log, fields, id=id_)  # type: ignore[arg-type]


async def truncate(register: Register, last: int) -> None:
    rows = (await entries(register))[:last]
    await replace_log(register, rows)
    head = {b"entries": last, b"chain": rows[-1][1][b"chain"]}
    await register.redis.hset(register.keys.log_head, mapping=head)  # type: ignore[arg-type]


async def append(register: Register, fields: Fields) -> int:
    """Append an entry in the correct form: its number, its digest, and the head."""
    keys, redis = register.keys, register.redis
    head = cast("dict[bytes, bytes]", await redis.hgetall(keys.log_head))
    number = int(head.get(b"entries", b"0")) + 1
    fields = {name: value for name, value in fields.items() if name != b"chain"}
    chain = link_entry(head.get(b"chain", b"").decode(), f"{number}-0", tuple(fields.items()))
    row = fields | {b"chain": chain.encode()}
    await redis.xadd(keys.log, row, id=f"{number}-0")  # type: ignore[arg-type]
    await redis.hset(keys.log_head, mapping={"entries": number, "chain": chain})
    return number


async def rewrite(register: Register, change: Callable[[list[Fields]], list[Fields]]) -> None:
    """Write the log again in one step, with correct digests and head."""
    log, chain = register.keys.log, ""
    changed = change([fields for _, fields in await entries(register)])
    async with register.redis.pipeline(transaction=True) as pipe:
        pipe.delete(log)
        for number, fields in enumerate(changed, start=1):
            del fields[b"chain"]
            chain = link_entry(chain, f"{number}-0", tuple(fields.items()))
            row = fields | {b"chain": chain.encode()}
            pipe.xadd(log, row, id=f"{number}-0")  # type: ignore[arg-type]
        pipe.hset(register.keys.log_head, mapping={"entries": len(changed), "chain": chain})
        await pipe.execute()


async def insert_administrator(register: Register, *, listed: bool = True) -> str:
    """Insert an administrator that nobody added, with a known PIN; return the PIN as stored."""
    keys, kept = register.keys, await fast_pins().hash(PIN)
    user = {
        "name": "Eve", "role": "administrator", "pin": kept, "enabled": "1", "generation": "1",
        "added_at": "2026-01-01T00:00:00.000Z", "added_by": "Ada", "pin_by": "Eve",
    }  # fmt: skip
    await register.redis.hset(keys.user("eve"), mapping=user)  # type: ignore[arg-type]
    if listed:
        await register.redis.zadd(keys.users, {"eve": 0})
        await register.redis.sadd(keys.administrators, "eve")
    return kept


async def forge_administrator(register: Register, mac: bytes | None = None) -> int:
    """Insert an administrator with a matching entry, as `add_user` would; return its number."""
    entry = {
        "at": "2026-01-01T00:00:00.000Z", "what": "user_added", "by": "Ada", "about": "Eve",
        "client": HERE, "pin": pin_digest(await insert_administrator(register)), "pin_by": "Eve",
        "choose_by": "", "role": "administrator", "account": "eve",
    }  # fmt: skip
    fields = {name.encode(): value.encode() for name, value in entry.items()}
    number = await append(register, fields | ({} if mac is None else {b"mac": mac}))
    for name in ("eve", "ada"):
        await register.redis.zadd(register.keys.account(name), {str(number): number})
    return number
