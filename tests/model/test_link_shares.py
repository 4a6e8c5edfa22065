"""A community share for the whole link: its players, their claims, and the audit of both.

Keystone Trips as in the tests of shares at one table, but every player of the link divides.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Final

import msgspec
import pytest
from redis.asyncio import Redis

from meters.audit.link_audit import LinkAudit
from meters.floor.floor_file import FloorError, parse_floor
from meters.intake.batches import LinkIntake
from meters.ledger.approved_configuration import LinkConfiguration
from meters.ledger.link_state import TableRecord
from meters.store.link_store import LinkStore
from meters.wire.messages import (
    LINK_PLAYERS_BYTES_MAX,
    ROUND_LENGTH_MAX,
    LinkPlayers,
    LinkShare,
    Reply,
    parts_elsewhere,
)
from tests.floor_text import ONE_REJECTS, floor_text, link_text, meter_text, table_text
from tests.games.naive import HOUSE
from tests.model.model_floor import LINK_GAMES
from tests.model.pit import CENT, Pit, code, event_bytes
from tests.model.tampering import Fields, rewrite
from tests.model.test_asks import confirm

METER: Final = "trips_jackpot"
WAGER: Final = "trips_progressive"
COMMUNITY: Final = "trips_jackpot_community_share"
TABLES_MAX: Final = 105
"""A link with more tables could make a reply that a broker does not pass on."""

SEED: Final = 250_000
"""In cents: $2,500, which is $500 for each dollar of the wager."""


def link_floor(*, tables: int = 3) -> str:
    return floor_text(
        link_text(
            "pit",
            meter_text(METER, 500),
            *(
                table_text(f"T-{number}", METER, asset=f"10{number}", game="keystone_trips")
                for number in range(1, tables + 1)
            ),
        ),
        games=str(LINK_GAMES),
        two_people_reject_above=ONE_REJECTS,
    )


@pytest.fixture
async def trips(redis: Redis) -> Pit:
    return await Pit.opened(redis, link_floor())


def shares(reply: Reply) -> list[tuple[str, str, int, int]]:
    return [(one.table, one.round, one.position, one.amount) for one in parts_elsewhere(reply)]


async def bet(pit: Pit, table: str, positions: Mapping[int, str | None], round_id: str) -> None:
    patrons = {position: patron for position, patron in positions.items() if patron}
    bets = dict.fromkeys(positions, WAGER)
    reply = await pit.wagers(bets, table=table, round_id=round_id, patrons=patrons)
    assert code(reply) == "accepted", reply


async def deal(pit: Pit, table: str, round_id: str, **hands: str) -> Reply:
    """Send a result; ``p5="trips"`` is the result of position 5."""
    results = {int(name[1:]): result for name, result in hands.items()}
    return await pit.result(results, table=table, round_id=round_id, dealer="", community=None)


async def test_every_player_of_the_link_divides_a_part_of_the_meter(trips: Pit) -> None:
    """By hand. T-2 has Ann at two positions, and Bob; the round of T-3 is over."""
    await bet(trips, "T-3", {1: None}, "C1")
    await deal(trips, "T-3", "C1", p1="other")
    await bet(trips, "T-2", {2: "ann", 5: "ann", 3: "bob"}, "B1")
    await bet(trips, "T-1", {4: None, 1: None}, "A1")
    reply = await deal(trips, "T-1", "A1", p4="suited_trips", p1="other")
    held = SEED + 6 * 75
    part = held // 10 // 4
    assert shares(reply) == [("T-2", "B1", 5, part), ("T-2", "B1", 3, part)]
    assert [(one.position, one.paid) for one in reply.lines or () if one.item == COMMUNITY] == [
        (4, part), (1, part),
    ]  # fmt: skip
    await trips.check_sound()
    rows = {row.claim: row for row in await trips.claims.waiting()}
    ann, bob = (rows[one.claim] for one in parts_elsewhere(reply))
    assert [(row.table, row.asset, row.round, row.position, row.patron) for row in (ann, bob)] == [
        ("T-2", "102", "B1", 5, "ann"), ("T-2", "102", "B1", 3, "bob"),
    ]  # fmt: skip
    assert ann.cards == ("suited_trips",)
    assert [row.table for row in await trips.claims.hand(ann.claim)] == ["T-2"]

    # The table of Ann and Bob plays on, and its own void takes nothing back.
    assert code(await trips.void(table="T-2", round_id="B1")) == "accepted"
    await bet(trips, "T-2", {2: "ann"}, "B2")
    before = await trips.meter(METER)
    await trips.decide(bob.claim, "reject")
    assert await trips.meter(METER) == before + part * CENT
    await trips.check_sound()
    await trips.pay_all([ann.claim])
    assert (await trips.accounts())["paid"] == part * CENT
    await trips.check_sound()


async def test_nobody_else_on_the_link_is_said_too(trips: Pit) -> None:
    await bet(trips, "T-1", {4: None, 1: None}, "A1")
    reply = await deal(trips, "T-1", "A1", p4="suited_trips", p1="other")
    assert reply.link_share == ()
    await trips.check_sound()


async def test_a_result_is_judged_again_if_other_tables_changed_in_its_batch(trips: Pit) -> None:
    """Two tables win, and a third locks out, in one batch: the order of the ledger decides."""
    await bet(trips, "T-1", {1: None}, "A1")
    await bet(trips, "T-2", {1: None}, "B1")
    sent = [
        ("T-1", "result", "A1", {"positions": [{"position": 1, "cards": ["suited_trips"]}]}),
        ("T-3", "wagers", "C1", {"positions": [{"position": 2, "wagers": {WAGER: 500}}]}),
        ("T-2", "result", "B1", {"positions": [{"position": 1, "cards": ["suited_trips"]}]}),
    ]  # fmt: skip
    batch = []
    for table, kind, round_id, fields in sent:
        trips.seq[table] += 1
        more: dict[str, object] = {"dealer": []} if kind == "result" else {}
        batch.append((table, event_bytes(trips.seq[table], kind, round_id, **fields, **more)))
    outcome = await trips.take(batch)
    replies = {
        one.known.table.id: msgspec.json.decode(reply, type=Reply) for one, reply in outcome.replies
    }
    assert [one[0] for one in shares(replies["T-1"])] == ["T-2"]
    assert [one[0] for one in shares(replies["T-2"])] == ["T-3"]
    await trips.check_sound()


async def a_win(pit: Pit) -> Reply:
    """T-1 wins while T-2 has two players, and T-3 one."""
    await bet(pit, "T-3", {6: "cat"}, "C1")
    await bet(pit, "T-2", {2: "ann", 3: "bob"}, "B1")
    await bet(pit, "T-1", {4: None}, "A1")
    return await deal(pit, "T-1", "A1", p4="suited_trips")


Forged = Callable[[LinkShare], LinkShare | None]


def _players(*divided: tuple[str, str, tuple[int, ...]]) -> Forged:
    """Return a function that lets other players divide a share."""
    players = tuple(
        LinkPlayers(table=table, round=round_id, positions=positions)
        for table, round_id, positions in divided
    )
    return lambda share: msgspec.structs.replace(share, players=players)


_LEFT_OUT = _players(("T-2", "B1", (3,)), ("T-3", "C1", (6,)))
_TABLE_LEFT_OUT = _players(("T-2", "B1", (3, 2)))
_ONE_TOO_MANY = _players(("T-2", "B1", (7, 3, 2)), ("T-3", "C1", (6,)))
_ANOTHER_POSITION = _players(("T-2", "B1", (3, 1)), ("T-3", "C1", (6,)))
_ANOTHER_ROUND = _players(("T-2", "B0", (3, 2)), ("T-3", "C1", (6,)))


@pytest.mark.parametrize(
    "forge",
    [
        pytest.param(_LEFT_OUT, id="left out"),
        pytest.param(_TABLE_LEFT_OUT, id="table left out"),
        pytest.param(_ONE_TOO_MANY, id="one too many"),
        pytest.param(_ANOTHER_POSITION, id="another position"),
        pytest.param(_ANOTHER_ROUND, id="another round"),
        pytest.param(lambda _: None, id="for the table alone"),
    ],
)
async def test_an_audit_finds_every_other_division(trips: Pit, forge: Forged) -> None:
    await a_win(trips)
    assert (await trips.audit()).problems == ()

    def forged(_: int, fields: Fields) -> Fields:
        if b'"link_share"' not in fields[b"reply"]:
            return fields
        reply = msgspec.json.decode(fields[b"reply"], type=Reply)
        (share,) = reply.link_share or ()
        made = forge(share)
        reply = msgspec.structs.replace(reply, link_share=None if made is None else (made,))
        return fields | {b"reply": msgspec.json.encode(reply)}

    await rewrite(trips, forged)
    problems = " ".join((await trips.audit()).problems)
    assert "it divides its community share among" in problems
    assert "not among position 3 of T-2, position 2 of T-2, position 6 of T-3" in problems


async def test_an_audit_that_begins_at_a_checkpoint_knows_the_open_rounds(trips: Pit) -> None:
    audit = LinkAudit(trips.store)
    await bet(trips, "T-2", {2: "ann", 3: "bob"}, "B1")
    await bet(trips, "T-1", {4: None}, "A1")
    assert (await audit.run()).problems == ()
    reply = await deal(trips, "T-1", "A1", p4="suited_trips")
    assert len(shares(reply)) == 2
    assert (await audit.run()).problems == ()


async def test_a_corrected_wager_counts_as_it_is_at_the_win(trips: Pit) -> None:
    await bet(trips, "T-2", {2: "ann", 3: "bob"}, "B1")
    await bet(trips, "T-1", {4: None}, "A1")
    fields = {
        "action": "take_back", "position": 3, "wager": WAGER, "amount": 500, "reason": "no chip",
        "positions": [{"position": 2, "patron": "ann", "wagers": {WAGER: 500}}],
    }  # fmt: skip
    assert code(await trips.event("T-2", "correct_wager", "B1", **fields)) == "unconfirmed"
    await confirm(trips)
    assert code(await trips.event("T-2", "correct_wager", "B1", **fields)) == "accepted"
    reply = await deal(trips, "T-1", "A1", p4="suited_trips")
    assert [(table, position) for table, _, position, _ in shares(reply)] == [("T-2", 2)]
    await trips.check_sound()


class Overtaken(LinkStore):
    """A store in which other tables go on after each of the first reads of all tables."""

    def __init__(self, of: LinkStore, acts: Sequence[Callable[[], Awaitable[object]]]) -> None:
        super().__init__(of.redis, of.link, of.hidden_values)
        self._acts = [*acts]

    async def table_states(
        self, tables: Sequence[str], *, wagers: bool = True
    ) -> list[TableRecord]:
        found = await super().table_states(tables, wagers=wagers)
        if len(tables) > 1 and self._acts:
            await self._acts.pop(0)()
        return found


async def test_a_result_is_judged_again_until_no_other_table_overtakes_it(redis: Redis) -> None:
    """Another table locks out, one voids and locks out again: nobody is forgotten or kept."""
    pit = await Pit.opened(redis, link_floor(), workers=2)
    await bet(pit, "T-1", {4: None}, "A1")
    await bet(pit, "T-2", {2: "ann"}, "B1")
    payload = event_bytes(
        2, "result", "A1", positions=[{"position": 4, "cards": ["suited_trips"]}], dealer=[]
    )

    async def by_other_service(
        kind: str, round_id: str, seq: int, table: str = "T-2", **fields: object
    ) -> None:
        await pit.send(table, event_bytes(seq, kind, round_id, **fields), worker=1)

    at_2 = [{"position": 2, "patron": "ann", "wagers": {WAGER: 500}}]
    store = Overtaken(
        pit.store,
        [
            partial(by_other_service, "wagers", "C1", 1, table="T-3", positions=at_2),
            partial(by_other_service, "void", "B1", 2, reason="misdeal"),
            partial(by_other_service, "wagers", "B2", 3, positions=at_2),
        ],
    )
    await store.open("service")
    pit.intakes[0] = LinkIntake(store)
    reply = await pit.send("T-1", payload)
    assert reply is not None
    divided = shares(msgspec.json.decode(reply, type=Reply))
    assert [each[:3] for each in divided] == [("T-2", "B2", 2), ("T-3", "C1", 2)]
    await pit.check_sound()


async def test_the_part_of_another_table_holds_only_the_table_of_the_hand(trips: Pit) -> None:
    await a_win(trips)
    await trips.event("T-2", "void", "B1", reason="misdeal")
    await bet(trips, "T-2", {2: "ann"}, "B2")
    refused = await trips.wagers({4: WAGER}, round_id="A2")
    assert code(refused) == "held"
    assert {one.item for one in refused.claims or ()} == {WAGER, COMMUNITY}
    assert len(refused.claims or ()) == 2


async def test_two_hands_of_one_round_bring_a_part_each(trips: Pit) -> None:
    """By hand: the second hand wins of what the first has left."""
    await bet(trips, "T-2", {2: "ann"}, "B1")
    await bet(trips, "T-1", {4: None, 1: None}, "A1")
    reply = await deal(trips, "T-1", "A1", p4="suited_trips", p1="straight_flush")
    first, second = SEED + 3 * 75, SEED
    assert shares(reply) == [
        ("T-2", "B1", 2, first // 10 // 3), ("T-2", "B1", 2, second // 20 // 3),
    ]  # fmt: skip
    await trips.check_sound()
    for row in await trips.claims.waiting():
        await trips.decide(row.claim, "reject")
    await trips.check_sound()


async def test_a_reply_names_the_players_once(trips: Pit) -> None:
    await bet(trips, "T-2", {2: "ann"}, "B1")
    await bet(trips, "T-1", {4: None, 1: None}, "A1")
    reply = await deal(trips, "T-1", "A1", p4="suited_trips", p1="straight_flush")
    first, second = reply.link_share or ()
    assert (len(first.players), second.players) == (1, ())
    await trips.check_sound()


async def test_the_longest_reply_of_the_largest_link_fits(redis: Redis) -> None:
    """Seven hands divide, every round has the longest id, and a broker passes on 65,536 bytes."""
    pit = await Pit.opened(redis, link_floor(tables=TABLES_MAX))
    longest = "\U0001f0a1" * ROUND_LENGTH_MAX
    every = dict.fromkeys(range(1, 8), WAGER)
    for number in range(1, TABLES_MAX + 1):
        await pit.wagers(every, table=f"T-{number}", round_id=longest)
    hands = [{"position": position, "cards": ["suited_trips"]} for position in range(1, 5)]
    rest = [{"position": position, "cards": ["straight_flush"]} for position in range(5, 8)]
    payload = event_bytes(2, "result", longest, positions=[*hands, *rest], dealer=[])
    reply = await pit.send("T-1", payload)
    assert reply is not None
    assert len(parts_elsewhere(msgspec.json.decode(reply, type=Reply))) % (TABLES_MAX - 1) == 0
    assert LINK_PLAYERS_BYTES_MAX // 2 < len(reply) < 2 * LINK_PLAYERS_BYTES_MAX


def test_a_larger_link_is_refused() -> None:
    with pytest.raises(FloorError, match="too many tables for it"):
        parse_floor(link_floor(tables=TABLES_MAX + 1))


def test_people_approve_who_divides(redis: Redis) -> None:
    floor = link_floor()
    then, now = (
        LinkConfiguration.of(pit.floor, pit.link)
        for pit in (Pit(redis, floor.replace(str(LINK_GAMES), str(HOUSE))), Pit(redis, floor))
    )
    changes = now.changed_from(then)
    assert any("whose players on the whole link divide a part of it" in each for each in changes), (
        changes
    )


def test_a_meter_with_smaller_wagers_has_no_share_for_the_link() -> None:
    floor = link_floor().replace("wager = 500\n", "wager = 500\nsmaller_wagers = [100]\n")
    with pytest.raises(FloorError, match="for the whole link has only one amount"):
        parse_floor(floor)
