"""Bringing a link's books to the layout that this release works on, with a ledger entry."""

from importlib.metadata import version
from typing import Final

import msgspec

from meters.books.lua import load_script
from meters.books.store import LinkStore, texts
from meters.schema import SCHEMA
from meters.wire.clock import now_text


class Upgrade(msgspec.Struct, frozen=True):
    """An upgrade as the ledger keeps it: from which version to which, by which release."""

    before: int
    after: int
    release: str


UPGRADE: Final = msgspec.json.Decoder(Upgrade)


async def upgrade_link(store: LinkStore, by: str) -> None:
    """Bring a link's books to the present layout, a version a step; without effect where they are.

    Each step is atomic, and carried out once though several ask for it.

    Raises:
        RedisError: the store failed; what was done so far stands.
    """
    script = store.redis.register_script(load_script("upgrade_link"))
    had = await store.schema()
    while had is not None and had < SCHEMA:
        step = Upgrade(had, had + 1, version("pitlink"))
        answer = await script(
            keys=list(store.fixed_keys),
            args=[now_text(), step.before, step.after, by, msgspec.json.encode(step)],
        )
        status, *_ = texts(answer)
        had = step.after if status == "done" else await store.schema()
