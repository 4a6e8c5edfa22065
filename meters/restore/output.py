from collections.abc import Callable, Collection, Mapping
from typing import Final

import msgspec

from bonus.display import item_words, money
from meters.ledger.claim_records import record_of
from meters.process.console import PlainConsole
from meters.restore.findings import StoreCondition, missing_outboxes
from meters.restore.link_restore import RestorePlan, RestoreResult
from meters.restore.outbox_replay import Differing
from meters.wire.messages import REPLY, Reply

Say = Callable[[str], None]

_LISTED_MAX: Final = 50


def plain_console() -> PlainConsole:
    """Return a console that prints text without colors, highlights or added line breaks."""
    return PlainConsole(soft_wrap=True)


def print_found(say: Say, link: str, found: RestorePlan) -> None:
    held = {
        StoreCondition.EMPTY: "nothing",
        StoreCondition.HALF: "the rest of an interrupted restore",
        StoreCondition.THERE: f"{found.held.entries} ledger entries",
    }[found.held.standing]
    mark = f"the mark says {found.seen}" if found.seen else "there is no mark"
    archive = f", the archive has {found.copied}" if found.copied else ""
    say(f"{link}: Redis holds {held}, {mark}{archive}")
    if found.held.other_than_seen:
        say(f"  entry {found.seen} is not the one that was seen")
    if found.kept:
        what = "payout slips are reserved for wins that the ledger does not have"
        say(f"  {len(found.kept)} {what}")
    for one in found.tables:
        if one.answered is None:
            say(f"  {one.table}: no outbox was found; the ledger has its events up to {one.last}")
        elif one.missing:
            say(f"  {one.table}: its outbox is incomplete: {one.missing} are missing")
        elif one.again:
            more = f"its outbox has {one.again} more"
            say(f"  {one.table}: the ledger has its events up to {one.last}, {more}")


def print_plan(say: Say, found: RestorePlan, without: Collection[str]) -> None:
    if found.writes:
        say(
            f"  The data in Redis will be written again from the {found.copied} entries of the"
            " archive."
        )
    if found.again:
        say(f"  {found.again} events of outboxes will be applied again.")
    say(
        "  Then the restore will be noted in the ledger, and everything will be audited. If the"
        " audit finds no fault, the mark will be reset."
    )
    given_up = [one.table for one in found.tables if one.missing and one.table in without]
    if given_up:
        say(f"  Abandoned: the events of {', '.join(given_up)} that the ledger does not have.")


def print_missing(say: Say, found: RestorePlan, without: Collection[str]) -> bool:
    """Print which events are in no outbox, and what to do. Return True if events are missing."""
    missing = missing_outboxes(found.tables, without)
    for one in missing:
        say(f"  MISSING {one}")
    if missing:
        tables = [one.table for one in found.tables if one.missing and one.table not in without]
        say(
            "  The restore cannot continue without these events. Find the outboxes,"
            " DATA/tables/TABLE.sqlite on the machine of each table's agent, or abandon the"
            " events: " + " ".join(f"--without {table}" for table in tables)
        )
    return bool(missing)


def print_restored(say: Say, link: str, restored: RestoreResult) -> None:
    finding, replayed = restored.finding, restored.replayed
    say(f"{link}: {finding.entries} ledger entries, {_verdict(restored)}")
    lost = restored.found.seen - restored.entries
    if lost > 0:
        say(
            f"  {lost} of the {restored.found.seen} earlier entries could not be restored:"
            " decisions of people, promotions, and events that are in no outbox. Repeat the"
            " decisions. If a promotion is still on, a service adds its money again, but of a part"
            " of each wager only what comes from now on. Two people adjust the meter by the rest."
        )
    for one in replayed.differing[:_LISTED_MAX]:
        say(f"  OTHERWISE {one.table} event {one.seq}: {_difference(one)}")
    if len(replayed.differing) > _LISTED_MAX:
        say(f"  and {len(replayed.differing) - _LISTED_MAX} more, which the ledger names")
    if replayed.differing:
        say(
            "  The tables got the first reply, the ledger has the second. A floorperson and an"
            " accountant settle each difference, with an adjustment if a meter must be corrected."
        )
    for fields in restored.waiting:
        say(f"  {waiting_line(fields)}")
    if restored.waiting:
        say(
            "  These wins wait for a person. A win that was validated, rejected or paid after the"
            " copy was made waits again: look for its slip before you pay it."
        )
    for slip, claim in sorted(restored.kept.items()):
        say(f"  KEPT slip {slip}, reserved for {claim}")
    if restored.kept:
        say(
            "  The ledger has no payment with these slips, but somebody can have paid with them."
            " The numbers stay used. Each can pay only its own win, if that win is listed above."
        )
    for problem in finding.problems:
        say(f"  {problem}")


def waiting_line(fields: Mapping[str, str]) -> str:
    record = record_of(fields)
    envy_cents = sum(owed.amount for owed in record.envy)
    line = (
        f"{fields['state'].upper()} {record.claim}: {item_words(record.item)} at table"
        f" {record.table}, position {record.position}"
    )
    if not record.only_envy:
        line += f", {money(int(fields['amount']))}"
    if fields.get("envy") in {"pending", "validated"}:
        line += f", Envy Bonuses of {money(envy_cents)} owed for the hand"
    return line


def _verdict(restored: RestoreResult) -> str:
    if restored.finding.balanced:
        return "balances to the micro; the mark is reset"
    return "DOES NOT BALANCE; the link stays inoperable"


def _difference(one: Differing) -> str:
    sent, now = _reply(one.sent), _reply(one.now)
    if now is None or sent is None:
        return "it got no reply this time"
    if now.error or sent.error:
        return f"it was {_status(sent)}, and is now {_status(now)}"
    paid = [
        f"{item_words(before.item)} at position {before.position} {money(before.paid)}, now"
        f" {money(after.paid)}"
        for before, after in zip(sent.lines or (), now.lines or (), strict=False)
        if before.paid != after.paid
    ]
    return "; ".join(paid) or "the reply has another text"


def _status(reply: Reply) -> str:
    return f"{reply.status} ({reply.error.code})" if reply.error else reply.status


def _reply(text: bytes) -> Reply | None:
    try:
        return REPLY.decode(text)
    except msgspec.DecodeError:
        return None
