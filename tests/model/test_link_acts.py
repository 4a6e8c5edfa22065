"""Acts on links with real books: closing, parameters by two people, corrections, the record."""

from pathlib import Path
from typing import cast

import pytest
from redis.asyncio import Redis

from meters.acts.act_refusals import ActError
from meters.acts.link_view import LinkView
from meters.acts.meter_changes import Adjustment, ParameterChange
from meters.store.floor_file_approval import Configuration
from meters.store.link_store import TermsError
from tests.approving import approve_never_approved
from tests.model.pit import BONUS, CENT, FLOOR, PROGRESSIVE, RAGS, Pit, refused, to
from tests.model.running import operating, running

LINK = "pit"


PAYTABLE_B = to(PROGRESSIVE, "paytable", "B")


async def _standing(pit: Pit) -> LinkView:
    (standing,) = await pit.link_acts.links()
    return standing


async def _refused(pit: Pit, change: ParameterChange | Adjustment) -> tuple[str, str]:
    with pytest.raises(ActError) as error:
        await pit.link_acts.propose(LINK, "sue", change)
    return error.value.code, error.value.message


@pytest.mark.duty("D3", proof=True)
async def test_link_is_shown_with_its_meters_and_parameters(pit: Pit) -> None:
    """Staff see the reserve here, and patrons see it nowhere (duty D3)."""
    await pit.wagers({1: f"{PROGRESSIVE} {BONUS}"})
    standing = await _standing(pit)
    assert (standing.state, standing.rounds_open, standing.tables) == ("operable", 1, 2)
    bonus = await pit.shown_meter(BONUS)
    assert (bonus.wager, bonus.seed, bonus.reseed, bonus.reserve_bps) == (100, 1_000_000, 0, 800)
    assert (bonus.amount, bonus.reserve) == (1_000_021, 8)
    assert (bonus.paytables, bonus.magic_card_every) == ((), 0)
    progressive = await pit.shown_meter(PROGRESSIVE)
    assert (progressive.paytable, progressive.paytables) == ("A", ("A", "B"))
    assert progressive.magic_card_every is None


@pytest.mark.duty("D14", proof=True)
async def test_tables_that_are_not_connected_are_named(pit: Pit) -> None:
    """They have name and asset number. A table that has left the floor is not among them."""
    pit.online.update({"T-2", "T-9"})
    standing = await _standing(pit)
    assert (standing.tables_online, standing.tables_offline) == (1, ("T-1 (asset 104211)",))


async def test_parameter_changes_while_the_link_is_closed_by_two_people(pit: Pit) -> None:
    """The ledger passes an audit across the change (duties D4 and D12)."""
    assert (await _refused(pit, PAYTABLE_B))[0] == "not_closed"
    await pit.round({1: PROGRESSIVE}, {1: RAGS})
    await pit.link_acts.close(LINK, "sue", "new paytables")
    proposed = await pit.link_acts.propose(LINK, "sue", PAYTABLE_B)
    assert (proposed.before, proposed.after, proposed.state) == ("paytable A", "paytable B", "open")
    with pytest.raises(ActError, match="another person must confirm"):
        await pit.link_acts.confirm(LINK, proposed.proposal, "sue")
    assert (await pit.shown_meter(PROGRESSIVE)).paytable == "A"
    confirmed = await pit.link_acts.confirm(LINK, proposed.proposal, "tim")
    assert (confirmed.state, confirmed.by, confirmed.decided_by) == ("confirmed", "sue", "tim")
    assert (await pit.shown_meter(PROGRESSIVE)).paytable == "B"
    with pytest.raises(ActError, match="already confirmed by tim"):
        await pit.link_acts.confirm(LINK, proposed.proposal, "una")
    await pit.link_acts.open(LINK, "tim")
    assert (await pit.audit()).balanced


async def test_wagers_are_judged_and_audited_by_the_parameters_of_their_time(
    keeping_pit: Pit, tmp_path: Path
) -> None:
    """A meter's wager changes from $1 to $5. Earlier wagers stay right; later ones must be $5."""
    pit = keeping_pit
    await pit.round({1: PROGRESSIVE}, {1: RAGS})
    before = await pit.meter(PROGRESSIVE)
    async with operating(pit, tmp_path) as link:
        await pit.link_acts.close(LINK, "sue", "five-dollar felt")
        change = to(PROGRESSIVE, "wager", 500)
        with pytest.raises(ActError, match="less than its seed or reseed"):
            await pit.change(change)
        up = Adjustment(meter=PROGRESSIVE, amount=400_000, reason="seed of a $5 wager")
        assert (await pit.change(up)).state == "confirmed"
        assert (await pit.change(change)).state == "confirmed"
        await pit.link_acts.open(LINK, "sue")
        await link.service.reload()
        with pytest.raises(TermsError):
            await pit.wagers({1: PROGRESSIVE}, table="T-2")
        await pit.adopt()
        assert (await pit.wagers({1: PROGRESSIVE}, round_id="R2")).status == "accepted"
    assert await pit.meter(PROGRESSIVE) == before + (400_000 + 70) * CENT
    assert (await pit.audit()).balanced


@pytest.mark.duty("D3")
@pytest.mark.parametrize(
    ("meter", "parameter", "value", "code", "said"),
    [
        (PROGRESSIVE, "wager", 250, "bad_value", "250"),
        (BONUS, "wager", 10**25, "bad_value", "$0.01 to $10,000.00"),
        (PROGRESSIVE, "wager", "500", "bad_value", "whole number"),
        (PROGRESSIVE, "paytable", "C", "bad_value", "C"),
        (PROGRESSIVE, "paytable", 1, "bad_value", "a letter"),
        (PROGRESSIVE, "paytable", "A", "no_change", "the same as now: paytable A"),
        (PROGRESSIVE, "lucky_every", 5, "bad_value", "Five Card Hand Bonus only"),
        (BONUS, "lucky_every", -1, "bad_value", "0 for never"),
        (BONUS, "magic_card_every", 0, "no_change", "the same as now: never"),
        ("gold", "wager", 500, "unknown_meter", "gold"),
        (PROGRESSIVE, "limit", 99_999, "bad_value", "below the meter's seed or reseed"),
        (PROGRESSIVE, "limit", 100_000, "bad_value", "could never be won"),
        (PROGRESSIVE, "limit", -1, "bad_value", "0 for none"),
        (PROGRESSIVE, "limit", 10**12, "bad_value", "0 for none"),
        (PROGRESSIVE, "limit", 0, "no_change", "the same as now: none"),
    ],
)
async def test_parameter_that_the_chapter_does_not_take_is_refused(
    pit: Pit, meter: str, parameter: str, value: int | str, *, code: str, said: str
) -> None:
    await pit.link_acts.close(LINK, "sue", "new paytables")
    change = to(meter, parameter, value)  # type: ignore[arg-type]
    given, message = await _refused(pit, change)
    assert given == code
    assert said in message


@pytest.mark.duty("D17", proof=True)
async def test_every_act_is_in_the_ledger_with_the_person_who_did_it(pit: Pit) -> None:
    """Duty D17: the acts are listed, latest first."""
    await pit.link_acts.close(LINK, "sue", "new paytables")
    proposed = await pit.link_acts.propose(LINK, "sue", PAYTABLE_B)
    await pit.link_acts.confirm(LINK, proposed.proposal, "tim")
    await pit.link_acts.propose(LINK, "sue", to(PROGRESSIVE, "limit", 900_000))
    (limit,) = await pit.link_acts.acts(LINK, None, 1)
    assert limit.told == "Progressive, limit: none → $9,000.00; as planned"
    await pit.link_acts.withdraw(LINK, limit.of, "sue")
    await pit.link_acts.open(LINK, "tim")
    acts = [act for act in await pit.link_acts.acts(LINK, None, 12) if act.of != limit.of]
    assert [(act.what, act.by) for act in acts[:4]] == [
        ("open", "tim"), ("parameter", "tim"), ("propose", "sue"), ("close", "sue"),
    ]  # fmt: skip
    assert acts[1].told == "Progressive: paytable A → paytable B; as planned; proposed by sue"
    assert acts[3].told == "new paytables"
    assert [act.what for act in acts[4:]] == ["seed"] * 4
    assert await pit.link_acts.acts(LINK, acts[3].entry, 1) == [acts[4]]
    with pytest.raises(ActError, match="no link other"):
        await pit.link_acts.acts("other", None, 10)


async def test_nothing_is_done_on_an_inoperable_link(pit: Pit) -> None:
    pit.inoperable = "the books do not hold"
    for act in (
        pit.link_acts.close(LINK, "sue", "x"),
        pit.link_acts.open(LINK, "sue"),
        pit.link_acts.propose(LINK, "sue", PAYTABLE_B),
        pit.link_acts.confirm(LINK, "P-1", "sue"),
        pit.link_acts.withdraw(LINK, "P-1", "sue"),
    ):
        with refused("link_inoperable", "do not hold"):
            await act
    assert (await _standing(pit)).state == "inoperable"


async def test_service_publishes_to_every_display_that_a_link_is_closed(
    keeping_pit: Pit, tmp_path: Path
) -> None:
    pit = keeping_pit
    async with operating(pit, tmp_path) as link:
        await pit.link_acts.close(LINK, "sue", "the felt is changed")
        await link.service.reload()
        assert (link.beat().state, link.beat().reason) == ("closed", "the felt is changed")
        assert link.meter(PROGRESSIVE).state == "closed"
        await pit.link_acts.open(LINK, "sue")
        await link.service.reload()
        assert link.beat().state == "operable"
        assert link.meter(PROGRESSIVE).state == "open"


@pytest.mark.duty("D20", "D12", proof=True)
async def test_altered_terms_are_never_adopted(keeping_redis: Redis, tmp_path: Path) -> None:
    """Terms in the store that nobody confirmed stop the link (duty D20)."""
    pit = await Pit.opened(keeping_redis, FLOOR)
    await approve_never_approved(Configuration(pit.floor, pit.store), pit.store)
    key, field = pit.store.keys.meters, f"terms:{PROGRESSIVE}"
    terms = cast("bytes | None", await keeping_redis.hget(key, field))
    assert terms is not None
    await keeping_redis.hset(key, field, terms.replace(b'"paytable":"A"', b'"paytable":"B"'))
    again = Pit(keeping_redis, FLOOR)
    async with running(again, tmp_path) as link:
        await link.goes_down("its record of terms is")
    assert not (await again.audit()).balanced


async def test_rounds_in_hand_are_named_by_their_tables(pit: Pit) -> None:
    await pit.wagers({1: PROGRESSIVE}, table="T-2")
    await pit.link_acts.close(LINK, "sue", "new paytables")
    assert (await _refused(pit, PAYTABLE_B))[1].endswith("first: T-2")
    await pit.redis.hset(pit.store.keys.meters, "rounds", "2")
    assert "a table that has left the floor file" in (await _refused(pit, PAYTABLE_B))[1]


@pytest.mark.parametrize("error", [TermsError("another floor file"), ValueError("not a number")])
async def test_act_that_was_done_is_reported_as_done_though_displays_fail(
    pit: Pit, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    async def fail(_: str) -> None:
        raise error

    monkeypatch.setattr(pit.store, "open", fail)
    assert (await pit.link_acts.close(LINK, "sue", "shift")).state == "closed"


@pytest.mark.reading("T19")
async def test_draws_that_return_more_than_is_wagered_are_shown_before_a_confirmation(
    pit: Pit,
) -> None:
    await pit.link_acts.close(LINK, "sue", "more draws")
    change = to(BONUS, "magic_card_every", 1)
    proposed = await pit.link_acts.propose(LINK, "sue", change)
    assert proposed.after.startswith("one round in 1, which gives back 2")
    assert proposed.after.endswith("% at the seed: the house loses")
    seldom = to(BONUS, "magic_card_every", 100)
    assert (await pit.link_acts.propose(LINK, "sue", seldom)).after == "one round in 100"
    assert (await pit.link_acts.confirm(LINK, proposed.proposal, "tim")).state == "confirmed"
    with refused("unknown_proposal"):
        await pit.link_acts.confirm(LINK, "P-1", "sue")
    with refused("unknown_proposal"):
        await pit.link_acts.withdraw(LINK, "P-1", "sue")
    await pit.link_acts.open(LINK, "sue")
    await pit.adopt()
    reply = await pit.wagers({1: BONUS})
    assert reply.draw is not None
    assert reply.draw.magic_card is not None, "drawn in every round from now on"


async def test_the_highest_amount_of_a_meter_is_the_one_before_a_win(pit: Pit) -> None:
    """Duty D15: an adjustment above it is a probable error, so the page warns about it."""

    async def highest() -> tuple[int, int]:
        found = await pit.shown_meter(PROGRESSIVE)
        return found.highest, found.amount

    before, amount = await highest()
    assert before == amount
    await pit.round({1: PROGRESSIVE}, {1: "As Ks Qs"})
    (won,) = await pit.claims.waiting()
    assert won.amount > won.meter_after
    assert await highest() == (won.amount, won.meter_after)
