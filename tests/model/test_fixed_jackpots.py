"""The wins of a fixed jackpot on displays, and in no meter (duty D8)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from redis.asyncio import Redis

from meters.acts.meter_changes import ParameterChange
from meters.web.display_state import DisplayState, FixedJackpotRow, JackpotRow
from tests.floor_text import METERS, floor_text, link_text, meter_text, section_text, table_text
from tests.model.pit import BONUS, FIVE_CARD, FIVE_OF_SIX, PROGRESSIVE, Pit
from tests.model.running import operating
from tests.servers import eventually_async

MINI_ROYAL: Final = "Ah Kh Qh"
PAYS: Final = 250_000
FLOOR: Final = floor_text(
    link_text(
        "pit",
        meter_text(PROGRESSIVE, 500),
        *map(meter_text, (FIVE_CARD, BONUS)),
        meter_text(FIVE_OF_SIX, 500),
        section_text(
            "[[link.fixed_jackpot]]", name="Mini Royal", meter=PROGRESSIVE, hand="mini_royal"
        ),
        section_text("[[link.fixed_jackpot]]", name="Quads", meter=BONUS, hand="four_of_a_kind"),
        table_text("T-1", *METERS),
        table_text("T-2", FIVE_CARD, BONUS),
    )
)


def _told(rows: Sequence[JackpotRow]) -> list[tuple[str, str, int]]:
    return [(row.event, row.fixed_jackpot, row.amount) for row in rows]


def _jackpots(displays: DisplayState) -> tuple[FixedJackpotRow, ...]:
    return next(iter(displays.fixed_jackpots())).jackpots


async def test_a_win_is_shown_by_every_service_until_it_is_decided(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    """The win is recorded by another service, as is the decision."""
    pit = await Pit.opened(keeping_redis, FLOOR)
    async with operating(pit, tmp_path) as link:
        displays = link.displays
        assert [(each.jackpot, each.amount) for each in _jackpots(displays)] == [
            ("mini_royal", PAYS), ("four_of_a_kind", 50_000),
        ]  # fmt: skip
        await pit.round({3: PROGRESSIVE}, {3: MINI_ROYAL})
        await eventually_async(lambda: displays.pending_jackpots() != [], what="the win")
        (shown,) = displays.pending_jackpots()
        assert (shown.box, shown.meter, shown.percent) == ("mini_royal", PROGRESSIVE, None)
        assert (shown.amount, shown.cards) == (PAYS, ("Ah", "Kh", "Qh"))
        assert shown.news_ms > 0
        await pit.decide(shown.claim, "validate", by="amy")
        await eventually_async(lambda: displays.validated() != [], what="the validation")
        assert _told(displays.validated()) == [("validated", "mini_royal", PAYS)]
        assert displays.pending_jackpots() == []
        assert [row.count for row in displays.wins()] == [0], "the bar counts wins of meters"


async def test_a_restarted_service_shows_a_waiting_win_without_celebrating_it(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    pit = await Pit.opened(keeping_redis, FLOOR)
    await pit.round({3: PROGRESSIVE}, {3: MINI_ROYAL})
    async with operating(pit, tmp_path) as link:
        (shown,) = link.displays.pending_jackpots()
        assert (shown.box, shown.news_ms) == ("mini_royal", 0)


async def test_no_other_win_is_shown_as_a_fixed_jackpot(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    """Another hand, and the same hand of another wager with the same payout, wait too."""
    pit = await Pit.opened(keeping_redis, FLOOR)
    async with operating(pit, tmp_path) as link:
        await pit.round({3: PROGRESSIVE}, {3: "Ts Td Tc"}, round_id="R1")
        quads, community = {3: "Ts Td Tc"}, "Th 8d"
        await pit.round({3: FIVE_OF_SIX}, quads, dealer="Th 2c 7d", round_id="R2")
        assert [one.amount for one in await pit.claims.waiting()] == [30_000, 50_000]
        await pit.round({3: BONUS}, quads, community=community, round_id="R3")
        shown = link.displays.pending_jackpots
        await eventually_async(
            lambda: BONUS in [row.item for row in shown()], what="the win of the bonus"
        )
        assert [(row.item, row.box) for row in shown()] == [(BONUS, "four_of_a_kind")]


async def test_displays_show_the_amount_of_the_terms_in_force(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    pit = await Pit.opened(keeping_redis, FLOOR)
    async with operating(pit, tmp_path) as link:
        displays = link.displays
        await pit.round({3: PROGRESSIVE}, {3: MINI_ROYAL})
        await eventually_async(lambda: displays.pending_jackpots() != [], what="the win")
        await pit.link_acts.close(pit.link.id, "sue", "new limits")
        await pit.change(
            ParameterChange(meter=PROGRESSIVE, parameter="wager", value=100, reason="less")
        )
        await link.service.reload()
        assert _jackpots(displays)[0].amount == 50_000
        assert _jackpots(displays)[0].wager == 100
        (waiting,) = await pit.claims.waiting()
        await pit.decide(waiting.claim, "validate", by="amy")
        await eventually_async(lambda: displays.pending_jackpots() == [], what="the decision")
