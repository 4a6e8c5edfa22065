"""One wager is followed by its seq through the real agent and service to its ledger entry."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from tests.mqtt.stand import Stand
from tests.servers import Pitlink

DEBUG: Final = ("--log-level", "debug")
ROUND: Final = (
    {"event": "wager", "position": 3, "wager": "progressive", "amount": 100},
    {"event": "lockout"},
    {"event": "void", "reason": "misdeal"},
)
STEPS: Final = ("event arrived", "event judged", "event answered")

Line = dict[str, Any]


@pytest.fixture(scope="module")
def stand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    with Stand(tmp_path_factory.mktemp("stand"), options=DEBUG) as stand:
        yield stand


def lines(log: str) -> list[Line]:
    found: list[Line] = [json.loads(line) for line in log.splitlines()]
    assert all(list(line)[:3] == ["timestamp", "level", "event"] for line in found)
    return found


def of_event(log: Sequence[Line], seq: int) -> list[Line]:
    return [line for line in log if line.get("table") == "T-1" and line.get("seq") == seq]


def names(log: Sequence[Line]) -> list[str]:
    return [line["event"] for line in log]


def play(stand: Stand, home: Path) -> list[Line]:
    options = ("--config", str(stand.service.config), "--outbox", str(home / "outbox"), *DEBUG)
    with Pitlink("table", "T-1", "--events", *options, stdin=True) as table:
        for event in ROUND:
            table.write_line(json.dumps(event))
        table.close_input()
        assert table.wait() == 0, table.output
        return lines(table.errors)


def test_a_wager_is_followed_from_the_outbox_to_the_ledger_and_back(
    stand: Stand, tmp_path: Path
) -> None:
    agent = play(stand, tmp_path)
    service = lines(stand.service.process.errors)
    for seq, kind in ((1, "wagers"), (2, "void")):
        ((number, entry),) = (
            each
            for each in enumerate(stand.ledger("main"), start=1)
            if (each[1]["table"], each[1]["seq"]) == ("T-1", str(seq))
        )
        assert entry["kind"] == kind
        at_table, at_service = of_event(agent, seq), of_event(service, seq)
        assert [name for name in names(at_table) if name != "event published"] == [
            "event written",
            "reply written",
        ]
        published = [line for line in at_table if line["event"] == "event published"]
        assert [line["attempt"] for line in published] == list(range(1, len(published) + 1))
        assert published
        # A table that waits long sends its event again, which is logged again.
        assert tuple(dict.fromkeys(names(at_service))) == STEPS
        first = {line["event"]: line for line in reversed(at_service)}
        arrived, judged, answered = (first[name] for name in STEPS)
        assert (arrived["type"], judged["status"], answered["sent"]) == (kind, "accepted", True)
        assert judged["entry"] == number
        way = [at_table[0], arrived, judged, answered, at_table[-1]]
        assert way == sorted(way, key=lambda line: str(line["timestamp"]))
        together = [*at_table, *at_service]
        assert {line["link"] for line in together} == {"main"}
        rounds = {line["round"] for line in together if "round" in line}
        assert rounds == {entry["round"]}
    assert len({line["service"] for line in service}) == 1
    assert {line["level"] for line in of_event(service, 1)} == {"debug"}
