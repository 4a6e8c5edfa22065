"""The recorded shift through real agents, a real service, a real broker and a real Redis."""

import json
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.recording import SHIFT, TABLES, lines_of, write_floor
from tests.mqtt.stand import Service
from tests.servers import Mosquitto, RedisServer, free_port, run_pitlink

EXPECTED: dict[str, Any] = json.loads((SHIFT / "expected.json").read_text())
PLAYED_WITHIN_S = 300.0


def play(config: Path, table: str) -> list[dict[str, Any]]:
    """Play one table's whole recording; every line must be taken."""
    done = run_pitlink(
        "table", table, "--config", str(config), "--events",
        stdin=b"\n".join(lines_of(table)) + b"\n",
        timeout_s=PLAYED_WITHIN_S,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(lines_of(table))
    return answers


def awards(answers: list[dict[str, Any]]) -> dict[str, list[int]]:
    """Awards by kind, ``[count, cents]``, as the settle answers told them."""
    found: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for answer in answers:
        for line in answer.get("lines") or ():
            if line["outcome"] == "paid":
                percent = f" {line['percent']}%" if "percent" in line else ""
                kind = found[line["item"] + percent]
                kind[0] += 1
                kind[1] += line["paid"]
    return dict(found)


@pytest.mark.duty("D19")
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
    service = Service(config, port, "--auto-floor")
    try:
        service.start()
        answers = [answer for table in TABLES for answer in play(config, table)]
        found = service.audit()
    finally:
        service.close()
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


@pytest.mark.slow
def test_side_by_side_the_contributions_are_the_same(
    tmp_path: Path, redis_server: RedisServer, mosquitto: Mosquitto
) -> None:
    port = free_port()
    config = write_floor(tmp_path, broker=mosquitto.url, redis=redis_server.url, port=port)
    service = Service(config, port, "--auto-floor")
    try:
        service.start()
        with ThreadPoolExecutor(len(TABLES)) as pool:
            played = list(pool.map(lambda table: play(config, table), TABLES))
        found = service.audit()
    finally:
        service.close()
    assert found["balanced"]
    assert found["totals"]["wagers"] == EXPECTED["wagers"]
    assert found["totals"]["wagered_cents"] == EXPECTED["wagered_cents"]
    odds = {kind: sums for kind, sums in EXPECTED["awards"].items() if "%" not in kind}
    told = awards([answer for answers in played for answer in answers])
    assert {kind: sums for kind, sums in told.items() if "%" not in kind} == odds
