"""A link operates only under the configuration that was approved last (duties D10, D12)."""

import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final, cast

import msgspec
import pytest
from redis.asyncio import Redis

from meters.acts.act_refusals import ActError
from meters.acts.link_view import UnapprovedRow
from meters.acts.links import Links
from meters.audit.link_audit import LinkAudit
from meters.floor.floor_file import parse_floor
from meters.ledger.approved_configuration import LinkConfiguration
from meters.ledger.floor_approvals import Approval
from meters.ledger.redis_layout import LinkKeys
from meters.ledger.two_people import COMMAND, PinSetters
from meters.selfcheck.server_checks import store_checks
from meters.store.approval_book import ApprovalBook
from meters.store.facility_notes import FACILITY_KEY
from meters.store.floor_file_approval import Configuration, Unapproved
from meters.store.link_store import BooksError, LinkStore, TermsError
from tests.approving import approve as people_approve
from tests.floor_text import link_text, meter_text, section_text, table_text
from tests.lua.books import keyspace
from tests.model.days import A_DAY, Days
from tests.model.pit import FLOOR, PROGRESSIVE, RAGS, Pit, not_approved, refused, to
from tests.model.running import Running, running
from tests.waiting import eventually_async

pytestmark = pytest.mark.duty("D12")

SIX: Final = FLOOR.replace("positions = 7", "positions = 6", 1)
THIRD: Final = FLOOR + table_text("T-3", PROGRESSIVE, asset="104213")


FIVE_DOLLARS: Final = FLOOR.replace("wager = 100", "wager = 500", 1)


SIDE: Final = link_text("side", meter_text(PROGRESSIVE), name="Side Jackpot")


def progressive_table(table: str, asset: str) -> str:
    return table_text(table, PROGRESSIVE, asset=asset)


TWO_LINKS: Final = FLOOR + link_text(
    "side", meter_text(PROGRESSIVE, id="p"), table_text("T-4", "p", asset="4"), name="Side Jackpot"
)
T3: Final = progressive_table("T-3", "104213")
ON_SIDE: Final = SIDE + progressive_table("T-4", "4")
WITH_T3: Final = f"{FLOOR}{T3}{ON_SIDE}"
"""Two links. The table T-3 is the last one of the first link."""


def configuration_of(
    redis: Redis, text: str, link: str, *, opens_as: str | None = None
) -> Configuration:
    floor = parse_floor(text)
    (one,) = [each for each in floor.link if each.id == link]
    return Configuration(floor, LinkStore(redis, one), opens_as=opens_as)


async def approve_all(redis: Redis, text: str) -> None:
    for link in parse_floor(text).link:
        await people_approve(configuration_of(redis, text, link.id))


async def barred(configuration: Configuration) -> str:
    with pytest.raises(BooksError) as error:
        await configuration.approve("sue", configuration.filed.digest)
    assert error.value.status == "barred"
    return error.value.detail


async def approve(link: Running, *by: str, digest: str | None = None) -> None:
    for person in by or ("amy", "sue"):
        row = await unapproved(link)
        await links_of(link).approve("pit", person, digest or row.digest)


def links_of(link: Running) -> Links:
    return Links({"pit": link.service}, {"pit": ()})


async def unapproved(link: Running) -> UnapprovedRow:
    (standing,) = await links_of(link).links()
    assert standing.unapproved is not None
    return standing.unapproved


async def change_paytable(link: Running) -> None:
    links = links_of(link)
    await links.close("pit", "sue", "new paytable")
    proposed = await links.propose("pit", "sue", to(PROGRESSIVE, "paytable", "B"))
    await links.confirm("pit", proposed.proposal, "tim")
    await eventually_async(lambda: link.service.problem is None, what="the new parameters")
    await links.open("pit", "sue")
    await link.comes_up()


async def ran_once(redis: Redis, data: Path, text: str = FLOOR) -> None:
    pit = Pit(redis, text)
    async with running(pit, data) as link:
        await link.comes_up()
    await pit.round({1: PROGRESSIVE}, {1: RAGS})


@pytest.mark.duty("D4", proof=True)
async def test_the_first_floor_file_waits_for_one_person(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    """The service approves nothing by itself, and opens the link within seconds."""
    async with running(Pit(keeping_redis), tmp_path, approved=False) as link:
        reason = await link.goes_down("is not as approved")
        assert reason == (
            "the floor file is not as approved: the first floor file; a supervisor or an"
            " administrator approves it under Meters, or with `pitlink approve`"
        )
        assert await keyspace(keeping_redis) == {}
        row = await unapproved(link)
        assert row.first
        assert row.terms[0] == (
            "meter five_card_hand_bonus: seed $10,000.00, 10,000 times its $1 wager; reseed $0.00;"
            " 21.00% of a wager to the meter; 8.00% to the reserve; payout limit none"
        )
        await approve(link, "amy")
        await link.comes_up()
    pit = Pit(keeping_redis)
    async with running(pit, tmp_path) as link:
        await link.comes_up()
        (standing,) = await links_of(link).links()
        assert standing.unapproved is None
        acts = await links_of(link).acts("pit", None, 100)
    first = acts[-1]
    assert (first.what, first.by, first.entry) == ("approve", "amy", 1)
    assert first.told.startswith("the first floor file (SHA-256 ")
    assert [act.what for act in acts].count("approve") == 1, "and not again by the second start"


@pytest.mark.duty("D10", proof=True)
@pytest.mark.parametrize(
    ("text", "change"),
    [(SIX, "table T-1 positions: 7 → 6"), (THIRD, "table T-3 added")],
    ids=["positions", "table"],
)
async def test_a_changed_floor_file_stops_the_link_until_it_is_approved(
    keeping_redis: Redis, tmp_path: Path, text: str, change: str
) -> None:
    await ran_once(keeping_redis, tmp_path)
    before = await keyspace(keeping_redis)
    pit = Pit(keeping_redis, text)
    async with running(pit, tmp_path) as link:
        reason = await link.goes_down("is not as approved")
        assert reason == (
            f"the floor file is not as approved: {change}; two people approve it, each a supervisor"
            " or an administrator, under Meters, or with `pitlink approve`"
        )
        assert await keyspace(keeping_redis) == before, "nothing was done under it"
        with pytest.raises(ActError, match="not as approved"):
            await links_of(link).close("pit", "sue", "a test")
        with refused("stale"):
            await approve(link, digest="0" * 64)
        await approve(link)
        await link.comes_up()
        acts = await links_of(link).acts("pit", None, 9)
        latest = next(act for act in acts if act.what != "inoperable")
        with refused("no_change"):
            await links_of(link).approve("pit", "sue", link.service.configuration.filed.digest)
    assert (latest.what, latest.by) == ("approve", "sue")
    assert latest.told.startswith(f"{change} (SHA-256 ")
    assert latest.told.endswith("; approved first by amy")
    assert (await LinkAudit(pit.store).run()).balanced
    async with running(Pit(keeping_redis, text), tmp_path) as link:
        await link.comes_up()


async def test_two_services_operate_only_on_the_floor_file_that_is_approved(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    """The one on the old file continues until the new one is approved, and the reverse."""
    await ran_once(keeping_redis, tmp_path / "old")
    async with (
        running(Pit(keeping_redis), tmp_path / "old") as old,
        running(Pit(keeping_redis, THIRD), tmp_path / "new") as new,
    ):
        await old.comes_up()
        await new.goes_down("table T-3 added")
        await approve(new)
        await new.comes_up()
        await old.goes_down("table T-3 removed")
        await approve(old, "amy", "tim")
        await old.comes_up()
        await new.goes_down("table T-3 added")
        row = await unapproved(new)
        assert row.approved_by == "tim"


async def test_of_two_floor_files_on_an_empty_floor_only_one_is_the_first(
    keeping_redis: Redis,
) -> None:
    """The slower person had read that nothing was approved yet. They approve first of two."""
    side_alone = f"{FLOOR.split('[[link]]')[0]}{SIDE}{progressive_table('T-4', '4')}"
    quick, slow = (
        configuration_of(keeping_redis, text, link)
        for text, link in ((FLOOR, "pit"), (side_alone, "side"))
    )
    assert (await not_approved(slow)).first
    await quick.approve("amy", quick.filed.digest)
    assert await quick.problem() is None
    await slow.approve("ben", slow.filed.digest)
    assert "ben approved it first, and one more person is needed" in str(await slow.problem())


@pytest.mark.duty("D4", proof=True)
async def test_a_new_link_on_a_running_floor_waits_for_two_people(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    await ran_once(keeping_redis, tmp_path)
    floor = parse_floor(TWO_LINKS)
    stores = {each.id: LinkStore(keeping_redis, each) for each in floor.link}

    def of(link: str = "side", opens_as: str | None = None) -> Configuration:
        return Configuration(floor, stores[link], opens_as=opens_as)

    digest = of().filed.digest
    for opens_as in (None, "simulated floorperson"):
        with pytest.raises(TermsError, match="the link is new; two people approve it"):
            await of(opens_as=opens_as).adopt()
    assert (await of("pit").unapproved()) is None, "the other link continues"
    await of().approve("amy", digest)
    assert "amy approved it first, and one more person" in str(await of().problem())
    with pytest.raises(BooksError, match="you approved it first: another person") as error:
        await of().approve("amy", digest)
    assert error.value.status == "same_person"
    shared = PinSetters.of("bea", [("bea", "amy")])
    with pytest.raises(BooksError, match="amy set your PIN"):
        await of().approve("bea", digest, shared)
    with pytest.raises(BooksError, match="ada set your PIN in the last 24 hours, and can have"):
        await of().approve("bea", digest, PinSetters.of("bea", [("bea", f"{COMMAND}ada")]))
    with pytest.raises(TermsError):
        await of().adopt()
    assert (await LinkAudit(stores["side"]).run()).balanced
    await of().approve("ben", digest)
    await of().adopt()
    approved = await ApprovalBook(stores["side"]).current()
    assert approved is not None
    assert (approved.first_by, approved.by) == ("amy", "ben")


async def test_a_look_at_links_with_new_names_is_short(keeping_redis: Redis) -> None:
    """Their former links keep the tables, so something can be left there at any time."""
    names = "abcdef"
    linked = {
        version: FLOOR
        + "".join(
            link_text(
                f"{name}{version}",
                meter_text(PROGRESSIVE, id="p"),
                table_text(f"T-{name}", "p", asset=f"9{at}"),
                name=f"Jackpot {name}",
            )
            for at, name in enumerate(names)
        )
        for version in (1, 2)
    }
    for text in linked.values():
        await approve_all(keeping_redis, text)
    renamed = configuration_of(keeping_redis, linked[2], "a2")

    async def calls_of_a_look() -> int:
        before = (await keeping_redis.info("stats"))["total_commands_processed"]
        assert await renamed.problem() is None
        after = (await keeping_redis.info("stats"))["total_commands_processed"]
        return int(after) - int(before)

    await calls_of_a_look()
    assert await calls_of_a_look() < 40, "and not many for each of the twelve other links"


@pytest.mark.duty("D4")
@pytest.mark.parametrize(
    "later", [("ben", "amy"), ("amy", "cal"), ("dan", "cal")], ids=["the same two", "others", "dan"]
)
async def test_who_approves_when_pins_of_the_past_barred_the_second_approval(
    keeping_redis: Redis, later: tuple[str, str]
) -> None:
    """Amy set Ben's PIN and Cal hers, so the approval by Ben never counts beside theirs."""
    set_today = [("ben", "amy"), ("amy", "cal")]
    await approve_all(keeping_redis, FLOOR)
    six = configuration_of(keeping_redis, SIX, "pit")
    await six.approve("ben", six.filed.digest, PinSetters.of("ben", set_today))
    for person in ("amy", "cal", "ben"):
        with pytest.raises(BooksError) as error:
            await six.approve(person, six.filed.digest, PinSetters.of(person, set_today))
        assert error.value.status == "same_person"
    for person in later:
        await six.approve(person, six.filed.digest, PinSetters.of(person, [("dan", "amy")]))
    assert await six.problem() is None
    assert (await LinkAudit(six._store).run()).balanced


@pytest.mark.duty("D4", proof=True)
async def test_tables_that_get_a_new_meter_at_its_seed_wait_for_two_people(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    await ran_once(keeping_redis, tmp_path)
    head, *tables = FLOOR.split("[[link.table]]")
    tables = [each.replace('"progressive"', '"new"', 1) for each in tables]
    text = "[[link.table]]".join([head + meter_text(PROGRESSIVE, id="new"), *tables])
    async with running(Pit(keeping_redis, text), tmp_path) as link:
        await link.goes_down("meter new added")
        await approve(link, "amy")
        await link.goes_down("amy approved it first")
        await approve(link, "sue")
        await link.comes_up()


@pytest.mark.duty("D4")
async def test_a_first_approval_is_for_one_floor_file_only(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    """If the file or what is approved changes in between, both people approve again."""
    await ran_once(keeping_redis, tmp_path)
    six, third = (configuration_of(keeping_redis, text, "pit") for text in (SIX, THIRD))
    await six.approve("amy", six.filed.digest)
    await third.approve("ben", third.filed.digest)
    assert "ben approved it first" in str(await third.problem())
    assert "two people approve it" in str(await six.problem())
    await third.approve("amy", third.filed.digest)
    assert await third.problem() is None
    await six.approve("ben", six.filed.digest)
    assert "ben approved it first" in str(await six.problem())


@pytest.mark.duty("D4")
@pytest.mark.parametrize("entry", ["1", "2", "99", "x"])
async def test_a_first_approval_written_into_redis_does_not_count(
    keeping_redis: Redis, tmp_path: Path, entry: str
) -> None:
    await ran_once(keeping_redis, tmp_path)
    pit = Pit(keeping_redis, SIX)
    await keeping_redis.hset(pit.store.keys.approved, "first", entry)
    assert any("first is" in each for each in (await LinkAudit(pit.store).run()).problems)
    configuration = Configuration(pit.floor, pit.store)
    assert "two people approve it" in str(await configuration.problem())
    await configuration.approve("amy", configuration.filed.digest)
    assert "amy approved it first" in str(await configuration.problem())


@pytest.mark.duty("D4")
@pytest.mark.parametrize(
    ("by", "event"), [("amy", ""), ("ben", ""), ("amy", "wagers"), ("amy", "close")]
)
async def test_an_interrupted_first_approval_is_finished_by_the_same_person_before_any_play(
    keeping_redis: Redis, by: str, event: str
) -> None:
    """The first approval is for all links of a floor. It can be interrupted between two links.

    A service may have opened the first link, and seeded its meters.
    """
    pit, side = (configuration_of(keeping_redis, TWO_LINKS, link) for link in ("pit", "side"))
    await pit.approve("amy", pit.filed.digest)
    other = TWO_LINKS.replace('"Side Jackpot"', '"Side"').replace("positions = 7", "positions = 6")
    opened = await Pit.opened(keeping_redis, FLOOR)
    for text, first in ((other, False), (TWO_LINKS, True)):
        assert (await not_approved(configuration_of(keeping_redis, text, "side"))).first == first
    if event == "wagers":
        assert (await opened.wagers({1: PROGRESSIVE})).error is None
    elif event:
        await opened.link_acts.close("pit", "sue", "a test")
    await side.approve(by, side.filed.digest)
    problem = await side.problem()
    if (by, event) == ("amy", ""):
        assert problem is None
    else:
        assert f"{by} approved it first, and one more person is needed" in str(problem)


@pytest.mark.duty("D4")
async def test_one_person_completes_no_first_approval_after_two_have_approved_another_file(
    keeping_redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their approval comes between the look of the one person and the number of the approval."""
    pit, side = (configuration_of(keeping_redis, TWO_LINKS, link) for link in ("pit", "side"))
    await pit.approve("amy", pit.filed.digest)
    both = configuration_of(keeping_redis, f"{FLOOR}{progressive_table('T-4', '4')}", "pit")
    note = side._note

    async def late(by: str) -> tuple[bool, int]:
        for person in ("ben", "cal"):
            await both.approve(person, both.filed.digest)
        return await note(by)

    monkeypatch.setattr(side, "_note", late)
    with pytest.raises(BooksError, match="stale"):
        await side.approve("amy", side.filed.digest)
    assert await both.problem() is None


@pytest.mark.duty("D4")
async def test_a_link_without_tables_is_approved_as_any_other(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    """So a link ends: the technician removes its tables. It can also begin without any."""
    await approve_all(keeping_redis, f"{FLOOR}{SIDE}")
    without = configuration_of(keeping_redis, f"{FLOOR}{SIDE}", "side")
    assert await without.problem() is None
    await approve_all(keeping_redis, f"{FLOOR}{ON_SIDE}")
    assert "table T-4 removed; two people" in str(await without.problem())
    await people_approve(without)
    assert await without.problem() is None
    floor = parse_floor(f"{FLOOR}{SIDE}" + section_text("[service]", data=tmp_path))
    found = {check.what: check.holds async for check in store_checks(floor, keeping_redis)}
    assert found["configuration of side"]
    assert not found[f"meter {PROGRESSIVE} on side"]


@pytest.mark.duty("D4")
async def test_the_entry_that_a_link_waited_for_its_first_approval_is_no_play(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    """The service writes it as soon as it opens the first link. Then the others wait still."""
    side = configuration_of(keeping_redis, TWO_LINKS, "side")
    pit = Pit(keeping_redis, TWO_LINKS)
    async with running(pit, tmp_path, approved=False) as link:
        waited = tmp_path / "marks" / "pit.outage.json"
        await eventually_async(waited.exists, what="the note that the link waits")
        await approve(link, "amy")
        await link.comes_up()
        await eventually_async(lambda: not waited.exists(), what="the entry of the outage")
    assert (await not_approved(side)).first
    await side.approve("amy", side.filed.digest)
    assert await side.problem() is None
    assert (
        await LinkAudit(LinkStore(keeping_redis, parse_floor(TWO_LINKS).link[1])).run()
    ).balanced


@pytest.mark.duty("D13")
@pytest.mark.parametrize("left", ["a hand pay", "an open round"])
async def test_a_renamed_link_leaves_no_hand_pay_and_no_round_behind(
    keeping_redis: Redis, tmp_path: Path, left: str
) -> None:
    """The floor file does not name the former link any more, but Redis still has its data."""
    await ran_once(keeping_redis, tmp_path)
    pit = Pit(keeping_redis)
    pit.seq["T-1"] = 2
    await pit.wagers({1: PROGRESSIVE}, round_id="R2")
    said = "table T-1 has an open round on link pit: leave the table there"
    if left == "a hand pay":
        (claim,) = (await pit.result({1: "As Ks Qs"}, round_id="R2")).claims or ()
        said = f"table T-1 (asset 104211) is held for claim {claim.claim} as table T-1 of link"
    renamed = FLOOR.replace('id = "pit"', 'id = "new"')
    floor = parse_floor(renamed + section_text("[service]", data=tmp_path))
    found = {check.what: check.seen async for check in store_checks(floor, keeping_redis)}
    assert f"the link is new; {said}" in found["configuration of new"]
    assert "; first put link pit back into the floor file (" in found["configuration of new"]


@pytest.mark.duty("D13")
@pytest.mark.parametrize("left", ["a hand pay", "an open round"])
@pytest.mark.parametrize("kept", ["", "side"], ids=["link removed", "link kept"])
async def test_a_link_that_comes_back_waits_for_what_its_table_left_on_another(
    keeping_redis: Redis, left: str, kept: str
) -> None:
    """Its approval is still the one of this floor file."""
    old = link_text("old", meter_text(PROGRESSIVE), T3, name="Old")
    stays = progressive_table("T-4", "4") if kept else ""
    side = f"{SIDE}{stays}"
    before = f"{FLOOR}{old}{side if kept else ''}"
    await approve_all(keeping_redis, before)
    await approve_all(keeping_redis, f"{FLOOR}{side}{T3}")
    pit = await Pit.opened(keeping_redis, f"{FLOOR.split('[[link]]')[0]}{side}{T3}")
    await pit.wagers({3: PROGRESSIVE}, table="T-3")
    said = "table T-3 has an open round on link side: leave the table there"
    if left == "a hand pay":
        (claim,) = (await pit.result({3: "As Ks Qs"}, table="T-3")).claims or ()
        said = f"table T-3 (asset 104213) is held for claim {claim.claim} as table T-3 of link"
    back = configuration_of(keeping_redis, before, "old")
    assert said in str(await back.problem())
    with pytest.raises(TermsError, match="leave"):
        await back.adopt()
    if left == "a hand pay":
        await pit.pay(claim.claim, "S-1")
    else:
        await pit.void(table="T-3")
    await people_approve(back)
    assert await back.problem() is None


@pytest.mark.duty("D4", proof=True)
@pytest.mark.parametrize("follows", [False, True])
async def test_a_link_does_not_come_back_alone_with_a_table_that_has_moved(
    keeping_redis: Redis, *, follows: bool
) -> None:
    """Its table would feed a meter at its seed again, and leave the one that rose since."""
    old = link_text("old", meter_text(PROGRESSIVE, paytable="A"), T3, name="Old")
    before, moved = f"{FLOOR}{old}", f"{FLOOR}{SIDE}{T3}"
    await approve_all(keeping_redis, before)
    if follows:
        there = await Pit.opened(keeping_redis, f"{FLOOR.split('[[link]]')[0]}{old}")
        await there.link_acts.close("old", "sue", "new paytable")
        await there.change(to(PROGRESSIVE, "paytable", "B"))
        now = meter_text(PROGRESSIVE, paytable="B")
        before = f"{FLOOR}{link_text('old', now, T3, name='Old')}"
    await approve_all(keeping_redis, moved)
    assert await configuration_of(keeping_redis, moved, "side").problem() is None
    back = configuration_of(keeping_redis, before, "old")
    program = configuration_of(keeping_redis, before, "old", opens_as="simulated floorperson")
    for each in (back, program):
        with pytest.raises(TermsError, match="two people approve it"):
            await each.adopt()
    await back.approve("amy", back.filed.digest)
    with pytest.raises(BooksError, match="you approved it first"):
        await back.approve("amy", back.filed.digest)
    await back.approve("ben", back.filed.digest)
    await back.adopt()
    assert (await LinkAudit(LinkStore(keeping_redis, back._link)).run()).balanced
    again = configuration_of(keeping_redis, moved, "side")
    assert "table T-3 was later approved on link old" in str(await again.problem())


APPROVED: Final = LinkKeys("side").approved
DAMAGES: Final[Mapping[str, Callable[[Redis], Awaitable[object]]]] = {
    "approval lost": lambda redis: redis.delete(APPROVED),
    "approval altered": lambda redis: redis.hset(APPROVED, "by", "x"),
}
OLD: Final = f"{FLOOR}{link_text('old', meter_text(PROGRESSIVE), T3, name='Old')}"


@pytest.mark.duty("D4", proof=True)
@pytest.mark.parametrize(
    "note", ["kept", "noted again", "lost", "older", "approval lost", "approval altered"]
)
async def test_a_link_that_left_comes_back_only_if_no_other_link_had_its_tables(
    keeping_redis: Redis, note: str
) -> None:
    """Also if the other link has dropped the table, or the note of the facility is lost or older.

    The other link's approval in Redis can be lost or altered, too. People approve it again.

    A service with the former floor file can still operate the link, and open it again.
    """
    for text in (OLD, FLOOR):
        await approve_all(keeping_redis, text)
    former = configuration_of(keeping_redis, OLD, "old")
    assert await former.problem() is None
    side = f"{FLOOR}{SIDE}{T3}"
    older = await keeping_redis.dump(FACILITY_KEY) or b""
    await approve_all(keeping_redis, side)
    now = configuration_of(keeping_redis, side, "side")
    if note == "noted again":
        await keeping_redis.delete(FACILITY_KEY)
        await now.adopt()
    else:
        await approve_all(keeping_redis, f"{FLOOR}{ON_SIDE}")
        await former.adopt()
    if note == "older":
        await keeping_redis.restore(FACILITY_KEY, 0, older, replace=True)
    elif note == "lost":
        await keeping_redis.delete(FACILITY_KEY)
    on_side = ON_SIDE if note in {"lost", "older"} else ""
    back = configuration_of(keeping_redis, f"{OLD}{on_side}", "old")
    said = "table T-3 was later approved on link side; two people approve it"
    if note in DAMAGES:
        await DAMAGES[note](keeping_redis)
        await approve_all(keeping_redis, f"{FLOOR}{ON_SIDE}")
        assert (await LinkAudit(now._store).run()).balanced
    assert said in str(await back.problem())
    await people_approve(back)
    await back.adopt()
    if note != "noted again":
        assert "table T-3 was later approved on link old" in str(await now.problem())


@pytest.mark.duty("D4")
@pytest.mark.parametrize("seen", [True, False], ids=["before", "meanwhile"])
async def test_a_first_approval_counts_no_more_once_a_table_has_moved(
    keeping_redis: Redis, monkeypatch: pytest.MonkeyPatch, *, seen: bool
) -> None:
    side, third = (
        f"{FLOOR}{link_text(link, meter_text(PROGRESSIVE), T3)}" for link in ("side", "third")
    )
    for text in (OLD, side):
        await approve_all(keeping_redis, text)
    back = configuration_of(keeping_redis, OLD, "old")
    await back.approve("amy", back.filed.digest)
    before = await not_approved(back)
    assert before.first_by == "amy"
    await approve_all(keeping_redis, third)
    assert "link third; two people approve it" in str(await back.problem())
    if not seen:

        async def unapproved() -> Unapproved | None:
            return before

        with monkeypatch.context() as patch:
            patch.setattr(back, "unapproved", unapproved)
            with pytest.raises(BooksError, match="stale"):
                await back.approve("ben", back.filed.digest)
    await back.approve("ben", back.filed.digest)
    assert "ben approved it first" in str(await back.problem())


@pytest.mark.duty("D4")
@pytest.mark.parametrize(
    "order", ["4102444800000", str(2**53), str(2**64), "nan", "x"], ids=["2100", *"abcd"]
)
async def test_two_people_approve_after_every_approval_that_a_ledger_has(
    keeping_redis: Redis, order: str
) -> None:
    """A clock was ahead, and the note is older or altered: their approval must still count."""
    await approve_all(keeping_redis, OLD)
    older = await keeping_redis.dump(FACILITY_KEY) or b""
    await keeping_redis.hset(FACILITY_KEY, "order", order)
    side = f"{FLOOR}{SIDE}{T3}"
    await approve_all(keeping_redis, side)
    approved = await configuration_of(keeping_redis, side, "side")._book.current()
    assert approved is not None
    now = approved.order < 2**52 and approved.order >= time.time() * 1_000 - 60_000
    assert approved.order > int(order) if order.startswith("4") else now
    former = configuration_of(keeping_redis, OLD, "old")
    assert "table T-3 was later approved on link side" in str(await former.problem())
    await keeping_redis.restore(FACILITY_KEY, 0, older, replace=True)
    await keeping_redis.hset(FACILITY_KEY, "link:side", "")
    for text in (THIRD, OLD):
        await approve_all(keeping_redis, text)
        for link in parse_floor(text).link:
            assert await configuration_of(keeping_redis, text, link.id).problem() is None


async def test_of_two_links_with_a_round_of_one_table_neither_waits_for_the_other(
    keeping_redis: Redis,
) -> None:
    """A service that still had the earlier floor file can have accepted the second round."""
    pit = Pit(keeping_redis)
    new = Pit(keeping_redis, FLOOR.replace('id = "pit"', 'id = "new"'))
    for each in (pit, new):
        await people_approve(Configuration(each.floor, each.store))
        await each.open()
    for each in (pit, new):
        assert (await each.wagers({3: PROGRESSIVE})).error is None
    await people_approve(Configuration(pit.floor, pit.store))
    assert await Configuration(pit.floor, pit.store).problem() is None
    assert (await pit.void()).error is None
    said = "table T-1 has an open round on link new: leave the table there"
    assert said in str(await Configuration(pit.floor, pit.store).problem())
    assert (await not_approved(Configuration(new.floor, new.store))).barred is None


@pytest.mark.duty("D4")
async def test_a_program_approves_only_until_a_person_has_approved_a_link(
    keeping_redis: Redis,
) -> None:
    """Without a demonstration or a simulated person, an approval by a program counts as none."""
    changed = TWO_LINKS.replace("positions = 7", "positions = 6", 1)
    for text in (TWO_LINKS, changed):
        floor = parse_floor(text)
        stores = {each.id: LinkStore(keeping_redis, each) for each in floor.link}
        for store in stores.values():
            simulated = Configuration(floor, store, opens_as="simulated person")
            await simulated.adopt()
            approved = await ApprovalBook(store).current()
            assert approved is not None
            assert approved.by == "simulated person"
            assert (await LinkAudit(store).run()).balanced
    pit = configuration_of(keeping_redis, changed, "pit")
    with pytest.raises(TermsError, match="approved by simulated person, and by no person; two"):
        await pit.adopt()
    for person in ("amy", "ben"):
        await pit.approve(person, pit.filed.digest)
    await pit.adopt()
    floor = parse_floor(TWO_LINKS)
    back = Configuration(floor, stores["pit"], opens_as="simulated person")
    with pytest.raises(TermsError, match="positions: 6 → 7; two people approve it"):
        await back.adopt()
    third = link_text("third", meter_text(PROGRESSIVE), progressive_table("T-5", "5"))
    new = configuration_of(keeping_redis, changed + third, "third", opens_as="simulated person")
    with pytest.raises(TermsError, match="the link is new; two people approve it"):
        await new.adopt()
    side = configuration_of(keeping_redis, changed, "side", opens_as="simulated person")
    with pytest.raises(TermsError, match="approved by simulated person, and by no person; two"):
        await side.adopt()
    other = changed.replace('id = "p"', 'id = "q"').replace('["p"]', '["q"]')
    side = configuration_of(keeping_redis, other, "side", opens_as="simulated person")
    with pytest.raises(TermsError, match=r"meter q added.*two people approve it"):
        await side.adopt()


@pytest.mark.duty("D4")
@pytest.mark.parametrize("before", [False, True], ids=["at once", "before"])
async def test_a_program_does_not_finish_the_first_approval_of_a_person(
    keeping_redis: Redis, monkeypatch: pytest.MonkeyPatch, *, before: bool
) -> None:
    """People approve one link after the other on the floor page. A program can start in between."""
    pit = configuration_of(keeping_redis, TWO_LINKS, "pit")
    side = configuration_of(keeping_redis, TWO_LINKS, "side", opens_as="simulated person")
    seen = None if before else await side.unapproved()
    await pit.approve("amy", pit.filed.digest)
    if seen is not None:
        with monkeypatch.context() as patch:
            looks = iter((seen, await side.unapproved()))

            async def unapproved() -> Unapproved | None:
                return next(looks)

            patch.setattr(side, "unapproved", unapproved)
            with pytest.raises(TermsError, match="a supervisor or an administrator approves it"):
                await side.adopt()
    assert "a supervisor or an administrator approves it" in str(await side.problem())
    with pytest.raises(TermsError, match="a supervisor or an administrator approves it"):
        await side.adopt()
    await side.approve("amy", side.filed.digest)
    await side.adopt()


@pytest.mark.duty("D4", proof=True)
@pytest.mark.parametrize("new", [False, True], ids=["changed", "new link"])
async def test_a_floor_of_people_becomes_a_demonstration_only_by_two_people(
    keeping_redis: Redis, tmp_path: Path, *, new: bool
) -> None:
    await ran_once(keeping_redis, tmp_path)
    text = FLOOR.replace('id = "pit"', 'id = "pit-2"') if new else SIX
    demonstration = text.replace("[facility]", "[facility]\ndemonstration = true", 1)
    link = "pit-2" if new else "pit"
    # The meters of a renamed link would begin at their seeds: that is a reset.
    assert not (await not_approved(configuration_of(keeping_redis, text, link))).first
    with pytest.raises(TermsError, match="two people approve it") as error:
        await configuration_of(keeping_redis, demonstration, link).adopt()
    change = "the link is new" if new else "demonstration without real money: no → yes"
    assert change in str(error.value)
    assert await configuration_of(keeping_redis, demonstration, link).is_of_people()


@pytest.mark.duty("D4", proof=True)
@pytest.mark.parametrize(
    ("tampered", "problem"),
    [
        ("alone", "amy alone approved a floor file that two people must approve"),
        ("later", "amy alone approved a floor file that two people must approve"),
        ("program", "service alone approved a floor file that two people must approve"),
        ("invented", "ben approved as the second person what amy had not approved"),
        ("other file", "ben approved as the second person what amy had not approved"),
        ("one person", "amy and ben, who both approved, can be the same person"),
        ("no table left", "the approval by ben does not continue the tables and order of"),
        ("earlier order", "the approval by ben does not continue the tables and order of"),
    ],
)
async def test_the_audit_names_an_approval_that_lacks_a_person(
    keeping_redis: Redis, tmp_path: Path, tampered: str, problem: str
) -> None:
    """Somebody with the password of Redis calls the script itself, past the service's checks."""
    await ran_once(keeping_redis, tmp_path)
    store = LinkStore(keeping_redis, parse_floor(SIX).link[0])
    book, filed = ApprovalBook(store), LinkConfiguration.of(parse_floor(SIX), store.link)
    before = await book.current()
    assert before is not None
    by = {"alone": "amy", "later": "amy", "program": "service"}.get(tampered, "ben")
    first_by = "" if tampered in {"alone", "later", "program"} else "amy"
    approval = Approval(filed.digest, filed.text, by, (), first_by, order=before.order + 1)
    if tampered == "no table left":
        less = parse_floor(FLOOR.rpartition("[[link.table]]")[0])
        gone = LinkConfiguration.of(less, less.link[0])
        approval = msgspec.structs.replace(approval, digest=gone.digest, text=gone.text)
    if tampered == "earlier order":
        approval = msgspec.structs.replace(approval, order=before.order - 1)
    if tampered == "later":
        approval = msgspec.structs.replace(approval, digest=before.digest, text=before.text)
    if tampered in {"other file", "one person"}:
        digest = filed.digest if tampered == "one person" else "0" * 64
        half = Approval(digest, filed.text, "amy", (), pin_set_by=("ada",))
        await book.approve_first(half, before.digest, 0, await book.waiting())
        approval = msgspec.structs.replace(approval, pin_set_by=("ada",))
    await book.approve_alone(approval, before.digest, of_empty_link=False)
    found = (await LinkAudit(store).run()).problems
    entry = (await store.snapshot()).last_entry
    (said,) = found
    assert said.startswith(f"entry {entry}: {problem}")


@pytest.mark.duty("D12", proof=True)
async def test_what_two_people_changed_by_proposal_is_no_change_of_the_file(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    pit = Pit(keeping_redis)
    async with running(pit, tmp_path) as link:
        await link.comes_up()
        await change_paytable(link)
    async with running(Pit(keeping_redis), tmp_path) as link:
        await link.comes_up()
        assert link.service.store.link.meter[0].paytable == "B"
    caught_up = FLOOR.replace('paytable = "A"', 'paytable = "B"')
    async with running(Pit(keeping_redis, caught_up), tmp_path) as link:
        await link.goes_down("meter progressive paytable: A → B; a supervisor or an administrator")
        await approve(link, "amy")
        await link.comes_up()
        assert (await LinkAudit(pit.store).run()).balanced


@pytest.mark.duty("D4")
async def test_people_who_approve_see_the_terms_in_force(keeping_redis: Redis) -> None:
    """The link does not operate with the floor file's terms that two people have changed since."""
    await approve_all(keeping_redis, FLOOR)
    pit = await Pit.opened(keeping_redis)
    await pit.link_acts.close("pit", "sue", "new paytable")
    await pit.change(to(PROGRESSIVE, "paytable", "B"))
    await pit.change(to(PROGRESSIVE, "limit", 5_000_000))
    found = await not_approved(configuration_of(keeping_redis, THIRD, "pit"))
    assert found.changed == ("table T-3 added",)
    (shown,) = [one for one in found.terms if one.startswith("meter progressive: ")]
    assert "20.00% of a wager to the meter" in shown
    assert shown.endswith("payout limit $50,000.00; paytable B")


async def test_a_floor_file_that_followed_goes_back_only_with_two_people(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    """A service that still has the former file shows the change back as soon as it is approved.

    One person cannot approve it: the audit would find that one is missing, and no later act could
    put it right.
    """
    pit = Pit(keeping_redis)
    caught_up = parse_floor(FLOOR.replace('paytable = "A"', 'paytable = "B"'))
    async with running(pit, tmp_path) as link:
        await link.comes_up()
        await change_paytable(link)
        ahead = Configuration(caught_up, LinkStore(keeping_redis, caught_up.link[0]))
        await ahead.approve("amy", ahead.filed.digest)
        await link.goes_down("meter progressive paytable: B → A; two people approve it")
        await approve(link, "amy")
        assert (await LinkAudit(pit.store).run()).problems == ()
        await link.goes_down("amy approved it first")
        await approve(link, "sue")
        await link.comes_up()
        assert (await LinkAudit(pit.store).run()).problems == ()


async def test_one_person_approves_no_parameter_that_changes_meanwhile(
    keeping_redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two people can confirm another proposal after the look at the terms in force."""
    pit = Pit(keeping_redis)
    await people_approve(Configuration(pit.floor, pit.store))
    await pit.open()
    await pit.link_acts.close("pit", "sue", "new limit")

    await pit.change(to(PROGRESSIVE, "limit", 200_000_000))
    limited = FLOOR.replace('kind = "progressive"', 'limit = 200000000\nkind = "progressive"')
    caught_up = Configuration(parse_floor(limited), pit.store)
    found = await not_approved(caught_up)
    assert found.confirmed
    await pit.change(to(PROGRESSIVE, "limit", 300_000_000))

    async def before() -> Unapproved:
        return found

    monkeypatch.setattr(caught_up, "unapproved", before)
    with pytest.raises(BooksError, match="stale"):
        await caught_up.approve("amy", found.digest)
    assert (await pit.audit()).problems == ()


async def test_one_person_takes_no_table_back_that_two_moved_meanwhile(
    keeping_redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The link then has the same settings as before, but two people have approved them again."""
    await approve_all(keeping_redis, OLD)
    there = await Pit.opened(keeping_redis, f"{FLOOR.split('[[link]]')[0]}{OLD[len(FLOOR) :]}")
    await there.link_acts.close("old", "sue", "new paytable")
    await there.change(to(PROGRESSIVE, "paytable", "B"))
    caught_up = f"{FLOOR}{link_text('old', meter_text(PROGRESSIVE, paytable='B'), T3, name='Old')}"
    ahead = configuration_of(keeping_redis, caught_up, "old")
    approve_alone = ahead._book.approve_alone

    async def late(approval: Approval, replaces: str, **given: Any) -> None:  # noqa: ANN401
        await people_approve(configuration_of(keeping_redis, f"{FLOOR}{SIDE}{T3}", "side"))
        await people_approve(configuration_of(keeping_redis, OLD, "old"))
        await approve_alone(approval, replaces, **given)

    monkeypatch.setattr(ahead._book, "approve_alone", late)
    with pytest.raises(BooksError, match="stale"):
        await ahead.approve("amy", ahead.filed.digest)
    assert (await LinkAudit(there.store).run()).balanced


@pytest.mark.duty("D4")
async def test_a_program_approves_nothing_once_a_person_has_begun(keeping_redis: Redis) -> None:
    """The first approval of a person was interrupted before the first link was approved."""
    pit = configuration_of(keeping_redis, FLOOR, "pit", opens_as="simulated floorperson")
    await pit._store.facility.note("another floor file", "amy", "pit", 0)
    with pytest.raises(TermsError, match="two people approve it"):
        await pit.adopt()


@pytest.mark.parametrize(
    ("text", "change"),
    [
        (FIVE_DOLLARS, "the parameters of meter progressive change by proposal"),
        (
            FLOOR.replace('= "five_of_six_progressive"', '= "five_of_six_progressive"\nid = "six"')
            .replace('"five_of_six_progressive", "five_card_hand_bonus"]', '"six"]'),
            "Redis has meter five_of_six_progressive",
        ),
    ],
    ids=["another wager", "a meter gone"],
)  # fmt: skip
async def test_a_floor_file_that_the_books_do_not_take_cannot_be_approved(
    keeping_redis: Redis, tmp_path: Path, text: str, change: str
) -> None:
    """Two people change a parameter while the link is closed. A file never does."""
    await ran_once(keeping_redis, tmp_path)
    async with running(Pit(keeping_redis, text), tmp_path) as link:
        await link.goes_down(change)
        before = await keyspace(keeping_redis)
        assert change in str((await unapproved(link)).barred)
        with refused("barred", change):
            await approve(link)
        assert await keyspace(keeping_redis) == before
    async with running(Pit(keeping_redis), tmp_path) as link:
        await link.comes_up()


@pytest.mark.section("649a.11(c)(5)(iv)")
async def test_a_table_that_still_plays_on_its_former_link_is_held_on_the_new_one(
    keeping_redis: Redis,
) -> None:
    """A service with the former floor file operates the former link until that is approved too."""
    pit = await Pit.opened(keeping_redis, WITH_T3)
    await approve_all(keeping_redis, WITH_T3)
    there, here = (
        configuration_of(keeping_redis, f"{FLOOR}{ON_SIDE}{T3}", link) for link in ("side", "pit")
    )
    former = configuration_of(keeping_redis, WITH_T3, "pit")
    assert await former.problem() is None
    await people_approve(there)
    assert await there.problem() is None
    assert await former.problem() is None
    await pit.round({3: PROGRESSIVE}, {3: "As Ks Qs"}, table="T-3")
    (claim,) = await pit.claims.waiting()
    await people_approve(here)
    assert f"table T-3 (asset 104213) is held for claim {claim.claim}" in str(await there.problem())
    await pit.pay(claim.claim, "S-1")
    assert await there.problem() is None


@pytest.mark.parametrize("again", ["a round begins", "it is approved"])
async def test_a_link_watches_the_former_link_of_its_tables(
    keeping_redis: Redis, again: str
) -> None:
    """It looked at all links before, and found nothing."""
    pit = await Pit.opened(keeping_redis, WITH_T3)
    await approve_all(keeping_redis, WITH_T3)
    there = configuration_of(keeping_redis, f"{FLOOR}{ON_SIDE}{T3}", "side")
    await people_approve(there)
    assert await there.problem() is None
    if again == "it is approved":
        await people_approve(configuration_of(keeping_redis, WITH_T3, "pit"))
        reason = "table T-3 was later approved on link pit"
    else:
        await pit.wagers({3: PROGRESSIVE}, table="T-3")
        reason = "table T-3 has an open round on link pit"
    assert reason in str(await there.problem())


MOVES: Final[Mapping[str, tuple[str, str, str, str]]] = {
    "removed": ("", "", "", "pit"),
    "another name": (progressive_table("T-9", "104213"), "", "", "pit"),
    "on another link": ("", T3, "", "side"),
    "asset on another link": ("", progressive_table("T-9", "104213"), "", "side"),
    "name on another link": ("", progressive_table("T-3", "9"), "", "side"),
    "a link of its own": ("", "", link_text("new", meter_text(PROGRESSIVE), T3), "new"),
}
"""How a floor file takes a table away: sections of the links, and the link that may not open."""


@pytest.mark.section("649a.11(c)(5)(iv)")
@pytest.mark.parametrize(
    ("move", "left"),
    [
        pytest.param(move, left, id=f"{left}, {name}")
        for name, move in MOVES.items()
        for left in ("an open round", "a hand pay", "a rejected hand pay")
        if name != "removed" or left == "an open round"
    ],
)
async def test_a_table_is_not_taken_away_from_what_it_left(
    keeping_redis: Redis, move: tuple[str, str, str, str], left: str
) -> None:
    """Nobody could end the round. The books of a link hold a table, but only on that link."""
    pit_has, side_has, new, link = move
    pit = Pit(keeping_redis, WITH_T3)
    days = Days(pit)
    await pit.open()
    await days.open()
    await approve_all(keeping_redis, WITH_T3)
    text = f"{FLOOR}{pit_has}{ON_SIDE}{side_has}{new}"
    moved = configuration_of(keeping_redis, text, link)
    assert (await pit.wagers({3: PROGRESSIVE}, table="T-3")).error is None
    said = "table T-3 has an open round on link pit: leave the table there until the round is"
    if left != "an open round":
        (claim,) = (await pit.result({3: "As Ks Qs"}, table="T-3")).claims or ()
        said = f"is held for claim {claim.claim} as table T-3 of link pit"
    if left == "a rejected hand pay":
        await pit.decide(claim.claim, "reject")
        said = (
            " was rejected, and can still be reopened: leave the table in link pit, as table T-3,"
            " until this gaming day is closed"
        )
    assert said in await barred(moved)
    assert said in str(await moved.problem())
    stays = configuration_of(keeping_redis, WITH_T3, "pit")
    assert await stays.problem() is None, "the table itself may stay where it is"
    if left == "an open round":
        assert (await pit.void(table="T-3")).error is None
    elif left == "a hand pay":
        await pit.decide(claim.claim, "validate")
        assert said in await barred(moved)
        await pit.decide(claim.claim, "pay")
    else:
        await days.keep(A_DAY)
    await people_approve(moved)
    assert await moved.problem() is None


async def test_a_demonstration_may_leave_a_round_open(keeping_redis: Redis) -> None:
    """Its next run can have fewer tables, although the last run was killed during a round."""
    pit, floor = Pit(keeping_redis, THIRD), parse_floor(FLOOR)
    await Configuration(pit.floor, pit.store, opens_as="service").adopt()
    await pit.open()
    assert (await pit.wagers({3: PROGRESSIVE}, table="T-3")).error is None
    store = LinkStore(keeping_redis, floor.link[0])
    await Configuration(floor, store, opens_as="service").adopt()


@pytest.mark.duty("D10")
async def test_a_lost_approval_is_not_replaced_by_adoption(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    """This holds under an operating link and at the next start."""
    pit = Pit(keeping_redis)
    keys = pit.store.keys
    async with running(pit, tmp_path) as link:
        await link.comes_up()
        await keeping_redis.delete(keys.approved)
        await link.goes_down("Redis has lost what was approved")
    await keeping_redis.hdel(keys.tallies, "approvals")
    async with running(Pit(keeping_redis, SIX), tmp_path, approved=False) as link:
        await link.goes_down("approvals is at 0, the ledger says 1")
        await keeping_redis.hincrby(keys.tallies, "approvals", 1)
        await link.goes_down("Redis has lost what was approved")
        await approve(link)
        await link.comes_up()


@pytest.mark.duty("D10")
@pytest.mark.parametrize("earlier", [False, True], ids=["made up", "an earlier one"])
async def test_what_is_written_into_the_store_is_not_approved(
    keeping_redis: Redis, tmp_path: Path, *, earlier: bool
) -> None:
    await ran_once(keeping_redis, tmp_path)
    pit = Pit(keeping_redis, SIX)
    filed, key = Configuration(pit.floor, pit.store).filed, pit.store.keys.approved
    forged: dict[str, str] = {"digest": filed.digest, "text": filed.text}
    said = "the approved configuration in Redis is not the one in ledger entry 1"
    if earlier:
        rows = cast("dict[bytes, bytes]", await keeping_redis.hgetall(key))
        forged = {name.decode(): value.decode() for name, value in rows.items()}
        await people_approve(Configuration(pit.floor, pit.store))
        pit, said = Pit(keeping_redis), "which is not the last approval"
    for field, value in forged.items():
        await keeping_redis.hset(key, field, value)
    async with running(pit, tmp_path) as link:
        await link.goes_down(said)
        await approve(link)
        await link.comes_up()


async def test_nothing_is_approved_on_books_that_do_not_hold(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    await ran_once(keeping_redis, tmp_path)
    pit = Pit(keeping_redis, SIX)
    await keeping_redis.hincrby(pit.store.keys.accounts, "meter:progressive", 1)
    async with running(pit, tmp_path) as link:
        await link.goes_down("meter:progressive holds", "+1")
        with refused("link_inoperable", "meter:progressive holds"):
            await approve(link)


@pytest.mark.duty("D9")
async def test_a_service_that_is_unfit_operates_no_link_and_touches_no_books(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    pit = Pit(keeping_redis)
    unfit = "self-check failed: a file is altered"
    async with running(pit, tmp_path, unfit=unfit, approved=False) as link:
        await link.goes_down("self-check failed: a file is altered")
        assert await keyspace(keeping_redis) == {}
        await people_approve(link.service.configuration)
        link.unfit = None
        await link.comes_up()
        link.unfit = "self-check failed: since then"
        await link.goes_down("since then")
