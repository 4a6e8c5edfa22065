"""An Envy Bonus of a wager that feeds tiers depends on the wins of that wager, and of no other."""

from pathlib import Path

import pytest
from redis.asyncio import Redis

from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.games.texts import envy_text, game_text, tier_rows, wager_text
from tests.model.pit import Pit

ROYAL, COMMUNITY = ["As", "Ks"], ["Qs", "Js", "Ts"]
TIERS = wager_text(
    "tiered", "mega", "minor", rows=tier_rows("mega", "minor"), after=envy_text(royal_flush="$500")
)
FIXED = TIERS.replace('"100% of mega"', '"100% of mega + $1,000"')


@pytest.mark.section("649a.11(c)(5)(v)")
@pytest.mark.parametrize("tiers", [TIERS, FIXED], ids=["percentage", "percentage and sum"])
async def test_it_is_decided_with_the_jackpot_of_its_own_wager(
    keeping_redis: Redis, tmp_path: Path, tiers: str
) -> None:
    meters = ["single", "mega", "minor"]
    game = game_text("g", meters, wager_text("plain", "single"), tiers)
    (tmp_path / "g.toml").write_text(game)
    table = table_text("T-1", *meters, game="g", positions=6)
    link = link_text("pit", *map(meter_text, meters), table)
    pit = await Pit.opened(
        keeping_redis, floor_text(link, games=str(tmp_path), two_people_reject_above=10**9)
    )
    placed = [{"position": each, "wagers": {"plain": 100, "tiered": 100}} for each in (1, 2)]
    await pit.event("T-1", "wagers", "R1", positions=placed)
    hands = [{"position": 1, "cards": ROYAL}, {"position": 2, "cards": ["4c", "5d"]}]
    await pit.event("T-1", "result", "R1", positions=hands, dealer=[], community=COMMUNITY)
    items = {row.item: row for row in await pit.claims.waiting()}
    own = "tiered" if "tiered" in items else "mega_jackpot"
    assert {item: bool(row.envy) for item, row in items.items()} == {
        item: item == own for item in items
    }
    await pit.decide(items["plain"].claim, "reject")
    (row,) = [each for each in await pit.claims.waiting() if each.item == own]
    assert row.envy_state == "pending"
    assert (await pit.decide(row.claim, "validate")).envy_state == "validated"
    finding = await pit.audit()
    assert finding.balanced, finding.problems
