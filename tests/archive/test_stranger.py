"""An archived day is checked without our code, by deploy/docs/reference/archive.md alone."""

import json
import re
import runpy
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
import zstandard
from redis.asyncio import Redis

from meters.ledger.link_state import Act, ClaimChange, ClaimRequest, EnvyAct
from meters.ledger.table_corrections import OF_TABLES, AskAct
from tests.documents.ledger_entries import KINDS
from tests.model.days import A_DAY
from tests.model.kept import Kept
from tests.model.model_floor import HIDDEN
from tests.model.pit import PROGRESSIVE, Pit
from tests.model.tampering import play_a_while
from tests.model.test_must_hit_by import chosen
from tests.test_tree import ROOT

SCRIPT = ROOT / "deploy" / "docs" / "reference" / "check_archive.py"
SCRIPTS = ROOT / "meters" / "store" / "scripts"

_NOTED = re.compile(r"note_entry\('([a-z_]+)'")
_ACTS = (Act, EnvyAct, ClaimRequest, ClaimChange, AskAct)
_CHOSEN = {"close", "open", "parameter", "adjust", "withdraw"}
"""What the scripts of an act choose."""


def checked(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def changed(path: Path, line: int, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a line of an archive file, without any of the digests."""
    data = path.read_bytes()
    reader = zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True)
    lines = reader.read().splitlines()
    content = json.loads(lines[line])
    change(content)
    lines[line] = json.dumps(content, separators=(",", ":")).encode()
    path.write_bytes(zstandard.ZstdCompressor().compress(b"".join(one + b"\n" for one in lines)))


@pytest.mark.duty("D17")
async def test_the_recipe_holds(redis: Redis, tmp_path: Path) -> None:
    kept = Kept(await Pit.opened(redis), tmp_path)
    pit = kept.pit
    await kept.days.open()
    await play_a_while(pit)
    await kept.days.keep(A_DAY, A_DAY)
    outcome = await kept.run(live_days=400)
    paths = [file.path for file in outcome.written]
    command = f'zstd -dc {paths[0]} | grep \'"table":"T-1"\' | grep \'"seq":"2"\''
    printed = subprocess.run(["sh", "-c", command], check=True, capture_output=True).stdout  # noqa: ASYNC221
    assert json.loads(printed)["kind"] == "result"
    days = [file.day for file in outcome.written]
    assert len(days) == 2
    kept_seal = days[0].closing.seal
    told = checked("--entry", days[0].last, *reversed(paths))
    assert told.returncode == 0, told.stderr
    first, second, *unrecorded, seal = told.stdout.splitlines()
    assert first.endswith(f"entries 1 to {days[0].last} are as written, seal {kept_seal}")
    assert second.endswith(f"are as written, seal {days[1].closing.seal}")
    assert [line.partition(":")[0] for line in unrecorded] == [f"{one.day}" for one in days]
    assert seal == f"seal up to entry {days[0].last}: {kept_seal}"
    assert checked("--entry", days[0].last, paths[1]).returncode == 1
    noted = {
        json.loads(entry["event"])["digest"]: json.loads(entry["event"])["books"]
        for entry in await pit.entries()
        if entry["kind"] == "archive"
    }
    assert [noted[one.digest] for one in days] == [one.closing.digest for one in days]
    assert days[0].closing.claims["pit.T-1-2-2"]["state"] == "paid"

    whole = [path.read_bytes() for path in paths]
    for file, line, change, told_of in (
        (0, 0, lambda head: head.update(last=head["last"] + 1), "the number of the last entry"),
        (1, 1, lambda state: state.update(seal="0"), "the second line"),
        (0, 2, lambda state: state["books"]["balances"].update(house=-1), "the balances"),
        (0, 3, lambda entry: entry.update(by="Somebody"), "the chain of entry"),
        (0, 4, lambda entry: entry.update(number=entry["number"] + 1), "the number of an entry"),
    ):
        changed(paths[file], line, change)
        wrong = checked(*paths)
        assert wrong.returncode == 1
        assert told_of in wrong.stderr
        paths[file].write_bytes(whole[file])
    paths[0].write_bytes(whole[0][:-9])
    assert str(paths[0]) in checked(*paths).stderr


async def test_the_recipe_shows_that_nobody_chose_a_hidden_value(
    redis: Redis, tmp_path: Path
) -> None:
    kept = Kept(await Pit.opened(redis, HIDDEN.text, hidden=chosen(*[500_000] * 9)), tmp_path)
    pit = kept.pit
    await kept.days.open()
    for number in (1, 2):
        await pit.wagers({1: PROGRESSIVE, 2: PROGRESSIVE}, round_id=f"R{number}")
        await pit.void(round_id=f"R{number}")
    await kept.days.keep(A_DAY, A_DAY)
    outcome = await kept.run(live_days=400)
    told = checked(*(file.path for file in outcome.written))
    assert told.returncode == 0, told.stderr
    script: dict[str, Any] = runpy.run_path(str(SCRIPT))
    drawn = [entry for entry in await pit.entries() if entry["kind"] == "hidden_value"]
    assert len(drawn) == 3
    before = script["Checked"]()
    for entry in drawn:
        script["note"](entry, Counter(), before)
    opened = json.loads(drawn[1]["event"])
    opened["opened"]["micros"] -= 1
    other = script["Checked"]()
    script["note"](drawn[0], Counter(), other)
    with pytest.raises(script["NotAsWrittenError"], match="a hidden value of mystery"):
        script["note"]({**drawn[1], "event": json.dumps(opened)}, Counter(), other)


def test_the_page_has_every_kind_of_entry() -> None:
    fixed = {
        kind for script in SCRIPTS.glob("*.lua") for kind in _NOTED.findall(script.read_text())
    }
    several = {act for acts in _ACTS for act in get_args(acts)}
    of_tables = {kind.decode() for kind in OF_TABLES}
    assert {kind for kind, *_ in KINDS} == fixed | _CHOSEN | several | of_tables
