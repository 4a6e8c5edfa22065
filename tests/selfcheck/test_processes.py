"""The self-check of real processes: a changed program, floor file or Redis setting.

The reason for an inoperable link appears everywhere: the probe, the meters of the signage, the
links of the floor page, the heartbeat.
"""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import redis

from meters.floor.facility import PUBLIC_PIN
from tests.approving import approve_before_serve
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.mqtt.events import wagers
from tests.mqtt.stand import Stand
from tests.selfcheck.installed import Installed, build_wheel
from tests.servers import Mosquitto, Pitlink, RedisServer, eventually, free_port, run_pitlink
from tests.staff import PIN, Colleague, hire

pytestmark = pytest.mark.slow

LUA = "meters/store/scripts/apply_events.lua"
_WITHIN_S = 30
THIRD = table_text("X-2", "progressive", positions=6)
LINK = link_text("main", meter_text("progressive"), name="Main")


@pytest.fixture(scope="module")
def stand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    with Stand(tmp_path_factory.mktemp("stand")) as stand:
        hire(stand.service.config, "Sue Lane", "supervisor")
        hire(stand.service.config, "Bea Moss", "administrator")
        hire(stand.service.config, "Flo", "floorperson")
        yield stand


def inoperable_everywhere(stand: Stand, sue: Colleague, link: str, *said: str) -> None:
    url, topic = stand.service.url, f"pitlink/v1/{link}/controller"

    def is_inoperable() -> bool:
        ready = httpx.get(f"{url}/readyz", timeout=_WITHIN_S)
        (standing,) = [one for one in sue.get("/api/v1/links").json() if one["link"] == link]
        beat = stand.ear.on(topic)[-1].json
        shown = {one["state"] for one in stand.service.meters() if one["link"] == link}
        assert ready.status_code == 503
        reasons = (ready.json()["links"].get(link, ""), standing["reason"], beat["reason"])
        assert all(part in reason for part in said for reason in reasons), reasons
        assert {standing["state"], beat["state"]} == {"inoperable"}
        return shown <= {"inoperable"}

    eventually(is_inoperable, what=f"{link} inoperable: {said}")


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", timeout=_WITHIN_S).status_code == 200
    except httpx.TransportError:
        return False


def operable_everywhere(stand: Stand, link: str) -> None:
    def is_operable() -> bool:
        beat = stand.ear.on(f"pitlink/v1/{link}/controller")[-1].json
        shown = {one["state"] for one in stand.service.meters() if one["link"] == link}
        return stand.service.ready() and beat["state"] == "operable" and shown == {"open"}

    eventually(is_operable, what=f"{link} operable")


@pytest.mark.duty("D9", proof=True)
@pytest.mark.duty("D10")
def test_a_program_with_one_byte_changed_refuses_to_operate_until_it_is_restored(
    tmp_path: Path, redis_server: RedisServer, mosquitto: Mosquitto
) -> None:
    """It runs as installed, then changed, then as installed again after another start."""
    copy = Installed(build_wheel(tmp_path), tmp_path / "installed")
    port = free_port()
    config = tmp_path / "floor.toml"
    filed = {
        "broker": mosquitto.url,
        "redis": redis_server.url,
        "http": f"127.0.0.1:{port}",
        "data": str(tmp_path),
    }
    config.write_text(floor_text(LINK, service=filed))

    def readiness() -> dict[str, object]:
        try:
            answer = httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=_WITHIN_S)
        except httpx.TransportError:
            return {}
        found: dict[str, object] = answer.json()
        return found

    script = copy.home / LUA
    was = script.read_bytes()
    script.write_bytes(was.replace(b"local", b"locaI", 1))
    checked = copy.run("check", "--config", str(config))
    assert checked.returncode == 1
    assert f"FAIL  software: {LUA} is altered" in checked.stdout
    with copy.start("serve", "--config", str(config), approved=False) as service:
        service.until(lambda: LUA in str(readiness()), what="the file named")
        script.write_bytes(was)
        found = service.until(readiness, what="still not ready")
        assert found["ready"] is False, "which of the two was loaded nobody can tell any more"
        assert service.stop() == 0
    with redis.Redis(unix_socket_path=str(redis_server.socket_path)) as store:
        assert store.keys("pitlink:{[^@]*") == [], "it touched no books"
    checked = copy.run("check", "--config", str(config))
    assert (checked.returncode, checked.stderr) == (0, "")
    assert "ok    software: as the wheel recorded it" in checked.stdout
    with copy.start("serve", "--config", str(config)) as service:
        service.until(lambda: readiness().get("ready"), what="ready as it was restored")
        assert service.stop() == 0


@pytest.mark.duty("D10", "D14")
def test_a_redis_set_otherwise_and_a_balance_that_was_altered_stop_every_link(stand: Stand) -> None:
    """Changes of the books before the setting is right again are found before the link operates."""
    sue = Colleague(stand.service.url, "Sue Lane")
    stand.table().accept(wagers(1))
    accounts = "pitlink:{main}:accounts"
    with redis.Redis(unix_socket_path=str(stand.redis.socket_path)) as store:
        store.config_set("appendfsync", "everysec")
        inoperable_everywhere(stand, sue, "main", "appendfsync everysec; it must be always")
        inoperable_everywhere(stand, sue, "other", "appendfsync everysec; it must be always")
        store.config_set("appendfsync", "always")
        operable_everywhere(stand, "main")
        store.config_set("maxmemory-policy", "allkeys-lru")
        inoperable_everywhere(
            stand, sue, "main", "maxmemory-policy allkeys-lru; it must be noeviction"
        )
        store.hincrby(accounts, "meter:progressive", 10_000)
        store.config_set("maxmemory-policy", "noeviction")
        inoperable_everywhere(stand, sue, "main", "meter:progressive holds", "+10000")
        store.hincrby(accounts, "meter:progressive", -10_000)
        store.config_set("appendfsync", "no")
        inoperable_everywhere(stand, sue, "other", "appendfsync no; it must be always")
        store.config_set("appendfsync", "always")
        operable_everywhere(stand, "main")


@pytest.mark.duty("D10", "D12")
def test_a_changed_floor_file_is_shown_and_approved_over_http_and_by_command(stand: Stand) -> None:
    """One link continues as before while the other waits for two people."""
    service = stand.service
    was = service.config.read_text()
    service.config.write_text(was + THIRD)
    checked = run_pitlink("check", "--config", str(service.config))
    assert checked.returncode == 1
    assert "FAIL  configuration of other: the floor file is not as approved: table X-2 added" in (
        checked.stdout
    )
    assert "ok    configuration of main: as Ada Lane approved it" in checked.stdout

    service.launch()
    eventually(lambda: answers(service.url), what="the service")
    sue, bea, flo = (Colleague(service.url, name) for name in ("Sue Lane", "Bea Moss", "Flo"))
    inoperable_everywhere(stand, sue, "other", "table X-2 added", "pitlink approve")
    stand.table().accept(wagers(1))
    (shown,) = [one for one in sue.get("/api/v1/links").json() if one["link"] == "other"]
    waits = shown["unapproved"]
    assert (waits["changed"], waits["approved_by"]) == (["table X-2 added"], "Ada Lane")
    path = "/api/v1/links/other/approve"
    assert flo.post(path, digest=waits["digest"]).status_code == 403
    refused = sue.post(path, digest="0" * 64)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "stale")
    assert sue.post(path, digest="all").status_code == 400
    first = bea.post(path, digest=waits["digest"])
    assert (first.status_code, first.json()["unapproved"]["first_by"]) == (200, "Bea Moss")
    assert bea.post(path, digest=waits["digest"]).json()["error"]["code"] == "same_person"
    inoperable_everywhere(stand, sue, "other", "Bea Moss approved it first, and one more person")
    approved = sue.post(path, digest=waits["digest"])
    assert (approved.status_code, approved.json()["unapproved"]) == (200, None)
    operable_everywhere(stand, "other")
    assert sue.post(path, digest=waits["digest"]).json()["error"]["code"] == "no_change"
    checked = run_pitlink("check", "--config", str(service.config))
    assert "ok    configuration of other: as Bea Moss and Sue Lane approved it" in checked.stdout

    def command(
        name: str, pin: str, link: str = "other", *, answer: str = "yes"
    ) -> tuple[int, str]:
        arguments = ("approve", link, "--config", str(service.config), "--by", name)
        done = run_pitlink(*arguments, stdin=f"{pin}\n{answer}\n")
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout + done.stderr

    assert command("Sue Lane", PIN) == (1, "pitlink: the floor file is approved already\n")
    assert command("Sue Lane", PIN, "othr")[1].endswith(": is other meant?\n")
    service.config.write_text(was)
    status, printed = command("Sue Lane", "000000")
    assert (status, printed.splitlines()[:2]) == (1, ["other:", "  table X-2 removed"])
    assert "    meter progressive: seed $5,000.00, 1,000 times its $5 wager; " in printed
    assert printed.endswith("the name or the PIN is wrong: `pitlink user list` shows the names\n")
    status, printed = command("Flo", PIN)
    assert (status, printed.splitlines()[-1]) == (
        1, "pitlink: Flo is a floorperson: a supervisor or an administrator approves it",
    )  # fmt: skip
    operable_everywhere(stand, "other")
    assert command("sue lane", PIN, answer="no")[1].endswith("the answer was not yes\n")
    status, printed = command("sue lane", PIN)
    assert status == 0
    assert "  after the last approval, this link is inoperable on each running service" in printed
    said = "Sue Lane approved it first, and one more person is needed"
    assert f"other: approved by Sue Lane, first of two people: {said}" in printed
    operable_everywhere(stand, "other")
    assert "you approved it first" in command("sue lane", PIN)[1]
    status, printed = command("bea moss", PIN)
    assert (status, printed.splitlines()[-1]) == (0, "other: approved by Bea Moss")
    inoperable_everywhere(stand, sue, "other", "table X-2 added")
    acts = sue.get("/api/v1/links/other/acts").json()
    assert [(act["what"], act["by"]) for act in acts if act["what"].startswith("approve")] == [
        ("approve", "Bea Moss"), ("approve_first", "Sue Lane"), ("approve", "Sue Lane"),
        ("approve_first", "Bea Moss"), ("approve", "Ada Lane"),
    ]  # fmt: skip
    assert acts[0]["told"].startswith("table X-2 removed (SHA-256 ")
    assert service.audit()["balanced"] is True
    service.start()


@pytest.mark.duty("D4")
@pytest.mark.parametrize("approved", [True, False], ids=["approved", "users only"])
def test_a_floor_of_people_never_gets_users_with_the_public_pin(
    tmp_path: Path, redis_server: RedisServer, mosquitto: Mosquitto, *, approved: bool
) -> None:
    """Somebody turns the floor file into a demonstration, and restarts the service."""
    port, config = free_port(), tmp_path / "floor.toml"
    url = f"http://127.0.0.1:{port}"
    filed = {
        "broker": mosquitto.url, "redis": redis_server.url, "http": url.removeprefix("http://"),
        "data": str(tmp_path),
    }  # fmt: skip
    config.write_text(floor_text(LINK, service=filed))
    if approved:
        approve_before_serve(("serve", "--config", str(config)), None)
    else:
        hire(config, "Sue Lane", "supervisor")
    config.write_text(floor_text(LINK, service=filed, demonstration=True))
    with Pitlink("serve", "--config", str(config), "--demo-people") as service:
        service.until(lambda: "people not let in" in service.errors, what="the refusal")
        service.until(lambda: answers(url), what="the pages")
        sign_in = {"name": "Ada", "pin": PUBLIC_PIN}
        assert httpx.post(f"{url}/api/v1/sign-in", json=sign_in).status_code == 401
        if approved:
            reason = "not as approved: demonstration without real money: no"
            service.until(lambda: reason in service.errors, what="an inoperable link")
