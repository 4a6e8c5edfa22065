"""What is above the limit of a meter goes to another meter, in the same call, to the micro."""

from collections.abc import Sequence
from typing import Final

import pytest

from meters.ledger.script_steps import (
    Contribution,
    CorrectionWork,
    Kind,
    PercentStep,
    ScriptStep,
    Status,
    contributions_text,
)
from tests.lua.books import (
    BONUS,
    CENT,
    MAX,
    METER,
    SEED,
    Books,
    Step,
    added,
    result,
    share,
    void,
    wagers,
)

pytestmark = pytest.mark.duty("D3")

BONUS_SEED: Final = 1_000_000 * CENT
ROOM: Final = 30 * CENT
LIMIT: Final = SEED + ROOM
BONUS_LIMIT: Final = BONUS_SEED + 20 * CENT
FULL: Final = f"meter:{METER}"
GETS: Final = f"meter:{BONUS}"
ABOVE: Final = f"overflow:{BONUS}"


def passing(count: int = 1, *, there: int = 0, limit: int = LIMIT) -> Contribution:
    """Return what wagers of a dollar add at 14% each; `there` is the limit of the other meter."""
    return Contribution(
        METER, count, 100 * count, 14 * CENT * count, CENT * count, limit,
        overflow_to=BONUS, limit_there_micros=there,
    )  # fmt: skip


def take_back(seq: int, one: Contribution, *, basis: int) -> ScriptStep:
    return Step(
        table="T-1", seq=seq, digest=f"{seq:032x}", kind=Kind.CORRECT_WAGER, round="R1",
        basis=basis, work=CorrectionWork(contributions_text((one,)), "1:progressive", adds=False),
        reply=(f'{{"back":{seq}}}',),
    )  # fmt: skip


def own(transfers: Sequence[Sequence[object]]) -> list[Sequence[object]]:
    """Leave out the transfers to and from the reserve, which has no limit."""
    return [one for one in transfers if not str(one).count("reserve:")]


@pytest.mark.parametrize(
    ("there", "moved"),
    [
        (0, [(GETS, 12)]),
        (BONUS_SEED + 12 * CENT, [(GETS, 12)]),
        (BONUS_SEED + 12 * CENT - 1, None),
        (BONUS_SEED + 5 * CENT, [(GETS, 5), (ABOVE, 7)]),
        (BONUS_SEED, [(ABOVE, 12)]),
    ],
    ids=["no limit", "just room", "a micro short", "some room", "full too"],
)
async def test_what_is_above_goes_on_through_the_overflow(
    books: Books, there: int, moved: list[tuple[str, int]] | None
) -> None:
    """Three wagers bring 42 cents; the meter has room for 30."""
    await books.accept(wagers(1, passing(3, there=there)))
    found = own(await books.transfers())
    assert found[:2] == [
        ["table:T-1", FULL, ROOM, 1],
        ["table:T-1", f"overflow:{METER}", 12 * CENT, 1],
    ]
    parts = [(GETS, 12 * CENT - 1), (ABOVE, 1)] if moved is None else [
        (to, cents * CENT) for to, cents in moved
    ]  # fmt: skip
    assert found[2:] == [[f"overflow:{METER}", to, micros, 1] for to, micros in parts]
    assert (await books.accounts()).get(f"overflow:{METER}", 0) == 0
    tallies = (await books.store.snapshot()).tallies
    assert tallies[f"overflow_micros:{METER}"] == 12 * CENT
    assert tallies.get(f"overflow_micros:{BONUS}", 0) == dict(parts).get(ABOVE, 0)


async def test_a_meter_with_room_keeps_all(books: Books) -> None:
    await books.accept(wagers(1, passing(2)))
    assert own(await books.transfers()) == [["table:T-1", FULL, 28 * CENT, 1]]
    assert f"overflow_micros:{METER}" not in (await books.store.snapshot()).tallies


async def test_displays_show_both_meters(books: Books) -> None:
    before = [one.version for one in (await books.store.state()).meters]
    await books.accept(wagers(1, passing(3)))
    assert [one.version for one in (await books.store.state()).meters] == [
        version + 1 for version in before
    ]


async def test_an_overflow_from_before_stays_for_its_own_meter(books: Books) -> None:
    await books.accept(wagers(1, added(42 * CENT, limit=LIMIT)))
    await books.accept(wagers(1, passing(1), table="T-2"))
    assert own(await books.transfers())[1:] == [[f"overflow:{METER}", GETS, 14 * CENT, 1]]
    assert (await books.accounts())[f"overflow:{METER}"] == 12 * CENT
    taken = PercentStep(
        METER, 1_000, 1, 0, from_reserve=False, limit_micros=LIMIT, overflow_to=BONUS
    )
    await books.accept(result(2, share(), takes=[taken], basis=1))
    assert own(await books.transfers())[1:] == [[f"overflow:{METER}", FULL, 12 * CENT, 1]]


async def test_a_reserve_and_a_reseed_above_the_limit_go_there_too(books: Books) -> None:
    await books.accept(wagers(1, passing(3)))
    house = -SEED - BONUS_SEED - 47 * CENT
    await books.set_accounts({f"reserve:{METER}": 50 * CENT, "house": house})
    taken = PercentStep(
        METER, 10_000, 1, SEED, from_reserve=True, limit_micros=LIMIT, reseeds=True,
        overflow_to=BONUS, limit_there_micros=BONUS_LIMIT,
    )  # fmt: skip
    await books.accept(result(2, share(), takes=[taken], basis=1))
    assert (await books.transfers())[1:] == [
        [f"reserve:{METER}", FULL, 50 * CENT, 2],
        ["house", FULL, LIMIT - 50 * CENT, 2],
        ["house", f"overflow:{METER}", 20 * CENT, 2],
        [f"overflow:{METER}", GETS, 8 * CENT, 1],
        [f"overflow:{METER}", ABOVE, 12 * CENT, 1],
    ]
    assert sum((await books.accounts()).values()) == 0


async def test_a_void_takes_it_back_from_where_it_went(books: Books) -> None:
    before = await books.accounts()
    await books.accept(wagers(1, passing(3, there=BONUS_SEED + 5 * CENT)), void(2))
    assert sorted(await books.transfers()) == sorted([
        [ABOVE, "table:T-1", 7 * CENT, 1],
        [GETS, "table:T-1", 5 * CENT, 1],
        [FULL, "table:T-1", ROOM, 1],
        [f"reserve:{METER}", "table:T-1", 3 * CENT, 1],
    ])  # fmt: skip
    after = await books.accounts()
    assert {name: micros for name, micros in after.items() if micros} == before


@pytest.mark.parametrize("won", [METER, BONUS])
async def test_the_house_bears_what_a_win_took_of_either_meter(books: Books, won: str) -> None:
    """A void gives back from each meter only in the cycle in which the wager raised it."""
    await books.accept(wagers(1, passing(3)), wagers(1, table="T-2"))
    taken = PercentStep(won, 10_000, 1, SEED, from_reserve=False, reseeds=True)
    await books.accept(result(2, share(meter=won), takes=[taken], basis=1, table="T-2"))
    await books.accept(void(2))
    found = own(await books.transfers())
    from_house = [micros for source, _, micros, _ in found if source == "house"]
    if won == METER:
        assert [GETS, "table:T-1", 12 * CENT, 1] in found
        assert from_house == [ROOM, 3 * CENT]
    else:
        assert [FULL, "table:T-1", ROOM, 1] in found
        assert from_house == [12 * CENT]


async def test_wagers_taken_back_take_what_is_above_first(books: Books) -> None:
    """Of 42 cents, 12 went on. The first wager of 14 cents takes these, and 2 of the meter."""
    await books.accept(wagers(1, passing(3)))
    await books.accept(take_back(2, passing(), basis=1))
    assert own(await books.transfers()) == [
        [GETS, "table:T-1", 12 * CENT, 1], [FULL, "table:T-1", 2 * CENT, 1],
    ]  # fmt: skip
    await books.accept(take_back(3, passing(), basis=2))
    assert own(await books.transfers()) == [[FULL, "table:T-1", 14 * CENT, 1]]
    await books.accept(void(4))
    accounts = await books.accounts()
    assert (accounts[FULL], accounts[GETS], accounts["table:T-1"]) == (SEED, BONUS_SEED, 0)


async def test_a_batch_passes_on_what_its_events_pass_on_one_by_one(books: Books) -> None:
    """The plan of equal wagers ends at the limit, also if the meters feed each other's tables."""
    both = (added(2 * CENT, meter=BONUS, limit=BONUS_LIMIT), passing(there=BONUS_LIMIT))
    steps = [wagers(1, *both, table=f"T-{number}") for number in range(1, 7)]
    steps += [void(2, table="T-2"), wagers(3, *both, round_id="R2", table="T-2")]
    accounts, _ = await books.apply_both_ways(steps[:6], steps[6:7], steps[7:])
    assert (accounts[FULL], accounts[GETS]) == (LIMIT, BONUS_LIMIT)


@pytest.mark.parametrize("account", [GETS, ABOVE])
async def test_wagers_that_the_other_meter_could_not_count_are_refused(
    books: Books, account: str
) -> None:
    await books.accept(wagers(1, passing(2)))
    await books.set_accounts({account: MAX - 3 * CENT})
    assert (await books.one(wagers(1, passing(), table="T-2"))).status is Status.METER_FULL
