"""Repeated audits of a link with many claims: each compares what is new, and some older claims."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, cast

import pytest

from meters.audit import claim_audit
from meters.audit.link_audit import Finding, LinkAudit
from meters.ledger.slip_numbers import fold_slip
from meters.store import link_reader
from meters.store.link_store import LinkStore
from meters.store.stored_entries import Entry
from tests.model.days import A_DAY
from tests.model.kept import Kept
from tests.model.pit import PROGRESSIVE, Pit

ROUNDS = 9
AUDITS = 6
"""Audits in which each of `ROUNDS` claims is compared again, two or more in each audit."""


class Repeated:
    def __init__(self, pit: Pit) -> None:
        self.pit = pit
        self._audit = LinkAudit(pit.store)

    async def run(self) -> Finding:
        return await self._audit.run(again=1)

    async def found_within(self, audits: int) -> tuple[str, ...]:
        for _ in range(audits):
            finding = await self.run()
            if finding.problems:
                return finding.problems
        return ()


@pytest.fixture
async def repeated(pit: Pit, monkeypatch: pytest.MonkeyPatch) -> Repeated:
    """Return the audit of a link with claims in every state, which has run twice."""
    monkeypatch.setattr(claim_audit, "WHOLE_UP_TO", 1)
    monkeypatch.setattr(claim_audit, "CLAIMS_AGAIN", 2)
    repeated = Repeated(pit)
    for number in range(ROUNDS):
        await play(pit, f"R{number}")
    for claim in claims(pit)[: ROUNDS // 2]:
        await pit.decide(claim, "validate", by="amy")
    assert (await repeated.run()).balanced
    assert (await repeated.run()).balanced
    return repeated


async def play(pit: Pit, round_id: str, hand: str = "Qh Jh Th") -> None:
    """Play a round. A straight flush is a win that waits and holds no table."""
    await pit.round({3: PROGRESSIVE}, {3: hand}, round_id=round_id)


def claims(pit: Pit) -> list[str]:
    return [jackpot.claim for jackpot in pit.published if jackpot.event == "hit"]


async def _hide(pit: Pit, claim: str) -> None:
    members = cast("list[bytes]", await pit.redis.zrange(pit.store.keys.wins, 0, -1))
    (member,) = [each for each in members if each.endswith(claim.encode())]
    await pit.redis.zrem(pit.store.keys.wins, member)


async def _hide_new(pit: Pit) -> None:
    await play(pit, "NEW")
    await _hide(pit, claims(pit)[-1])


@pytest.mark.duty("D19")
async def test_audits_without_a_change_stay_balanced(repeated: Repeated) -> None:
    for number in range(2 * AUDITS):
        await play(repeated.pit, f"N{number}")
        if number % 2:
            claim = claims(repeated.pit)[ROUNDS // 2 + number]
            await repeated.pit.decide(claim, "validate", by="amy")
        assert (await repeated.run()).balanced
    assert (await repeated.pit.audit()).balanced


Alter = Callable[[Pit, str], Awaitable[object]]

UNINDEXED, WAIT = "claim {} is not in the index of wins", "claims wait in Redis's list, the ledger"
ALTERED: Final[dict[str, tuple[Alter, str, int]]] = {
    "an old claim": (
        lambda pit, claim: pit.redis.hset(pit.store.keys.claim(claim), "amount", "1"),
        "claim {}: amount is ", AUDITS,
    ),
    "an old claim is not in the index": (_hide, UNINDEXED, AUDITS),
    "a new claim is not in the index": (
        lambda pit, _: _hide_new(pit), UNINDEXED.format("pit.T-1-20-1"), 1
    ),
    "an act is not in the index": (
        lambda pit, _: pit.redis.zremrangebyrank(pit.store.keys.acts, -2, -2),
        "entry 25 is not in the index of acts", AUDITS,
    ),
    "a win more": (
        lambda pit, _: pit.redis.zadd(pit.store.keys.wins, {f"progressive:{2:016d}:x": 0}),
        "the index of wins has ", 1,
    ),
    "an act more": (
        lambda pit, _: pit.redis.zadd(pit.store.keys.acts, {"x": 2}), "the index of acts has ", 1
    ),
    "a claim that waits more": (
        lambda pit, _: pit.redis.zadd(pit.store.keys.waiting, {"pit.T-1-2-9": 3}), WAIT, 1
    ),
    "a claim that waits less": (
        lambda pit, _: pit.redis.zremrangebyrank(pit.store.keys.waiting, -1, -1), WAIT, 1
    ),
}  # fmt: skip


@pytest.mark.duty("D17")
@pytest.mark.parametrize(("alter", "said", "within"), ALTERED.values(), ids=ALTERED)
async def test_what_was_altered_is_found_in_its_turn_or_by_the_next_audit(
    repeated: Repeated, alter: Alter, said: str, within: int
) -> None:
    """A new win, and a changed number of members, are found by the next audit."""
    claim = claims(repeated.pit)[ROUNDS // 2]
    await alter(repeated.pit, claim)
    problems = await repeated.found_within(within)
    assert any(said.format(claim) in problem for problem in problems), problems


@pytest.mark.duty("D17")
async def test_a_slip_of_a_new_payment_is_compared_by_the_next_audit(repeated: Repeated) -> None:
    """A changed number of slips is found then too, and an old slip in its turn."""
    pit, slips = repeated.pit, repeated.pit.store.keys.slips
    for number in range(3):
        await play(pit, f"HAND PAY {number}", "As Ks Qs")
        await pit.pay(claims(pit)[-1], f"A-{number}")
    claim, slip = claims(pit)[-1], fold_slip("A-2")
    assert await pit.redis.hdel(slips, slip) == 1
    free = f"slip {slip!r} is free in Redis, the ledger says it paid claim {claim}"
    assert free in (await repeated.run()).problems
    await pit.redis.hset(slips, slip, claim)
    assert (await repeated.run()).balanced
    await pit.redis.hset(slips, fold_slip("FORGED"), claim)
    assert (await repeated.run()).problems == ("4 payout slips are in Redis, the ledger says 3",)
    await pit.redis.hdel(slips, fold_slip("FORGED"))
    await pit.redis.hset(slips, slip, "pit.T-1-2-1")
    assert await repeated.found_within(AUDITS) == (
        f"slip {slip!r} pays claim pit.T-1-2-1 in Redis, the ledger says it paid claim {claim}",
    )


@pytest.mark.duty("D19", proof=True)
async def test_an_audit_of_a_part_reads_no_whole_index(
    repeated: Repeated, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its cost must not grow with the age of the floor."""

    def whole(*_: object) -> None:
        raise AssertionError("a whole index was read")

    monkeypatch.setattr(link_reader, "_read_indexes", whole)
    for _ in range(AUDITS):
        assert (await repeated.run()).balanced


@pytest.mark.duty("D19")
async def test_entries_that_come_during_an_audit_are_read_once_and_only_for_a_difference(
    repeated: Repeated, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise an audit of many claims would never end while tables send events."""
    pit, store = repeated.pit, repeated.pit.store
    claims_at, entries = type(store).claims_at, type(store).entries
    monkeypatch.setattr(claim_audit, "WHOLE_UP_TO", 1_000)
    began = pit.head.entry
    read: list[int] = []

    async def disturbed(self: LinkStore, ids: Sequence[str]) -> tuple[int, list[dict[str, str]]]:
        await play(pit, f"D{len(read)}-{pit.head.entry}")
        await pit.decide(claims(pit)[ROUNDS // 2], "validate", by="amy")
        monkeypatch.setattr(type(store), "claims_at", claims_at)
        return await claims_at(self, ids)

    async def counted(self: LinkStore, after: int, count: int) -> list[Entry]:
        found = await entries(self, after, count)
        read.extend(number for number, _ in found if number > began)
        return found

    monkeypatch.setattr(type(store), "claims_at", disturbed)
    monkeypatch.setattr(type(store), "entries", counted)
    assert (await repeated.run()).balanced
    assert read
    assert len(read) == len(set(read))
    began = await store.last_entry()
    read.clear()
    assert (await repeated.run()).balanced
    assert read == []


@pytest.mark.parametrize("replayed", [True, False])
async def test_a_forged_old_claim_is_found_after_its_day_was_archived(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, *, replayed: bool
) -> None:
    """A claim that waits when its day is archived is decided later, and stays in Redis."""
    monkeypatch.setattr(claim_audit, "WHOLE_UP_TO", 1)
    monkeypatch.setattr(claim_audit, "CLAIMS_AGAIN", 2)
    repeated = Repeated(kept.pit)
    old = await kept.play(decide=False)
    assert (await repeated.run()).balanced
    await kept.days.keep(A_DAY)
    for _ in range(4):
        await kept.play()
    await kept.days.keep(A_DAY)
    await kept.play()
    if replayed:
        assert (await repeated.run()).balanced
    await kept.run(live_days=1)
    await kept.pit.decide(old, "validate", by="amy")
    assert await repeated.found_within(2 * AUDITS) == ()
    await kept.pit.redis.hset(kept.pit.store.keys.claim(old), "by", "mallory")
    (problem, *_) = await repeated.found_within(2 * AUDITS)
    assert "by is 'mallory', the ledger says 'amy'" in problem
