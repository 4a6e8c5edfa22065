"""What is above a meter's limit goes to another meter of the link, and is audited and restored.

`MINI` and `GRAND` are of the same kind, and `MINI` has room for two wagers.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final, cast

import msgspec
import pytest
from redis.asyncio import Redis

from tests.floor_text import floor_text, link_text, meter_text, promotion_text, table_text
from tests.games.naive import HOUSE
from tests.model.pit import CENT, PROGRESSIVE, RAGS, Pit, code, to
from tests.model.tampering import Fields, ledger, rewrite
from tests.model.test_asks import confirm, correct
from tests.restore.pit import KeptPit
from tests.restore.stores import Copy

pytestmark = pytest.mark.duty("D3", "D6")

MINI: Final = "mini"
GRAND: Final = "grand"
SEED: Final = 100_000 * CENT
GRAND_SEED: Final = 500_000 * CENT
WAGER: Final = 14 * CENT
BIG_WAGER: Final = 70 * CENT
FLOOR: Final = floor_text(
    link_text(
        "pit",
        meter_text(PROGRESSIVE, id=MINI, limit=100_028, overflow_to=GRAND),
        meter_text(PROGRESSIVE, 500, id=GRAND, limit=500_100),
        table_text("T-1", MINI, asset="1"),
        table_text("T-2", GRAND, asset="2"),
        table_text("T-3", MINI, asset="3"),
    ),
    two_people_reject_above=1_000_000_000,
)
ROYAL: Final = "As Ks Qs"
STRAIGHT_FLUSH: Final = "7c 6c 5c"
"""A hand that wins a tenth of the meter."""


def bets(*positions: int) -> dict[int, str]:
    return dict.fromkeys(positions, PROGRESSIVE)


async def held(pit: Pit) -> tuple[int, int]:
    """Return what the two meters have above their seeds, and check that the small one is lean."""
    accounts = await pit.accounts()
    assert accounts.get(f"overflow:{MINI}", 0) == 0
    return accounts[f"meter:{MINI}"] - SEED, accounts[f"meter:{GRAND}"] - GRAND_SEED


@pytest.fixture
async def pit(redis: Redis) -> Pit:
    return await Pit.opened(redis, FLOOR, workers=2)


async def test_players_of_both_meters_win_their_own(pit: Pit) -> None:
    """The second round has no room at all, so it adds only to the other meter."""
    await pit.wagers(bets(1, 2, 3))
    assert await held(pit) == (2 * WAGER, WAGER)
    await pit.wagers(bets(1), table="T-3")
    assert await held(pit) == (2 * WAGER, 2 * WAGER)
    reply = await pit.result({1: ROYAL}, table="T-3")
    assert [(one.amount, one.item) for one in reply.claims or ()] == [(100_028, PROGRESSIVE)]
    assert await held(pit) == (0, 2 * WAGER)
    reply = await pit.round(bets(4), {4: ROYAL}, table="T-2")
    assert [one.amount for one in reply.claims or ()] == [500_098]
    await pit.check_sound()


async def test_above_both_limits_it_waits_for_the_other_meter(pit: Pit) -> None:
    await pit.wagers(bets(1, 2, 3, 4, 5, 6, 7))
    await pit.wagers(bets(1, 2, 3, 4, 5, 6, 7), table="T-3")
    accounts = await pit.accounts()
    assert await held(pit) == (2 * WAGER, 100 * CENT)
    assert accounts[f"overflow:{GRAND}"] == 12 * WAGER - 100 * CENT
    await pit.round(bets(1), {1: STRAIGHT_FLUSH}, table="T-2")
    await pit.check_sound()


@pytest.mark.reading("T28")
@pytest.mark.parametrize("won", [None, MINI, GRAND])
async def test_a_void_takes_it_back_where_it_is_still(pit: Pit, won: str | None) -> None:
    """A win takes what the round added to one meter; the other gives its part back."""
    await pit.wagers(bets(1, 2, 3, 4))
    if won:
        table = {MINI: "T-3", GRAND: "T-2"}[won]
        await pit.round(bets(1), {1: ROYAL}, table=table)
    house, (_, grand) = (await pit.accounts())["house"], await held(pit)
    assert code(await pit.void()) == "accepted"
    lost = house - (await pit.accounts())["house"]
    assert lost == {None: 0, MINI: 2 * WAGER, GRAND: 2 * WAGER}[won]
    assert await held(pit) == (0, grand - (0 if won == GRAND else 2 * WAGER))
    await pit.check_sound()


async def test_corrections_take_what_is_above_first(pit: Pit) -> None:
    await pit.wagers(bets(1, 2, 3))
    assert code(await correct(pit, "take_back", 2, bets(1, 3))) == "unconfirmed"
    await confirm(pit)
    assert code(await correct(pit, "take_back", 2, bets(1, 3))) == "accepted"
    assert await held(pit) == (2 * WAGER, 0)
    await correct(pit, "add", 5, bets(1, 3, 5))
    await confirm(pit)
    await correct(pit, "add", 5, bets(1, 3, 5))
    assert await held(pit) == (2 * WAGER, WAGER)
    await pit.check_sound()
    await correct(pit, "take_back", 5, bets(1, 3))
    await confirm(pit)
    await correct(pit, "take_back", 5, bets(1, 3))
    assert await held(pit) == (2 * WAGER, 0)
    await pit.void()
    assert await held(pit) == (0, 0)
    await pit.check_sound()


@pytest.mark.parametrize("won", [None, GRAND])
async def test_a_rejected_win_goes_there_and_its_reopening_comes_back(
    pit: Pit, won: str | None
) -> None:
    """The meter has begun again, so most of a rejected win is above its limit."""
    await pit.round(bets(1, 2), {1: ROYAL, 2: RAGS})
    await pit.decide("pit.T-1-2-1", "reject")
    accounts = await pit.accounts()
    assert await held(pit) == (2 * WAGER, 100 * CENT)
    assert accounts[f"overflow:{GRAND}"] == SEED - 100 * CENT
    await pit.check_sound()
    if won:
        await pit.round(bets(1), {1: ROYAL}, table="T-2")
    house, (_, grand) = (await pit.accounts())["house"], await held(pit)
    row = await pit.claims.request_reopening("pit.T-1-2-1", "amy", reason="the camera shows it")
    assert row.request is not None
    await pit.claims.confirm("pit.T-1-2-1", "ben", row.request.entry)
    after = await pit.accounts()
    assert after["claim:pit.T-1-2-1"] == SEED + 2 * WAGER
    assert house - after["house"] == (SEED if won else 0)
    assert await held(pit) == (0, grand if won else 0)
    await pit.check_sound()
    await pit.decide("pit.T-1-2-1", "validate")
    await pit.check_sound()


async def test_a_promotion_of_a_full_meter_goes_there(redis: Redis) -> None:
    pit = await Pit.opened(redis, FLOOR + promotion_text("always", MINI, 50))
    assert await pit.promotions[0].add()
    assert await held(pit) == (28 * CENT, 22 * CENT)
    await pit.check_sound()


async def test_limits_that_people_change_are_in_force_at_once(pit: Pit) -> None:
    await pit.wagers(bets(1, 2, 3))
    await pit.void()
    await pit.link_acts.close("pit", "sue", "shift change")
    await pit.change(to(MINI, "limit", 100_014))
    await pit.change(to(GRAND, "limit", 500_010))
    await pit.link_acts.open("pit", "sue")
    await pit.adopt()
    await pit.wagers(bets(1, 2), table="T-3")
    assert await held(pit) == (WAGER, 10 * CENT)
    assert (await pit.accounts())[f"overflow:{GRAND}"] == WAGER - 10 * CENT
    await pit.check_sound()


async def test_a_meter_gets_its_own_part_of_a_wager_before_that_of_another(redis: Redis) -> None:
    """One wager feeds both: the audit needs to know which part is above the second limit."""
    tiers = ("keystone_mega", "keystone_major", "keystone_minor")
    link = link_text(
        "pit",
        meter_text(tiers[0], limit=2_000_001, overflow_to=tiers[2]),
        meter_text(tiers[1]),
        meter_text(tiers[2], limit=5_003),
        table_text("T-1", *tiers, asset="1", game="keystone_stud", positions=5),
    )
    pit = await Pit.opened(redis, floor_text(link, games=str(HOUSE)))
    (wager,) = (one for one, fed in pit.known["T-1"].offers.items() if len(fed) == len(tiers))
    for number in range(3):
        await pit.wagers({1: wager, 2: wager}, round_id=f"R{number}")
        await pit.void(round_id=f"R{number}")
    await pit.wagers({1: wager, 2: wager}, round_id="R9")
    assert (await pit.accounts())[f"overflow:{tiers[2]}"] > 0
    await pit.check_sound()


# The audit.


def moving(*changed: tuple[int, int, object]) -> Callable[[Fields], Fields]:
    """Change places of transfers: the number of the transfer, of the place, and its new value."""

    def change(fields: Fields) -> Fields:
        transfers = msgspec.json.decode(fields[b"transfers"], type=list[list[object]])
        for transfer, place, value in changed:
            transfers[transfer][place] = value
        return fields | {b"transfers": msgspec.json.encode(transfers)}

    return change


@pytest.mark.duty("D19")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (moving((2, 1, "house")), "must move 140000 from overflow:mini to meter:grand"),
        (moving((2, 1, f"overflow:{GRAND}")), "must move 140000 from overflow:mini to meter:grand"),
        (moving((2, 2, WAGER - 1)), "must move 140000 from overflow:mini to meter:grand"),
        (moving((2, 3, 2)), "must move 140000 from overflow:mini to meter:grand"),
        (moving((0, 2, WAGER), (1, 2, 2 * WAGER), (2, 2, 2 * WAGER)),
         "must move 280000 from table:T-1 to meter:mini"),
        (lambda one: one | {b"transfers": one[b"transfers"].rpartition(b",[")[0] + b"]"},
         "moves nothing, and must move 140000 from overflow:mini to meter:grand"),
    ],
    ids=["house", "overflow", "micro", "cycle", "early", "kept"],
)  # fmt: skip
async def test_an_audit_finds_money_that_went_elsewhere(
    pit: Pit, change: Callable[[Fields], Fields], said: str
) -> None:
    await pit.wagers(bets(1, 2, 3))
    last = len(await ledger(pit))
    await rewrite(pit, lambda entry, fields: change(fields) if entry == last else fields)
    assert said in "\n".join((await pit.audit()).problems)


async def test_an_audit_finds_another_round_in_redis(pit: Pit) -> None:
    """Without the name of the other meter, a void would take too much of the first one."""
    await pit.wagers(bets(1, 2, 3))
    tables = pit.store.keys.tables
    packed = cast("bytes", await pit.redis.hget(tables, "T-1"))
    assert packed.count(b"\xa5grand\x01") == 1
    await pit.redis.hset(tables, "T-1", packed.replace(b"\xa5grand\x01", b"\xa0\x00"))
    assert (await pit.audit()).problems != ()


# A restore.


async def not_empty(pit: Pit) -> dict[str, int]:
    return {account: micros for account, micros in (await pit.accounts()).items() if micros}


@pytest.mark.duty("D11")
@pytest.mark.parametrize("copied", [False, True], ids=["outboxes", "archive"])
async def test_a_restore_puts_each_cent_where_it_was(
    redis: Redis, tmp_path: Path, *, copied: bool
) -> None:
    pit = KeptPit(redis, tmp_path, FLOOR)
    await pit.open()
    await pit.wagers(bets(1, 2, 3))
    copy = await Copy.of(pit.store) if copied else None
    await pit.round(bets(2), {2: ROYAL}, table="T-2")
    await pit.wagers(bets(1, 2), table="T-3")
    was = await not_empty(pit)
    restored = await pit.lost_and_restored(copy)
    assert restored.replayed.differing == []
    assert await not_empty(pit) == was
    await pit.goes_on()
    await pit.void()
    await pit.void(table="T-3")
    assert (await pit.audit()).problems == ()
