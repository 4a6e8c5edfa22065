"""Random histories of approvals, held against who approved what, and in which order (duty D4).

Tables move between links, swap, leave and come back, and get other ids and asset numbers, while
three people approve one link or another of the floor file of the moment.
"""

import contextlib
import functools
import random
from collections.abc import Sequence
from typing import Final, NamedTuple

import pytest
from redis.asyncio import Redis

from meters.audit.link_audit import LinkAudit
from meters.floor.floor_file import parse_floor
from meters.store.approval_book import ApprovalBook, Approved
from meters.store.facility_notes import FACILITY_KEY
from meters.store.floor_file_approval import Configuration
from meters.store.link_store import BooksError, LinkStore
from tests.floor_text import floor_text, link_text, meter_text, table_text

PEOPLE: Final = ("amy", "ben", "cal")
STEPS: Final = 40
FILES: Final = 8
"""Floor files of a history: few, so that they come back."""

File = dict[str, dict[str, tuple[str, int]]]
"""By link and table: the asset number, and the positions."""


class Given(NamedTuple):
    """An approval that has effect: by one person of the first floor file, or by two people."""

    link: str
    tables: dict[str, tuple[str, int]]
    alone: tuple[str, File] | None

    @property
    def names(self) -> set[str]:
        return names_of(self.tables)


read = functools.cache(parse_floor)


def names_of(tables: dict[str, tuple[str, int]]) -> set[str]:
    return {f"id {table}" for table in tables} | {f"asset {asset}" for asset, _ in tables.values()}


def changed(rng: random.Random, file: File) -> File:
    new = {link: dict(tables) for link, tables in file.items()}
    link, other = (rng.choice(sorted(link for link in new if new[link])) for _ in range(2))
    table = rng.choice(sorted(new[link]))
    asset, positions = new[link][table]
    match rng.choice(("move", "move", "swap", "leave", "id", "asset", "positions", "add", "link")):
        case "move":
            new.setdefault(rng.choice("abc"), {})[table] = new[link].pop(table)
        case "swap":
            moved = rng.choice(sorted(new[other]))
            new[link][moved], new[other][table] = new[other].pop(moved), (asset, positions)
            if (link, table) != (other, moved):
                del new[link][table]
        case "leave":
            del new[link][table]
        case "id":
            new[link][f"T-{rng.randint(1, 3)}"] = new[link].pop(table)
        case "asset":
            new[link][table] = (str(rng.randint(1, 3)), positions)
        case "positions":
            new[link][table] = (asset, 13 - positions)
        case "add":
            number = rng.randint(1, 3)
            new.setdefault(rng.choice("abc"), {})[f"T-{number}"] = (str(number), 7)
        case _:
            del new[link]
    return new


def is_possible(file: File) -> bool:
    tables = [(table, asset) for each in file.values() for table, (asset, _) in each.items()]
    return bool(tables) and all(len({*names}) == len(tables) for names in zip(*tables, strict=True))


class History:
    def __init__(self, redis: Redis, seed: int) -> None:
        self.redis, self.rng = redis, random.Random(seed)
        self.file: File = {"a": {"T-1": ("1", 7)}, "b": {"T-2": ("2", 7)}}
        self.files = [self.file]
        while len(self.files) < FILES:
            file = changed(self.rng, self.rng.choice(self.files))
            if is_possible(file) and file not in self.files:
                self.files.append(file)
        self.given: list[Given] = []
        self.entries: dict[str, int] = {}
        self.half: dict[str, tuple[str, dict[str, tuple[str, int]], int]] = {}

    def configuration(self, link: str, file: File) -> tuple[Configuration, LinkStore]:
        parts = (
            link_text(each, meter_text("progressive"), *(
                table_text(table, "progressive", asset=asset, positions=positions)
                for table, (asset, positions) in tables.items()
            ))
            for each, tables in sorted(file.items())
        )  # fmt: skip
        floor = read(floor_text(*parts))
        store = LinkStore(self.redis, next(each for each in floor.link if each.id == link))
        return Configuration(floor, store), store

    async def approve(self, link: str, person: str) -> None:
        configuration, store = self.configuration(link, self.file)
        before = (await ApprovalBook(store).waiting()).entry
        with contextlib.suppress(BooksError):
            await configuration.approve(person, configuration.filed.digest)
        approved = await ApprovalBook(store).current()
        if approved and approved.entry != self.entries.get(link):
            self.take(link, approved)
        elif (await ApprovalBook(store).waiting()).entry != before:
            self.half[link] = person, self.file[link], len(self.given)

    def take(self, link: str, approved: Approved) -> None:
        self.entries[link], tables = approved.entry, self.file[link]
        alone = None if approved.first_by else (approved.by, self.file)
        if alone:
            assert all(one.alone == alone and one.link != link for one in self.given)
        else:
            person, shown, since = self.half.pop(link)
            assert (approved.first_by, shown) == (person, tables)
            assert approved.by != person
            assert not any(one.names & names_of(tables) for one in self.given[since:])
        self.given.append(Given(link, tables, alone))

    def may_operate(self, link: str, tables: dict[str, tuple[str, int]]) -> bool:
        """Check if the link's last approval is of these tables, and the last that had any."""
        last = next((one for one in reversed(self.given) if one.link == link), None)
        return last is not None and last.tables == tables and all(
            next(one for one in reversed(self.given) if name in one.names).link == link
            for name in last.names
        )  # fmt: skip

    async def check(self, file: File) -> None:
        for link, tables in file.items():
            problem = await self.configuration(link, file)[0].problem()
            assert (problem is None) == self.may_operate(link, tables), (link, file, problem)

    async def step(self) -> None:
        match self.rng.choice(("file", "file", "one", "both", "both", "both", "note")):
            case "file":
                self.file = self.rng.choice(self.files)
            case "note":  # as in an older copy of Redis
                await self.redis.hdel(FACILITY_KEY, "order")
            case many:
                link = self.rng.choice(sorted(self.file))
                for person in self.rng.sample(PEOPLE, 1 if many == "one" else 2):
                    await self.approve(link, person)
        await self.check(self.file)
        await self.check(self.rng.choice(self.files))


@pytest.mark.duty("D4", proof=True)
@pytest.mark.parametrize(
    "seeds", [(8, 13), pytest.param(range(14, 50), marks=pytest.mark.slow)], ids=["few", "many"]
)
async def test_a_link_operates_with_what_two_people_approved_last(
    keeping_redis: Redis, seeds: Sequence[int]
) -> None:
    """In the end, two people approve the present file, and each of its links operates."""
    for seed in seeds:
        await keeping_redis.flushall()
        history = History(keeping_redis, seed)
        for _ in range(STEPS):
            await history.step()
        for link in history.file:
            for person in ("dan", "eve"):
                await history.approve(link, person)
        await history.check(history.file)
        for link in history.file:
            configuration, store = history.configuration(link, history.file)
            assert await configuration.problem() is None
            assert (await LinkAudit(store).run()).balanced
