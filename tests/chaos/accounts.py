"""Checks after a chaos run: nothing lost, nothing counted twice, nothing invented.

Three records are compared: what the devices received as answers, what the agents' outboxes hold,
and the ledger. Only the order of events comes from the ledger alone (duty D7).
"""

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec
import redis

from meters.redis_client.link_keys import LinkKeys
from tests.chaos.house_rounds import HouseRounds
from tests.chaos.own_books import OwnBooks, OwnTerms
from tests.chaos.player import Player, Reported
from tests.ledgers import read_ledger

_OF_TABLES: Final = frozenset({"wagers", "result", "void"})
_OF_CLAIMS: Final = frozenset({"validate", "reject", "pay"})
_WAYS: Final = {
    ("validate",): {"validated"},
    ("reject",): {"rejected"},
    ("validate", "pay"): {"paid"},
}
"""The possible sequences of acts on a claim, and the state after each."""


@dataclass
class Accounts:
    """Counts of a run, and the problems found, in words."""

    entries: int = 0
    events: int = 0
    wagers: int = 0
    results: int = 0
    voids: int = 0
    claims: Counter[str] = field(default_factory=Counter)
    percentages: Counter[str] = field(default_factory=Counter)
    decisions: dict[tuple[str, str], str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def expect(self, holds: bool, what: str) -> None:  # noqa: FBT001
        if not holds:
            self.problems.append(what)


def hold_together(
    link: str,
    terms: OwnTerms,
    players: Sequence[Player],
    store: redis.Redis,
    *,
    house: Mapping[str, HouseRounds],
    outboxes: Path,
    meters: Mapping[str, Mapping[str, int]],
    accounts: Accounts,
) -> None:
    """Compare the three records of one link, and its meters with an independent sum.

    The rounds of the tables in `house` are settled again.
    """
    ledger = [fields for _, fields in read_ledger(store, link)]
    accounts.entries += len(ledger)
    books = OwnBooks(terms)
    reported = {player.name: iter(player.reported) for player in players}
    opened: dict[str, tuple[str, int, bool]] = {}
    went: defaultdict[str, list[str]] = defaultdict(list)
    for entry in ledger:
        kind = entry["kind"].decode()
        if kind in _OF_TABLES:
            _replay(
                books, entry, kind,
                reported=reported, house=house, opened=opened, accounts=accounts,
            )  # fmt: skip
        elif kind in _OF_CLAIMS:
            claim = json.loads(entry["event"])["claim"]
            went[claim].append(kind)
            accounts.decisions[claim, kind] = entry["by"].decode()
            meter, cents, percent = opened[claim]
            if kind == "reject" and percent:
                books.reject(meter, cents)
    for table, rest in reported.items():
        left = len(list(rest))
        accounts.expect(
            left == 0, f"{table}: {left} events were answered and are not in the ledger"
        )
    _hold_claims(link, store, opened, went, accounts)
    for table in reported:
        _hold_outbox(outboxes / f"{table}.sqlite", table, ledger, accounts)
    for kind, micros in books.meters.items():
        held = meters[kind]["amount_micros"]
        accounts.expect(held == micros, f"{link} {kind} holds {held} micros, our sum is {micros}")
    for kind, micros in books.reserves.items():
        held = meters[kind]["reserve_micros"]
        accounts.expect(
            held == micros, f"{link} {kind} has {held} micros in reserve, our sum is {micros}"
        )


def _replay(
    books: OwnBooks,
    entry: Mapping[str, bytes],
    kind: str,
    *,
    reported: Mapping[str, Iterator[Reported]],
    house: Mapping[str, HouseRounds],
    opened: dict[str, tuple[str, int, bool]],
    accounts: Accounts,
) -> None:
    table = entry["table"].decode()
    heard = next(reported[table], None)
    accounts.expect(
        heard is not None and heard.kind == kind,
        f"{table} seq {entry['seq'].decode()}: the ledger has {kind}, the devices got"
        f" {heard and heard.kind}",
    )
    if heard is None or heard.kind != kind:
        return
    accounts.events += 1
    event, rounds = json.loads(entry["event"]), house.get(table)
    match kind:
        case "wagers":
            accounts.wagers += sum(len(each["wagers"]) for each in event["positions"])
            if rounds is not None:
                rounds.wagers(event)
            books.wagers(table, heard.wagered)
        case "void":
            accounts.voids += 1
            books.void(table)
        case _:
            accounts.results += 1
            lines = msgspec.to_builtins(list(heard.lines))
            percents = {(line["position"], line["item"]) for line in lines if line.get("percent")}
            accounts.percentages.update(books.terms.meter_of[item] for _, item in percents)
            for claim in heard.claims:
                meter = books.terms.meter_of.get(claim.item, claim.item)
                percent = (claim.position, claim.item) in percents
                opened[claim.claim] = (meter, claim.amount, percent)
            try:
                if rounds is None:
                    books.result(table, lines)
                else:
                    books.end(table)
                    due = rounds.lines(event, books)
                    assert lines == due, f"{lines}, due {due}"
            except AssertionError as error:
                accounts.problems.append(f"{table}: what was paid is not our sum: {error}")


def _hold_claims(
    link: str,
    store: redis.Redis,
    opened: Mapping[str, object],
    went: Mapping[str, Sequence[str]],
    accounts: Accounts,
) -> None:
    """Check that every claim reported to a table has exactly one final state, by one sequence."""
    for claim in opened:
        raw: Any = store.hget(LinkKeys(link).claim(claim), "state")
        state = (raw or b"none").decode()
        way = tuple(went.get(claim, ()))
        accounts.claims[state] += 1
        accounts.expect(
            state in _WAYS.get(way, ()), f"claim {claim} is {state} and went the way {way}"
        )
    stray = set(went) - set(opened)
    accounts.expect(not stray, f"claims were decided that no table received: {sorted(stray)}")


def _hold_outbox(
    path: Path, table: str, ledger: Sequence[Mapping[str, bytes]], accounts: Accounts
) -> None:
    """Check that each sent event has its reply, and each accepted one its entry, byte for byte."""
    with closing(sqlite3.connect(path)) as outbox:
        rows = outbox.execute("SELECT seq, payload, reply FROM event ORDER BY seq").fetchall()
    unanswered = [seq for seq, _, reply in rows if reply is None]
    accounts.expect(not unanswered, f"{table}: events {unanswered} have no reply")
    kept = [
        (seq, payload, reply)
        for seq, payload, reply in rows
        if reply is not None and json.loads(reply)["status"] == "accepted"
    ]
    entered = [
        (int(entry["seq"]), entry["event"], entry["reply"])
        for entry in ledger
        if entry["table"].decode() == table and entry["kind"].decode() in _OF_TABLES
    ]
    accounts.expect(
        kept == entered,
        f"{table}: its outbox has {len(kept)} accepted events, the ledger {len(entered)}, or they"
        " differ",
    )
