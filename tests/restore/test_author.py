"""The person who restores: a user with their PIN while Redis has users; otherwise any name."""

import json
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
from redis.asyncio import Redis

from meters.audit.link_audit import LinkAudit
from meters.floor.facility import GamingDays
from meters.floor.floor_file import read_floor
from meters.floor.roles import Role
from meters.process.clock import now
from meters.restore.store_writing import StoreWriter
from meters.store.floor_file_approval import Configuration
from meters.store.ledger_mark import LedgerMark
from meters.store.link_store import LinkStore
from meters.users.pins import PinHashing
from meters.users.users import Actor, UserDirectory
from tests.approving import approve
from tests.floor_text import link_text, meter_text, section_text, table_text
from tests.model.pit import FLOOR
from tests.processes import Pitlink, run_pitlink
from tests.restore.pit import KeptPit
from tests.restore.stores import Kept
from tests.servers import RedisServer

pytestmark = [pytest.mark.slow, pytest.mark.duty("D17")]

PIN: Final = "730482"
UNCONFIRMED: Final = "nobody could confirm"


class Lost:
    """A floor whose link was lost from Redis; its outboxes are there."""

    def __init__(self, pit: KeptPit, home: Path) -> None:
        self.pit = pit
        self.config = home / "floor.toml"

    def change(self, added: str, *, before: str = "") -> KeptPit:
        here, others, rest = self.config.read_text().partition(before or "\0")
        text = f"{here}{added}\n{others}{rest}"
        self.config.write_text(text)
        return KeptPit(self.pit.redis, self.pit.home, text)

    def run(self, *command: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return run_pitlink(*command, "--config", str(self.config), stdin=stdin)

    def restore(self, *options: str, pin: str = "") -> subprocess.CompletedProcess[str]:
        command = ("restore", "--services-stopped", "--yes", "--without", "T-2", *options)
        return self.run(*command, stdin=f"{pin}\n" if pin else "")

    async def add_users(self) -> None:
        directory = UserDirectory(self.pit.redis, 5, PinHashing(time_cost=1, memory_kib=8))
        for name, role, own in (
            ("Sue", Role.SUPERVISOR, True),
            ("Flo", Role.FLOORPERSON, True),
            ("New", Role.ADMINISTRATOR, False),
            ("Bea", Role.SUPERVISOR, True),
        ):
            await directory.users.add(name, role, PIN, Actor("test"), own=own)

    async def entry(self) -> dict[str, Any]:
        entries = await self.pit.store.entries(0, 1_000)
        ((by, event),) = [
            (fields["by"], fields["event"]) for _, fields in entries if fields["kind"] == b"restore"
        ]
        return {"by": by.decode(), **json.loads(event)}

    async def nothing_is_restored(self) -> bool:
        return not (await self.pit.store.snapshot()).is_opened


@pytest.fixture
async def lost(keeping_server: RedisServer, keeping_redis: Redis, tmp_path: Path) -> Lost:
    service = section_text("[service]", redis=keeping_server.url, data=tmp_path)
    text = FLOOR.replace("[[link]]", f"{service}[[link]]", 1)
    config = tmp_path / "floor.toml"
    config.write_text(text)
    assert read_floor(config)
    pit = KeptPit(keeping_redis, tmp_path, text)
    await pit.open()
    await pit.wagers({1: "progressive"}, table="T-1", round_id="R1")
    await keeping_redis.flushall()
    await approve(Configuration(pit.floor, pit.store))
    return Lost(pit, tmp_path)


async def test_a_user_restores_with_their_pin(lost: Lost) -> None:
    await lost.add_users()
    done = lost.restore("--by", "sue", pin=PIN)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "confirm" not in done.stdout
    entry = await lost.entry()
    assert (entry["by"], entry["confirmed"]) == ("Sue", True)
    log = await UserDirectory(lost.pit.redis, 5).log.page(None, 10)
    assert [row.what for row in log if row.by == "Sue"] == ["sign_out", "sign_in"]
    audit = json.loads(lost.run("audit", "--json").stdout)
    assert audit["notes"] == []


async def test_nobody_else_restores(lost: Lost) -> None:
    await lost.add_users()
    wrong = "the name or the PIN is wrong"
    for by, pin, message in (
        (["--by", "Sue"], "264907", wrong),
        (["--by", "Sue"], "", wrong),
        (["--by", "Nobody"], PIN, wrong),
        (["--by", "Flo"], PIN, "Flo is a floorperson: a supervisor or an administrator restores"),
        ([], PIN, "who restores the data? (a supervisor or an administrator)"),
    ):
        refused = lost.restore(*by, pin=pin)
        assert (refused.returncode, message in refused.stderr) == (1, True), refused.stderr
        assert await lost.nothing_is_restored()


@pytest.mark.duty("D4")
async def test_a_floor_that_redis_lost_is_approved_and_then_restored(lost: Lost) -> None:
    """The technician at night has the outboxes and the marks, and a first PIN by command."""
    await lost.pit.redis.flushall()
    await lost.add_users()
    refused = lost.restore("--by", "New", pin=PIN)
    assert refused.returncode == 1
    assert "approve it with `pitlink approve`, then run this command again" in refused.stderr
    approved = lost.run("approve", "--by", "New", stdin=f"{PIN}\nyes\n")
    assert approved.returncode == 0, approved.stderr
    assert "Redis has lost the data of this link: after the approval, restore it" in approved.stdout
    again = lost.run("approve", "--by", "New", stdin=f"{PIN}\nyes\n")
    assert "the floor file is approved already" in again.stderr
    done = lost.restore("--by", "New", pin=PIN)
    assert done.returncode == 0, done.stdout + done.stderr
    entry = await lost.entry()
    assert (entry["by"], entry.get("confirmed", False)) == ("New", False), "another set the PIN"
    lost.pit.mark.note(99, "0" * 40)
    refused = lost.restore("--by", "New", pin=PIN)
    assert "New has to choose a PIN of their own first" in refused.stderr, "Redis has data"


@pytest.mark.duty("D4")
async def test_an_approval_that_was_lost_is_given_again_during_the_restore(lost: Lost) -> None:
    """Redis is older than the approval, and another link lost entries too.

    Neither of the two commands waits for the other one.
    """
    await lost.add_users()
    assert lost.restore("--by", "Sue", pin=PIN).returncode == 0
    side = lost.change(link_text("side", meter_text("progressive"))).floor.link[1]
    store = LinkStore(lost.pit.redis, side)
    await approve(Configuration(read_floor(lost.config), store))
    await store.open("service")
    older = await Kept.of(lost.pit.redis)
    LedgerMark(lost.pit.home, "side").note(99, "")
    new = lost.change(
        table_text("T-3", "progressive", asset="104213"), before='[[link]]\nid = "side"'
    )
    await approve(Configuration(new.floor, new.store))
    await new.goes_on()
    await new.wagers({1: "progressive"}, table="T-3", round_id="R1")
    balances = (await new.store.snapshot()).accounts
    await older.put_back(new.redis)
    early = lost.run("approve", "--by", "Sue", stdin=f"{PIN}\nyes\n")
    assert "pit: Redis holds" in early.stderr
    assert "`pitlink restore` (deploy/docs/recover/restore.md) brings them back" in early.stderr
    refused = lost.restore("--by", "Sue", pin=PIN)
    assert "approve it with `pitlink approve`, then run this command again" in refused.stderr
    for name in ("Sue", "Bea"):
        approved = lost.run("approve", "--by", name, stdin=f"{PIN}\nyes\n")
        assert approved.returncode == 0, approved.stderr
        assert "after the approval, restore it with `pitlink restore`" in approved.stdout
    assert not (await LinkAudit(new.store).run()).balanced, "the link still waits for the restore"
    done = lost.restore("--by", "Sue", pin=PIN)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (await new.store.snapshot()).accounts == balances
    assert (await LinkAudit(new.store).run()).problems == ()


@pytest.mark.duty("D4")
async def test_a_restore_that_begins_at_the_question_ends_the_approval(lost: Lost) -> None:
    await lost.add_users()
    lost.change(table_text("T-3", "progressive", asset="104213"))
    with Pitlink("approve", "--by", "Sue", "--config", str(lost.config), stdin=True) as asked:
        asked.write_line(PIN)
        asked.until(lambda: "Type yes: " in asked.output, what="the question")
        writer = StoreWriter(lost.pit.redis, lost.pit.store.keys)
        await writer.begin("Bea", "2026-11-20T02:14:07.000Z")
        await writer.clear()
        asked.write_line("yes")
        assert asked.wait() == 1
        assert "a restore was interrupted while it wrote the data" in asked.errors
    assert not (await lost.pit.store.snapshot()).last_entry


@pytest.mark.parametrize(("by", "name"), [(["--by", "tess"], "tess"), ([], "technician")])
async def test_without_users_the_name_is_noted_as_not_confirmed(
    lost: Lost, by: list[str], name: str
) -> None:
    """The output, the ledger, the audit, the report and the floor page all say it."""
    done = lost.restore(*by)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"Redis has no users, so nobody can confirm the name {name}." in done.stdout
    entry = await lost.entry()
    assert (entry["by"], entry["confirmed"]) == (name, False)
    note = f"{name} restored the data of the link, and {UNCONFIRMED} this name"
    assert note in " ".join(lost.run("audit").stdout.split())
    (told,) = json.loads(lost.run("audit", "--json").stdout)["notes"]
    assert told.endswith(note)
    today = GamingDays.of_facility(lost.pit.floor.facility).of(now())
    report = lost.run("report", "day", today.isoformat())
    (row,) = (line for line in report.stdout.splitlines() if " restore " in line)
    assert name in row, report.stdout + report.stderr
    assert "nobody could" in report.stdout
    acts = await lost.pit.link_acts.acts(lost.pit.link.id, None, 5)
    assert [UNCONFIRMED in act.told for act in acts if act.what == "restore"] == [True]


async def test_a_name_that_no_user_could_have_is_refused_without_users(lost: Lost) -> None:
    for name in ("", " ", "tess\nentry 9", "x" * 41, "\x1b[2Jtess", "service"):
        done = lost.restore("--by", name)
        assert done.returncode == 1
        assert "--by " in done.stderr
        assert await lost.nothing_is_restored()
