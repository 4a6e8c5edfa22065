"""A floor of the Debian package: installed, played, upgraded, removed and installed again."""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final

import pytest

from tests.deploy.test_systemd import EXPOSURE_MOST
from tests.system.debian_root import make_debian_root, require_system
from tests.system.machine import HOST, INSTALLED, PACKAGES, Machine, require_machine
from tests.system.packages import build_earlier_package, build_package
from tests.waiting import eventually

pytestmark = [pytest.mark.system, pytest.mark.slow]

CONFIG: Final = ("--config", "/etc/pitlink/floor.toml")
SERVICES: Final = {
    "pitlink-serve@1": "http://127.0.0.1:8081",
    "pitlink-serve@2": "http://127.0.0.1:8082",
}
TABLE: Final = "pitlink-table@TCP-01"
JOBS: Final = ("pitlink-audit", "pitlink-audit-whole", "pitlink-archive")
TIMERS: Final = tuple(f"{job}.timer" for job in JOBS)
PIN: Final = "482913"
SEED: Final = 100_000
RAISED: Final = 14
"""Amount that a wager of a dollar adds to the meter `progressive` under paytable A, in cents."""
ROUND: Final[tuple[Mapping[str, object], ...]] = (
    {"event": "wager", "position": 1, "wager": "progressive", "amount": 100},
    {"event": "wager", "position": 2, "wager": "progressive", "amount": 100},
    {"event": "lockout"},
    {"event": "chips", "count": 2},
    {"event": "hand", "position": 1, "cards": ["2c", "7d", "9h"]},
    {"event": "hand", "position": 2, "cards": ["2d", "7h", "9s"]},
    {"event": "dealer", "cards": ["3c", "8d", "Th"]},
    {"event": "settle"},
    {"event": "next"},
)
_IN_A_DIRECTORY: Final = """
mount -t tmpfs tmpfs "$1" && mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay -o "lowerdir=$0,upperdir=$1/upper,workdir=$1/work" overlay "$1/root"
cd "$1/root" && rm -rf dev/shm && cp "$2" pitlink.deb
ln -s /bin/true usr/local/bin/pitlink
touch etc/systemd/system/pitlink-serve@.service
env -i PATH="$PATH" chroot . dpkg --install /pitlink.deb
test -n "$(find usr/lib/pitlink/lib -name "floor_file.*.pyc")"
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require_system("dpkg-buildpackage", "dh")
    return build_package(tmp_path_factory.mktemp("package"))


def test_lintian_has_nothing_to_say(package: Path) -> None:
    require_system("lintian")
    # Only the packages of the tests are not compressed, to save time.
    ours = ",".join(f"uses-no-compression-for-{part}-tarball" for part in ("control", "data"))
    done = subprocess.run(
        ["lintian", "--allow-root", "--fail-on=error,warning", "--suppress-tags", ours, package],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "")


def test_each_command_has_a_man_page_and_the_units_are_there(package: Path) -> None:
    listed = subprocess.run(
        ["dpkg-deb", "--contents", package], capture_output=True, text=True, check=True
    ).stdout
    commands = {point.name for point in entry_points(group="pitlink.commands")}
    pages = set(re.findall(r"/man1/pitlink-([\w-]+)\.1\.gz", listed))
    assert commands <= pages
    assert {"user-add", "report-day"} <= pages
    for name in (*JOBS, *TIMERS, "pitlink-serve@", "pitlink-table@"):
        assert f"/systemd/system/{name.removesuffix('.timer')}" in listed
    assert "/bash-completion/completions/pitlink\n" in listed
    assert "__pycache__" not in listed


def test_it_is_installed_in_a_directory_where_an_installation_by_hand_was(
    package: Path, tmp_path: Path
) -> None:
    """As in the build of an image: no systemd runs, and there is no shared memory."""
    require_machine()
    root = make_debian_root("debian-bookworm-servers", INSTALLED)
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-euc", _IN_A_DIRECTORY, root, tmp_path, package],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "Traceback" not in done.stdout
    for hidden in ("/usr/local/bin/pitlink", "/etc/systemd/system/pitlink-serve@.service"):
        assert f"pitlink: {hidden} is used instead of the file of this package" in done.stdout


class Floor:
    """Operator's view of a floor: what a technician types, and what a dealer presses."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def pitlink(self, *arguments: str, stdin: str = "") -> str:
        """Run a command of pitlink as the system user of the services."""
        words = ("runuser", "-u", "pitlink", "--", "pitlink", *arguments, *CONFIG)
        return self.machine.do(*words, stdin=stdin)

    def audit(self) -> int:
        found: dict[str, Any] = json.loads(self.pitlink("audit", "--json"))
        assert (found["balanced"], found["problems"], found["variances"]) == (True, [], [])
        rounds: int = found["totals"]["rounds"]
        return rounds

    def property_of(self, unit: str, name: str) -> str:
        return self.machine.do("systemctl", "show", "--property", name, "--value", unit).strip()

    def main_pids(self) -> list[str]:
        return [self.property_of(unit, "MainPID") for unit in SERVICES]

    def wait_until_ready(self) -> None:
        pages = [f"{url}/readyz" for url in SERVICES.values()]
        ask = ("curl", "--fail", "--silent", "--fail-early", *pages)
        eventually(lambda: self.machine.run(*ask).returncode == 0, what="ready services")

    def open_panel(self) -> None:
        shown = ("journalctl", "--unit", TABLE, "--output", "cat", "--no-pager")
        found = eventually(
            lambda: re.findall(r"Panel of table TCP-01: (\S+)", self.machine.do(*shown)),
            what="the panel's address",
        )
        self._panel = found[-1].partition("/?")[0]
        jar = ("--cookie-jar", "/run/tablet")
        eventually(
            lambda: self.machine.run("curl", "--fail", "--silent", *jar, found[-1]).returncode == 0,
            what="the panel",
        )

    def press(self, event: Mapping[str, object]) -> None:
        """Send an event from the tablet until the agent accepts it."""
        headers = ("Content-Type: application/json", "Sec-Fetch-Site: same-origin")
        options = [word for header in headers for word in ("--header", header)]
        data = ("--data", json.dumps(event), f"{self._panel}/api/v1/events")
        send = ("curl", "--silent", "--cookie", "/run/tablet", *options, *data)

        def is_accepted() -> bool:
            answer = self.machine.run(*send).stdout
            # The service does not answer yet. The agent repeats the event until it does.
            if '"waiting":true' in answer:
                return True
            assert '"ok":true' in answer, answer
            return True

        eventually(is_accepted, what=f"{event} accepted")

    def play_round(self) -> None:
        for event in ROUND:
            self.press(event)

    def amount(self) -> int:
        """Return the amount of the meter, in cents, as patrons see it over HTTPS."""
        page = f"https://{HOST}/api/v1/meters"
        shown = self.machine.do("curl", "--fail", "--silent", "--insecure", page)
        (amount,) = (
            meter["amount"] for meter in json.loads(shown) if meter["meter"] == "progressive"
        )
        assert isinstance(amount, int)
        return amount

    def expect(self, rounds: int) -> None:
        self.wait_until_ready()
        wanted = SEED + rounds * 2 * RAISED
        eventually(lambda: self.amount() == wanted, what=f"a meter of {wanted} cents")
        assert self.audit() == rounds


@pytest.fixture
def machine(package: Path, tmp_path: Path) -> Iterator[Machine]:
    require_machine()
    packages = tmp_path / "packages"
    for name in ("earlier", "later"):
        (packages / name).mkdir(parents=True)
    build_earlier_package(packages / "earlier", tmp_path / "release").rename(
        packages / "earlier.deb"
    )
    (packages / "later.deb").hardlink_to(package)
    with Machine(packages) as machine:
        yield machine


def test_a_floor_runs_is_upgraded_removed_and_installed_again(machine: Machine) -> None:
    floor = Floor(machine)
    install(floor)
    check_hardening(floor)
    floor.machine.do("systemctl", "enable", "--now", TABLE)
    floor.open_panel()
    floor.play_round()
    floor.expect(rounds=1)
    run_jobs(floor)
    kill_services_during_a_round(floor)
    upgrade(floor)
    remove_and_install_again(floor)
    purge(floor)


def install(floor: Floor) -> None:
    """Install the earlier release, as run/install.md says. The package itself starts nothing."""
    machine = floor.machine
    machine.do("apt-get", "install", "--yes", f"{PACKAGES}/earlier.deb")
    units = machine.do("systemctl", "list-units", "--all", "--plain", "--no-legend", "pitlink*")
    assert units == ""
    printed = machine.do(
        "pitlink", "setup", "--yes", "--name", "Keystone Casino", "--timezone", "America/New_York",
        "--host", HOST, "--machines", "one", "--administrator", "Ada Lane", stdin=f"{PIN}\n",
    )  # fmt: skip
    assert f"https://{HOST}/floor" in printed
    assert '"Ada Lane"' in floor.pitlink("user", "list", "--json")
    floor.pitlink("approve", "--by", "Ada Lane", stdin=f"{PIN}\nyes\n")
    floor.pitlink("user", "add", "Bo Chen", "--role", "floorperson", "--generate")
    floor.wait_until_ready()
    checked = floor.pitlink("check")
    assert "software: as the wheel recorded it" in checked
    others = [line for line in checked.splitlines() if not line.startswith("ok ")]
    assert [line.partition(":")[0] for line in others] == ["warn  last audit", "warn  last backup"]
    assert machine.do("systemctl", "--failed", "--no-legend", "--plain") == ""


def check_hardening(floor: Floor) -> None:
    """Check what systemd says about the units on this machine, and that keys are apart."""
    for unit in (*SERVICES, TABLE, *JOBS):
        words = ("security", "--no-pager", f"--threshold={EXPOSURE_MOST}", f"{unit}.service")
        floor.machine.do("systemd-analyze", *words)
    for user, other in (("pitlink", "tables"), ("pitlink-table", "services")):
        listed = floor.machine.run("runuser", "-u", user, "--", "ls", f"/etc/pitlink/keys/{other}")
        assert "Permission denied" in listed.stdout


def run_jobs(floor: Floor) -> None:
    """Start what the timers start. `systemctl start` waits for the end."""
    for job, timer in zip(JOBS, TIMERS, strict=True):
        assert floor.property_of(timer, "ActiveState") == "active"
        floor.machine.do("systemctl", "start", job)
        assert floor.property_of(job, "Result") == "success"
    checked = floor.pitlink("check")
    assert "ok    last audit" in checked


def kill_services_during_a_round(floor: Floor) -> None:
    """Kill both services after the wagers. The table waits, and every wager counts once."""
    for event in ROUND[:2]:
        floor.press(event)
    before = floor.main_pids()
    floor.machine.do("systemctl", "kill", "--signal=KILL", *SERVICES)
    for event in ROUND[2:]:
        floor.press(event)
    floor.expect(rounds=2)
    assert not set(before) & set(floor.main_pids())
    assert [floor.property_of(unit, "NRestarts") for unit in SERVICES] == ["1", "1"]


def upgrade(floor: Floor) -> None:
    """Upgrade, and restart the services one after the other, as run/upgrade.md says."""
    before, earlier = floor.main_pids(), floor.machine.do("pitlink", "--version")
    printed = floor.machine.do("apt-get", "install", "--yes", f"{PACKAGES}/later.deb")
    assert "pitlink-serve@1.service pitlink-serve@2.service pitlink-table@TCP-01.service" in printed
    assert floor.main_pids() == before, "a restart is the decision of the operator"
    assert floor.machine.do("pitlink", "--version") != earlier
    pairs = [f"{unit}={url}" for unit, url in SERVICES.items()]
    floor.machine.do("/usr/share/pitlink/deploy/rolling-restart", *pairs)
    assert not set(before) & set(floor.main_pids())
    floor.machine.do("systemctl", "restart", TABLE)
    floor.open_panel()
    floor.play_round()
    floor.expect(rounds=3)
    assert "software: as the wheel recorded it" in floor.pitlink("check")


def remove_and_install_again(floor: Floor) -> None:
    """Remove the package: everything of pitlink stops, and its data is there for the next time."""
    machine = floor.machine
    machine.do("apt-get", "remove", "--yes", "pitlink")
    active = ("systemctl", "list-units", "--state=active", "--plain", "--no-legend", "pitlink*")
    assert not re.search(r"\.(service|timer)", machine.do(*active))
    assert not machine.has("/usr/lib/pitlink")
    assert machine.has("/etc/pitlink/floor.toml")
    assert machine.has("/var/lib/pitlink/marks")
    assert machine.has("/var/lib/pitlink-table/tables/TCP-01.sqlite")
    machine.do("apt-get", "install", "--yes", f"{PACKAGES}/later.deb")
    machine.do("systemctl", "start", *SERVICES, TABLE, *TIMERS)
    floor.open_panel()
    floor.expect(rounds=3)


def purge(floor: Floor) -> None:
    """Purge the package. It says that keys and records of money remain."""
    printed = floor.machine.do("apt-get", "purge", "--yes", "pitlink")
    for directory in ("/etc/pitlink", "/var/lib/pitlink", "/var/lib/pitlink-table"):
        assert f"{directory} is kept" in printed
        assert floor.machine.has(directory)
    enabled = "/etc/systemd/system/multi-user.target.wants/pitlink-serve@1.service"
    assert not floor.machine.has(enabled)
