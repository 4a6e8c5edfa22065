"""The chain over the ledger: an altered entry is found, even with recalculated digests."""

import hashlib
from pathlib import Path

import pytest

from bonus.errors import UserError
from meters.books.audit import LinkAudit
from meters.books.ledger_mark import LedgerMark
from tests.model.pit import Pit
from tests.model.tampering import Fields, entry_of, ledger, play_a_while, put_entry, rewrite

pytestmark = pytest.mark.duty("D17")


@pytest.fixture
async def played(pit: Pit) -> Pit:
    """Return a link on which an event of each kind happened."""
    await play_a_while(pit)
    return pit


@pytest.fixture
async def mark(played: Pit, tmp_path: Path) -> LedgerMark:
    """Return the mark that the service keeps of the ledger, outside the store."""
    mark = LedgerMark(tmp_path, played.link.id)
    finding = await LinkAudit(played.store).run()
    head = (await played.store.state()).head
    mark.note(head.entry, head.chain)
    mark.note_seal(finding.entries, finding.seal)
    return LedgerMark(tmp_path, played.link.id)


class Alter:
    """Change of one field of one entry."""

    def __init__(self, number: int, field: bytes, value: bytes) -> None:
        self.number, self.field, self.value = number, field, value

    def __call__(self, entry: int, fields: Fields) -> Fields:
        return fields | {self.field: self.value} if entry == self.number else fields


async def test_every_entry_carries_the_digest_that_anybody_can_work_out(played: Pit) -> None:
    """The digest is SHA-1 over the digest before it and every part with its length."""
    digest = ""
    for entry, fields in await ledger(played):
        parts = [entry, *(part for pair in fields.items() if pair[0] != b"chain" for part in pair)]
        text = digest.encode() + b"".join(b"%d:%s" % (len(part), part) for part in parts)
        digest = hashlib.sha1(text, usedforsecurity=False).hexdigest()
        assert fields[b"chain"].decode() == digest
    assert (await played.store.state()).head.chain == digest


@pytest.mark.parametrize(
    ("field", "value"),
    [(b"by", b"somebody else"), (b"at", b"2026-01-01T00:00:00.000Z"), (b"round", b"R77"),
     (b"event", b"{}"), (b"reply", b"x"), (b"table", b"T-9"), (b"seq", b"99")],
)  # fmt: skip
async def test_a_field_that_was_altered_is_found(played: Pit, field: bytes, value: bytes) -> None:
    number = await entry_of(played, "validate")
    await rewrite(played, Alter(number, field, value), chained=False)
    problems = (await played.audit()).problems
    assert problems[0].startswith(f"entry {number} is not as it was written")


async def test_a_name_altered_with_all_digests_put_right_is_found_by_the_mark(
    played: Pit, mark: LedgerMark
) -> None:
    """Nothing in the store shows the change. The mark outside the store does."""
    number = await entry_of(played, "seed")
    await rewrite(played, Alter(number, b"by", b"somebody else"))
    assert (await played.audit()).balanced, "the store alone is whole"
    last = mark.seen.entries
    assert (await LinkAudit(played.store).run(mark.seen)).problems == (
        f"entry {last} is not the one that was seen: {mark.seen.chain}",
        f"the entries up to {last} are not those that were sealed",
    )


async def test_a_ledger_that_continues_after_a_rewriting_is_still_found(
    played: Pit, mark: LedgerMark
) -> None:
    await rewrite(played, Alter(1, b"at", b"2026-01-01T00:00:00.000Z"))
    await played.void(table="T-2", round_id="R3")
    problems = (await LinkAudit(played.store).run(mark.seen)).problems
    assert len(problems) == 2
    assert "not those that were sealed" in problems[1]


async def test_an_untouched_ledger_agrees_with_its_mark_now_and_later(
    played: Pit, mark: LedgerMark
) -> None:
    audit = LinkAudit(played.store)
    assert (await audit.run(mark.seen)).balanced
    await played.void(table="T-2", round_id="R3")
    assert (await audit.run(mark.seen)).balanced


async def test_an_entry_put_in_at_the_end_is_found(played: Pit) -> None:
    rows = await ledger(played)
    number, last = len(rows) + 1, dict(rows[-1][1])
    await put_entry(played, b"%d-0" % number, last)
    await played.redis.hset(played.store.keys.meters, "entries", number)
    problems = (await played.audit()).problems
    assert problems[0].startswith(f"entry {number} is not as it was written")


async def test_a_digest_that_was_removed_is_reported(played: Pit) -> None:
    await rewrite(
        played,
        lambda entry, fields: {k: v for k, v in fields.items() if entry != 3 or k != b"chain"},
        chained=False,
    )
    assert "entry 3 has no digest" in (await played.audit()).problems


async def test_a_head_that_is_not_the_last_entrys_is_reported(played: Pit) -> None:
    """Otherwise the next entry would follow no entry."""
    await played.redis.hset(played.store.keys.meters, "chain", "0" * 40)
    (problem,) = (await played.audit()).problems
    assert problem.startswith("the ledger ends with the digest")


@pytest.mark.duty("D2")
@pytest.mark.parametrize(
    "name", ["wagers:progressive", "won_cents:progressive", "hits:progressive", "rounds",
             "hand_paid_cents:five_card_progressive", "voided_cents:progressive"],
)  # fmt: skip
async def test_an_accounting_meter_that_was_changed_is_found(played: Pit, name: str) -> None:
    held = (await played.store.snapshot()).tallies[name]
    await played.redis.hincrby(played.store.keys.tallies, name, -1)
    assert (await played.audit()).problems == (f"{name} is at {held - 1}, the ledger says {held}",)


async def test_a_mark_of_another_link_is_refused(mark: LedgerMark, tmp_path: Path) -> None:
    (tmp_path / "marks" / "other.ledger-mark.json").write_bytes(mark.path.read_bytes())
    with pytest.raises(UserError, match=f"is of link {mark.seen.link}"):
        LedgerMark(tmp_path, "other")
