"""Changes that one person proposes and another confirms, and closed links: every status."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

import pytest

from meters.ledger.link_state import Closure, IndexPart, Snapshot
from meters.ledger.money_terms import LinkTerms, terms_text
from meters.ledger.script_steps import Status
from meters.store.event_refusals import refused_by_script
from meters.store.link_acts import (
    NewTerms,
    Verdict,
    decide_change,
    open_proposals,
    propose_change,
    switch_link,
)
from meters.store.link_store import BooksError, LinkStore, TermsError
from tests.lua.books import (
    MAX,
    METER,
    OTHER_TERMS,
    SEED,
    Books,
    link_of,
    result,
    share,
    take,
    void,
    wagers,
)

P: Final = "P-1"
OTHER: Final = link_of(OTHER_TERMS)
NEW: Final = NewTerms(
    terms_text(link_of().meter[0]), terms_text(OTHER.meter[0]), LinkTerms(OTHER).digest
)


class Hand:
    def __init__(self, books: Books) -> None:
        self.books = books
        self.store = books.store

    async def close(self, by: str = "amy") -> None:
        await switch_link(self.store, "close", by, "maintenance", b'{"act":"close"}')

    async def open(self) -> None:
        await switch_link(self.store, "open", "cal", "", b'{"act":"open"}')

    async def propose(self, kind: str = "adjustment") -> None:
        await propose_change(self.store, P, kind, "amy", b'{"why":"1"}')

    async def decide(
        self, verdict: Verdict = "confirm", by: str = "ben", *, cents: int = 0,
        terms: NewTerms | None = None, proposal: str = P, cycle: int = 1,
    ) -> None:  # fmt: skip
        await decide_change(
            self.store, proposal, verdict, by, b'{"what":"1"}', meter=METER, terms=terms,
            amount_cents=cents, cycle=cycle,
        )  # fmt: skip

    async def refused(self, **asked: object) -> tuple[str, str]:
        async with self.books.refuses(BooksError) as refused:
            await self.decide(**asked)  # type: ignore[arg-type]
        return refused.value.status, refused.value.detail


@pytest.fixture
def hand(books: Books) -> Hand:
    return Hand(books)


async def test_meter_may_be_adjusted_to_nothing_and_not_below(hand: Hand) -> None:
    await hand.propose()
    assert await hand.refused(cents=-100_001) == ("meter_short", "")
    await hand.decide(cents=-100_000)
    assert (await hand.books.accounts())[f"meter:{METER}"] == 0


async def test_meter_is_not_adjusted_beyond_what_it_can_hold(hand: Hand) -> None:
    await hand.books.set_accounts({f"meter:{METER}": MAX - 99})
    await hand.propose()
    assert await hand.refused(cents=1) == ("meter_full", "")
    assert (await hand.books.accounts())[f"meter:{METER}"] == MAX - 99


async def test_parameter_changes_the_terms_and_their_digest(hand: Hand) -> None:
    await hand.close()
    await hand.propose("parameter")
    await hand.decide(terms=NEW)
    meters = (await hand.books.store.snapshot()).meters
    assert (meters[f"terms:{METER}"], meters["terms"]) == (NEW.after, NEW.digest)
    assert (await hand.books.last_entry())["kind"] == "parameter"
    with pytest.raises(TermsError):
        await hand.books.store.state()
    await hand.books.store.open("service")
    assert hand.books.store.link == OTHER, "the link goes on under the terms confirmed"
    again = Books(hand.books.redis, link_of())
    await again.store.open("service")
    assert again.store.link == OTHER, "and so does one that starts with the floor file unchanged"
    later = Books(hand.books.redis, OTHER)
    await later.store.open("service")
    with pytest.raises(TermsError, match="other terms"):
        await again.store.open("service")
    assert later.store.link == OTHER, "once the floor file has them, the old ones are refused"


async def test_link_opens_although_a_proposal_is_confirmed_meanwhile(hand: Hand) -> None:
    """The terms are read before the script that checks them runs."""
    await hand.close()
    await hand.propose("parameter")

    class Overtaken(LinkStore):
        async def snapshot(
            self, *, indexes: bool = False, part: IndexPart | None = None
        ) -> Snapshot:
            read = await super().snapshot(indexes=indexes, part=part)
            if NEW.after not in read.meters.values():
                await hand.decide(terms=NEW)
            return read

    store = Overtaken(hand.books.redis, link_of())
    await store.open("service")
    assert store.link == OTHER


@pytest.mark.parametrize("verdict", ["confirm", "withdraw"])
async def test_statuses_come_in_their_order(hand: Hand, verdict: Verdict) -> None:
    assert (await hand.refused(verdict=verdict))[0] == "unknown_proposal"
    await hand.propose()
    await hand.decide(verdict, cents=5)
    state = "confirmed" if verdict == "confirm" else "withdrawn"
    for by in ("amy", "ben"):
        assert await hand.refused(verdict=verdict, by=by) == ("wrong_state", f"{state} by ben")


@pytest.mark.duty("D4", proof=True)
async def test_who_proposed_may_withdraw_and_not_confirm(hand: Hand) -> None:
    """Duty D4: no person does both halves. This check comes before all others."""
    await hand.close()
    await hand.propose("parameter")
    await hand.open()
    assert (await hand.refused(by="amy", terms=NEW))[0] == "same_person"
    await hand.decide("withdraw", "amy")
    assert (await hand.books.last_entry())["kind"] == "withdraw"
    assert await open_proposals(hand.store) == []
    assert (await hand.store.proposals_at([P]))[1][0]["state"] == "withdrawn"


@pytest.mark.duty("D12", proof=True)
async def test_parameter_changes_only_while_the_link_is_closed_and_no_round_in_hand(
    hand: Hand,
) -> None:
    """Duty D12, when it is proposed and again when it is confirmed."""
    async with hand.books.refuses(BooksError, "not_closed"):
        await hand.propose("parameter")
    await hand.books.accept(wagers(1))
    await hand.close()
    with pytest.raises(BooksError, match="rounds_open 1"):
        await hand.propose("parameter")
    await hand.books.accept(void(2))
    await hand.propose("parameter")
    await hand.open()
    assert (await hand.refused(terms=NEW))[0] == "not_closed"
    await hand.books.accept(wagers(3, round_id="R2"))
    await hand.close()
    assert await hand.refused(terms=NEW) == ("rounds_open", "1")


async def test_terms_that_changed_since_are_not_overwritten(hand: Hand) -> None:
    await hand.close()
    await hand.propose("parameter")
    stale = NewTerms(NEW.after, NEW.before, NEW.digest)
    assert (await hand.refused(terms=stale))[0] == "stale"


async def test_adjustment_is_of_the_meter_that_was_looked_at(hand: Hand) -> None:
    """A meter that was won meanwhile is a different one."""
    await hand.propose()
    await hand.books.accept(wagers(1), result(2, share(), takes=[take(100)], basis=1))
    assert (await hand.refused(cents=-100))[0] == "stale"
    await hand.decide("withdraw")


@pytest.mark.parametrize("cycle", [1, 2])
async def test_meter_of_a_higher_wager_must_hold_its_seed(hand: Hand, cycle: int) -> None:
    """649a.12(e)(3): in its first cycle the seed, in a later one the reseed."""
    if cycle == 2:
        await hand.books.accept(wagers(1), result(2, share(), takes=[take(100)], basis=1))
    await hand.close()
    await hand.propose("parameter")
    first = cycle == 1

    def needing(micros: int) -> NewTerms:
        seed, reseed = (micros, 1) if first else (1, micros)
        return replace(NEW, seed_micros=seed, reseed_micros=reseed)

    assert (await hand.refused(terms=needing(SEED + 1)))[0] == "below_seed"
    await hand.decide(terms=needing(SEED))
    assert (await hand.books.last_entry())["kind"] == "parameter"


# Closing a link and opening it again: what a closed link says, and what it refuses.


async def test_displays_and_pages_hear_why_a_link_is_closed_by_whom_and_since_when(
    hand: Hand,
) -> None:
    """Every meter has a new version, and what floorpersons see is counted."""
    books = hand.books
    before = await books.store.state()
    await hand.close()
    closed, entry = await books.store.state(), await books.last_entry()
    assert closed.closure == Closure("maintenance", "amy", entry["at"])
    assert (entry["kind"], entry["by"], entry["transfers"]) == ("close", "amy", "[]")
    assert closed.floor_changes == before.floor_changes + 1
    await hand.open()
    opened = await books.store.state()
    assert opened.closure is None
    assert [(await books.last_entry())[name] for name in ("kind", "by")] == ["open", "cal"]
    versions = [[meter.version for meter in state.meters] for state in (before, closed, opened)]
    assert versions == [[version + more for version in versions[0]] for more in range(3)]


@pytest.mark.duty("D13", proof=True)
async def test_closed_link_refuses_wagers_for_good(hand: Hand) -> None:
    books = hand.books
    await hand.close()
    before = await books.accounts()
    assert (await books.one(wagers(1))).status is Status.LINK_CLOSED
    assert await books.accounts() == before
    await hand.open()
    again = await books.one(wagers(1))
    assert again.status is Status.AGAIN, "the seq is used up"
    assert again.text == refused_by_script(1, Status.LINK_CLOSED).decode()
    assert (await books.one(wagers(2))).status is Status.ACCEPTED


@pytest.mark.parametrize("closed", [False, True])
async def test_link_that_is_so_already_is_not_switched(hand: Hand, *, closed: bool) -> None:
    if closed:
        await hand.close()
    async with hand.books.refuses(BooksError, "wrong_state") as refused:
        await (hand.close("cal") if closed else hand.open())
    assert refused.value.detail == ("amy" if closed else "")


@pytest.mark.parametrize(
    "act",
    [Hand.close, Hand.open, Hand.propose, Hand.decide, lambda hand: hand.decide("withdraw")],
    ids=["close", "open", "propose", "confirm", "withdraw"],
)
async def test_terms_that_are_not_those_opened_come_first(
    hand: Hand, act: Callable[[Hand], Awaitable[None]]
) -> None:
    await hand.books.alter_terms()
    async with hand.books.refuses(TermsError):
        await act(hand)
