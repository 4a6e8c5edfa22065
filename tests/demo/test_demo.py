"""The demonstration as a user runs it: real processes, the embedded parts, real pages."""

import fcntl
import json
import os
import re
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from msgspec.structs import replace
from rich.console import Console

from controllers.demo.bot_tables import TableBooks
from controllers.demo.demo_report import show_summary
from controllers.demo.demo_service import AuditReport, LedgerTotals
from meters.embedded.supervisor import try_lock
from meters.floor.facility import PUBLIC_PIN
from tests.demo.test_embedded import has_supervisor
from tests.processes import Pitlink, run_pitlink
from tests.staff import Colleague
from tests.waiting import LONG_S, eventually, free_port

NOWHERE: Final = {"PATH": "", "HOME": os.environ.get("HOME", "/")}
"""Environment without redis-server and mosquitto, so the embedded ones are used."""

ROW: Final = re.compile(r"^([a-z, ]*[a-z]) {2,}(\S+) {2,}(\S+) {2,}(\S+) *$", re.MULTILINE)


def summary(output: str) -> tuple[Mapping[str, int], Mapping[str, int], Mapping[str, int]]:
    """Return the summary's columns by row: tables, new and whole ledger; dollars in micros."""
    found = ROW.findall(output)
    assert [row for row, *_ in found] == [
        "rounds on meters", "wagers, once per meter", "wagered, once per meter", "contributions",
        "wins", "won",
    ]  # fmt: skip
    tables, new, whole = ({row[0]: amount(row[at]) for row in found} for at in (1, 2, 3))
    return tables, new, whole


def assert_same_counts(runs: Sequence[Sequence[Mapping[str, int]]]) -> None:
    (first, new_first, whole_first), (second, new_second, whole_second) = runs
    assert first == new_first == whole_first
    assert second == new_second
    assert whole_second == {row: first[row] + second[row] for row in first}


def amount(text: str) -> int:
    if not text.startswith("$"):
        return int(text.replace(",", ""))
    whole, fraction = text[1:].replace(",", "").split(".")
    return int(whole) * 1_000_000 + int(fraction.ljust(6, "0"))


def in_use(data: Path) -> bool:
    return any(has_supervisor(data / part) for part in ("redis", "broker"))


def ports(port: int) -> tuple[str, ...]:
    """Return options for the port of its pages, and one for its panel: the next may be in use."""
    return ("--port", str(port), "--panel-port", str(free_port()))


def ready(demo: Pitlink, port: int) -> None:
    demo.until(lambda: "/signage" in demo.output, what="the address")
    assert httpx.get(f"http://127.0.0.1:{port}/signage", timeout=LONG_S).status_code == 200


DEMO_GAMES = files("controllers.demo").joinpath("games")
GAMES = {"three_card_poker", "three_card_prime", "four_card_prime", "three_rivers", "liberty_five"}


WAGERS = {
    "ante", "play", "pair_plus", "six_card_bonus", "progressive", "rivers_wager", "five_wager",
    "liberty_progressive",
}  # fmt: skip


def rounds_in(data: Path) -> list[dict[str, Any]]:
    path = data / "rounds.jsonl"
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def games_in(data: Path) -> set[str]:
    return {one["game"] for one in rounds_in(data)}


def is_varied(data: Path) -> bool:
    """Return whether every game has rounds, with wagers of every kind and many on the meters."""
    made = [{wager for at in one["positions"] for wager in at["wagers"]} for one in rounds_in(data)]
    progressive = sum("progressive" in wagers for wagers in made)
    return progressive > 10 and games_in(data) == GAMES and set().union(*made) >= WAGERS


def settle_again(data: Path) -> None:
    done = run_pitlink(
        "settle", "--games", str(data / "games"), stdin=(data / "rounds.jsonl").read_bytes()
    )
    assert done.returncode == 0
    assert done.stdout == (data / "settlements.jsonl").read_text()


def settle_again_as_printed(output: str, cwd: Path) -> None:
    command = output.splitlines()[-1]
    assert "settle --config" in command
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=cwd, check=False)
    assert done.returncode == 0, command


def test_demo_balances_and_goes_on_where_it_was(tmp_path: Path) -> None:
    """The tables' own books and the ledger agree, over two runs on the same data."""
    data = tmp_path / "data"
    runs = []
    for tables, lasting in (("6", ()), ("2", ("--for", "10"))):
        port = free_port()
        with Pitlink(
            "demo", *lasting, "--speed", "40", "--tables", tables,
            *ports(port), "--data", str(data),
            env=NOWHERE, cwd=tmp_path,
        ) as demo:  # fmt: skip
            if not lasting:
                demo.until(lambda: is_varied(data), what="rounds of every kind")
                demo.process.terminate()
            assert demo.wait(within_s=3 * LONG_S) == 0, demo.output + demo.errors
            output = demo.output
        assert "The ledger balances to the micro" in output
        assert f"http://127.0.0.1:{port}/signage" in output
        assert "simulated" in output
        assert "with the same results" in output
        settle_again(data)
        settle_again_as_printed(output, tmp_path)
        runs.append(summary(output))
        assert not in_use(data)
    assert games_in(data) == {"three_card_poker"}
    assert "Redis version=6.2" in (data / "logs" / "redis.log").read_text()
    assert not (data / "broker" / "mosquitto.conf").exists()
    assert_same_counts(runs)
    first = runs[0][0]
    assert first["wagers, once per meter"] > first["rounds on meters"] > 10


@pytest.mark.slow
def test_bots_play_every_example_game_and_go_on_without_them(tmp_path: Path) -> None:
    """Every game of the house that is shipped has a table; later runs keep the links."""
    data = tmp_path / "data"
    shipped = {file.name.removesuffix(".toml") for file in DEMO_GAMES.iterdir()}
    runs = []
    for games, every in (("all", GAMES | shipped), ("five", GAMES)):
        with Pitlink(
            "demo", "--games", games, "--stack-deck", "--speed", "40", "--tables", "6",
            *ports(free_port()), "--data", str(data),
        ) as demo:  # fmt: skip
            played = partial(lambda every: games_in(data) == every, every)
            demo.until(played, what="rounds of every game")
            demo.process.terminate()
            assert demo.wait(within_s=3 * LONG_S) == 0, demo.output + demo.errors
            runs.append(summary(demo.output))
        settle_again(data)
    assert len(shipped) == 14
    assert_same_counts(runs)


@pytest.mark.slow
def test_wagers_count_once_while_service_redis_and_broker_are_killed(tmp_path: Path) -> None:
    data, runs = tmp_path / "data", []
    for tables in ("6", "2"):
        with Pitlink(
            "demo", "--kill", "--speed", "20", "--tables", tables, *ports(free_port()),
            "--data", str(data),
        ) as demo:  # fmt: skip
            demo.until(lambda: demo.output.count("kill -9: service") >= 2, what="the second turn")
            demo.process.terminate()
            assert demo.wait(within_s=3 * LONG_S) == 0, demo.output + demo.errors
            output = demo.output
        assert all(f"kill -9: {name}, back after " in output for name in ("Redis", "broker"))
        assert "The ledger has each exactly once" in output
        runs.append(summary(output))
        assert not in_use(data)
    assert_same_counts(runs)
    assert runs[0][0]["wagers, once per meter"] > 0


@pytest.mark.parametrize(
    "lost", ["rounds", "wagers", "wagered_cents", "contributions_micros", "wins", "won_cents"]
)
def test_a_ledger_without_what_the_tables_counted_is_named(lost: str) -> None:
    books = TableBooks(
        rounds=4, wagers=5, meter_wagers=9, meter_wagered_cents=900, contributions_micros=900,
        wins=2, won_cents=500,
    )  # fmt: skip
    before, after = LedgerTotals(1, 3, 300, 70, 1, 100), LedgerTotals(5, 12, 1_200, 970, 3, 600)
    output = StringIO()
    console = Console(file=output, soft_wrap=True)

    def agrees(totals: LedgerTotals) -> bool:
        report = AuditReport(balanced=True, entries=9, totals=totals)
        return show_summary(console, books, before, report, {"Redis": 1})

    assert agrees(after)
    assert "Redis 1 time. The tables accepted 5 wagers" in output.getvalue()
    for wrong in (1, -1):
        assert not agrees(replace(after, **{lost: getattr(after, lost) + wrong}))
    assert "DOES NOT HAVE" in output.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_demo_ends_cleanly_at_a_signal(tmp_path: Path, how: signal.Signals) -> None:
    data = tmp_path / "data"
    port = free_port()
    with Pitlink(
        "demo", "--tables", "3", "--speed", "40", *ports(port), "--data", str(data)
    ) as demo:
        ready(demo, port)
        demo.process.send_signal(how)
        assert demo.wait() == 0, demo.output + demo.errors
        assert "The ledger balances to the micro" in demo.output
        assert demo.errors == ""
    assert not in_use(data)
    assert not (data / "broker.url").exists()


@pytest.mark.slow
@pytest.mark.parametrize("killed", ["the service", "the demonstration"])
def test_demo_leaves_nothing_running_when_a_part_is_killed(tmp_path: Path, killed: str) -> None:
    """It ends with the service's last words when that dies."""
    data, port = tmp_path / "data", free_port()
    with Pitlink("demo", "--tables", "2", *ports(port), "--data", str(data)) as demo:
        ready(demo, port)
        if killed == "the demonstration":
            demo.kill()
        else:
            pid = demo.process.pid
            (service,) = map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
            os.kill(service, signal.SIGKILL)
            assert demo.wait() == 1
            assert "the service ended with status -9" in demo.errors
            assert "service.log" in demo.errors
            assert "Traceback" not in demo.errors
    eventually(lambda: not in_use(data), what="the parts ending")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)
    done = run_pitlink("audit", "--json", "--config", str(data / "demo-floor.toml"))
    assert json.loads(done.stdout)["balanced"] is True


@pytest.mark.slow
def test_demo_leaves_wins_to_people_with_its_option(tmp_path: Path) -> None:
    """A table with a hand pay is held until two people have validated and paid it."""
    data = tmp_path / "data"
    port = free_port()
    claims = f"http://127.0.0.1:{port}/api/v1/claims"
    with Pitlink(
        "demo", "--no-auto-floor", "--tables", "4", "--speed", "400",
        *ports(port), "--data", str(data),
    ) as demo:  # fmt: skip
        ready(demo, port)
        flo, fred = (
            Colleague(f"http://127.0.0.1:{port}", name, PUBLIC_PIN) for name in ("Flo", "Fred")
        )

        def hand_pays() -> list[dict[str, Any]]:
            waiting = httpx.get(claims, timeout=LONG_S).json()
            for claim in waiting:
                # Otherwise a table may reach its limit of undecided rounds before its hand pay.
                if claim["paid_from"] != "hand_pay" and claim["state"] == "pending":
                    flo.decide(claim["claim"], "validate")
            # A paid claim may still wait for its Envy Bonuses.
            return [
                claim
                for claim in waiting
                if claim["paid_from"] == "hand_pay" and claim["state"] != "paid"
            ]

        claim = demo.until(hand_pays, within_s=3 * LONG_S, what="a hand pay")[0]
        assert claim["state"] == "pending"
        assert flo.decide(claim["claim"], "validate")["validated_by"] == "Flo"
        assert fred.decide(claim["claim"], "pay", slip="S-1")["paid_by"] == "Fred"
        demo.until(
            lambda: claim["claim"] not in [one["claim"] for one in hand_pays()],
            what="the claim being done",
        )
        assert demo.stop() == 0, demo.output + demo.errors
        assert "The ledger balances to the micro" in demo.output


@pytest.mark.slow
def test_demo_refuses_a_port_in_use_and_data_that_another_uses(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run_pitlink("demo", *ports(port), "--data", str(tmp_path))
    assert done.returncode == 1
    assert done.stderr == f"pitlink: port {port} is in use; choose another with --port\n"
    lock = try_lock(tmp_path / "demo.lock", fcntl.LOCK_EX)
    assert lock is not None
    with lock:
        done = run_pitlink("demo", *ports(free_port()), "--data", str(tmp_path))
    assert done.returncode == 1
    assert "another demonstration uses" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments", [("--tables", "0"), ("--speed", "0"), ("--for", "0"), ("--port", "99999")]
)
def test_demo_refuses_wrong_usage(tmp_path: Path, arguments: tuple[str, str]) -> None:
    done = run_pitlink("demo", *arguments, "--data", str(tmp_path))
    assert done.returncode == 2
    assert arguments[0] in done.stderr
