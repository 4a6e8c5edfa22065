"""Voids after cards and hands entered differently: in the ledger, among the acts, counted."""

from collections.abc import Mapping
from typing import cast

import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families
from structlog.testing import capture_logs

from meters.acts.act_rows import ActRow
from tests.model.pit import DEALER, PROGRESSIVE, RAGS, Pit, event_bytes

HAND = {"what": "hand", "position": 1, "cards": ["As", "Ks", "Qs"]}
BEFORE = HAND | {"taken_back": True, "reason": "Typed wrong"}

pytestmark = pytest.mark.usefixtures("left_sound")


async def acts_of_tables(pit: Pit) -> list[ActRow]:
    return [act for act in await pit.link_acts.acts("pit", None, 50) if act.table]


def count_of(pit: Pit, name: str, *labels: str) -> float:
    body, _ = pit.metrics.exposition("text/plain")
    return sum(
        sample.value
        for family in text_string_to_metric_families(body.decode())
        for sample in family.samples
        if sample.name == name and set(labels) <= set(sample.labels.values())
    )


@pytest.mark.duty("D17", proof=True)
async def test_a_void_after_cards_has_them_in_the_ledger_on_the_acts_page_and_in_the_figures(
    pit: Pit,
) -> None:
    with capture_logs() as lines:
        await pit.wagers({1: PROGRESSIVE})
        reply = await pit.event("T-1", "void", "R1", reason="misdeal", entered=[HAND])
    assert reply.status == "accepted"
    (entry,) = [one for one in await pit.entries() if one["kind"] == "void"]
    assert msgspec.json.decode(entry["event"])["entered"] == [HAND]
    (act,) = await acts_of_tables(pit)
    assert (act.what, act.of, act.by, act.table) == ("void", "R1", "table:T-1", "T-1")
    assert act.told == "round R1: misdeal; entered: position 1 As Ks Qs"
    assert count_of(pit, "pitlink_table_voids_after_cards_total", "pit", "T-1") == 1
    (line,) = [one for one in lines if one["event"] == "round void after cards"]
    assert (line["table"], line["round"], line["hands"], str(line["entry"])) == (
        "T-1", "R1", 1, entry["id"],
    )  # fmt: skip


@pytest.mark.duty("D17")
async def test_a_hand_entered_differently_has_both_on_the_acts_page_and_is_counted(
    pit: Pit,
) -> None:
    await pit.wagers({1: PROGRESSIVE})
    dealt = [{"position": 1, "cards": RAGS.split(), "folded": False}]
    reply = await pit.event(
        "T-1", "result", "R1", positions=dealt, dealer=DEALER.split(), entered_before=[BEFORE]
    )
    assert reply.status == "accepted"
    (act,) = await acts_of_tables(pit)
    assert (act.what, act.table) == ("result", "T-1")
    assert act.told == (
        f"round R1: position 1 As Ks Qs, taken back: Typed wrong; settled as {RAGS}"
    )
    assert count_of(pit, "pitlink_table_hands_reentered_total", "pit", "T-1") == 1


async def test_other_voids_and_results_are_no_acts(pit: Pit) -> None:
    await pit.wagers({1: PROGRESSIVE})
    await pit.void()
    await pit.round({1: PROGRESSIVE}, {1: RAGS}, round_id="R2")
    assert await acts_of_tables(pit) == []
    assert count_of(pit, "pitlink_table_voids_after_cards_total") == 0
    assert count_of(pit, "pitlink_table_hands_reentered_total") == 0


BAD: Mapping[str, tuple[object, str]] = {
    "no card": ([HAND | {"cards": ["As", "Kx"]}], "entered[0].cards[1]"),
    "a word that could be a result": ([HAND | {"cards": ["twelve"]}], "entered"),
    "no cards": ([HAND | {"cards": []}], "entered[0].cards"),
    "of nobody": ([HAND | {"what": "burned"}], "entered[0].what"),
    "unknown field": ([HAND | {"by": "me"}], "entered[0].by"),
    "null": (None, "entered"),
    "a reason that cannot be printed": ([HAND | {"reason": "a\rb"}], "entered[0].reason"),
    "a declaration that was not made": ([{"what": "hand", "position": 1}], "entered[0]"),
    "a dealer who declares": ([{"what": "dealer", "no_win": True}], "entered[0]"),
    "a declaration with cards": ([HAND | {"no_win": True}], "entered[0]"),
}


async def test_cards_that_cannot_be_are_refused_by_their_place(pit: Pit) -> None:
    await pit.wagers({1: PROGRESSIVE})
    for what, (entered, field) in BAD.items():
        reply = await pit.event("T-1", "void", "R1", reason="misdeal", entered=entered)
        assert reply.error is not None, what
        assert reply.error.field == field, what
    assert (await pit.void()).status == "accepted"


async def dealt(pit: Pit, table: str, hands: dict[int, str], round_id: str = "R1") -> list[str]:
    """Play a round; return the tables with the same cards, according to the log."""
    with capture_logs() as lines:
        await pit.round(dict.fromkeys(hands, PROGRESSIVE), hands, table=table, round_id=round_id)
    return [one["other_table"] for one in lines if one["event"] == "cards dealt twice"]


async def test_the_same_cards_in_the_same_round_id_at_two_tables_raise_a_warning(pit: Pit) -> None:
    """This holds with other positions, another order of the cards, and either worker."""
    assert await dealt(pit, "T-1", {1: "As Ks 2d", 2: RAGS}) == []
    pit.restart()
    assert await dealt(pit, "T-2", {4: RAGS, 3: "2d As Ks"}) == ["T-1"]
    assert count_of(pit, "pitlink_cards_dealt_twice_total", "pit") == 1
    first = next(one for one in await pit.entries() if one["kind"] == "result")
    with capture_logs() as lines:
        await pit.wagers({1: PROGRESSIVE, 2: PROGRESSIVE}, table="T-1", round_id="R7")
        await pit.result({1: "As Ks 2d", 2: RAGS}, table="T-1", round_id="R7")
    assert [one["event"] for one in lines if one["event"] == "cards dealt twice"] == []
    assert first["table"] == "T-1"


async def test_other_cards_another_round_id_or_no_hand_raise_none(pit: Pit) -> None:
    await dealt(pit, "T-1", {1: "As Ks 2d"})
    assert await dealt(pit, "T-2", {1: "As Ks 3d"}) == []
    assert await dealt(pit, "T-2", {1: "As Ks 2d"}, round_id="R2") == []
    for table in ("T-1", "T-2"):
        await pit.wagers({1: PROGRESSIVE}, table=table, round_id="R3")
        with capture_logs() as lines:
            reply = await pit.result({1: ""}, table=table, round_id="R3", folded=[1])
        assert reply.status == "accepted"
        assert not [one for one in lines if one["event"] == "cards dealt twice"]


async def test_two_tables_in_one_batch_are_compared_too(pit: Pit) -> None:
    for table in ("T-1", "T-2"):
        await pit.wagers({1: PROGRESSIVE}, table=table)
    hand = [{"position": 1, "cards": ["As", "Ks", "2d"]}]
    event = event_bytes(2, "result", "R1", positions=hand, dealer=DEALER.split())
    events = [(table, event) for table in ("T-1", "T-2")]
    with capture_logs() as lines:
        await pit.take(events)
    assert [one["table"] for one in lines if one["event"] == "cards dealt twice"] == ["T-2"]
    with capture_logs() as lines:
        await pit.take(events)
    assert not [one for one in lines if one["event"] == "cards dealt twice"], "a repeat is none"


async def test_what_is_remembered_is_bounded(pit: Pit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("meters.store.link_store.DEALT_KEPT", 4)
    for number in range(1, 13):
        await dealt(pit, "T-1", {1: "As Ks 2d"}, round_id=f"R{number}")
    fields = cast("list[bytes]", await pit.redis.hkeys(pit.store.keys.dealt))
    kept = [field for field in fields if field.startswith(b"d:")]
    assert 1 <= len(kept) <= 4
    assert len([field for field in fields if field.startswith(b"s:")]) == len(kept)
    assert await dealt(pit, "T-2", {1: "As Ks 2d"}, round_id="R12") == ["T-1"]
    assert await dealt(pit, "T-2", {1: "As Ks 2d"}, round_id="R1") == []
