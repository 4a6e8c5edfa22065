"""What must hold after every script that a service ran: the books, read on a line of our own."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, TypeVar

from redis.asyncio import Redis
from redis.exceptions import OutOfMemoryError, RedisError

from meters.books.audit import LinkAudit
from meters.books.store import LinkStore
from meters.wire.floor import Link
from tests.model.law import PROGRESSIVE
from tests.model.model_floor import second_books
from tests.model.second_books import SecondMeter
from tests.model.second_settling import Settling
from tests.sim.world import World

Record = dict[str, Any]
_T = TypeVar("_T")
_PAGE: Final = 500
_OF_TABLES: Final = ("wagers", "result", "void")
_DECISIONS: Final = ("validate", "reject", "pay")
_OF_ENVY: Final = ("pay_envy", "reject_envy")


class Checker:
    """Holds the store against a second set of books, kept from the ledger entry by entry.

    It reads in a thread with a loop of its own, while the simulation stands still.

    Attributes:
        entries: the ledger so far, each entry by its fields.
        checks: how often everything was held against everything.
    """

    def __init__(self, world: World, link: Link, server: Path) -> None:
        self._world = world
        self._link = link
        self._thread = ThreadPoolExecutor(1)
        self._runner = asyncio.Runner()
        self._server = server
        self._store = LinkStore(Redis(unix_socket_path=str(server)), link)
        self._audit = LinkAudit(self._store)
        self._books = second_books()
        self._seeded = 0
        self._by_event: dict[tuple[str, int], int] = {}
        self._by_round: dict[tuple[str, str, str], int] = {}
        self._amounts: dict[str, dict[int, int]] = defaultdict(dict)
        self._versions: dict[str, int] = {}
        self.entries: list[Record] = []
        self.checks = 0

    def find(self, table: str, kind: str, round_id: str) -> Record | None:
        """The entry of a kind about a table's round, or None."""
        place = self._by_round.get((table, kind, round_id))
        return None if place is None else self.entries[place]

    def of_event(self, table: str, seq: int) -> Record | None:
        """The entry that a table's event made, or None."""
        place = self._by_event.get((table, seq))
        return None if place is None else self.entries[place]

    def amount_cents(self, meter: str, version: int) -> int | None:
        """What a meter held in a version, in cents, or None where it never had that version."""
        return self._amounts[meter].get(version)

    @property
    def versions(self) -> dict[str, int]:
        """Each meter's version, as last read."""
        return dict(self._versions)

    @property
    def claims(self) -> dict[str, str]:
        """The state of each claim by the second books."""
        return {claim: one.state for claim, one in self._books.claims.items()}

    @property
    def closed(self) -> bool:
        """Whether the link is closed."""
        return self._books.closed

    @property
    def waiting(self) -> list[str]:
        """The claims that somebody has yet to decide, oldest first."""
        return self._books.waiting()

    @property
    def waiting_envy(self) -> list[str]:
        """The claims whose Envy Bonuses the table may pay, and has not yet."""
        return self._books.waiting_envy()

    def open_round(self, table: str) -> str | None:
        """The round that the service holds open for a table, where the store can be asked."""
        try:
            (state,) = self._run(self._store.table_states([table]))
        except RedisError:
            return None
        return state.open_round

    def reconnect(self) -> None:
        """Go on after Redis was restarted."""
        self._store.redis = Redis(unix_socket_path=str(self._server))

    def check(self) -> None:
        """Read what was written, and hold everything against everything."""
        self._run(self._check())

    def _run(self, work: Coroutine[Any, Any, _T]) -> _T:
        return self._thread.submit(self._runner.run, work).result()

    async def _check(self) -> None:
        try:
            await self._read_on()
            await self._hold()
            self.checks += 1
        except OutOfMemoryError:
            return  # full as it is, it lets nobody read two things at one moment
        except (AssertionError, KeyError, ValueError, RedisError) as error:
            self._world.fail(f"the books: {type(error).__name__} {error}")

    async def _read_on(self) -> None:
        while page := await self._store.entries(len(self.entries), _PAGE):
            for number, fields in page:
                assert number == len(self.entries) + 1, f"entry {number} after {len(self.entries)}"
                entry = {name: value.decode() for name, value in fields.items()}
                self._world.note(
                    f"entry {number} {entry['kind']} {entry['table']} {entry['round']}"
                    f" by {entry['by']}"
                )
                self.entries.append(entry)
                self._take(entry, number - 1)

    def _take(self, entry: Record, place: int) -> None:
        kind, table = entry["kind"], entry["table"]
        if kind in _OF_TABLES:
            key = table, int(entry["seq"])
            assert key not in self._by_event, f"{key} is counted twice"
            self._by_event[key] = place
            self._by_round.setdefault((table, kind, entry["round"]), place)
            self._book_event(kind, table, json.loads(entry["event"]), json.loads(entry["reply"]))
        elif kind == "seed":
            self._seeded += 1
        else:
            self._book_act(kind, entry["by"], json.loads(entry["event"]))

    def _book_event(self, kind: str, table: str, event: Record, reply: Record) -> None:
        books = self._books
        if kind == "wagers":
            assert books.tables[table].round is None, f"{table} has a round open"
            assert not books.closed, f"{table} wagered on a closed link"
            assert not books.holds(table), f"{table} wagered while a hand pay was not paid"
            books.lay(table, event, reply["draw"])
            return
        assert books.tables[table].round == event["round"], f"{table} had no {event['round']} open"
        if kind == "void":
            books.void(table)
            return
        settling = Settling(books, table, event)
        settling.run()
        told = [(line["position"], line["item"], line.get("paid", 0)) for line in reply["lines"]]
        mine = [(line["position"], line["item"], line["paid"]) for line in settling.lines]
        assert told == mine, f"{table} was told {told}, due is {mine}"
        assert reply["claims"] == settling.claims, f"{reply['claims']}, due {settling.claims}"

    def _book_act(self, kind: str, by: str, event: Record) -> None:
        books = self._books
        if kind in _DECISIONS:
            claim = event["claim"]
            envy_too = bool(event.get("envy_back") or event.get("envy_paid"))
            outcome = books.decide(claim, kind, by, envy_too=envy_too)
            assert outcome in {"validated", "rejected", "paid"}, f"{kind} {claim}: {outcome}"
        elif kind in _OF_ENVY:
            outcome = books.settle_envy(event["claim"], kind)
            assert outcome in {"rejected", "paid"}, f"{kind} {event['claim']}: {outcome}"
        elif kind in {"close", "open"}:
            assert books.closed is (kind == "open"), f"the link was {kind} already"
            books.switch()
        elif kind == "adjust":
            books.adjust(event["meter"], event["amount"])
        elif kind == "parameter":
            self._change(event)

    def _change(self, event: Record) -> None:
        """A meter's paytable is another from here on."""
        assert self._books.closed, "a parameter changed while the link was open"
        assert not any(table.round for table in self._books.tables.values()), "a round was in hand"
        terms, meter = json.loads(event["terms"]), event["meter"]
        if paytable := terms["paytable"]:
            assert isinstance(self._books.meters, dict)
            self._books.meters[meter] = SecondMeter(PROGRESSIVE[paytable], terms["wager_cents"])

    async def _hold(self) -> None:
        finding = await self._audit.run()
        assert not finding.problems, f"the audit finds {finding.problems}"
        if self._seeded < len(self._books.meters):
            return
        snapshot = await self._store.snapshot()
        held = {name: micros for name, micros in snapshot.accounts.items() if micros}
        assert sum(held.values()) == 0, f"all accounts sum to {sum(held.values())}"
        due = {name: int(micros) for name, micros in self._books.micros().items()}
        wrong = {
            name: (held.get(name, 0), due.get(name, 0))
            for name in held.keys() | due.keys()
            if held.get(name, 0) != due.get(name, 0)
        }
        assert not wrong, f"balances held and due: {wrong}"
        self._hold_counts(snapshot.tallies)
        self._hold_meters(snapshot.meters, snapshot.accounts)
        await self._hold_claims()

    def _hold_counts(self, tallies: dict[str, int]) -> None:
        """Every count that the second books keep is theirs: what is counted once, and only that."""
        for name, count in self._books.tallies.items():
            assert tallies.get(name, 0) == count, f"{name}: {tallies.get(name, 0)}, due {count}"

    def _hold_meters(self, meters: dict[str, str], accounts: dict[str, int]) -> None:
        for meter in self._books.meters:
            version = int(meters[f"version:{meter}"])
            cents = accounts[f"meter:{meter}"] // 10_000
            assert int(meters[f"cycle:{meter}"]) == self._books.cycles[meter], f"cycle of {meter}"
            assert version >= self._versions.get(meter, 0), f"{meter} went back to {version}"
            self._versions[meter] = version
            known = self._amounts[meter].setdefault(version, cents)
            assert known == cents, f"{meter} held {known} and {cents} in version {version}"

    async def _hold_claims(self) -> None:
        books = self._books
        found = await self._store.claims(list(books.claims))
        for (claim, one), fields in zip(books.claims.items(), found, strict=True):
            state = fields.get("state"), int(fields.get("amount", "-1"))
            assert state == (one.state, one.cents), f"{claim} is {state}, due {one}"
        waiting = sorted(await self._store.waiting(10_000))
        due = sorted({*books.waiting(), *books.waiting_envy()})
        assert waiting == due, f"waiting {waiting}, due {due}"
