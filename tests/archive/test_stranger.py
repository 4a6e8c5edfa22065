"""An archived day is checked without our code, by deploy/docs/reference/archive.md alone."""

import hashlib
import io
import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from redis.asyncio import Redis

from tests.model.days import A_DAY
from tests.model.kept import Kept
from tests.model.pit import Pit
from tests.model.tampering import play_a_while


def m(text: object) -> bytes:
    data = str(text).encode()
    return b"%d:%s" % (len(data), data)


def lines(path: Path) -> tuple[dict[str, Any], str, str, list[dict[str, Any]]]:
    with path.open("rb") as file:
        text = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        head, opening, closing, *rest = io.TextIOWrapper(text, encoding="utf-8").read().splitlines()
    return json.loads(head), opening, closing, [json.loads(each) for each in rest]


def check(paths: Iterable[Path]) -> str:
    """Check days in order, beginning with a link's first day; return the last seal."""
    names = ("kind", "at", "by", "table", "round", "seq", "transfers", "event", "reply")
    before, chain, seal, books = "", "", "", None
    for path in paths:
        head, opening, closing, entries = lines(path)
        assert head["previous"] == before
        assert books in {None, opening}
        for entry in entries:
            text = m(f"{entry['number']}-0") + b"".join(m(name) + m(entry[name]) for name in names)
            chain = hashlib.sha1(chain.encode() + text, usedforsecurity=False).hexdigest()
            seal = hashlib.sha256(seal.encode() + text).hexdigest()
            assert entry["chain"] == chain
        held = json.loads(closing)
        assert (held["entries"], held["chain"], held["seal"]) == (head["last"], chain, seal)
        spans = [head[name] for name in ("previous", "link", "day", "first", "last")]
        digest = hashlib.sha256(b"".join(map(m, [*spans, opening, closing]))).hexdigest()
        assert digest == head["digest"]
        assert hashlib.sha256(closing.encode()).hexdigest() == head["closing"]
        before, books = digest, closing
    return seal


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
    assert len(paths) == 2
    assert check(paths) == outcome.written[-1].day.closing.seal
    noted = {
        json.loads(entry["event"])["digest"]: json.loads(entry["event"])["books"]
        for entry in await pit.entries()
        if entry["kind"] == "archive"
    }
    for path in paths:
        head, _, closing, _ = lines(path)
        assert noted[head["digest"]] == head["closing"]
        assert json.loads(closing)["claims"]["pit.T-1-2-2"]["state"] == "paid"
