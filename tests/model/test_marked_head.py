"""The mark never contains a head that Redis reports and the ledger does not have.

Otherwise a head that somebody raised for a moment would make the mark report lost entries
permanently. The mark would then have to be removed, and with it the evidence of real losses.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import cast

import pytest

from meters.store.ledger_mark import LedgerMark, MarkError
from tests.model.pit import Pit
from tests.model.running import Running
from tests.mqtt.events import encode, wagers

pytestmark = pytest.mark.duty("D10")

WAGERS = encode(wagers(7, "R4"))


async def event_taken(link: Running) -> None:
    """Send an event again, which changes nothing and gets the same answer."""
    link.service.problem = None
    if not await link.take("T-2", WAGERS):
        raise MarkError(link.service.problem)


async def head_of(pit: Pit) -> dict[str, str]:
    fields = cast("dict[bytes, bytes]", await pit.redis.hgetall(pit.store.keys.meters))
    return {"entries": fields[b"entries"].decode(), "chain": fields[b"chain"].decode()}


async def put_head(pit: Pit, head: dict[str, str]) -> None:
    await pit.redis.hset(pit.store.keys.meters, mapping=head)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "sees",
    [
        pytest.param(lambda link: link.service.keep_mark(), id="a decision"),
        pytest.param(lambda link: link.service.reload(), id="a change"),
        pytest.param(event_taken, id="a repeated event"),
    ],
)
@pytest.mark.parametrize("raised", [0, 1, 1_000])
async def test_head_that_the_ledger_does_not_have_is_not_in_the_mark(
    keeping_played: Pit, tmp_path: Path, sees: Callable[[Running], Awaitable[object]], raised: int
) -> None:
    pit = keeping_played
    await pit.void(table="T-2", round_id="R3")
    reply = await pit.send("T-2", WAGERS)
    assert b'"accepted"' in (reply or b"")
    had = await head_of(pit)
    link, mark = Running(pit, tmp_path), LedgerMark(tmp_path, pit.link.id)
    await put_head(pit, {"entries": str(int(had["entries"]) + raised), "chain": "0" * 40})
    with pytest.raises(MarkError, match="but the ledger ends with another"):
        await sees(link)
    assert not mark.path.exists()
    await put_head(pit, had)
    await sees(link)
    seen = LedgerMark(tmp_path, pit.link.id).seen
    assert {"entries": str(seen.entries), "chain": seen.chain} == had
