"""An audit finds every change of the books made without the service, and by how much."""

import re

import msgspec
import pytest

from meters.books.audit import LinkAudit
from meters.books.ledger_mark import Mark
from meters.books.store import LinkStore
from meters.floor_api.types import Adjustment, ParameterChange
from tests.model.pit import Pit
from tests.model.tampering import (
    Fields,
    change_transfer,
    entry_of,
    ledger,
    move_balance,
    play_a_while,
    rewrite,
)


@pytest.fixture
async def played(pit: Pit) -> Pit:
    """Return a link on which an event of each kind happened."""
    await play_a_while(pit)
    return pit


async def test_books_that_were_left_alone_balance(played: Pit) -> None:
    finding = await played.audit()
    assert finding.problems == ()
    assert finding.entries == len(await ledger(played))
    accounts = await played.accounts()
    for meter, held in finding.meters.items():
        assert held == {
            "amount_micros": accounts[f"meter:{meter}"],
            "reserve_micros": accounts.get(f"reserve:{meter}", 0),
            "overflow_micros": 0,
        }


@pytest.mark.parametrize("micros", [1, -1, 123_456_789])
@pytest.mark.parametrize(
    "account",
    ["meter:progressive", "reserve:five_card_hand_bonus", "house", "paid", "table:T-1",
     "claim:pit.T-1-2-4", "overflow:progressive"],
)  # fmt: skip
async def test_balance_that_was_changed_is_found_by_how_much(
    played: Pit, account: str, micros: int
) -> None:
    held = (await played.accounts()).get(account, 0)
    await move_balance(played, account, micros)
    assert (await played.audit()).problems == (
        f"{account} holds {held + micros} micros, the ledger says {held}: {micros:+d}",
        f"all accounts sum to {micros} micros, not to zero",
    )


async def test_balances_that_were_moved_against_each_other_are_found_both(played: Pit) -> None:
    await move_balance(played, "meter:progressive", 1)
    await move_balance(played, "house", -1)
    problems = (await played.audit()).problems
    assert [problem.split()[0] for problem in problems] == ["house", "meter:progressive"]
    assert problems[0].endswith(": -1")
    assert problems[1].endswith(": +1")


async def test_account_that_is_gone_is_found(played: Pit) -> None:
    held = (await played.accounts())["meter:progressive"]
    await played.redis.hdel(played.store.keys.accounts, "meter:progressive")
    problems = (await played.audit()).problems
    assert problems[0] == f"meter:progressive holds 0 micros, the ledger says {held}: {-held:+d}"


@pytest.mark.parametrize("kind", ["seed", "wagers", "result", "void", "validate", "pay", "reject"])
async def test_entry_that_was_deleted_is_missed(played: Pit, kind: str) -> None:
    gone = await entry_of(played, kind)
    await rewrite(
        played, lambda entry, fields: None if entry == gone else fields, chained=False
    )  # fmt: skip
    problems = (await played.audit()).problems
    assert f"entry {gone + 1} follows entry {gone - 1}: some are missing" in problems
    moves_money = kind != "validate"
    assert any(re.search(r"micros, the ledger says -?\d+: [+-]\d+$", one) for one in problems) == (
        moves_money
    )


async def test_ledger_that_ends_too_early_is_found(played: Pit) -> None:
    rows = await ledger(played)
    await played.redis.xdel(played.store.keys.ledger, rows[-1][0])
    problems = (await played.audit()).problems
    assert (
        problems[0] == f"the ledger ends at entry {len(rows) - 1}, the data in Redis at {len(rows)}"
    )


async def test_ledger_that_is_gone_is_found(played: Pit) -> None:
    rows = await ledger(played)
    await played.redis.delete(played.store.keys.ledger)
    problems = (await played.audit()).problems
    assert problems[0] == f"the ledger ends at entry 0, the data in Redis at {len(rows)}"


@pytest.mark.parametrize("kind", ["seed", "wagers", "result", "void", "pay", "reject"])
async def test_transfer_that_was_altered_is_found_by_how_much(played: Pit, kind: str) -> None:
    number = await entry_of(played, kind)

    def alter(entry: int, fields: Fields) -> Fields:
        return change_transfer(fields, 0, 1) if entry == number else fields

    await rewrite(played, alter)
    problems = (await played.audit()).problems
    by_one = [one for one in problems if one.endswith((": +1", ": -1"))]
    assert len(by_one) == 2, "where it came from and where it went"
    if kind in {"wagers", "result"}:
        assert any(one.startswith(f"entry {number} moves") for one in problems)


@pytest.mark.duty("D19")
async def test_transfer_and_balances_altered_alike_are_found_by_the_rates(played: Pit) -> None:
    """The books agree with the ledger. Neither agrees with what the wagers add."""
    number = await entry_of(played, "wagers")

    def alter(entry: int, fields: Fields) -> Fields:
        return change_transfer(fields, 0, 7) if entry == number else fields

    await rewrite(played, alter)
    await move_balance(played, "table:T-1", -7)
    await move_balance(played, "meter:progressive", 7)
    (problem,) = (await played.audit()).problems
    assert problem.startswith(f"entry {number} moves")


@pytest.mark.parametrize("cents", [1, -1, 1_000_000])
async def test_reply_that_was_altered_is_found_by_what_moved(played: Pit, cents: int) -> None:
    number = await entry_of(played, "result")

    def alter(entry: int, fields: Fields) -> Fields:
        if entry != number:
            return fields
        reply = msgspec.json.decode(fields[b"reply"])
        line = next(line for line in reply["lines"] if line["paid"])
        line["paid"] += cents
        return fields | {b"reply": msgspec.json.encode(reply)}

    await rewrite(played, alter)
    problems = (await played.audit()).problems
    assert problems[:2] == (
        f"entry {number}: claim pit.T-1-2-1 is of 7000 cents, its line of {7_000 + cents}",
        (
            f"entry {number} moves 70000000 from house to claim:pit.T-1-2-1,"
            f" and must move {(7_000 + cents) * 10_000} from house to claim:pit.T-1-2-1"
        ),
    )
    assert problems[2].startswith("won_cents is at"), "the accounting meters differ too"


@pytest.mark.duty("D19")
async def test_result_whose_reply_names_no_claims_must_have_an_event(played: Pit) -> None:
    """The service always lists the claims, even if there are none."""
    number, claims = None, b',"claims":[]'

    def alter(entry: int, fields: Fields) -> Fields:
        nonlocal number
        if number is not None or fields[b"kind"] != b"result" or claims not in fields[b"reply"]:
            return fields
        number = entry
        return fields | {b"event": b"{}", b"reply": fields[b"reply"].replace(claims, b"")}

    await rewrite(played, alter)
    assert number is not None
    problems = (await played.audit()).problems
    assert any(one.startswith(f"entry {number} cannot be read") for one in problems)


async def test_wager_that_was_slipped_into_an_entry_is_found(played: Pit) -> None:
    number = await entry_of(played, "wagers")

    def alter(entry: int, fields: Fields) -> Fields:
        if entry != number:
            return fields
        event = msgspec.json.decode(fields[b"event"])
        event["positions"].append({"position": 7, "wagers": {"progressive": 100}})
        return fields | {b"event": msgspec.json.encode(event)}

    await rewrite(played, alter)
    problem, *others = (await played.audit()).problems
    assert problem.startswith(f"entry {number} moves")
    known_problems = (" is at ", ": wagers is ", "settles other wagers", "the reply that it keeps")
    unknown = [one for one in others if not any(each in one for each in known_problems)]
    assert not unknown, "tallies and evidence too"


@pytest.mark.parametrize("field", [b"transfers", b"event", b"kind"])
async def test_entry_that_cannot_be_read_is_reported(played: Pit, field: bytes) -> None:
    number = await entry_of(played, "wagers")

    def alter(entry: int, fields: Fields) -> Fields:
        return {name: value for name, value in fields.items() if entry != number or name != field}

    await rewrite(played, alter)
    problems = (await played.audit()).problems
    assert any(one.startswith(f"entry {number} cannot be read") for one in problems)


async def test_a_table_that_has_left_the_floor_leaves_balanced_books(played: Pit) -> None:
    link = msgspec.structs.replace(played.link, table=played.link.table[1:])
    assert (await LinkAudit(LinkStore(played.redis, link)).run()).balanced


async def test_entry_of_an_unknown_kind_is_reported(played: Pit) -> None:
    number = await entry_of(played, "seed")
    await rewrite(
        played, lambda entry, fields: fields | {b"kind": b"gift"} if entry == number else fields
    )
    problem, *_ = (await played.audit()).problems
    assert problem == f"entry {number} cannot be read: its kind b'gift' is unknown"


async def test_running_audit_finds_what_was_done_since(played: Pit) -> None:
    audit = LinkAudit(played.store)
    assert (await audit.run()).balanced
    await played.void(table="T-2", round_id="R3")
    await move_balance(played, "meter:progressive", 3)
    problems = (await audit.run()).problems
    assert problems[0].endswith(": +3")
    await move_balance(played, "meter:progressive", -3)
    assert (await audit.run()).balanced, "the balance is as it was again"


async def test_running_audit_reads_what_it_has_passed_bit_by_bit(played: Pit) -> None:
    audit, key = LinkAudit(played.store), played.store.keys.ledger
    assert (await audit.run(again=2)).balanced
    await rewrite(
        played, lambda number, fields: fields | {b"by": b"x"} if number == 3 else fields,
        chained=False,
    )  # fmt: skip
    assert (await audit.run(again=2)).balanced, "entries 1 and 2"
    (problem,) = (await audit.run(again=2)).problems
    assert problem.startswith("entry 3 is not as it was written")
    await played.redis.delete(key)
    problem, *_ = (await audit.run(again=2)).problems
    assert problem.startswith("the ledger ends at entry 0")


@pytest.mark.duty("D17")
async def test_running_audit_compares_the_mark_even_if_there_is_no_new_entry(played: Pit) -> None:
    audit = LinkAudit(played.store)
    last = (await audit.run()).entries
    (problem,) = (await audit.run(Mark(played.link.id, 0, "", last, "0" * 64))).problems
    assert problem == f"the entries up to {last} are not those that were sealed"


async def test_a_running_audit_notices_a_ledger_that_ends_too_early(played: Pit) -> None:
    audit = LinkAudit(played.store)
    last = (await audit.run()).entries
    await played.redis.xdel(played.store.keys.ledger, f"{last}-0")
    (problem,) = (await audit.run(again=last)).problems
    assert problem == f"the ledger has lost the entries after {last - 1}"


@pytest.mark.duty("D4")
async def test_one_person_who_did_both_halves_is_found(played: Pit) -> None:
    link_acts, link = played.link_acts, played.link.id
    change = Adjustment(meter="progressive", amount=5, reason="malfunction")
    proposal = (await link_acts.propose(link, "sue", change)).proposal
    await link_acts.confirm(link, proposal, "tim")
    assert (await played.audit()).balanced
    adjusted, paid = await entry_of(played, "adjust"), await entry_of(played, "pay")
    names = {adjusted: b"sue", paid: b"fp-1"}
    await rewrite(played, lambda entry, fields: fields | {b"by": names.get(entry, fields[b"by"])})
    assert (await played.audit()).problems == (
        f"entry {paid}: claim pit.T-1-2-2 was validated and paid by fp-1",
        f"entry {adjusted}: sue proposed and confirmed a change of progressive",
        "claim pit.T-1-2-2: by is 'fp-2', the ledger says 'fp-1'",
        "claim pit.T-1-2-2: envy_by is 'fp-2', the ledger says 'fp-1'",
        "claim pit.T-1-2-2: pay_by is 'fp-2', the ledger says 'fp-1'",
        f"proposal {proposal}: decided_by is 'tim', the ledger says 'sue'",
    )


@pytest.mark.duty("D12")
async def test_a_parameter_that_changed_while_the_link_was_open_is_found(pit: Pit) -> None:
    link_acts, link = pit.link_acts, pit.link.id
    await link_acts.close(link, "sue", "felt")
    change = ParameterChange(
        meter="progressive", parameter="paytable", value="B", reason="as planned"
    )
    proposal = (await link_acts.propose(link, "sue", change)).proposal
    await link_acts.confirm(link, proposal, "tim")
    assert (await pit.audit()).balanced
    closed, changed = await entry_of(pit, "close"), await entry_of(pit, "parameter")
    await rewrite(
        pit,
        lambda entry, fields: fields | {b"kind": b"withdraw"} if entry == closed else fields,
    )
    problems = (await pit.audit()).problems
    assert (
        f"entry {changed}: a parameter of progressive changed while the link was open" in problems
    )
