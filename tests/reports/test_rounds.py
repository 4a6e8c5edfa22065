"""One round for surveillance and disputes: found by table, time, name or claim, today and later."""

from collections.abc import Iterator
from datetime import UTC, date, datetime

import msgspec
import pytest

from meters.acts.act_refusals import ActError
from meters.acts.floor_history import FloorHistory
from meters.acts.ledger_days import RoundIndex
from meters.acts.round_search import RoundQuery
from meters.acts.round_view import RoundRow, RoundView
from meters.archive.day_file import DayFile, LineBlock
from meters.process.owned_tasks import OwnedTasks
from meters.selfcheck.break_even import BreakEvens
from tests.reports.shop import NEW_YORK, PROGRESSIVE, ROYAL, Shop

DAY = date(2026, 11, 20)


def history_of(shop: Shop) -> FloorHistory:
    tasks = OwnedTasks()
    stores = {shop.pit.link.id: shop.pit.store}
    return FloorHistory(shop.floor, stores, BreakEvens(shop.floor, tasks).of, tasks)


async def played(shop: Shop) -> tuple[str, FloorHistory]:
    """Play rounds at two tables: with and without a win, a void, an open one; return the claim."""
    for _ in range(3):
        await shop.after(minutes=10)
        await shop.round(positions=2)
        await shop.round(table="T-2")
    await shop.after(minutes=1)
    (claim,) = await shop.round(ROYAL, positions=2)
    await shop.pit.claims.decide(claim, "validate", "Flo")
    await shop.pit.claims.decide(claim, "pay", "Fred", slip="S-1")
    await shop.void()
    return claim, history_of(shop)


async def rounds(history: FloorHistory, **asked: object) -> tuple[RoundRow, ...]:
    return (await history.rounds(msgspec.convert(asked, RoundQuery))).rounds


def check_win(view: RoundView, claim: str) -> None:
    """Check the round of the royal: everything that a dispute needs."""
    row = view.row
    assert (row.table, row.state, row.wagers, row.wagered, row.wins) == (
        "T-1",
        "settled",
        2,
        200,
        1,
    )
    assert [(hand.position, hand.wagers, hand.cards) for hand in view.hands] == [
        (1, {PROGRESSIVE: 100}, ("As", "Ks", "Qs")),
        (2, {PROGRESSIVE: 100}, ("5s", "Th", "Qd")),
    ]
    assert view.dealer == ("2c", "7d", "9h")
    paid = next(line for line in view.lines if line.won and line.envy_of is None)
    assert (paid.hand_name, paid.percent, paid.rule) == (
        "Mini-royal of spades",
        100,
        "649a.12(e)(1)",
    )
    assert (paid.state, paid.by, paid.slip) == ("paid", "Fred", "S-1")
    assert row.won == row.paid + 10_000 == paid.won + 10_000, "the Envy Bonus still waits"
    (win,) = view.wins
    assert (win.claim, win.amount, win.state) == (claim, paid.won, "paid")
    meter = next(one for one in view.meters if one.meter == PROGRESSIVE)
    assert (meter.added, meter.at_result) == (28, meter.before + 28)
    assert (meter.at_result, meter.after) == (paid.won, 100_000)
    assert [(act.what, act.by) for act in view.acts] == [("validate", "Flo"), ("pay", "Fred")]


@pytest.mark.duty("D16")
@pytest.mark.parametrize("archived", [False, True])
async def test_a_round_is_found_by_claim_name_and_time(shop: Shop, *, archived: bool) -> None:
    claim, history = await played(shop)
    if archived:
        await shop.at("2026-11-21 06:01")
        await shop.round()
        await shop.archive()
        history = history_of(shop)
    link = shop.pit.link.id
    (row,) = await rounds(history, claim=claim)
    check_win(await history.round(link, row.entry), claim)
    assert await rounds(history, table="t-1", round=row.round) == (row,)
    assert await rounds(history, table="T-1", round=row.round, day=DAY) == (row,)
    view = await history.round(link, row.entry)
    for entry in view.entries:
        assert await history.round(link, entry) == view
    since = datetime(2026, 11, 20, 12, 25, tzinfo=NEW_YORK).astimezone(UTC)
    found = await rounds(history, table="T-1", since=since)
    assert [(one.state, one.wagers, one.wins) for one in found] == [
        ("settled", 2, 0), ("settled", 2, 1), ("void", 1, 0),
    ]  # fmt: skip
    whole = await rounds(history, table="T-1", day=DAY)
    assert len(whole) == 5
    pages: list[RoundRow] = []
    after: int | None = 0
    while after is not None:
        page = await history.rounds(RoundQuery(table="T-1", day=DAY, limit=2, after=after))
        assert not page.latest_first
        pages += page.rounds
        after = page.next
    assert tuple(pages) == whole
    void = await history.round(link, whole[-1].entry)
    assert (void.void_reason, void.lines, [one.added for one in void.meters]) == (
        "misdeal",
        (),
        [0],
    )


async def test_a_loser_is_found_too_and_the_last_rounds_come_first(shop: Shop) -> None:
    _, history = await played(shop)
    page = await history.rounds(RoundQuery(table="T-2", limit=2))
    assert page.latest_first
    assert [row.wins for row in page.rounds] == [0, 0]
    assert page.next
    rest = await history.rounds(RoundQuery(table="T-2", limit=2, before=page.next))
    assert (len(rest.rounds), rest.next) == (1, None)
    view = await history.round(shop.pit.link.id, page.rounds[0].entry)
    assert {line.outcome for line in view.lines} == {"collected"}
    assert history.last_round(shop.pit.link.id, "T-2") == (page.rounds[0].entry, view.row.round)


@pytest.mark.parametrize("last", [21, 22])
async def test_a_round_that_is_open_at_the_close_is_found_whole(shop: Shop, last: int) -> None:
    """Also if Redis has its wagers no longer."""
    round_id = "R77"
    await shop.pit.wagers({1: PROGRESSIVE}, table="T-1", round_id=round_id)
    for day in range(21, last + 1):
        await shop.at(f"2026-11-{day} 06:01")
        await shop.round(table="T-2")
    await shop.archive()
    history = history_of(shop)
    (row,) = await rounds(history, table="T-1")
    assert (row.state, row.wagers) == ("open", 1)
    await shop.pit.void(table="T-1", round_id=round_id)
    (row,) = await rounds(history, table="T-1", round=round_id)
    assert (row.state, row.wagers) == ("void", 1)
    assert await rounds(history, table="T-1") == (row,)


@pytest.mark.parametrize("archived", [20, 21, 22])
async def test_a_round_of_several_gaming_days_is_shown_once_and_whole(
    shop: Shop, archived: int
) -> None:
    """Whoever opens it, by its wagers, its settlement or a decision, sees all of it."""

    async def after(day: int) -> int:
        """Begin the next day, perhaps with an archived one; return the last entry before it."""
        entry = int((await shop.pit.entries())[-1]["id"])
        await shop.at(f"2026-11-{day + 1} 06:01")
        if day == archived:
            await shop.archive()
        await shop.round(table="T-2")
        return entry

    await shop.round(table="T-2")
    await shop.pit.wagers({1: PROGRESSIVE}, table="T-1", round_id="R77")
    begun = await after(20)
    reply = await shop.pit.result({1: ROYAL}, round_id="R77", dealer="2c 7d 9h")
    (claim,) = [one.claim for one in reply.claims or ()]
    ended = await after(21)
    await shop.pit.claims.decide(claim, "validate", "Flo")
    await shop.pit.claims.decide(claim, "pay", "Fred", slip="S-1")
    paid = await after(22)
    history, link = history_of(shop), shop.pit.link.id
    (row,) = await rounds(history, table="T-1", day=DAY)
    assert (row.entry, row.state, row.wagers, row.wins) == (begun, "settled", 1, 1)
    assert row.paid == row.won > 0
    for day in (21, 22):
        assert not await rounds(history, table="T-1", day=date(2026, 11, day))
    for asked in ({"round": "R77", "day": DAY}, {"round": "R77"}, {"claim": claim}):
        assert await rounds(history, table="T-1", **asked) == (row,)
    for entry in (begun, ended, paid):
        view = await history.round(link, entry)
        assert (view.row, view.entries) == (row, (begun, ended, paid - 1, paid))
        (meter,) = [one for one in view.meters if one.meter == PROGRESSIVE]
        assert (meter.before, meter.added, meter.after) == (100_014, 14, 100_000)
        assert [line.paid for line in reply.lines or ()][:1] == [meter.at_result]


def test_a_round_without_an_act_is_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table has thousands of rounds, and a page asks for each of its rows."""
    index = RoundIndex()
    index.begin("T-1", "R1", 1, 0)
    monkeypatch.setattr(index, "named", lambda *_: pytest.fail("all rounds were looked at"))
    assert not index.acts_on("T-1", "R1", 1)


async def test_what_was_rejected_or_waits_is_not_paid(shop: Shop) -> None:
    """A list says it as the round itself, and so does a page of an archived day."""
    (claim,) = await shop.round(ROYAL, positions=2)
    history = history_of(shop)

    async def sums() -> tuple[int, int, int]:
        (row,) = await rounds(history, table="T-1", limit=1)
        view = await history.round(shop.pit.link.id, row.entry)
        assert view.row == row
        return row.won, row.paid, row.rejected

    won, *none = await sums()
    assert none == [0, 0]
    await shop.pit.claims.decide(claim, "reject", "Flo", reason="misread", envy_not_due=True)
    assert await sums() == (won, 0, won)
    (row,) = await rounds(history, table="T-1", limit=1)
    view = await history.round(shop.pit.link.id, row.entry)
    assert {(line.state, line.by) for line in view.lines if line.won} == {("rejected", "Flo")}
    (claim,) = await shop.round(ROYAL, positions=2)
    await shop.pit.claims.decide(claim, "validate", "Flo")
    await shop.pit.claims.decide(claim, "pay", "Fred", slip="S-2")
    await shop.round()
    await shop.pit.claims.decide_envy(claim, "pay_envy", "Fred")
    await shop.at("2026-11-21 06:01")
    await shop.archive()
    _, late = await rounds(history_of(shop), table="T-1", day=DAY, limit=2)
    assert late.won == late.paid > 0


@pytest.mark.duty("D16")
async def test_a_claim_that_redis_has_forgotten_is_found_in_the_archive(shop: Shop) -> None:
    claim, _ = await played(shop)
    for day in (21, 22, 23):
        await shop.at(f"2026-11-{day} 06:01")
        await shop.round()
        await shop.archive()
    await shop.pit.redis.delete(shop.pit.store.keys.claim(claim))
    history = history_of(shop)
    (row,) = await rounds(history, claim=claim)
    check_win(await history.round(shop.pit.link.id, row.entry), claim)


async def test_a_round_that_is_nowhere_says_where_it_was_looked_for(shop: Shop) -> None:
    _, history = await played(shop)

    async def why(**asked: object) -> str:
        with pytest.raises(ActError) as refused:
            await rounds(history, table="T-1", **asked)
        return refused.value.message

    assert "since the last archived day, nor in an archive" in await why(round="R99")
    for day in (21, 22):
        await shop.at(f"2026-11-{day} 06:01")
        await shop.round()
        await shop.archive()
    assert "nor in the archive of 2026-11-20 to 2026-11-21" in await why(round="R99")
    missing = "neither Redis nor the archive of this machine has"
    assert f"2026-11-01: {missing} this day" in await why(round="R99", day=date(2026, 11, 1))
    assert await why(day=date(2026, 11, 1)) == f"{missing} the gaming day 2026-11-01"
    assert (await why(round="R99", day=DAY)).endswith("on the gaming day 2026-11-20")


@pytest.mark.slow
async def test_a_round_of_an_archived_day_is_read_in_one_pass(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by its end or a decision; only one that lasted for longer is read a second time."""
    round_id = "R77"
    claim, _ = await played(shop)
    await shop.pit.wagers({1: PROGRESSIVE}, table="T-2", round_id=round_id)
    for _ in range(4):
        await shop.after(minutes=10)
        await shop.round()
    await shop.pit.void(table="T-2", round_id=round_id)
    await shop.at("2026-11-21 06:01")
    await shop.round()
    await shop.archive()
    history = history_of(shop)
    link = shop.pit.link.id
    (won,) = await rounds(history, claim=claim)
    (long,) = await rounds(history, table="T-2", round=round_id)
    passes: list[object] = []
    blocks = DayFile.blocks

    def counted(file: DayFile) -> Iterator[LineBlock]:
        passes.append(file)
        for block in blocks(file):
            yield from map(LineBlock, block.lines.split(b"\n"))

    monkeypatch.setattr(DayFile, "blocks", counted)
    for entry in (await history.round(link, won.entry)).entries:
        passes.clear()
        check_win(await history.round(link, entry), claim)
        assert len(passes) == 1
    first, last = (await history.round(link, long.entry)).entries
    for entry, times in ((first, 1), (last, 2)):
        passes.clear()
        view = await history.round(link, entry)
        assert (view.entries, [one.added for one in view.meters]) == ((first, last), [0])
        assert len(passes) == times


@pytest.mark.duty("D19")
async def test_what_was_last_done_is_read_for_each_link(shop: Shop) -> None:
    claim, _ = await played(shop)
    await shop.adjust(PROGRESSIVE, 1_234)
    (before,) = await shop.pit.link_acts.last_done(3)
    assert (before.read_day, before.archived_day) == (None, None)
    await shop.at("2026-11-21 06:01")
    await shop.round()
    await shop.archive()
    (done,) = await shop.pit.link_acts.last_done(3)
    assert (done.read_day, done.archived_day) == (DAY, DAY)
    assert done.correction is not None
    assert (done.correction.what, done.correction.by) == ("adjust", "Sam")
    assert [act.what for act in done.acts] == ["archive", "reading", "adjust"]
    assert claim


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({}, "bad_value"),
        ({"table": "T-9"}, "unknown_table"),
        ({"table": "T-1", "link": "nowhere"}, "unknown_link"),
        ({"table": "T-1", "round": "R99"}, "unknown_round"),
        ({"table": "T-1", "round": "R1", "day": date(2026, 11, 19)}, "unknown_round"),
        ({"claim": "pit.T-1-99-1"}, "unknown_round"),
        ({"claim": "pit.odd"}, "bad_value"),
    ],
)
async def test_what_there_is_not_is_refused_in_words(
    shop: Shop, asked: dict[str, object], code: str
) -> None:
    _, history = await played(shop)
    with pytest.raises(ActError) as refused:
        await rounds(history, **asked)
    assert refused.value.code == code
    with pytest.raises(ActError, match="no round with entry 9999"):
        await history.round(shop.pit.link.id, 9_999)
