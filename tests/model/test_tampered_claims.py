"""An audit names each claim whose fields were altered in Redis, and each altered slip."""

from typing import Any, cast

import msgspec
import pytest

from meters.archive.day_file import ArchiveError, DayFile
from meters.books.audit import LinkAudit
from meters.selfcheck.approval_checks import Configuration
from tests.approving import approve
from tests.model.days import A_DAY
from tests.model.kept import Kept
from tests.model.pit import Pit
from tests.model.tampering import play_a_while

PAID, REJECTED, WAITING = "pit.T-1-2-2", "pit.T-1-2-3", "pit.T-1-2-4"
WITH_SLIP = "pit.T-1-2-5"


async def problems(pit: Pit) -> tuple[str, ...]:
    return (await pit.audit()).problems


async def record_of(pit: Pit, claim: str) -> dict[str, Any]:
    (fields,) = await pit.store.claims([claim])
    return msgspec.json.decode(fields["record"], type=dict[str, Any])


async def put_record(pit: Pit, claim: str, record: dict[str, Any]) -> None:
    await pit.redis.hset(pit.store.keys.claim(claim), "record", msgspec.json.encode(record))


async def alter_record(pit: Pit, of: str, **changed: Any) -> None:  # noqa: ANN401
    record = await record_of(pit, of)
    assert record.keys() >= changed.keys(), "they are fields of a record"
    await put_record(pit, of, record | changed)


@pytest.mark.duty("D17")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("cards", ["2c", "2d", "2h"]), ("dealer", ["Ac", "Ad", "Ah"]), ("community", ["Ac", "Ad"]),
        ("hand", "flush"), ("table", "T-2"), ("patron", "p-77"), ("position", 7), ("round", "R0"),
        ("meter", "progressive_2"), ("link", "pot"), ("item", "five_of_six"), ("percent", 1),
        ("paid_from", "table_inventory"), ("rule", "649a.1"), ("wagered", 500), ("turn", 9),
        ("turns", 9), ("wagers", []), ("claim", "pit.T-1-2-99"),
        ("envy", [{"position": 1, "patron": "x", "item": "progressive_envy", "amount": 5}]),
    ],
)  # fmt: skip
async def test_evidence_that_was_altered_is_named_with_its_field(
    played: Pit, field: str, value: object
) -> None:
    """This holds for a claim that was paid, for one that was rejected, and for one that waits."""
    for claim in (PAID, REJECTED, WAITING):
        record = await record_of(played, claim)
        await alter_record(played, claim, **{field: value})
        (problem,) = await problems(played)
        assert problem.startswith(f"claim {claim}: {field} is ")
        assert ", the ledger says " in problem
        await put_record(played, claim, record)


@pytest.mark.duty("D17")
@pytest.mark.parametrize(
    ("claim", "field", "value"),
    [
        (WAITING, "amount", "1"), (PAID, "amount", "1"), (PAID, "state", "validated"),
        (REJECTED, "state", "paid"), (WAITING, "state", "validated"), (PAID, "by", "eve"),
        (PAID, "validate_by", "eve"), (PAID, "pay_by", "eve"), (REJECTED, "reject_by", "eve"),
        (PAID, "pay_at", "2020-01-01T00:00:00.000Z"), (PAID, "entry", "1"), (PAID, "after", "3"),
        (REJECTED, "decision", "{}"), (WAITING, "at", "2020-01-01T00:00:00.000Z"),
        (WAITING, "pay_by", "eve"),
    ],
)  # fmt: skip
async def test_claim_whose_state_was_altered_is_named_with_its_field(
    played: Pit, claim: str, field: str, value: str
) -> None:
    await played.redis.hset(played.store.keys.claim(claim), field, value)
    (problem,) = await problems(played)
    assert problem.startswith(f"claim {claim}: {field} is {value!r}, the ledger says ")


async def test_record_that_is_none_is_named(played: Pit) -> None:
    key, record = played.store.keys.claim(PAID), await record_of(played, PAID)
    lacking = msgspec.json.encode({name: record[name] for name in record if name != "patron"})
    for text in ("", "{}", '{"claim": 7}', "\x00", lacking):
        await played.redis.hset(key, "record", text)
        (problem,) = await problems(played)
        assert problem.startswith(f"claim {PAID}: its record cannot be read")
    await put_record(played, PAID, record | {"vip": True})
    assert await problems(played) == (
        f"claim {PAID}: its record has a field 'vip' that no record has",
    )


async def test_claim_that_is_gone_is_named(played: Pit) -> None:
    for claim in (PAID, REJECTED, WAITING):
        copy = await played.redis.dump(played.store.keys.claim(claim))
        await played.redis.delete(played.store.keys.claim(claim))
        assert await problems(played) == (f"claim {claim} is missing, the ledger has it",)
        await played.redis.restore(played.store.keys.claim(claim), 0, cast("Any", copy))


async def test_claim_in_the_wrong_list_or_count_is_named(played: Pit) -> None:
    keys = played.store.keys
    await played.redis.zrem(keys.waiting, WAITING)
    await played.redis.zadd(keys.waiting, {PAID: 6})
    assert await played.redis.zrem(keys.wins, f"five_card_progressive:{6:016d}:{PAID}") == 1
    await played.redis.zadd(keys.wins, {f"progressive:{7:016d}:pit.T-9-9-9": 0})
    await played.redis.hset(keys.meters, "pending:progressive", 0)
    found = await problems(played)
    for said in (
        f"claim {PAID} is in Redis's list of those that wait, the ledger says it does not",
        f"claim {WAITING} waits, and is not in Redis's list",
        f"claim {PAID} is not in the index of wins",
        f"the index of wins has 'progressive:{7:016d}:pit.T-9-9-9', which the ledger does not have",
    ):
        assert said in found
    (pending,) = (one for one in found if "pending" in one)
    assert pending.startswith("meter progressive has 0 pending claims, the ledger says ")
    assert len(found) == 5


async def test_slip_that_was_freed_or_given_to_another_claim_is_named(played: Pit) -> None:
    keys = played.store.keys
    await played.pay(WITH_SLIP, "A-1001")
    (slip,) = cast("list[bytes]", await played.redis.hkeys(keys.slips))
    await played.redis.hset(keys.slips, slip, PAID)
    await played.redis.hset(keys.slips, "b-7", PAID)
    paid_by = f"the ledger says it paid claim {WITH_SLIP}"
    name = slip.decode()
    assert await problems(played) == (
        f"slip {name!r} pays claim pit.T-1-2-2 in Redis, {paid_by}",
        "slip 'b-7' pays claim pit.T-1-2-2 in Redis, and not in the ledger",
    )
    await played.redis.delete(keys.slips)
    assert await problems(played) == (f"slip {name!r} is free in Redis, {paid_by}",)


async def test_asset_is_held_against_the_approved_floor_file(pit: Pit) -> None:
    await approve(Configuration(pit.floor, pit.store))
    await play_a_while(pit)
    await alter_record(pit, PAID, asset="999")
    assert await problems(pit) == (f"claim {PAID}: asset is '999', the ledger says '104211'",)


async def test_running_audit_names_what_was_altered_since(played: Pit) -> None:
    """This is the running service's audit, which began before the claims were decided."""
    audit = LinkAudit(played.store)
    assert (await audit.run(again=10)).balanced
    await alter_record(played, PAID, patron="p-77")
    (problem,) = (await audit.run(again=10)).problems
    assert problem.startswith(f"claim {PAID}: patron is ")


async def test_claims_decided_while_an_audit_runs_are_no_problem(
    played: Pit, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit, store = LinkAudit(played.store), played.store
    read = store.claims_at

    async def decide_first(ids: Any) -> Any:  # noqa: ANN401
        monkeypatch.setattr(store, "claims_at", read)
        await played.pay_all([WAITING])
        await played.void(table="T-2", round_id="R3")
        return await read(ids)

    monkeypatch.setattr(store, "claims_at", decide_first)
    assert (await audit.run()).problems == ()
    assert (await audit.run()).problems == ()


@pytest.fixture
async def closed(kept: Kept) -> Kept:
    await play_a_while(kept.pit)
    await kept.pit.pay_all([row.claim for row in await kept.pit.claims.waiting()])
    kept.rounds = 10
    await kept.days.keep(A_DAY)
    return kept


async def test_claims_altered_before_they_are_archived_are_not_archived(closed: Kept) -> None:
    await alter_record(closed.pit, PAID, patron="p-77")
    with pytest.raises(ArchiveError, match=f"claim {PAID}: patron is"):
        await closed.run()
    assert closed.archive.files() == []


async def test_claims_of_archived_days_are_named_by_the_audit_of_the_archive(
    closed: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person who writes a file again with its digest still cannot change the ledger's digest."""
    await closed.run()
    await closed.week(3)
    await closed.run()
    assert min(await closed.live()) > 14, "what was decided is in the archive alone"
    assert (await closed.audit()).balanced
    record = await record_of(closed.pit, PAID)
    await alter_record(closed.pit, PAID, patron="p-77")
    (problem,) = (await closed.audit()).problems
    assert problem.startswith(f"claim {PAID}: patron is ")
    await put_record(closed.pit, PAID, record)
    file, *_ = closed.archive.files()
    held = {claim: dict(fields) for claim, fields in file.claims().items()}
    text = msgspec.json.encode(record | {"patron": "p-77"}).decode()
    altered = held | {PAID: held[PAID] | {"record": text}}
    monkeypatch.setattr(DayFile, "claims", lambda _: altered)
    said = f"{file.path}: claim {PAID}: patron is "
    assert any(problem.startswith(said) for problem in (await closed.audit()).problems)
