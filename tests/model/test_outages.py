"""The ledger records since when and why a link was inoperable (duty D17)."""

from pathlib import Path

import msgspec
import pytest
from redis.asyncio import Redis

import meters.service.outages
from meters.books.outage_entries import OUTAGE, Outage, OutageBook
from meters.books.store import LinkStore, TermsError
from meters.floor_api.types import ActRow
from meters.service.outages import REASON_LENGTH_MAX, REASONS_MAX, Outages
from tests.model.pit import Pit
from tests.model.running import Running, running
from tests.model.tampering import move_balance
from tests.servers import RedisServer, eventually_async

pytestmark = pytest.mark.usefixtures("soon")

LINK = "pit"


async def noted(pit: Pit) -> list[ActRow]:
    """Return the outages in the ledger, latest first, as staff see them among the acts."""
    acts = await pit.link_acts.acts(LINK, None, 50)
    return [act for act in acts if act.what == "inoperable"]


def kept(data: Path) -> list[Outage]:
    return [OUTAGE.decode(path.read_bytes()) for path in data.glob("marks/*.outage.json")]


async def fails_and_comes_back(link: Running, micros: int) -> None:
    await move_balance(link.pit, "meter:progressive", micros)
    await link.goes_down(f"{micros:+d}")
    await move_balance(link.pit, "meter:progressive", -micros)
    await link.comes_up()


async def is_noted(pit: Pit, count: int) -> list[ActRow]:
    async def found() -> list[ActRow]:
        acts = await noted(pit)
        return acts if len(acts) == count else []

    return await eventually_async(found, what=f"{count} outages noted")


@pytest.mark.duty("D17")
async def test_an_outage_of_the_store_is_in_the_ledger_when_it_is_back(
    keeping_redis: Redis, keeping_server: RedisServer, tmp_path: Path
) -> None:
    pit = Pit(keeping_redis)
    async with running(pit, tmp_path) as link:
        await link.comes_up()
        assert await noted(pit) == [], "a start is none"
        keeping_server.kill()
        await link.goes_down("Redis")
        keeping_server.start()
        await link.comes_up()
        (act,) = await is_noted(pit, 1)
        assert (act.by, act.of, act.told[:4]) == ("service", "link", "for ")
        assert "Redis" in act.told
        assert (await pit.audit()).balanced
        await eventually_async(lambda: not kept(tmp_path), what="nothing kept any more")


@pytest.mark.slow
@pytest.mark.duty("D17")
async def test_a_link_that_comes_and_goes_makes_an_entry_a_minute(
    keeping_redis: Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pit = Pit(keeping_redis)
    async with running(pit, tmp_path) as link:
        await link.comes_up()
        await fails_and_comes_back(link, 1)
        await is_noted(pit, 1)
        for micros in (2, 3, 4, 5):
            await fails_and_comes_back(link, micros)
        assert len(await noted(pit)) == 1
        link.service._outages._not_before_s = 0.0
        latest, _ = await is_noted(pit, 2)
        assert "4 times in it" in latest.told
        assert [f": +{micros}" in latest.told for micros in (2, 3, 4, 5)] == [
            True, True, True, False,
        ], f"no more than {REASONS_MAX} reasons"  # fmt: skip
    monkeypatch.setattr(meters.service.outages, "NOTED_EVERY_S", 0.0)
    async with running(Pit(keeping_redis), tmp_path) as link:
        await link.comes_up()
        for count, micros in enumerate((1, 2), start=3):
            await fails_and_comes_back(link, micros)
            await is_noted(pit, count)


@pytest.mark.duty("D17")
async def test_an_outage_that_outlives_the_service_is_noted_by_the_next(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    pit = Pit(keeping_redis)
    async with running(pit, tmp_path) as link:
        await link.comes_up()
        await move_balance(pit, "meter:progressive", 7)
        await link.goes_down("+7")
    (waiting,) = kept(tmp_path)
    assert await noted(pit) == [], "nothing is written to books that do not hold"
    await move_balance(pit, "meter:progressive", -7)
    async with running(Pit(keeping_redis), tmp_path) as link:
        await link.comes_up()
        (act,) = await is_noted(pit, 1)
    assert ": +7" in act.told
    entry = (await pit.entries())[-1]
    assert OUTAGE.decode(entry["event"]).since == waiting.since


async def test_an_outage_is_noted_once_though_the_answer_was_lost(pit: Pit) -> None:
    outage = Outage("a1", "2026-11-20T02:14:07.250Z", ("Redis failed",))
    book = OutageBook(pit.store, "service")
    await book.note(outage)
    await book.note(outage)
    assert len(await noted(pit)) == 1
    await book.note(msgspec.structs.replace(outage, id="a2"))
    assert len(await noted(pit)) == 2
    assert (await pit.audit()).balanced


async def test_terms_that_changed_are_not_written_under(pit: Pit) -> None:
    other = msgspec.structs.replace(pit.link, meter=pit.link.meter[:1])
    with pytest.raises(TermsError):
        await OutageBook(LinkStore(pit.redis, other), "service").note(Outage("a", "", ()))
    assert await noted(pit) == []


async def test_a_file_that_cannot_be_kept_or_read_stops_nothing(tmp_path: Path) -> None:
    noted: list[Outage] = []

    async def note(outage: Outage) -> None:
        noted.append(outage)

    path = tmp_path / "file" / "pit.outage.json"
    path.parent.write_text("in the way")
    outages = Outages(path, note)
    outages.begin("x" * 2 * REASON_LENGTH_MAX, again=True)
    await outages.note()
    await outages.note()
    assert [len(outage.reasons[0]) for outage in noted] == [REASON_LENGTH_MAX]
    damaged = tmp_path / "damaged.json"
    for content in (b"", b"{", b"\0" * 80, b'{"id": "\xff\xfe"}', b"[" * 100_000):
        damaged.write_bytes(content)
        await Outages(damaged, note).note()
    assert len(noted) == 1
