"""The `approve` command: users approve the floor file, or changes of it."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from bonus.display import money
from bonus.errors import UserError
from meters.floor.floor_file import ConfigOption, Floor, links_named, read_own_floor
from meters.process.printing import print_text
from meters.selfcheck.opened_store import check_release, open_used_store
from meters.store.floor_file_approval import Configuration, Unapproved
from meters.store.health import redis_problem
from meters.store.ledger_mark import LedgerMark
from meters.store.link_store import BooksError, LinkStore
from meters.users.pin_prompt import confirm_person, plain_errors
from meters.users.sessions import SignedIn
from meters.users.users import UserDirectory

_REFUSED = {
    "stale": "somebody approved a floor file meanwhile: run this command again",
    "no_change": "the floor file is approved already",
}
_HALF = (
    "the data is being restored, or a restore was interrupted while it wrote the data: run `pitlink"
    " restore` to its end"
)
_OTHERS = (
    "after the last approval, this link is inoperable on each running service with another floor"
    " file, until the service is restarted with this file"
)
_RESTORE = "after the approval, restore it with `pitlink restore`"


def approve(
    config: ConfigOption,
    by: Annotated[
        str,
        typer.Option(
            "--by", metavar="NAME", help="The user who approves: a supervisor or an administrator."
        ),
    ],
    link: Annotated[
        str | None,
        typer.Argument(
            metavar="[LINK]", help="The link's id; by default all links.", show_default=False
        ),
    ] = None,
) -> None:
    """Approve the floor file, or what has changed in it.

    Until people approve a link, it is inoperable. One person approves the first floor file of an
    empty floor, for all links. Later, two people approve a new link, meter, table or game, another
    meter of a table, or another amount of the facility: each runs this command, or approves on the
    floor page. One person is enough for values that two people have confirmed as changes. Names,
    looks and addresses need no approval.

    The command shows what changes, and all terms in words and dollars. Then it asks for the PIN of
    the user who approves, and for a yes. If standard input is not a terminal, its first line is the
    PIN, and its second line is the yes. A service that runs with this floor file opens the link
    within seconds. A service with another floor file no longer operates the link: restart that
    service with this file.

    Example: **pitlink approve --by "Ada Lane" --config floor.toml**

    The exit status is 1 if there is nothing to approve, or if the approval is refused.
    """
    floor = read_own_floor(config)
    links = [each.id for each in links_named(config, floor, link)]
    with plain_errors():
        asyncio.run(_approve(floor, links, by))


async def _approve(floor: Floor, links: Sequence[str], by: str) -> None:
    async with open_used_store(floor, users_suffice=True) as redis:
        stores = {link.id: LinkStore(redis, link) for link in floor.link}
        if problem := await redis_problem(stores[links[0]].redis, links[0]):
            raise UserError(problem)
        await check_release(floor, redis)
        due, lost = await _read_due(floor, stores, links)
        if not due:
            raise UserError("; ".join(lost) or _REFUSED["no_change"])
        for problem in lost:
            print_text(problem)
        for link, one in due.items():
            _show(link, one.found)
            if one.is_lost:
                print_text(f"  Redis has lost the data of this link: {_RESTORE}")
            if one.found.barred:
                raise UserError(f"{link}: {one.found.problem}")
        user_directory = UserDirectory.of_floor(redis, floor)
        first = all(one.found.first for one in due.values())
        person = await confirm_person(user_directory, by, "approves it", may_have_to_choose=first)
        _ask(by)
        # A restore can have begun while the person read the terms.
        now, lost = await _read_due(floor, stores, links)
        if due.keys() - now.keys():
            raise UserError("; ".join(lost) or _REFUSED["stale"])
        await _approve_as(person, due)


@dataclass(frozen=True, slots=True)
class _Due:
    """What must be approved. If `is_lost`, the link must be restored after its approval."""

    configuration: Configuration
    found: Unapproved
    is_lost: bool


async def _approve_as(person: SignedIn, due: Mapping[str, _Due]) -> None:
    refused = []
    for link, one in due.items():
        try:
            await one.configuration.approve(person.name, one.found.digest, person.setters)
        except BooksError as error:
            refused.append(f"{link}: {_REFUSED.get(error.status, error.detail)}")
            continue
        left = await one.configuration.unapproved()
        waits = f", first of two people: {left.act}" if left else ""
        print_text(f"{link}: approved by {person.name}{waits}")
    if refused:
        raise UserError("; ".join(refused))


async def _read_due(
    floor: Floor, stores: Mapping[str, LinkStore], links: Sequence[str]
) -> tuple[Mapping[str, _Due], Sequence[str]]:
    """Return what must be approved, by link, and a text for each link that must first be restored.

    A link must first be restored if Redis has lost some of its ledger entries. Otherwise the
    entries of the approvals would take the numbers of lost entries. But a restore can begin with an
    approval: then Redis has no data of the link, or only approvals.
    """
    due, lost = {}, []
    for link in links:
        store, mark = stores[link], LedgerMark(Path(floor.service.data), link)
        had, held = mark.seen.entries, await store.snapshot()
        is_restored = bool(await store.redis.exists(store.keys.restoring))
        problem = mark.problem(held.last_entry, had) if held.is_opened else None
        if is_restored:
            problem = None if held.meters else _HALF
        configuration = Configuration(floor, store)
        if problem:
            lost.append(f"{link}: {problem}")
        elif found := await configuration.unapproved():
            is_lost = is_restored or (not held.is_opened and held.last_entry < had)
            due[link] = _Due(configuration, found, is_lost)
    return due, lost


def _show(link: str, found: Unapproved) -> None:
    print_text(f"{link}:")
    for change in found.changed:
        print_text(f"  {change}")
    print_text("  all terms:")
    for one in found.terms:
        print_text(f"    {one}")
    print_text(f"  SHA-256 {found.digest}")
    if found.first_by:
        print_text(f"  approved first by {found.first_by}, {found.waiting.at}")
    for meter, seed_cents in found.seeds_cents.items():
        print_text(f"  meter {meter} will start at {money(seed_cents)}")
    if found.seeds_cents:
        print_text(f"  the house puts in {money(sum(found.seeds_cents.values()))}")
    if found.approved:
        print_text(f"  {_OTHERS}")


def _ask(by: str) -> None:
    print_text(f"Does {by} approve these terms? Type yes: ")
    if sys.stdin.readline().strip().lower() != "yes":
        raise UserError("nothing was approved: the answer was not yes")
