"""Four tables together, while service, broker, Redis and agents are killed with SIGKILL."""

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest
import redis

from tests.chaos.driven import DrivenTable
from tests.chaos.own_books import OwnBooks, poker_terms
from tests.chaos.recording import lines_of, rounds_of, write_floor
from tests.ledgers import read_ledger
from tests.mqtt.stand import Service
from tests.servers import Mosquitto, RedisServer, eventually, free_port

pytestmark = pytest.mark.slow

LINK, TABLES, ROUNDS = "tcp-five", ("TCP-05", "TCP-06", "TCP-07", "TCP-08"), 60
WAGER_CENTS, PROGRESSIVE_BPS = 500, 2_000
PLAYED_WITHIN_S = 240.0


def play_through(tables: list[DrivenTable], blows: list[Callable[[], None]]) -> None:
    """Play all tables together; kill a part each time another share of all lines is answered."""
    whole = sum(len(lines_of(table.table, ROUNDS)) for table in tables)
    for table in tables:
        table.start()
    try:
        for number, strike in enumerate(blows, start=1):
            part = whole * number // (len(blows) + 1)
            eventually(
                lambda part=part: (  # type: ignore[misc]
                    sum(len(table.answers) for table in tables) >= part
                    or all(table.done for table in tables)
                ),
                within_s=PLAYED_WITHIN_S,
                what=f"{part} of {whole} lines answered",
            )
            strike()
        eventually(
            lambda: all(table.done for table in tables),
            within_s=PLAYED_WITHIN_S,
            what="every line answered",
        )
    finally:
        for table in tables:
            table.stop()


def independent_sum(tables: list[DrivenTable], store: redis.Redis) -> OwnBooks:
    """Return the meters that follow from the tables' answers, in the order of the ledger."""
    wagered = {table.table: iter(rounds_of(lines_of(table.table, ROUNDS))) for table in tables}
    settled = {
        table.table: iter(
            [a["lines"] for a in table.answers if a["event"] == "settle" and a["lines"]]
        )
        for table in tables
    }
    books = OwnBooks(poker_terms(WAGER_CENTS, PROGRESSIVE_BPS))
    for _, entry in read_ledger(store, LINK):
        table = entry["table"].decode()
        match entry["kind"]:
            case b"wagers":
                books.wagers(table, next(wagered[table]))
            case b"result":
                books.result(table, next(settled[table]))
            case b"void":
                books.void(table)
    for rest in (*wagered.values(), *settled.values()):
        assert next(rest, None) is None, "an accepted event is not in the ledger"
    return books


def claim_states(store: redis.Redis) -> dict[str, list[str]]:
    """Return the states that each claim had according to the ledger, in order."""
    states: defaultdict[str, list[str]] = defaultdict(list)
    for _, entry in read_ledger(store, LINK):
        if entry["kind"] == b"result":
            for claim in json.loads(entry["reply"])["claims"]:
                states[claim["claim"]].append("opened")
        elif entry["kind"] in {b"validate", b"pay", b"reject"}:
            states[json.loads(entry["event"])["claim"]].append(entry["kind"].decode())
    return dict(states)


def check_books(tables: list[DrivenTable], service: Service, redis_server: RedisServer) -> None:
    """Check that meters equal the independent sum, to the micro, and each claim has one state."""
    eventually(lambda: service.claims() == [], what="no claim waiting")
    found = service.audit()
    assert found["balanced"], found["problems"]
    with redis.Redis(unix_socket_path=str(redis_server.socket_path)) as store:
        books = independent_sum(tables, store)
        states = claim_states(store)
    meters = found["links"][LINK]["meters"]
    assert {kind: held["amount_micros"] for kind, held in meters.items()} == books.meters
    assert (
        meters["five_card_hand_bonus"]["reserve_micros"] == books.reserves["five_card_hand_bonus"]
    )
    assert states
    assert all(
        passed in (["opened", "validate"], ["opened", "validate", "pay"])
        for passed in states.values()
    ), states


@pytest.fixture
def config_and_port(
    tmp_path: Path, redis_server: RedisServer, mosquitto: Mosquitto
) -> tuple[Path, int]:
    port = free_port()
    return write_floor(tmp_path, broker=mosquitto.url, redis=redis_server.url, port=port), port


def test_four_tables_at_once_every_meter_equals_an_independent_sum(
    config_and_port: tuple[Path, int], redis_server: RedisServer
) -> None:
    config, port = config_and_port
    service = Service(config, port, "--auto-floor")
    try:
        service.start()
        tables = [DrivenTable(config, table, lines_of(table, ROUNDS)) for table in TABLES]
        play_through(tables, [])
        check_books(tables, service, redis_server)
    finally:
        service.close()


def test_the_same_after_everything_was_killed_in_the_middle(
    config_and_port: tuple[Path, int], redis_server: RedisServer, mosquitto: Mosquitto
) -> None:
    config, port = config_and_port
    service = Service(config, port, "--auto-floor")

    def kill_service() -> None:
        service.process.kill()
        service.launch()

    def kill_broker() -> None:
        mosquitto.kill()
        mosquitto.start()

    def kill_redis() -> None:
        redis_server.kill()
        redis_server.start()

    def kill_all() -> None:
        redis_server.kill()
        mosquitto.kill()
        service.process.kill()
        for table in tables:
            table.kill()
        service.launch()
        redis_server.start()
        mosquitto.start()

    try:
        service.start()
        tables = [DrivenTable(config, table, lines_of(table, ROUNDS)) for table in TABLES]
        kill_agents = [table.kill for table in tables]
        play_through(
            tables,
            [
                *(kill_service, kill_broker, kill_redis),
                *kill_agents,
                *(kill_service, kill_redis, kill_broker, kill_all),
            ],
        )
        check_books(tables, service, redis_server)
    finally:
        service.close()
