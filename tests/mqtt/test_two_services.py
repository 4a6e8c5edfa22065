"""Two services on one link, as real processes: the order of wins, and what both displays show.

The broker shares the tables' events between them, so either may receive any.
"""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import httpx
import pytest

from tests.mqtt.events import Event, result, wagers
from tests.mqtt.stand import Asker, Service, Stand
from tests.servers import eventually
from tests.waiting import LONG_S

pytestmark = pytest.mark.slow

CENT: Final = 10_000
RESEED_CENTS: Final = 100_000
ROYAL: Final = ["As", "Ks", "Qs"]
PAIRS: Final = 6


@pytest.fixture(scope="module")
def other(stand: Stand, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with stand.another(tmp_path_factory.mktemp("other")) as service:
        yield service


def win(seq: int, round_id: str) -> Event:
    return result(seq, round_id, positions=[{"position": 3, "patron": "p3", "cards": ROYAL}])


def at_once(tables: Sequence[Asker], events: Sequence[Event]) -> list[dict[str, Any]]:
    together = threading.Barrier(len(tables))

    def send(table: Asker, event: Event) -> dict[str, Any]:
        together.wait()
        return table.ask(event)

    with ThreadPoolExecutor(len(tables)) as pool:
        return list(pool.map(send, tables, events))


@pytest.mark.duty("D7", proof=True)
@pytest.mark.section("649a.12(e)(4)")
@pytest.mark.usefixtures("other")
def test_of_wins_at_the_same_time_each_is_paid_what_the_meter_held_at_its_turn(
    stand: Stand,
) -> None:
    """The first in the ledger's order wins the meter, the second the amount after the reseed."""
    tables = [stand.table(), stand.table()]
    firsts: list[str] = []
    for pair in range(PAIRS):
        seq, round_id = 2 * pair + 1, f"R{pair}"
        for table in tables:
            table.accept(wagers(seq, round_id))
        held_micros = stand.account("main", b"meter:progressive")
        replies = at_once(tables, [win(seq + 1, round_id)] * 2)
        claims = {reply["claims"][0]["claim"] for reply in replies}
        rows = sorted(
            (row for row in stand.service.claims() if row["claim"] in claims),
            key=lambda row: int(row["order"]),
        )
        first, second = rows
        assert int(first["order"]) < int(second["order"])
        assert first["amount"] == held_micros // CENT
        left_micros = RESEED_CENTS * CENT + held_micros % CENT
        assert second["amount"] == left_micros // CENT
        assert stand.account("main", b"meter:progressive") == (
            RESEED_CENTS * CENT + left_micros % CENT
        )
        amounts = {table.table: reply["claims"][0]["amount"] for table, reply in
                zip(tables, replies, strict=True)}  # fmt: skip
        assert amounts == {row["table"]: row["amount"] for row in rows}
        firsts.append(first["table"])
        for row in rows:  # or the books refuse the next wagers of both tables
            stand.service.decide(row["claim"], "validate")
            stand.service.decide(row["claim"], "pay", slip=f"TURN-{pair}-{row['table']}")
    assert stand.service.audit()["balanced"], firsts


def page_of(service: Service) -> str:
    answer = httpx.get(f"{service.url}/signage/main", timeout=LONG_S)
    assert answer.status_code == 200
    return answer.text


def shows_everywhere(services: Sequence[Service], text: str) -> None:
    for service in services:
        eventually(lambda: text in page_of(service), what=f"{text} at {service.url}")  # noqa: B023


@pytest.mark.duty("D8", proof=True)
def test_a_win_and_what_became_of_it_is_on_every_services_displays(
    stand: Stand, other: Service
) -> None:
    """They show table, amount and that it is pending; after a decision all remove it."""
    services = (stand.service, other)
    for number in range(2):
        for waiting in stand.service.claims():
            stand.service.decide(waiting["claim"], "reject", reason="of another test")
        table = stand.table()
        table.accept(wagers(1), win(2, "R1"))
        (claim,) = stand.service.claims()
        won = f"Table {table.table} won ${claim['amount'] / 100:,.2f}"
        shows_everywhere(services, won)
        for service in services:
            assert 'data-kind="pending"' in page_of(service)
            eventually(
                lambda: "$1,000.00" in page_of(service),  # noqa: B023
                what="the new value",
            )
        deciding = services[number]
        decided = {"reason": "misread"} if number else {}
        deciding.decide(claim["claim"], "reject" if number else "validate", **decided)
        for service in services:
            eventually(
                lambda: 'data-kind="pending"' not in page_of(service),  # noqa: B023
                what=f"nothing pending at {service.url}",
            )
        if not number:
            shows_everywhere(services, 'data-kind="validated"')
            deciding.decide(claim["claim"], "pay", slip="HP-1")
