"""Ledgers from before texts had to be printable: they are read, continued and restored."""

from pathlib import Path

import pytest
from redis.asyncio import Redis

from meters.intake.batches import LinkIntake
from meters.metrics import Metrics
from tests.model.kept import Kept
from tests.model.pit import PROGRESSIVE, RAGS, Pit
from tests.restore.pit import KeptPit

_ROUND = "R\x1b[2J1"
_PATRON = "p\u202e1"


def _as_before(pit: Pit) -> None:
    """Have the link accept events as a release did that did not check texts."""
    pit.intakes[0] = LinkIntake(pit.store, Metrics(pit.floor), replays=True)


@pytest.fixture
async def pit(redis: Redis) -> Pit:
    """Return a link with an open round whose texts cannot be printed."""
    pit = await Pit.opened(redis)
    _as_before(pit)
    await pit.wagers({1: PROGRESSIVE}, round_id=_ROUND, patrons={1: _PATRON})
    pit.restart()
    return pit


async def test_a_round_that_was_open_gets_its_result(pit: Pit, tmp_path: Path) -> None:
    """Only the same patron is accepted. Audit and archive can read all of it."""
    hand = {"position": 1, "patron": _PATRON, "cards": ["As", "Ks", "Qs"]}
    dealt = {"positions": [hand], "dealer": ["2c", "7d", "9h"], "community": ["4c", "8d"]}
    other = {**dealt, "positions": [{**hand, "position": 2, "patron": f"{_PATRON}\r"}, hand]}
    refused = await pit.event("T-1", "result", _ROUND, **other)
    assert refused.error is not None
    assert (refused.error.code, refused.error.field) == ("unprintable_text", "positions[0].patron")
    settled = await pit.event("T-1", "result", _ROUND, **dealt)
    assert settled.status == "accepted"
    assert (await pit.audit()).balanced
    kept = Kept(pit, tmp_path)
    await kept.run()
    assert (await kept.audit()).balanced


async def test_a_round_that_was_open_is_voided(pit: Pit) -> None:
    refused = await pit.event("T-1", "void", _ROUND, reason="mis\x1bdeal")
    assert refused.error is not None
    assert (refused.error.code, refused.error.field) == ("unprintable_text", "reason")
    assert (await pit.event("T-1", "void", _ROUND, reason="misdeal")).status == "accepted"
    assert (await pit.audit()).balanced


async def test_old_events_in_outboxes_are_accepted_again(redis: Redis, tmp_path: Path) -> None:
    """After a loss of the store, old events are accepted with the answers of that time."""
    pit = KeptPit(redis, tmp_path)
    await pit.open()
    _as_before(pit)
    await pit.round({1: PROGRESSIVE}, {1: RAGS}, round_id=_ROUND, patrons={1: _PATRON})
    await redis.flushdb()
    restored = await pit.restoring(None, "T-2").run()
    assert restored.finding.balanced
    assert restored.replayed.differing == []
