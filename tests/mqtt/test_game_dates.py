"""Programs whose game expires while a round is open: `pitlink serve` and `pitlink table`."""

from pathlib import Path

import pytest

from tests.chaos.devices import Devices
from tests.controllers.floors import line_of
from tests.floor_text import Value
from tests.games.dates import EAST, WEST, dated_floor, today_in_the_west
from tests.mqtt.stand import Service
from tests.servers import Mosquitto, RedisServer, free_port

BEGUN = "wager 1 own; lockout; chips 1"
FINISHED = "hand 1 As Ks; community Qs Js Ts; settle"


@pytest.mark.slow
def test_a_round_is_finished_by_programs_that_start_after_its_game_has_expired(
    tmp_path: Path,
) -> None:
    """Both programs start. The link and all other links operate."""
    day, config = today_in_the_west(), tmp_path / "floor.toml"
    games = tmp_path / "games"
    games.mkdir()
    with RedisServer() as store, Mosquitto() as broker:
        port = free_port()
        settings: dict[str, Value] = {
            "broker": broker.url,
            "redis": store.url,
            "http": f"127.0.0.1:{port}",
            "data": tmp_path / "data",
        }
        config.write_text(dated_floor(games, WEST, service=settings, expires=day))
        with Service(config, port) as service:
            with Devices(config, "T-1", plays=False) as table:
                table.play(BEGUN)
            config.write_text(dated_floor(games, EAST, service=settings, expires=day))
            service.start()
            with Devices(config, "T-1", plays=False) as table:
                assert table.play(FINISHED)["claims"]
                (claim,) = service.claims()
                service.decide(claim["claim"], "validate")
                service.decide(claim["claim"], "pay", slip="S-1")
                for event in ("wager 1 own", "lockout"):
                    answer = table.ask_line(line_of(event))
                    assert answer["ok"] is False
                    assert answer["error"]["code"] == "game_not_in_effect", answer
                    assert f"cannot be played after {day}" in answer["error"]["message"]
            assert service.ready()
            assert service.audit()["balanced"]
