"""Pages, a floorperson's stream and a table's events under hundreds of bad connections."""

from pathlib import Path

import pytest

from tests.mqtt.stand import Stand
from tests.web.slow import KINDS, run


@pytest.mark.slow
async def test_others_go_on_under_connections_that_are_slow_silent_stuck_or_half_closed(
    tmp_path: Path,
) -> None:
    """Each measure checks that the answer is correct. Only the command reports speeds."""
    with Stand(tmp_path) as stand:
        crowd, lines = await run(stand, 250, 5, 0)
        assert stand.service.audit()["balanced"]
    assert len(lines) == 4
    assert all(crowd.opened[kind] >= 50 for kind in KINDS)
    assert crowd.ended["half closed"] > 0
