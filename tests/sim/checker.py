"""Checks of the books after every script that a service ran, over a separate connection."""

import asyncio
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import redis.asyncio
from redis import Redis
from redis.exceptions import OutOfMemoryError, RedisError

from meters.acts.claim_types import AskRow
from meters.audit.link_audit import LinkAudit
from meters.floor.floor_file import Link
from meters.ledger.redis_layout import StoredTable
from meters.store.link_store import LinkStore
from meters.store.stored_entries import StreamEntry, unpack_entry
from tests.model.model_floor import ModelFloor
from tests.model.second_settling import Settling
from tests.sim.asks import Asks
from tests.sim.world import World

Record = dict[str, Any]
_Row = Mapping[bytes, bytes]
_PAGE: Final = 500
AUDIT_EVERY: Final = 10
"""Number of checks after which the store is audited too and decided claims are checked again."""
_CHANGES: Final = re.compile(rb"rdb_changes_since_last_save:([0-9]+)")
_ENDED: Final = ("paid", "rejected")
_STATES: Final = ("pending", "validated", *_ENDED)
_OF_TABLES: Final = ("wagers", "correct_wager", "result", "void")
_DECISIONS: Final = ("validate", "reject", "pay")
_REQUESTS: Final = ("request_reject", "request_reopen")
_OF_ENVY: Final = ("pay_envy", "reject_envy")
_OF_ASKS: Final = ("confirm_correction", "refuse_correction")


class Checker:
    """Compares the store with a second set of books, kept from the ledger entry by entry.

    It reads while the simulation is paused. If Redis has written nothing since the last read,
    everything is unchanged, and nothing is read.
    """

    def __init__(self, world: World, link: Link, server: Path, played: ModelFloor) -> None:
        self._world = world
        self._played = played
        self._link = link
        # The audit is asynchronous and needs another loop than the simulation's.
        self._thread = ThreadPoolExecutor(1)
        self._runner = asyncio.Runner()
        self._server = server
        self._store = LinkStore(redis.asyncio.Redis(unix_socket_path=str(server)), link)
        self._keys = self._store.keys
        self._audit = LinkAudit(self._store)
        self._redis = self._connect()
        self._changes: bytes | None = None
        self._unaudited = 0
        self._ended: set[str] = set()
        self.books = played.second_books()
        self.books.hidden = self._hidden
        self._values: dict[tuple[str, int], int] = {}
        self._seeded = 0
        self._by_event: dict[tuple[str, int], int] = {}
        self._by_round: dict[tuple[str, str, str], int] = {}
        self._amounts: dict[str, dict[int, int]] = defaultdict(dict)
        self.versions: dict[str, int] = {}
        self.asks = Asks()
        self.entries: list[Record] = []
        self.checks = 0
        self.asking = False

    def _connect(self) -> Redis:
        client = Redis(unix_socket_path=str(self._server))
        client.set_response_callback("INFO", bytes)
        return client

    def find(self, table: str, kind: str, round_id: str) -> Record | None:
        place = self._by_round.get((table, kind, round_id))
        return None if place is None else self.entries[place]

    def of_event(self, table: str, seq: int) -> Record | None:
        place = self._by_event.get((table, seq))
        return None if place is None else self.entries[place]

    def amount_cents(self, meter: str, version: int) -> int | None:
        """Return a meter's balance at a version in cents, or None if it never had that version."""
        return self._amounts[meter].get(version)

    @property
    def claims(self) -> dict[str, str]:
        return {claim: one.state for claim, one in self.books.claims.items()}

    @property
    def requests(self) -> dict[str, int]:
        """The ledger entry of each request that waits for another person, by claim."""
        claims = self.books.claims.items()
        return {claim: one.request.entry for claim, one in claims if one.request}

    @property
    def slips(self) -> dict[str, str]:
        return {claim: one.slip for claim, one in self.books.claims.items() if one.slip}

    def show_ask(self, row: AskRow) -> None:
        try:
            self.asks.show(row)
        except AssertionError as error:
            self._world.fail(f"the asks: {error}")

    def open_round(self, table: str) -> str | None:
        try:
            found: Any = self._redis.hget(self._keys.tables, table)
        except RedisError:
            return None
        return StoredTable(found).state.round or None

    def reconnect(self) -> None:
        self._redis, self._changes = self._connect(), None
        self._store.redis = redis.asyncio.Redis(unix_socket_path=str(self._server))

    def check(self, *, whole: bool = False) -> None:
        """Compare all that was written. Audit it too if an audit is due, or if `whole` is true."""
        try:
            changes = self._count_changes()
            if changes == self._changes and not whole:
                return
            self._unaudited += 1
            due = whole or self._unaudited >= AUDIT_EVERY
            self._read(every_claim=due)
            if due:
                self._thread.submit(self._runner.run, self._audited()).result()
                self._unaudited = 0
            self._changes = changes
            self.checks += 1
        except OutOfMemoryError:
            return  # a full Redis lets no audit read two keys at one moment
        except (AssertionError, KeyError, ValueError, RedisError) as error:
            self._world.fail(f"the books: {type(error).__name__} {error}")

    def _count_changes(self) -> bytes:
        persistence: Any = self._redis.info("persistence")
        found = _CHANGES.search(persistence)
        assert found, "Redis counts no changes"
        return found[1]

    def close(self) -> None:
        self._redis.close()
        self._thread.submit(self._runner.run, self._store.redis.aclose()).result()
        self._thread.submit(self._runner.close).result()
        self._thread.shutdown()

    async def _audited(self) -> None:
        finding = await self._audit.run()
        assert not finding.problems, f"the audit finds {finding.problems}"

    def _read(self, *, every_claim: bool) -> None:
        keys = self._keys
        page = [()]
        while page:
            with self._redis.pipeline(transaction=False) as pipe:
                pipe.xrange(keys.ledger, min=f"({len(self.entries)}-0", count=_PAGE)
                pipe.hgetall(keys.accounts)
                pipe.hgetall(keys.tallies)
                pipe.hgetall(keys.meters)
                pipe.zrange(keys.waiting, 0, -1)
                pipe.hgetall(keys.asks)
                page, accounts, tallies, meters, waiting, asks = pipe.execute()
            self._read_on(page)
        if self._seeded < len(self.books.meters):
            return
        self._hold_accounts({name.decode(): int(value) for name, value in accounts.items()})
        self._hold_counts(tallies)
        self._hold_meters(meters, accounts)
        self._hold_claims([claim.decode() for claim in waiting], every=every_claim)
        self._hold_asks({name.decode(): text.decode() for name, text in asks.items()})

    def _read_on(self, page: Iterable[StreamEntry]) -> None:
        for number, fields in (entry for row in page for entry in unpack_entry(row)):
            assert number == len(self.entries) + 1, f"entry {number} after {len(self.entries)}"
            entry = {name: value.decode() for name, value in fields.items()}
            self._world.note(
                f"entry {number} {entry['kind']} {entry['table']} {entry['round']} by {entry['by']}"
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
            if kind == "correct_wager":
                self._by_round[table, kind, entry["round"]] = place
            self.asks.apply(entry, json.loads(entry["event"]))
            self._book_event(kind, table, json.loads(entry["event"]), json.loads(entry["reply"]))
        elif kind == "seed":
            self._seeded += 1
        elif kind == "hidden_value":
            drawn = json.loads(entry["event"])
            if opened := drawn.get("opened"):
                self._values[drawn["meter"], drawn["cycle"] - 1] = opened["micros"]
        else:
            self.books.entries = place
            self._book_act(kind, entry, json.loads(entry["event"]))

    def _hidden(self, meter: str, cycle: int) -> int:
        """Return a hidden value that the ledger has opened; before that, no wager reaches it.

        The audit finds a wager that had reached it.
        """
        return self._values.get((meter, cycle), 2**63)

    def _book_event(self, kind: str, table: str, event: Record, reply: Record) -> None:
        books = self.books
        if kind == "wagers":
            assert books.tables[table].round is None, f"{table} has a round open"
            assert not books.closed, f"{table} wagered on a closed link"
            assert not books.holds(table), f"{table} wagered while a hand pay was not paid"
            won = books.lay(table, event, reply["draw"])
            assert reply.get("claims", []) == won, f"{table} won {reply}, and {won} is due"
            return
        assert books.tables[table].round == event["round"], f"{table} had no {event['round']} open"
        if kind == "void":
            books.void(table)
            return
        if kind == "correct_wager":
            self._correct(table, event, reply)
            return
        settling = Settling(books, table, event)
        settling.run()
        paid = [(line["position"], line["item"], line.get("paid", 0)) for line in reply["lines"]]
        mine = [(line["position"], line["item"], line["paid"]) for line in settling.lines]
        assert paid == mine, f"{table} got {paid}, but {mine} is due"
        assert reply["claims"] == settling.claims, f"{reply['claims']}, due {settling.claims}"

    def _correct(self, table: str, event: Record, reply: Record) -> None:
        """Book the correction of a wager: only this wager, and not the draw, is different."""
        books, at = self.books, self.books.tables[table]
        place = event["position"], event["wager"]
        had = {(one, wager) for one, bet in at.bets.items() for wager in bet["wagers"]}
        has = {(bet["position"], wager) for bet in event["positions"] for wager in bet["wagers"]}
        due = (had | {place}, set()) if event["action"] == "add" else (had - {place}, {place})
        assert (has, {place} & had) == due, f"{table}: {event} corrects {had}"
        assert reply["draw"] == at.draw, f"{table}: {reply} is another draw than {at.draw}"
        assert not (books.closed and event["action"] == "add"), f"{table} wagered on a closed link"
        won = books.correct(table, event)
        assert reply.get("claims", []) == won, f"{table} won {reply}, and {won} is due"

    def _book_act(self, kind: str, entry: Record, event: Record) -> None:
        books, by = self.books, entry["by"]
        if kind in _DECISIONS or kind in {*_REQUESTS, "withdraw_request", "reopen", "correct_slip"}:
            outcome = self._book_claim(kind, by, event)
            assert outcome in _STATES, f"{kind} {event['claim']}: {outcome}"
        elif kind in _OF_ENVY:
            outcome = books.settle_envy(event["claim"], kind)
            assert outcome in {"rejected", "paid"}, f"{kind} {event['claim']}: {outcome}"
        elif kind in {"close", "open"}:
            assert books.closed is (kind == "open"), f"the link was {kind} already"
            books.switch()
        elif kind == "reading":
            books.close_day()
        elif kind == "adjust":
            books.adjust(event["meter"], event["amount"])
        elif kind == "promotion":
            one = books.promotions[event["promotion"]]
            cents = books.add_promotion(event["promotion"], event["day"], event.get("count"))
            assert (event["meter"], event["amount"]) == (one.meter, cents), f"{event} adds"
        elif kind == "parameter":
            self._change(event)
        elif kind in _OF_ASKS:
            self.asks.decide(entry, event, books.tables[entry["table"]].round)

    def _book_claim(self, kind: str, by: str, event: Record) -> str:
        books, claim, slip = self.books, event["claim"], event.get("slip", "")
        envy_too = bool(event.get("envy_back") or event.get("envy_paid"))
        if kind in _REQUESTS:
            return books.request(claim, kind, by, envy_too=envy_too)
        if kind == "withdraw_request":
            return books.withdraw(claim, event["request"])
        if kind == "correct_slip":
            return books.correct_slip(claim, slip, event["old_slip"])
        if request := event.get("request"):
            self._ended.discard(claim)
            return books.confirm(claim, by, request)
        return books.decide(claim, kind, by, envy_too=envy_too, slip=slip)

    def _change(self, event: Record) -> None:
        assert self.books.closed, "a parameter changed while the link was open"
        assert not any(table.round for table in self.books.tables.values()), "a round was open"
        terms, meter = json.loads(event["terms"]), event["meter"]
        if paytable := terms["paytable"]:
            law = self._played.laws[meter][paytable]
            before = self.books.meters[meter]
            self.books.meters[meter] = replace(before, law=law, paytable=paytable)

    def _hold_accounts(self, accounts: Mapping[str, int]) -> None:
        assert sum(accounts.values()) == 0, f"all accounts sum to {sum(accounts.values())}"
        due = {name: int(micros) for name, micros in self.books.micros().items()}
        wrong = {
            name: (accounts.get(name, 0), due.get(name, 0))
            for name in accounts.keys() | due.keys()
            if accounts.get(name, 0) != due.get(name, 0)
        }
        assert not wrong, f"balances held and due: {wrong}"

    def _hold_counts(self, tallies: _Row) -> None:
        for name, count in self.books.tallies.items():
            held = int(tallies.get(name.encode(), 0))
            assert held == count, f"{name}: {held}, due {count}"

    def _hold_meters(self, meters: _Row, accounts: _Row) -> None:
        for meter in self.books.meters:
            version = int(meters[f"version:{meter}".encode()])
            cycle = int(meters[f"cycle:{meter}".encode()])
            cents = int(accounts[f"meter:{meter}".encode()]) // 10_000
            assert cycle == self.books.cycles[meter], f"cycle of {meter}"
            assert version >= self.versions.get(meter, 0), f"{meter} went back to {version}"
            self.versions[meter] = version
            known = self._amounts[meter].setdefault(version, cents)
            assert known == cents, f"{meter} held {known} and {cents} in version {version}"

    def _hold_asks(self, held: Mapping[str, str]) -> None:
        self.asks.hold(held, {name: one.round for name, one in self.books.tables.items()})
        self.asking = any(f"{table}!" not in held for table in held if not table.endswith("!"))

    def _hold_claims(self, waiting: Sequence[str], *, every: bool) -> None:
        """Check each claim. Claims found final and correct are checked again only with `every`."""
        books = self.books
        claims = [claim for claim in books.claims if every or claim not in self._ended]
        with self._redis.pipeline(transaction=False) as pipe:
            for claim in claims:
                pipe.hmget(self._keys.claim(claim), ["state", "amount"])
            rows = pipe.execute()
        for claim, (state, cents) in zip(claims, rows, strict=True):
            one = books.claims[claim]
            held = (state or b"").decode(), int(cents or -1)
            assert held == (one.state, one.cents), f"{claim} is {held}, due {one}"
            if one.state in _ENDED:
                self._ended.add(claim)
        due = sorted({*books.waiting(), *books.waiting_envy()})
        assert sorted(waiting) == due, f"waiting {sorted(waiting)}, due {due}"
