"""The recorded shift through real agents, a real service, a real broker and a real Redis."""

import json
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.driven import play_lines
from tests.chaos.recording import LINKS, SHIFT, lines_of, write_floor
from tests.mqtt.stand import Service
from tests.servers import Mosquitto, RedisServer, free_port

EXPECTED: dict[str, Any] = json.loads((SHIFT / "expected.json").read_text())
PLAYED_WITHIN_S = 600.0


def play_in_turn(config: Path, tables: Sequence[str]) -> list[dict[str, Any]]:
    return [
        answer
        for table in tables
        for answer in play_lines(config, table, lines_of(table), within_s=PLAYED_WITHIN_S)
    ]


def awards(answers: list[dict[str, Any]]) -> dict[str, list[int]]:
    """Return the awards of the settle answers by kind, ``[count, cents]``."""
    found: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for answer in answers:
        for line in answer.get("lines") or ():
            if line["outcome"] == "paid":
                percent = f" {line['percent']}%" if "percent" in line else ""
                kind = found[line["item"] + percent]
                kind[0] += 1
                kind[1] += line["paid"]
    return dict(found)


@pytest.mark.duty("D19", proof=True)
@pytest.mark.slow
@pytest.mark.section("649a.12(e)(3)")
@pytest.mark.section("649a.12(h)(3)")
@pytest.mark.section("649a.12(i)(4)")
@pytest.mark.section("649a.12(j)(3)")
def test_table_after_table_every_meter_reserve_and_award_is_the_one_expected(
    tmp_path: Path, redis_server: RedisServer, mosquitto: Mosquitto
) -> None:
    port = free_port()
    config = write_floor(tmp_path, broker=mosquitto.url, redis=redis_server.url, port=port)
    with Service(config, port, "--auto-floor") as service, ThreadPoolExecutor(len(LINKS)) as pool:
        played = list(pool.map(lambda tables: play_in_turn(config, tables), LINKS))
        answers = [answer for each in played for answer in each]
        found = service.audit()
    for link, meters in EXPECTED["links"].items():
        for meter, held in meters.items():
            micros = found["links"][link]["meters"][meter]
            assert micros["amount_micros"] // 10_000 == held["amount"], (link, meter)
            assert micros["reserve_micros"] // 10_000 == held.get("reserve", 0), (link, meter)
    assert awards(answers) == EXPECTED["awards"]
    assert found["balanced"]
    assert found["totals"]["wagers"] == EXPECTED["wagers"]
    assert found["totals"]["wagered_cents"] == EXPECTED["wagered_cents"]
    assert found["totals"]["voids"] == EXPECTED["voids"]
