"""Meters whose rates change at a threshold: the balance before each event decides."""

import pytest

from meters.ledger.script_steps import Contribution, Status
from tests.lua.books import (
    BONUS,
    CENT,
    MAX,
    METER,
    SEED,
    Books,
    added,
    result,
    share,
    take,
    void,
    wagers,
)

THRESHOLD = SEED + 300_000
LOW, HIGH = (140_000, 20_000), (50_000, 110_000)
TABLES = tuple(f"T-{number}" for number in range(1, 9))


def changing(*, meter: str = METER, limit: int = 0) -> Contribution:
    return added(*LOW, meter=meter, limit=limit, above=(THRESHOLD, *HIGH))


async def moved(books: Books) -> dict[str, int]:
    """Return what the last entry moved to each account."""
    found = dict[str, int]()
    for _, target, micros, _ in await books.transfers():
        assert isinstance(micros, int)
        found[str(target)] = micros
    return found


@pytest.mark.parametrize("beside", [0, 1], ids=["planned", "with a meter at its limit"])
@pytest.mark.parametrize(("offset", "rates"), [(-1, LOW), (0, HIGH), (1, HIGH)])
async def test_one_micro_decides(
    books: Books, offset: int, rates: tuple[int, int], beside: int
) -> None:
    await books.set_accounts({f"meter:{METER}": THRESHOLD + offset})
    full = added(10_000, meter=BONUS, limit=1)
    await books.accept(wagers(1, changing(), *[full] * beside))
    found = await moved(books)
    assert (found[f"meter:{METER}"], found[f"reserve:{METER}"]) == rates


async def test_each_meter_of_an_event_has_its_own_rates(books: Books) -> None:
    await books.set_accounts({f"meter:{METER}": THRESHOLD, f"meter:{BONUS}": THRESHOLD - 1})
    await books.accept(wagers(1, changing(), changing(meter=BONUS)))
    assert await moved(books) == {
        f"meter:{METER}": HIGH[0], f"reserve:{METER}": HIGH[1],
        f"meter:{BONUS}": LOW[0], f"reserve:{BONUS}": LOW[1],
    }  # fmt: skip


@pytest.mark.parametrize("limit", [0, THRESHOLD - 50_000, THRESHOLD, THRESHOLD + 130_000])
async def test_a_batch_adds_what_its_events_add_one_by_one(books: Books, limit: int) -> None:
    """The meter passes its threshold, is won, and passes it again; calculated here by hand."""
    won = result(2, share(), takes=[take(100, from_reserve=True, limit=limit)], basis=1)
    steps = [wagers(1, changing(limit=limit), table=table) for table in TABLES[:6]]
    steps += [won, *(wagers(1, changing(limit=limit), table=table) for table in TABLES[6:])]
    meter, reserve, over = SEED, 0, 0
    for at in range(8):
        if at == 6:  # the win
            pool = SEED + reserve + over + meter % CENT
            meter = min(pool, limit or pool)
            reserve, over = 0, pool - meter
        to_meter, to_reserve = HIGH if meter >= THRESHOLD else LOW
        room = min(to_meter, limit - meter) if limit else to_meter
        meter, over, reserve = meter + room, over + to_meter - room, reserve + to_reserve
    accounts, _ = await books.apply_both_ways(steps)
    held = [accounts.get(f"{kind}:{METER}", 0) for kind in ("meter", "reserve", "overflow")]
    assert held == [meter, reserve, over]
    assert sum(accounts.values()) == 0


async def test_void_rounds_give_back_what_they_added(books: Books) -> None:
    before = await books.accounts()
    for table in TABLES[:5]:
        await books.accept(wagers(1, changing(), table=table))
    between = await books.accounts()
    assert between[f"meter:{METER}"] == SEED + 3 * LOW[0] + 2 * HIGH[0]
    for table in TABLES[4::-1]:
        await books.accept(void(2, table=table))
    after = await books.accounts()
    assert {name: micros for name, micros in after.items() if micros} == before


async def test_only_the_rates_that_apply_must_fit_into_the_reserve(books: Books) -> None:
    room = HIGH[1] - 1
    await books.set_accounts({f"reserve:{METER}": MAX - room, f"meter:{METER}": THRESHOLD})
    (full,) = await books.apply(wagers(1, changing()))
    assert full.status is Status.METER_FULL
    await books.set_accounts({f"meter:{METER}": THRESHOLD - 1})
    (fits,) = await books.apply(wagers(2, changing()))
    assert fits.status is Status.ACCEPTED
    assert (await books.accounts())[f"reserve:{METER}"] == MAX - room + LOW[1]
