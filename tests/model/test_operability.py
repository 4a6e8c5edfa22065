"""A link operates only with correct books and a Redis that keeps its data (duties D9, D10).

Each cause makes the running link inoperable with a reason that names it. The link comes back by
itself when the cause is gone. Nothing is ever written halfway.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, cast

import msgspec
import pytest
from redis.asyncio import Redis

import meters.service.ledger_auditing
import meters.service.link_outages
import meters.service.link_service
from meters.acts.act_rows import ActRow
from meters.acts.links import Links
from meters.acts.meter_changes import Adjustment
from meters.ledger.entry_messages import OUTAGE, Outage
from meters.ledger.money_terms import terms_text
from meters.service.link_outages import REASON_LENGTH_MAX, REASONS_MAX, Outages
from meters.store.health import FileWatch, NotSyncedError, redis_problem
from meters.store.ledger_mark import LedgerMark
from meters.store.link_acts import note_outage
from meters.store.link_store import LinkStore, TermsError
from tests.lua.books import keyspace
from tests.model.conftest import end_the_writing_of_the_file, keeps
from tests.model.pit import PROGRESSIVE, Pit, refused
from tests.model.running import SOON, Running, operating, running
from tests.model.tampering import Fields, move_balance, rewrite
from tests.mqtt.events import encode, void, wagers
from tests.servers import RedisServer, eventually_async

NEXT_WAGERS: Final = encode(wagers(7, "R4"))
"""The next event of table T-2 on `link`."""


async def _accepts(link: Running) -> None:
    (reply,) = await link.take("T-2", NEXT_WAGERS)
    assert b'"accepted"' in reply


@pytest.mark.duty("D9", proof=True)
async def test_link_seeds_its_meters_and_comes_up_only_when_all_is_checked(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    """The first heartbeat says that the link does not operate yet.

    The ledger begins with the configuration that was adopted.
    """
    pit = Pit(keeping_redis)
    async with running(pit, tmp_path) as link:
        assert link.service.problem is not None
        assert await link.take("T-1", encode(wagers(1))) == []
        await link.comes_up()
        assert await link.take("T-1", encode(wagers(1))) != []
    assert link.beats()[0].state == "inoperable"
    kinds = [entry["kind"] for entry in await pit.entries()]
    assert kinds == ["approve", *["seed"] * 4, "wagers"]


@pytest.mark.duty("D19", proof=True)
@pytest.mark.parametrize("micros", [1, -40_000])
async def test_meter_that_is_not_its_ledger_stops_the_link_by_how_much(
    link: Running, micros: int
) -> None:
    """It comes back by itself when the balance does, and publishes its present meters.

    No proposal is accepted until then: it would change ledger and balance alike.
    """
    held = await link.pit.meter(PROGRESSIVE)
    await move_balance(link.pit, "meter:progressive", micros)
    reason = await link.goes_down("meter:progressive", f"{micros:+d}")
    assert reason.startswith(
        f"meter:progressive holds {held + micros} micros, the ledger says {held}: {micros:+d}"
    )
    assert link.meter(PROGRESSIVE).state == "inoperable"
    before = await keyspace(link.pit.redis)
    assert await link.take("T-2", NEXT_WAGERS) == []
    link.pit.inoperable = reason  # this is how its service reports it
    change = Adjustment(meter="progressive", amount=-1, reason="malfunction")
    with refused("link_inoperable", rf"\{micros:+d}"):
        await link.pit.link_acts.propose(link.pit.link.id, "sue", change)
    assert await keyspace(link.pit.redis) == before, "it is never repaired in silence"
    await move_balance(link.pit, "meter:progressive", -micros)
    await link.comes_up()
    named = link.meter(PROGRESSIVE)
    assert (named.amount, named.state) == (held // 10_000, "pending"), "a percentage still waits"
    await _accepts(link)


async def test_operating_link_finds_a_shortened_ledger(link: Running) -> None:
    last = (await link.pit.entries())[-1]["id"]
    await link.pit.redis.hset(link.pit.store.keys.meters, "entries", str(int(last) - 1))
    # The mark or the audit may find it first. Both name the missing entry.
    assert last in await link.goes_down(last)


@pytest.mark.duty("D19")
async def test_operating_link_finds_an_entry_that_was_taken_out_and_put_back(link: Running) -> None:
    """The entry was verified long before. Later the link operates again without a restart."""
    key = link.pit.store.keys.ledger
    copy = await link.pit.redis.dump(key)
    assert copy is not None
    await link.pit.redis.xdel(key, "5-0")
    await link.goes_down("entry 6 follows entry 4: some are missing")
    await link.pit.redis.restore(key, 0, copy, replace=True)
    await link.comes_up()
    await link.pit.redis.xtrim(key, minid="6-0", approximate=False)
    await link.goes_down("entry 6 follows entry 0: some are missing")


@pytest.mark.duty("D9", proof=True)
@pytest.mark.parametrize(
    ("altered", "said"),
    [
        pytest.param(None, "entry 6 follows entry 4: some are missing", id="taken-out"),
        pytest.param(
            {b"at": b"2026-11-20T02:15:00.000Z"}, "entry 5 is not as it was", id="altered"
        ),
    ],
)
async def test_link_that_starts_on_an_altered_ledger_never_operates(
    keeping_played: Pit, tmp_path: Path, altered: Fields | None, said: str
) -> None:
    def alter(number: int, fields: Fields) -> Fields | None:
        return fields if number != 5 else altered and fields | altered

    await rewrite(keeping_played, alter, chained=altered is None)
    async with running(keeping_played, tmp_path) as link:
        await link.goes_down(said)
        assert await link.take("T-2", NEXT_WAGERS) == []


Change = Callable[[Running, RedisServer], Awaitable[object]]


def _config(**settings: str) -> Change:
    async def change(link: Running, _: RedisServer) -> None:
        for name, value in settings.items():
            await link.pit.redis.config_set(name.replace("_", "-"), value)

    return change


def _rights(command: str) -> Change:
    return lambda link, _: link.pit.redis.acl_setuser("default", enabled=True, commands=[command])


async def _fail_a_snapshot(link: Running, server: RedisServer) -> None:
    (server.home / "dump.rdb").mkdir()
    await link.pit.redis.config_set("save", "3600 1")
    await link.pit.redis.bgsave()


async def _snapshot(link: Running, server: RedisServer) -> None:
    async def saved() -> bool:
        return not (await link.pit.redis.info("persistence"))["rdb_bgsave_in_progress"]

    await eventually_async(saved, what="the end of the snapshot")
    (server.home / "dump.rdb").rmdir()
    await link.pit.redis.bgsave()


async def _be_without_a_file_for_a_moment(link: Running, _: RedisServer) -> None:
    """No check sees the moment. A kill now would lose what the link accepts."""
    async with link.pit.redis.pipeline(transaction=False) as pipe:
        pipe.config_set("rdb-key-save-delay", "10000000")
        pipe.config_set("appendonly", "no")
        pipe.config_set("appendonly", "yes")
        await pipe.execute()


async def _write_the_whole_file(link: Running, server: RedisServer) -> None:
    await link.pit.redis.config_set("rdb-key-save-delay", "0")
    await end_the_writing_of_the_file(server)


async def _alter_terms(link: Running, _: RedisServer) -> None:
    key, field = link.pit.store.keys.meters, "terms:progressive"
    terms = cast("bytes", await link.pit.redis.hget(key, field))
    await link.pit.redis.hset(key, field, terms.replace(b'"seed_cents":', b'"seed_cents":1'))
    await link.pit.redis.hset(key, "terms", "altered")


async def _put_terms_back(link: Running, _: RedisServer) -> None:
    store, meter = link.pit.store, link.pit.link.meter[0]
    mapping = {f"terms:{meter.meter_id}": terms_text(meter), "terms": store.terms.digest}
    await link.pit.redis.hset(store.keys.meters, mapping=mapping)  # type: ignore[arg-type]


WHOLE: Final = "Redis writes its whole append-only file again"
OTHER_TERMS: Final = "its record of terms is"
LACKS: Final[Mapping[str, tuple[Change, str, Change]]] = {
    **{
        f"{name} {value}": (
            _config(**{name: value}), f"{name.replace('_', '-')} {value}", _config(**{name: mended})
        )
        for name, value, mended in (
            ("appendfsync", "everysec", "always"),
            ("appendfsync", "no", "always"),
            ("maxmemory_policy", "allkeys-lru", "noeviction"),
            ("maxmemory_policy", "volatile-ttl", "noeviction"),
            ("appendonly", "no", "yes"),
            ("no_appendfsync_on_rewrite", "yes", "no"),
        )
    },
    "memory": (
        _config(maxmemory="1"), "refuses writes: its memory is full", _config(maxmemory="0")
    ),
    "snapshots": (_fail_a_snapshot, "refuses writes: its last snapshot failed", _snapshot),
    "replicas": (
        _config(min_replicas_to_write="1"), "refuses writes: it has fewer replicas",
        _config(min_replicas_to_write="0"),
    ),
    "being the primary": (
        lambda link, _: link.pit.redis.replicaof("127.0.0.1", "1"), "not the primary",
        lambda link, _: link.pit.redis.replicaof("NO", "ONE"),
    ),
    "a right": (
        _rights("-xadd"), "refuses writes: pitlink's Redis user has no", _rights("+xadd")
    ),
    "its settings": (_rights("-config"), "Redis refuses CONFIG GET", _rights("+config")),
    "its whole file": (_be_without_a_file_for_a_moment, WHOLE, _write_the_whole_file),
    "terms as confirmed": (_alter_terms, OTHER_TERMS, _put_terms_back),
    "terms": (
        lambda link, _: link.pit.redis.hdel(link.pit.store.keys.meters, "terms:progressive"),
        f"{OTHER_TERMS} missing", _put_terms_back,
    ),
}  # fmt: skip


@pytest.mark.duty("D10", proof=True)
@pytest.mark.parametrize(("take_away", "said", "mend"), LACKS.values(), ids=LACKS)
async def test_what_redis_lacks_stops_the_link_until_it_is_back(
    link: Running, keeping_server: RedisServer, take_away: Change, said: str, mend: Change
) -> None:
    """This is so before any event comes, and nothing is written by half.

    The table repeats its event, which counts once. No decision is taken meanwhile.
    """
    pit, held = link.pit, await link.pit.meter(PROGRESSIVE)
    await take_away(link, keeping_server)
    before = await keyspace(pit.redis)
    await link.goes_down(said)
    assert await link.take("T-2", NEXT_WAGERS) == []
    if "memory is full" in said:
        with refused("link_inoperable"):
            await pit.decide("pit.T-1-2-4", "validate")
    assert await keyspace(pit.redis) == before
    await mend(link, keeping_server)
    await link.comes_up()
    (reply,) = await link.take("T-2", NEXT_WAGERS)
    assert b'"accepted"' in reply
    assert await link.take("T-2", NEXT_WAGERS) == [reply]
    assert await pit.meter(PROGRESSIVE) == held + 140_000
    assert (await pit.audit()).balanced


@pytest.mark.duty("D10")
async def test_a_redis_without_the_command_config_is_told_from_one_that_does_not_answer(
    tmp_path: Path,
) -> None:
    (tmp_path / "without.conf").write_text('rename-command CONFIG ""\n')
    with RedisServer(options={"include": str(tmp_path / "without.conf")}) as server:
        async with Redis(unix_socket_path=str(server.socket_path)) as redis:
            problem = await redis_problem(redis, "link") or ""
    assert problem.startswith("Redis refuses CONFIG GET, ")
    assert "unknown command" in problem
    assert "does not answer" not in problem


@pytest.mark.duty("D10")
def test_another_redis_that_writes_its_file_may_lack_it() -> None:
    """A replica that has just copied everything writes its file again, and can become primary."""
    watch, keeps, writes = FileWatch(), {"appendonly": "yes"}, {"aof_rewrite_in_progress": 1}
    assert not watch.is_incomplete(keeps, {"run_id": "one"}, None)
    assert not watch.is_incomplete(keeps, {"run_id": "one", **writes}, None)
    assert watch.is_incomplete(keeps, {"run_id": "another", **writes}, None)
    assert watch.is_incomplete(keeps, {"run_id": "another", **writes}, None)
    assert not watch.is_incomplete(keeps, {"run_id": "another"}, None)
    assert not watch.is_incomplete({"appendonly": "no"}, {"run_id": "another"}, None)
    assert watch.is_incomplete(keeps, {"run_id": "another", **writes}, None)


@pytest.mark.duty("D10")
async def test_a_service_that_starts_meanwhile_waits_too_but_one_that_runs_does_not(
    keeping_played: Pit, keeping_server: RedisServer, tmp_path: Path
) -> None:
    """A service that was not there before cannot know that Redis had a file all the time."""
    pit = keeping_played
    # A changed setting makes the service look again at the file, so it is changed before.
    await pit.redis.config_set("rdb-key-save-delay", "10000000")
    async with operating(pit, tmp_path) as link:
        await pit.redis.bgrewriteaof()
        await pit.void(table="T-2", round_id="R3")
        await link.looks_again()
        assert link.beat().state == "operable"
    async with running(pit, tmp_path) as link:
        await link.goes_down("Redis writes its whole append-only file again")
        await pit.redis.config_set("rdb-key-save-delay", "0")
        await end_the_writing_of_the_file(keeping_server)
        await link.comes_up()


@pytest.fixture
def unwatched(link: Running) -> None:
    """Turn off the checks of Redis, so only the script's own result can show a problem."""
    never = replace(SOON, check_every_s=100_000.0, audit_every_s=100_000.0)
    link.service._pace = link.service.auditing._pace = never


async def _at_rest(link: Running) -> None:

    async def nothing_is_posted() -> bool:
        before = len(link.posted)
        await asyncio.sleep(0.2)
        return len(link.posted) == before

    await eventually_async(nothing_is_posted, what="a link at rest")


@pytest.mark.duty("D10")
@pytest.mark.usefixtures("unwatched")
@pytest.mark.parametrize(
    ("setting", "value", "kept"),
    [("appendfsync", "everysec", "always"), ("appendonly", "no", "yes")],
)
async def test_not_one_event_is_answered_once_redis_syncs_no_write_any_more(
    link: Running, setting: str, value: str, kept: str
) -> None:
    """This begins immediately, not with the next check of its settings. The event counts once."""
    await _at_rest(link)
    held = await link.pit.meter(PROGRESSIVE)
    await link.pit.redis.config_set(setting, value)
    assert await link.take("T-2", NEXT_WAGERS) == []
    assert link.service.problem == f"Redis has {setting} {value}; it must be {kept}"
    await link.pit.redis.config_set(setting, kept)
    await eventually_async(lambda: keeps(link.pit.redis), what="the whole append-only file")
    await link.service._check()
    await eventually_async(lambda: link.service.auditing.problem is None)
    await link.service._check()
    await _accepts(link)
    assert await link.pit.meter(PROGRESSIVE) == held + 140_000


@pytest.mark.duty("D10")
@pytest.mark.usefixtures("unwatched")
async def test_no_decision_is_reported_once_redis_syncs_no_write_any_more(link: Running) -> None:
    await _at_rest(link)
    await link.service.keep_mark()
    await link.pit.redis.config_set("appendfsync", "everysec")
    with pytest.raises(NotSyncedError, match="appendfsync everysec; it must be always"):
        await link.service.keep_mark()
    with pytest.raises(NotSyncedError):
        await link.service.reload()


@pytest.mark.duty("D10")
@pytest.mark.parametrize("kept", [0, 7])
async def test_store_that_came_back_with_less_is_said_to_hold_what_it_holds(
    link: Running, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first reason already names what is there, not what the service replayed (duty D10)."""
    pit, reasons = link.pit, list[str]()
    had = (await pit.store.snapshot()).last_entry
    await eventually_async(lambda: link.service.seen.sealed == had, what="all of it audited")
    set_problem = link.service._set_problem

    def note(problem: str | None) -> None:
        reasons.append(problem or "")
        set_problem(problem)

    monkeypatch.setattr(link.service, "_set_problem", note)
    keys = pit.store.keys
    async with pit.redis.pipeline(transaction=True) as pipe:
        if kept:
            pipe.hset(keys.meters, "entries", kept)
            pipe.xdel(keys.ledger, *(f"{number}-0" for number in range(kept + 1, had + 1)))
        else:
            pipe.flushall()
        await pipe.execute()
    await link.goes_down(f"Redis holds {kept} ledger entries and has held {had}")
    named = [reason for reason in reasons if "has held" in reason]
    assert named
    assert all(f"Redis holds {kept} ledger entries" in reason for reason in named)


async def test_link_that_plays_while_it_is_audited_stays_up(
    link: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mark advances while the ledger is replayed. That does not mean that entries were lost."""
    replaying, go_on = asyncio.Event(), asyncio.Event()
    entries = link.pit.store.entries

    async def slowly(after: int, count: int) -> list[tuple[int, dict[str, bytes]]]:
        found = await entries(after, count)
        replaying.set()
        await go_on.wait()
        return found

    link.service.auditing._pace = replace(SOON, audit_every_s=60.0)
    monkeypatch.setattr(link.service.store, "entries", slowly)
    (first,) = await link.take("T-2", NEXT_WAGERS)
    assert b"accepted" in first

    def under_way() -> bool:
        if not replaying.is_set():
            link.service.auditing.hurry()
        return replaying.is_set()

    await eventually_async(under_way, what="an audit under way")
    await link.take("T-2", encode(void(8, "R4")))
    last = (await link.pit.store.snapshot()).last_entry
    await eventually_async(
        lambda: LedgerMark(link.data, link.pit.link.id).seen.entries == last,
        what="the mark moved on",
    )
    go_on.set()
    named = len(link.posted)
    await eventually_async(lambda: len(link.posted) > named + 10, what="ten beats more")
    assert link.service.problem is None


@pytest.mark.duty("D10", proof=True)
async def test_store_that_was_emptied_is_not_taken_for_a_new_one_after_a_restart(
    link: Running,
) -> None:
    """The mark outside the store shows it. Only removing the mark allows a new beginning."""
    had = (await link.pit.store.snapshot()).last_entry
    await eventually_async(
        lambda: LedgerMark(link.data, link.pit.link.id).seen.entries == had, what="the mark set"
    )
    await link.pit.redis.flushall()
    await link.goes_down("entr")  # it ends too early or is behind its mark
    async with running(Pit(link.pit.redis), link.data, approved=False) as again:
        await again.goes_down(f"holds 0 ledger entries and has held {had}")
        assert await keyspace(link.pit.redis) == {}
        LedgerMark(link.data, link.pit.link.id).path.unlink()
    async with running(Pit(link.pit.redis), link.data) as restarted:
        await restarted.comes_up()


@pytest.mark.duty("D14")
async def test_pages_show_a_service_without_a_broker_and_acts_remain_possible(
    link: Running,
) -> None:
    """No table can play then. But a decision of a person needs only Redis."""
    name = link.pit.link.id
    links = Links({name: link.service}, {name: ()})
    link.service.set_broker_problem("no broker")
    (view,) = await links.links()
    assert (view.state, view.reason, view.changeable) == ("inoperable", "no broker", True)
    await links.close(name, "sue", "until the broker is back")
    link.service.set_broker_problem(None)
    (view,) = await links.links()
    assert (view.state, view.reason) == ("closed", "until the broker is back")
    assert view.changeable


@pytest.mark.duty("D14")
async def test_a_service_that_fails_alone_is_silent_when_its_broker_is_back(link: Running) -> None:
    """Another service can operate the link: it is heard within seconds."""
    link.unfit = "another release"
    await link.goes_down("another release")
    link.service.set_broker_problem("no broker")
    published = len(link.posted)
    link.service.begin_with_broker()
    assert len(link.posted) == published


# The ledger records since when and why a link was inoperable (duty D17).

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


@pytest.mark.duty("D17", proof=True)
async def test_an_outage_of_the_store_is_in_the_ledger_when_it_is_back(
    keeping_redis: Redis, keeping_server: RedisServer, tmp_path: Path
) -> None:
    pit = Pit(keeping_redis)
    async with operating(pit, tmp_path) as link:
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
    async with operating(pit, tmp_path) as link:
        await fails_and_comes_back(link, 1)
        await is_noted(pit, 1)
        for micros in (2, 3, 4, 5):
            await fails_and_comes_back(link, micros)
        assert len(await noted(pit)) == 1
        link.service._outages._not_before_s = 0.0
        latest, _ = await is_noted(pit, 2)
        assert "4 outages in this time" in latest.told
        assert [f": +{micros}" in latest.told for micros in (2, 3, 4, 5)] == [
            True, True, True, False,
        ], f"no more than {REASONS_MAX} reasons"  # fmt: skip
    monkeypatch.setattr(meters.service.link_outages, "NOTED_EVERY_S", 0.0)
    async with operating(Pit(keeping_redis), tmp_path) as link:
        for count, micros in enumerate((1, 2), start=3):
            await fails_and_comes_back(link, micros)
            await is_noted(pit, count)


@pytest.mark.duty("D17")
async def test_an_outage_that_outlives_the_service_is_noted_by_the_next(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    pit = Pit(keeping_redis)
    async with operating(pit, tmp_path) as link:
        await move_balance(pit, "meter:progressive", 7)
        await link.goes_down("+7")
    (waiting,) = kept(tmp_path)
    assert await noted(pit) == [], "nothing is written to books that do not hold"
    await move_balance(pit, "meter:progressive", -7)
    async with operating(Pit(keeping_redis), tmp_path) as link:
        (act,) = await is_noted(pit, 1)
    assert ": +7" in act.told
    entry = (await pit.entries())[-1]
    assert OUTAGE.decode(entry["event"]).since == waiting.since


async def test_an_outage_is_noted_once_though_the_answer_was_lost(pit: Pit) -> None:
    outage = Outage("a1", "2026-11-20T02:14:07.250Z", ("Redis failed",))
    await note_outage(pit.store, "service", outage)
    await note_outage(pit.store, "service", outage)
    assert len(await noted(pit)) == 1
    await note_outage(pit.store, "service", msgspec.structs.replace(outage, id="a2"))
    assert len(await noted(pit)) == 2
    assert (await pit.audit()).balanced


async def test_terms_that_changed_are_not_written_under(pit: Pit) -> None:
    other = msgspec.structs.replace(pit.link, meter=pit.link.meter[:1])
    with pytest.raises(TermsError):
        await note_outage(LinkStore(pit.redis, other), "service", Outage("a", "", ()))
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
