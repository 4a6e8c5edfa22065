"""An audit finds every change of the books made without the service, and by how much.

Every entry has a digest over itself and the digest before. The ledger mark outside Redis shows a
change of an entry and of all digests after it.
"""

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from bonus.errors import UserError
from meters.acts.meter_changes import Adjustment
from meters.audit.link_audit import LinkAudit
from meters.ledger.checkpoint import Mark
from meters.store.ledger_mark import LedgerMark
from meters.store.link_store import LinkStore
from tests.model.pit import PROGRESSIVE, Pit, to
from tests.model.tampering import (
    Fields,
    change_transfer,
    entry_of,
    ledger,
    move_balance,
    put_entry,
    rewrite,
)

pytestmark = pytest.mark.duty("D17")


async def problems(pit: Pit) -> tuple[str, ...]:
    return (await pit.audit()).problems


async def rewritten(
    pit: Pit, number: int, change: Callable[[Fields], Fields | None], *, chained: bool = True
) -> tuple[str, ...]:
    """Return what an audit finds once one entry is changed, or deleted if `change` returns None."""
    await rewrite(
        pit, lambda entry, fields: change(fields) if entry == number else fields, chained=chained
    )
    return await problems(pit)


async def test_books_that_were_left_alone_balance(played: Pit) -> None:
    """The digests are SHA-1 over the digest before and every part with its length.

    Of the event and the reply, this part is a digest.
    """
    finding, rows = await played.audit(), await ledger(played)
    assert (finding.problems, finding.entries) == ((), len(rows))
    accounts = await played.accounts()
    for meter, held in finding.meters.items():
        assert held == {
            "amount_micros": accounts[f"meter:{meter}"],
            "reserve_micros": accounts.get(f"reserve:{meter}", 0),
            "overflow_micros": 0,
        }
    digest = ""
    for entry, fields in rows:
        covered = dict(fields)
        del covered[b"chain"]
        for name in (b"event", b"reply"):
            covered[name] = hashlib.sha1(fields[name]).hexdigest().encode()  # noqa: S324
        parts = [entry, *(part for pair in covered.items() for part in pair)]
        text = digest.encode() + b"".join(b"%d:%s" % (len(part), part) for part in parts)
        digest = hashlib.sha1(text, usedforsecurity=False).hexdigest()
        assert fields[b"chain"].decode() == digest
    assert (await played.store.state()).head.chain == digest
    left = msgspec.structs.replace(played.link, table=played.link.table[1:])
    assert (await LinkAudit(LinkStore(played.redis, left)).run()).balanced, "a table left the floor"


@pytest.mark.parametrize("kind", ["seed", "wagers", "result", "void", "validate", "pay", "reject"])
async def test_entry_that_was_deleted_is_missed(played: Pit, kind: str) -> None:
    gone = await entry_of(played, kind)
    found = await rewritten(played, gone, lambda _: None, chained=False)
    assert f"entry {gone + 1} follows entry {gone - 1}: some are missing" in found
    moves_money = kind != "validate"
    assert any(re.search(r"micros, the ledger says -?\d+: [+-]\d+$", one) for one in found) == (
        moves_money
    )


async def test_ledger_that_ends_too_early_is_found(played: Pit) -> None:
    rows, key, running = await ledger(played), played.store.keys.ledger, LinkAudit(played.store)
    last = (await running.run()).entries
    await played.redis.xdel(key, rows[-1][0])
    assert (await problems(played))[0] == (
        f"the ledger ends at entry {last - 1}, the other data in Redis at entry {last}"
    )
    (problem,) = (await running.run(again=last)).problems
    assert problem == f"the ledger has lost the entries after {last - 1}"
    await played.redis.delete(key)
    assert (await problems(played))[0] == (
        f"the ledger ends at entry 0, the other data in Redis at entry {last}"
    )


@pytest.mark.parametrize("kind", ["seed", "wagers", "result", "void", "pay", "reject"])
async def test_transfer_that_was_altered_is_found_by_how_much(played: Pit, kind: str) -> None:
    number = await entry_of(played, kind)
    found = await rewritten(played, number, lambda fields: change_transfer(fields, 0, 1))
    by_one = [one for one in found if one.endswith((": +1", ": -1"))]
    assert len(by_one) == 2, "where it came from and where it went"
    if kind in {"wagers", "result"}:
        assert any(one.startswith(f"entry {number} moves") for one in found)


@pytest.mark.duty("D19", proof=True)
async def test_transfer_and_balances_altered_alike_are_found_by_the_rates(played: Pit) -> None:
    """The books agree with the ledger. Neither agrees with what the wagers add."""
    number = await entry_of(played, "wagers")
    await move_balance(played, "table:T-1", -7)
    await move_balance(played, "meter:progressive", 7)
    (problem,) = await rewritten(played, number, lambda fields: change_transfer(fields, 0, 7))
    assert problem.startswith(f"entry {number} moves")


@pytest.mark.parametrize("cents", [1, -1, 1_000_000])
async def test_reply_that_was_altered_is_found_by_what_moved(played: Pit, cents: int) -> None:
    number = await entry_of(played, "result")

    def alter(fields: Fields) -> Fields:
        reply = msgspec.json.decode(fields[b"reply"])
        line = next(line for line in reply["lines"] if line["paid"])
        line["paid"] += cents
        return fields | {b"reply": msgspec.json.encode(reply)}

    found = await rewritten(played, number, alter)
    assert found[:2] == (
        f"entry {number}: claim pit.T-1-2-1 is of 7000 cents, not {7_000 + cents}",
        (
            f"entry {number} moves 70000000 from house to claim:pit.T-1-2-1,"
            f" and must move {(7_000 + cents) * 10_000} from house to claim:pit.T-1-2-1"
        ),
    )
    assert found[2].startswith("won_cents is at"), "the accounting meters differ too"


@pytest.mark.duty("D19")
async def test_result_whose_reply_names_no_claims_must_have_an_event(played: Pit) -> None:
    """The service always lists the claims, even if there are none."""
    claims = b',"claims":[]'
    rows = await ledger(played)
    number = next(
        at for at, (_, one) in enumerate(rows, 1)
        if one[b"kind"] == b"result" and claims in one[b"reply"]
    )  # fmt: skip
    found = await rewritten(
        played,
        number,
        lambda fields: fields | {b"event": b"{}", b"reply": fields[b"reply"].replace(claims, b"")},
    )
    assert any(one.startswith(f"entry {number} cannot be read") for one in found)


async def test_wager_that_was_slipped_into_an_entry_is_found(played: Pit) -> None:
    number = await entry_of(played, "wagers")

    def alter(fields: Fields) -> Fields:
        event = msgspec.json.decode(fields[b"event"])
        event["positions"].append({"position": 7, "wagers": {"progressive": 100}})
        return fields | {b"event": msgspec.json.encode(event)}

    problem, *others = await rewritten(played, number, alter)
    assert problem.startswith(f"entry {number} moves")
    known_problems = (" is at ", ": wagers is ", "settles other wagers", "the reply that it keeps")
    unknown = [one for one in others if not any(each in one for each in known_problems)]
    assert not unknown, "tallies and evidence too"


@pytest.mark.parametrize("field", [b"transfers", b"event", b"kind"])
async def test_entry_that_cannot_be_read_is_reported(played: Pit, field: bytes) -> None:
    number = await entry_of(played, "wagers")
    found = await rewritten(
        played, number, lambda fields: {name: fields[name] for name in fields if name != field}
    )
    assert any(one.startswith(f"entry {number} cannot be read") for one in found)


# The chain, and the mark outside Redis.


@pytest.fixture
async def mark(played: Pit, tmp_path: Path) -> LedgerMark:
    mark = LedgerMark(tmp_path, played.link.id)
    finding = await LinkAudit(played.store).run()
    head = (await played.store.state()).head
    mark.note(head.entry, head.chain)
    mark.note_seal(finding.entries, finding.seal)
    return LedgerMark(tmp_path, played.link.id)


@pytest.mark.duty("D17", proof=True)
@pytest.mark.parametrize(
    ("field", "value"),
    [(b"by", b"somebody else"), (b"at", b"2026-01-01T00:00:00.000Z"), (b"round", b"R77"),
     (b"event", b"{}"), (b"reply", b"x"), (b"table", b"T-9"), (b"seq", b"99")],
)  # fmt: skip
async def test_a_field_that_was_altered_is_found(played: Pit, field: bytes, value: bytes) -> None:
    number = await entry_of(played, "validate")
    found = await rewritten(played, number, lambda fields: fields | {field: value}, chained=False)
    assert found[0].startswith(f"entry {number} is not as it was written")


@pytest.mark.duty("D17", proof=True)
async def test_a_name_altered_with_all_digests_put_right_is_found_by_the_mark(
    played: Pit, mark: LedgerMark
) -> None:
    """Nothing in the store shows the change, also after new entries. The mark outside it does."""
    audit = LinkAudit(played.store)
    assert (await audit.run(mark.seen)).balanced
    number, last = await entry_of(played, "seed"), mark.seen.entries
    other = {b"by": b"somebody else"}
    assert await rewritten(played, number, lambda fields: fields | other) == ()
    said = (
        f"entry {last} is not the one that was seen: its digest was {mark.seen.chain}",
        f"the entries up to {last} are not those that were sealed",
    )
    assert (await LinkAudit(played.store).run(mark.seen)).problems == said
    await played.void(table="T-2", round_id="R3")
    assert (await LinkAudit(played.store).run(mark.seen)).problems == said


async def test_an_untouched_ledger_agrees_with_its_mark_now_and_later(
    played: Pit, mark: LedgerMark
) -> None:
    """An audit that continues compares the mark even if there is no new entry."""
    audit, last = LinkAudit(played.store), mark.seen.entries
    assert (await audit.run(mark.seen)).balanced
    (problem,) = (await audit.run(Mark(played.link.id, 0, "", last, "0" * 64))).problems
    assert problem == f"the entries up to {last} are not those that were sealed"
    await played.void(table="T-2", round_id="R3")
    assert (await audit.run(mark.seen)).balanced


async def test_a_mark_of_another_link_is_refused(mark: LedgerMark, tmp_path: Path) -> None:
    (tmp_path / "marks" / "other.ledger-mark.json").write_bytes(mark.path.read_bytes())
    with pytest.raises(UserError, match=f"is of link {mark.seen.link}"):
        LedgerMark(tmp_path, "other")


async def test_an_entry_put_in_at_the_end_is_found(played: Pit) -> None:
    rows = await ledger(played)
    number, last = len(rows) + 1, dict(rows[-1][1])
    await put_entry(played, b"%d-0" % number, last)
    await played.redis.hset(played.store.keys.meters, "entries", number)
    assert (await problems(played))[0].startswith(f"entry {number} is not as it was written")


# An audit that continues.


async def test_running_audit_reads_what_it_has_passed_bit_by_bit(played: Pit) -> None:
    audit, key = LinkAudit(played.store), played.store.keys.ledger
    assert (await audit.run(again=2)).balanced
    assert await rewritten(played, 3, lambda fields: fields | {b"by": b"x"}, chained=False)
    assert (await audit.run(again=2)).balanced, "entries 1 and 2"
    (problem,) = (await audit.run(again=2)).problems
    assert problem.startswith("entry 3 is not as it was written")
    await played.redis.delete(key)
    problem, *_ = (await audit.run(again=2)).problems
    assert problem.startswith("the ledger ends at entry 0")


# Acts of two people.


@pytest.mark.duty("D4")
async def test_one_person_who_did_both_halves_is_found(played: Pit) -> None:
    proposal = (
        await played.change(Adjustment(meter=PROGRESSIVE, amount=5, reason="malfunction"))
    ).proposal
    assert (await played.audit()).balanced
    adjusted, paid = await entry_of(played, "adjust"), await entry_of(played, "pay")
    names = {adjusted: b"sue", paid: b"fp-1"}
    await rewrite(played, lambda entry, fields: fields | {b"by": names.get(entry, fields[b"by"])})
    assert await problems(played) == (
        f"entry {paid}: one person, fp-1, validated and paid claim pit.T-1-2-2",
        f"entry {adjusted}: sue alone proposed and confirmed a change of progressive",
        "claim pit.T-1-2-2: by is 'fp-2', the ledger says 'fp-1'",
        "claim pit.T-1-2-2: envy_by is 'fp-2', the ledger says 'fp-1'",
        "claim pit.T-1-2-2: pay_by is 'fp-2', the ledger says 'fp-1'",
        f"proposal {proposal}: decided_by is 'tim', the ledger says 'sue'",
    )


@pytest.mark.duty("D12")
async def test_a_parameter_that_changed_while_the_link_was_open_is_found(pit: Pit) -> None:
    await pit.link_acts.close(pit.link.id, "sue", "felt")
    await pit.change(to(PROGRESSIVE, "paytable", "B"))
    assert (await pit.audit()).balanced
    closed, changed = await entry_of(pit, "close"), await entry_of(pit, "parameter")
    assert (
        f"entry {changed}: a parameter of progressive changed while the link was open"
    ) in await rewritten(pit, closed, lambda fields: fields | {b"kind": b"withdraw"})
