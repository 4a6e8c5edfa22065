"""`pitlink table`, as its users run it."""

import ast
import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from meters.floor.server_addresses import parse_broker_url
from tests.controllers.floors import FLOOR, line_of
from tests.controllers.scripted import ScriptedService
from tests.deploy.tree import DOCS
from tests.floor_text import section_text
from tests.servers import Mosquitto, free_port, pitlink_command, run_pitlink

pytestmark = pytest.mark.slow

EVENTS_PAGE: Final = DOCS / "reference" / "device-events.md"
ROUND = "wager 3 progressive; lockout; chips 1; hand 3 As Ks Qs; dealer 2c 3c 4c; settle"


def floor_file(home: Path, broker: str) -> Path:
    path = home / "floor.toml"
    path.write_text(FLOOR + section_text("[service]", broker=broker, data=home / "data"))
    return path


def lines(text: str) -> bytes:
    return b"".join(line_of(part) + b"\n" for part in text.split(";"))


@pytest.mark.parametrize("panel", [False, True])
async def test_the_program_in_the_document_starts_the_agent(
    mosquitto: Mosquitto, service: ScriptedService, tmp_path: Path, *, panel: bool
) -> None:
    floor_file(tmp_path, mosquitto.url)
    (program,) = re.findall(
        r"^```python\n(.*?)^```", EVENTS_PAGE.read_text(), re.DOTALL | re.MULTILINE
    )
    more = ("--panel", "--at", f"127.0.0.1:{free_port()}") if panel else ()
    command = pitlink_command("table", "T-1", "--config", "floor.toml", "--events")
    written = '["pitlink", "table", "TCP-01", "--config", "floor.toml", "--events"]'
    assert program.count(written) == 1
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", program.replace(written, repr([*command, *more]))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers = [ast.literal_eval(line) for line in done.stdout.splitlines()]
    said = [(answer["event"], answer["ok"]) for answer in answers]
    assert said == [("wager", True), ("lockout", True), ("void", True)]
    assert answers[0]["light"] is True
    for said_once in ("Panel of table T-1: ", "Only a browser on this machine reaches this panel."):
        assert (said_once in done.stderr) is panel


async def test_each_line_of_a_file_is_answered_by_one_line_and_a_refused_one_means_status_1(
    mosquitto: Mosquitto, service: ScriptedService, tmp_path: Path
) -> None:
    config = floor_file(tmp_path, mosquitto.url)
    source = tmp_path / "events.jsonl"
    source.write_bytes(b"nonsense\n" + lines(ROUND) + b'{"event": "dance"}')
    command = pitlink_command("table", "T-1", "--config", str(config), "--events")

    def run() -> subprocess.CompletedProcess[bytes]:
        with source.open("rb") as events:
            return subprocess.run(
                command, stdin=events, capture_output=True, timeout=120, check=False
            )

    done = await asyncio.to_thread(run)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, b"Traceback" in done.stderr) == (1, False), done.stderr
    assert (answers[0]["event"], answers[0]["error"]["code"]) == (None, "not_json")
    assert (answers[-1]["event"], answers[-1]["error"]["code"]) == ("dance", "bad_event")
    assert [answer["event"] for answer in answers[1:-1]] == [
        "wager", "lockout", "chips", "hand", "dealer", "settle",
    ]  # fmt: skip
    assert [answer["ok"] for answer in answers] == [False, *[True] * 6, False]
    assert (answers[1]["light"], answers[2]["draw"]) == (True, None)
    assert (answers[6]["lines"], answers[6]["claims"]) == ([], [])
    assert [event["type"] for event in service.applied] == ["wagers", "result"]
    assert (tmp_path / "data" / "tables" / "T-1.sqlite").exists()


USAGE = {
    "no use": ("mqtt://127.0.0.1:1", "T-1 --config floor.toml", 2, "--panel"),
    "no address for the panel": (
        "mqtt://127.0.0.1:1", "T-1 --config floor.toml --panel --at nowhere", 2, "127.0.0.1:8090",
    ),
    "no address of a broker": (
        "mqtt://u:secret@127.0.0.1:1/path", "T-1 --config floor.toml --events", 1, "a broker is",
    ),
    "no embedded broker": ("embedded", "T-1 --config floor.toml --events", 1, "pitlink serve"),
    "a damaged outbox": (
        "mqtt://127.0.0.1:1", "T-1 --config floor.toml --events --outbox torn.sqlite", 1,
        "torn.sqlite",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("broker", "arguments", "status", "words"), USAGE.values(), ids=USAGE)
def test_errors_of_its_user_are_reported_plainly(
    tmp_path: Path, broker: str, arguments: str, status: int, words: str
) -> None:
    floor_file(tmp_path, broker)
    (tmp_path / "torn.sqlite").write_bytes(b"SQLite format 3\x00" + b"\x07" * 5000)
    done = run_pitlink("table", *arguments.split(), cwd=tmp_path)
    assert (done.returncode, done.stdout, words in done.stderr) == (status, "", True), done.stderr
    assert "Traceback" not in done.stderr
    assert "secret" not in done.stderr


def test_a_brokers_address_is_read_whole() -> None:
    address = parse_broker_url("mqtts://pit:p%40ss%2Fword@broker.example:9000")
    assert (address.host, address.port) == ("broker.example", 9000)
    assert (address.username, address.password) == ("pit", "p@ss/word")
    assert address.tls_context() is not None
    plain = parse_broker_url("mqtt://10.0.0.7")
    assert (plain.port, plain.username, plain.tls_context()) == (1883, None, None)
    assert parse_broker_url("mqtts://10.0.0.7").port == 8883
