"""An archived day is checked without our code, by deploy/docs/reference/archive.md alone."""

import hashlib
import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from meters.archive.archive_days import ArchiveFiles
from meters.archive.archiver import Archiver
from tests.model.days import Days
from tests.model.pit import Pit
from tests.model.tampering import play_a_while


def m(text: object) -> bytes:
    data = str(text).encode()
    return b"%d:%s" % (len(data), data)


def rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as file:
        return file.execute(query).fetchall()


def check(paths: Iterable[Path]) -> str:
    """Check days in order, beginning with a link's first day; return the last seal."""
    names = ("kind", "at", "by", "table", "round", "seq", "transfers", "event", "reply")
    columns = ", ".join(f'"{name}"' for name in names)
    before, chain, seal, books = "", "", "", None
    for path in paths:
        ((*head, digest),) = rows(
            path, "SELECT previous, link, day, first, last, opening, closing, digest FROM day"
        )
        previous, _, _, _, last, opening, close = head
        assert previous == before
        assert books is None or opening == books
        entries = rows(path, f"SELECT number, chain, {columns} FROM entry ORDER BY number")  # noqa: S608
        for number, carried, *values in entries:
            text = m(f"{number}-0") + b"".join(
                m(name) + m(value) for name, value in zip(names, values, strict=True)
            )
            chain = hashlib.sha1(chain.encode() + text, usedforsecurity=False).hexdigest()
            seal = hashlib.sha256(seal.encode() + text).hexdigest()
            assert carried == chain
        held = json.loads(close)
        assert (held["entries"], held["chain"], held["seal"]) == (last, chain, seal)
        claims = rows(path, "SELECT claim, fields FROM claim ORDER BY claim")
        parts = [*head, *(part for claim in claims for part in claim)]
        assert hashlib.sha256(b"".join(map(m, parts))).hexdigest() == digest
        before, books = digest, close
    return seal


@pytest.mark.duty("D17")
async def test_the_recipe_holds(redis: Redis, tmp_path: Path) -> None:
    pit = Pit(redis)
    await pit.open()
    days, archive = Days(pit), ArchiveFiles(tmp_path, pit.link.id)
    await days.open()
    await play_a_while(pit)
    await days.keep(timedelta(days=1), timedelta(days=1))
    outcome = await Archiver(pit.store, archive, 400).run(lambda *_: None)
    paths = [file.path for file in outcome.written]
    assert len(paths) == 2
    assert check(paths) == outcome.written[-1].day.closing.seal
    noted = {
        json.loads(entry["event"])["digest"]: json.loads(entry["event"])["books"]
        for entry in await pit.entries()
        if entry["kind"] == "archive"
    }
    for path in paths:
        ((digest, close),) = rows(path, "SELECT digest, closing FROM day")
        assert noted[digest] == hashlib.sha256(close.encode()).hexdigest()
    (claim,) = rows(paths[0], "SELECT fields FROM claim WHERE claim = 'pit.T-1-2-2'")
    assert json.loads(claim[0])["state"] == "paid"
