"""Ledger entries and marks with arbitrary bytes: the audit reports them and never hangs."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bonus.errors import UserError
from meters.acts.claim_types import WinSearch
from meters.acts.meter_changes import Adjustment
from meters.audit.link_audit import LinkAudit
from meters.ledger.ledger_replay import Replay
from meters.store.ledger_mark import LedgerMark
from tests.model.pit import BONUS, PROGRESSIVE, Pit

DEEP = b"[" * 200_000
FIELDS = ("kind", "at", "by", "table", "round", "seq", "transfers", "event", "reply")


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": b"result", "transfers": b'[["a","b",1,1,' + DEEP},
        {"kind": b"seed", "transfers": b'[["house","meter:x",5,1]]', "event": b'{"x":' + DEEP},
        {"kind": b"parameter", "transfers": b"[]", "event": b'{"x":' + DEEP},
        {"kind": b"\xff", "transfers": b"[]", "event": b""},
        {"kind": b"void", "transfers": b"\xff", "table": b"\xff"},
        {},
    ],
)
@pytest.mark.duty("D19")
def test_an_entry_of_any_bytes_is_a_problem_in_words(fields: dict[str, bytes]) -> None:
    replay = Replay()
    replay.apply_entry(1, dict.fromkeys(FIELDS, b"") | fields)
    assert replay.problems[0] == "entry 1 has no digest"
    assert len(replay.problems) == 2
    assert replay.entries == 1


@pytest.mark.parametrize(
    ("transfer", "problem"),
    [
        (b'[["house","meter:x",0,1]]', "entry 1 moves 0 micros"),
        (b'[["house","meter:x",-5,1]]', "entry 1 moves -5 micros"),
        (b'[["house","meter:x",-5,1]]', "entry 1 leaves meter:x at -5 micros"),
        (b'[["claim:x","house",5,1]]', "entry 1 leaves claim:x at -5 micros"),
    ],
)
@pytest.mark.duty("D19")
def test_a_transfer_that_cannot_be_is_a_problem(transfer: bytes, problem: str) -> None:
    replay = Replay()
    replay.apply_entry(1, dict.fromkeys(FIELDS, b"") | {"kind": b"open", "transfers": transfer})
    assert problem in replay.problems


@pytest.mark.duty("D19")
def test_money_from_a_table_is_a_contribution_even_if_the_entry_is_wrong() -> None:
    """The totals are those of the transfers, so they agree with the balances."""
    replay, moved = Replay(), b'[["table:x","meter:x",5,1],["reserve:x","table:x",2,1]]'
    replay.apply_entry(1, dict.fromkeys(FIELDS, b"") | {"kind": b"open", "transfers": moved})
    assert replay.checkpoint.contributed_micros == 3


@pytest.mark.duty("D19")
async def test_an_entry_with_the_number_of_another_does_not_stop_the_audit(pit: Pit) -> None:
    """It has the last entry's number with another sequence, which any writer can add."""
    redis = pit.redis
    last = (await pit.store.snapshot()).last_entry
    await redis.xadd(pit.store.keys.ledger, {b"\xff": b"\xff"}, id=f"{last}-1")
    await redis.xadd(pit.store.keys.ledger, {"kind": "open"}, id=f"{last + 1}-0")
    await redis.hset(pit.store.keys.meters, "entries", str(last + 1))
    async with asyncio.timeout(60):
        finding = await LinkAudit(pit.store).run()
    assert not finding.balanced


@pytest.mark.parametrize("data", [b'{"link":"\xff","entries":1}', b"\xff", b'{"x":' + DEEP, b""])
def test_a_mark_of_any_bytes_is_reported(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "marks" / "pit.ledger-mark.json"
    path.parent.mkdir()
    path.write_bytes(data)
    with pytest.raises(UserError, match=r"cannot be read: .* remove it to start again"):
        LedgerMark(tmp_path, "pit")


def test_a_mark_of_another_user_is_not_to_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that root ran left the mark. Removing it would destroy evidence."""

    def refuse(_path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(UserError, match="the services' user") as refused:
        LedgerMark(tmp_path, "pit")
    assert "remove" not in str(refused.value)


@pytest.mark.parametrize(
    "junk",
    [
        {"kind": b"close", "event": b"{", "at": b"2026-11-20T02:14:07Z", "by": b"x"},
        {"kind": b"odd", "event": b"{}", "at": b"2026-11-20T02:14:07Z"},
        {"kind": b"validate", "event": b"{}", "at": b"2026-11-20T02:14:07Z"},
        {"kind": b"open", "event": b'{"act":"open","by":"x"}', "at": b"yesterday"},
        {b"\xff": b"\xff"},
    ],
)
@pytest.mark.duty("D17")
async def test_one_act_that_cannot_be_read_hides_no_other(
    pit: Pit, junk: dict[str | bytes, bytes]
) -> None:
    store = pit.store
    before = await pit.link_acts.acts("pit", None, 50)
    last = (await store.snapshot()).last_entry
    entry: dict[Any, Any] = junk if b"\xff" in junk else {**dict.fromkeys(FIELDS, b""), **junk}
    await pit.redis.xadd(store.keys.ledger, entry, id=f"{last + 1}-0")
    await pit.redis.zadd(store.keys.acts, {str(last + 1): last + 1})
    unreadable, *others = await pit.link_acts.acts("pit", None, 50)
    assert (unreadable.entry, unreadable.what, unreadable.at) == (last + 1, "unreadable", "")
    assert "cannot be read" in unreadable.told
    assert others == before


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("record", b"{"),
        ("record", b"\xff"),
        ("amount", b"much"),
        ("state", b"odd"),
        ("after", None),
    ],
)
@pytest.mark.duty("D17")
async def test_one_claim_that_cannot_be_read_hides_no_other(
    pit: Pit, field: str, value: bytes | None
) -> None:
    for round_id in ("R1", "R2"):
        await pit.wagers({1: f"{PROGRESSIVE} {BONUS}"}, round_id=round_id)
        await pit.result({1: "Ah Kh Qh"}, round_id=round_id)
    damaged, *others = await pit.claims.waiting()
    assert others
    key = pit.store.keys.claim(damaged.claim)
    if value is None:
        await pit.redis.hdel(key, field)
    else:
        await pit.redis.hset(key, field, value)
    assert await pit.claims.waiting() == others
    shown = (await pit.claims.wins(WinSearch())).wins
    assert {row.claim for row in shown} == {row.claim for row in others}
    assert not (await LinkAudit(pit.store).run()).balanced


async def test_one_proposal_that_cannot_be_read_hides_no_other(pit: Pit) -> None:
    for number in (1, 2):
        change = Adjustment(meter=PROGRESSIVE, amount=number, reason="as counted")
        await pit.link_acts.propose("pit", "sue", change)
    (link,) = await pit.link_acts.links()
    damaged, *others = link.proposals
    assert others
    key = pit.store.keys.proposal(damaged.proposal)
    assert await pit.redis.exists(key)
    await pit.redis.hset(key, "record", "{")
    (link,) = await pit.link_acts.links()
    assert list(link.proposals) == others
