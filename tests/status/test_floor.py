"""`pitlink status` on a real floor: what it shows, and what it shows while a part fails."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest
import trustme

from meters.audit.audit_files import backup_note
from tests.floor_text import floor_text, link_text, meter_text, section_text, table_text
from tests.monitoring.prometheus import Prometheus
from tests.mqtt.stand import Service
from tests.processes import Pitlink, run_pitlink
from tests.servers import Mosquitto, RedisServer, eventually, free_port
from tests.staff import Colleague, hire

pytestmark = pytest.mark.slow

_LINKS: Final = (
    link_text(
        "main",
        meter_text("progressive"),
        *(table_text(table, "progressive") for table in ("T-1", "T-2")),
    ),
    link_text("other", meter_text("progressive", 500), table_text("X-1", "progressive")),
)
_NO_PROMETHEUS: Final = ("--prometheus", "none")
_WIN: Final = (
    {"event": "wager", "position": 3, "wager": "progressive", "amount": 100},
    {"event": "lockout"},
    {"event": "chips", "count": 1},
    {"event": "hand", "position": 3, "cards": ["As", "Ks", "Qs"]},
    {"event": "dealer", "cards": ["2c", "3d", "7h"]},
    {"event": "settle"},
)


class Pit:
    """A floor with real servers, one service and three tables; `agents` are those that run."""

    def __init__(self, home: Path, stack: ExitStack) -> None:
        self.redis = stack.enter_context(RedisServer())
        self.broker = stack.enter_context(Mosquitto())
        self.home = home
        port, self._metrics = free_port(), free_port()
        self.config = home / "floor.toml"
        self.config.write_text(
            floor_text(
                *_LINKS,
                section_text("[archive]", directory=home / "archive"),
                service={
                    "broker": self.broker.url,
                    "redis": self.redis.url,
                    "http": f"127.0.0.1:{port}",
                    "data": home / "data",
                },
            )
        )
        self.service = Service(self.config, port)
        stack.callback(self.service.close)
        self.prometheus = Prometheus([f"127.0.0.1:{port}"], [f"127.0.0.1:{self._metrics}"])
        self.agents: dict[str, Pitlink] = {}
        self._stack = stack

    def start_agent(self, table: str) -> None:
        at = ["--metrics", f"127.0.0.1:{self._metrics}"] if table == "T-1" else []
        words = ["table", table, "--config", str(self.config), "--events", *at]
        self.agents[table] = self._stack.enter_context(Pitlink(*words, stdin=True))

    def status(self, *options: str) -> subprocess.CompletedProcess[str]:
        done = run_pitlink("status", "--config", str(self.config), "--once", *options)
        assert "Traceback" not in done.stderr
        assert "\x1b" not in done.stdout, "no terminal, so no colors"
        assert done.returncode == int("\nwarn" in done.stdout or "\nFAIL" in done.stdout)
        return done

    def comes_to_show(self, *texts: str, options: tuple[str, ...] = _NO_PROMETHEUS) -> str:
        def shown() -> str:
            output = self.status(*options).stdout
            assert all(text in output for text in texts), output
            return output

        return eventually(shown, what=str(texts))


@pytest.fixture
def pit(tmp_path: Path) -> Iterator[Pit]:
    with ExitStack() as stack:
        pit = Pit(tmp_path, stack)
        pit.service.start()
        for table in ("T-1", "T-2", "X-1"):
            pit.start_agent(table)
        pit.comes_to_show("2 of 2 tables online", "1 of 1 tables online")
        yield pit


def test_a_floor_in_order_and_then_not(pit: Pit) -> None:
    """A strange service is named, then a win waits and a table is lost, then an alert fires."""
    assert run_pitlink("audit", "--config", str(pit.config)).returncode == 0
    note = backup_note(pit.home / "data")
    note.parent.mkdir()
    note.touch()
    strange = f"127.0.0.1:{free_port()}"
    own = pit.service.url.removeprefix("http://")
    output = pit.status(*_NO_PROMETHEUS, "--service", own, "--service", strange).stdout
    assert f"ok    service {own}: last heartbeat " in output
    assert f"FAIL  service {strange}: is not reachable: " in output
    assert "ok    main   Open" in output
    with pit.prometheus as prometheus:
        options = ("--prometheus", f"http://127.0.0.1:{prometheus.port}/")
        pit.comes_to_show(
            *("events wait for a reply", "ok    alerts: none", ": all in order"),
            *("ok    service 127.0.0.1:", "last heartbeat ", "ok    redis: keeps every write"),
            *("ok    broker: answers at 127.0.0.1", "ok    disk of data and archive: "),
            "ok    main   Open        2 of 2 tables online  no win waits\n",
            "      Progressive $1,000.00\n",
            options=options,
        )
        assert pit.status(*options).returncode == 0

        for event in _WIN:
            pit.agents["T-1"].write_line(json.dumps(event))
        pit.agents["T-2"].kill()
        lost = ("not connected: T-2", "warn  main   Open        1 of 2 tables online")
        pit.comes_to_show("1 win waits, oldest ", *lost, options=options)

        assert pit.service.process.stop() == 0
        pit.comes_to_show(
            *("FAIL  PitlinkAllDown: No service", "no service answers", "does not answer"),
            *("FAIL  main   Unknown ", "Progressive $1,000.00"),
            options=options,
        )
        assert prometheus.rules()["PitlinkAllDown"][1] == "firing", "a pending alert is not shown"
    pit.comes_to_show(
        f"warn  alerts: Prometheus is not reachable at {options[1]}: ",
        "ok    redis: keeps every write",
        options=options,
    )


def test_each_part_that_fails_has_its_line(pit: Pit) -> None:
    """The reasons of links are those of the floor page."""
    hire(pit.config, "Ada Lane", "supervisor")
    ada = Colleague(pit.service.url, "Ada Lane")
    assert ada.post("/api/v1/links/other/close", reason="end of day").status_code < 300
    output = pit.comes_to_show("ok    other  Closed ", ": end of day")
    assert "closed by Ada Lane, " in output

    pit.redis.kill()
    output = pit.comes_to_show("FAIL  redis: Redis does not answer", "FAIL  main   Inoperable")
    (reason,) = {text for link, text in pit.service.readiness()["links"].items() if link == "main"}
    assert f"      {reason}\n" in pit.comes_to_show(reason)
    assert "wins not known" in output
    assert "ok    broker: answers at " in output
    assert "2 of 2 tables online" in output
    pit.redis.start()
    pit.comes_to_show("ok    redis: keeps every write", "ok    main   Open")

    with pit.service.frozen():
        output = pit.comes_to_show("is not reachable: no answer within 3 s")
        assert "FAIL  main   Unknown " in output
    pit.broker.kill()
    output = pit.comes_to_show("FAIL  broker: 127.0.0.1:", "it has no connection to the broker")
    assert "FAIL  main   Inoperable" in output
    assert "      no broker\n" in output
    assert "ok    redis: keeps every write" in output


def test_a_service_with_its_own_certificate_and_a_token(pit: Pit) -> None:
    """The certificate need not name the address."""
    token, chain, key = (pit.home / name for name in ("token", "pit.pem", "pit.key"))
    token.write_text("a-token-that-only-prometheus-knows\n")
    token.chmod(0o600)
    issued = trustme.CA().issue_cert("pit.example")
    chain.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    issued.private_key_pem.write_to_path(key)
    added = f'certificate = "{chain}"\nprivate_key = "{key}"\nmetrics_token = "{token}"\n'
    text = pit.config.read_text()
    pit.config.write_text(text.replace("[service]\n", f"[service]\n{added}"))
    pit.service.launch()
    pit.comes_to_show("ok    service 127.0.0.1:", "ok    main   Open", "last heartbeat")
    token.unlink()
    pit.comes_to_show(str(token), "ok    redis: keeps every write")


def test_nothing_is_started_or_written_and_wrong_options_are_refused(tmp_path: Path) -> None:
    config = tmp_path / "floor.toml"
    config.write_text(floor_text(*_LINKS, service={"http": f"127.0.0.1:{free_port()}"}))
    done = run_pitlink("status", "--config", str(config), "--once")
    assert done.returncode == 1
    assert "FAIL  redis: Redis does not answer: " in done.stdout
    for options, message in (
        (("--prometheus", "pit:9090"), "write an address such as http://127.0.0.1:9090"),
        (("--service", "8081"), "--service 8081: write a host and a port"),
    ):
        done = run_pitlink("status", "--config", str(config), *options)
        assert (done.returncode, done.stdout) == (1, "")
        assert message in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["floor.toml"]
