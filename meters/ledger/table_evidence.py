import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import msgspec

from bonus.rounds import Line
from bonus.wagers import LUCKY_BONUS, MAGIC_CARD, is_community_share
from meters.ledger.claim_records import LinkRound
from meters.ledger.entry_messages import (
    DECIDED,
    SettledReply,
    correction_of_wager,
    must_hit_by_wins,
    placed_in,
    reply_in,
    settled_in,
)
from meters.ledger.expected_claims import envy_of_result
from meters.ledger.expected_transfers import ExpectedBooks
from meters.ledger.redis_layout import DIGEST, REPLIES_KEPT, entry_of
from meters.ledger.table_corrections import (
    ASK_ACTS,
    ASK_DECISION,
    CONFIRMED_BY,
    CONFIRMS,
    OF_TABLES,
    confirmed_by,
    correction_in,
    merged,
)
from meters.wire.messages import EnteredCards, corrected_wagers, parts_elsewhere

_UNCONFIRMED: Final = "entry {entry} corrects a wager, and no floorperson confirmed it"
_UNCONFIRMED_LATER: Final = (
    "entry {entry}: nobody confirmed this entry, but an earlier entry has a correction of its round"
)

REPEATED_CLAIMS_MAX: Final = 64
"""The greatest number of claims whose state the service reports to a table again."""

_DRAWN: Final = {MAGIC_CARD: "magic_card", LUCKY_BONUS: "lucky_position"}
"""The bonuses that are drawn, each with the name of its field in the draw of a round."""

_DECISIONS: Final = frozenset({b"validate", b"reject", b"pay", b"reopen"})


class _EventHead(msgspec.Struct, frozen=True, gc=False):
    seq: int
    round: str


_EVENT_HEAD: Final = msgspec.json.Decoder(_EventHead)


class OpenedRound(msgspec.Struct, frozen=True, gc=False):
    """The wagers event of a table's open round, or the last correction of one of its wagers.

    `fed` are the meters to which the wagers of the round contributed.
    """

    entry: int
    seq: int
    round: str
    event: bytes
    reply: bytes
    fed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DecidedAsk:
    state: str
    round: str
    digest: str
    by: str
    entered: tuple[EnteredCards, ...] = field(default=(), compare=False)


class LedgerReply(msgspec.Struct, frozen=True, gc=False):
    entry: int
    event_digest: bytes
    reply_digest: bytes

    def is_kept_as(self, kept: bytes) -> bool:
        """Check whether a kept reply is this reply. `kept_text` explains its two forms."""
        if kept[:DIGEST] != self.event_digest.hex().encode():
            return False
        entry = entry_of(kept)
        return _digest(kept[DIGEST:]) == self.reply_digest if entry is None else entry == self.entry


@dataclass
class TableEvidence:
    """The state of a link's tables according to their ledger entries.

    Each mapping is by table. `last` are the sequence numbers of the tables' last events. `rounds`
    are the open rounds whose wagers are known. `decided` are the last decisions on correction
    requests for open rounds. `known` are the entered cards in the decided correction requests of
    the open round. Because of them, a later void of the round needs a confirmation, and so does a
    result with other cards. `unconfirmed` is the text about the last correction that lacks a
    necessary confirmation. Only a restore can apply such a correction, and the entry of the restore
    follows. `over` is the last finished round. `repeated_claims` are the claims, the oldest first,
    whose state the service reports again after a hello event. `replies` are the replies to the last
    events, by sequence number. Redis must have these replies; no checkpoint has them, because they
    are in the latest entries.
    """

    last: dict[str, int] = field(default_factory=dict)
    rounds: dict[str, OpenedRound] = field(default_factory=dict)
    decided: dict[str, DecidedAsk] = field(default_factory=dict)
    known: dict[str, tuple[EnteredCards, ...]] = field(default_factory=dict)
    unconfirmed: dict[str, str] = field(default_factory=dict)
    over: dict[str, str] = field(default_factory=dict)
    repeated_claims: dict[str, list[str]] = field(default_factory=dict)
    replies: dict[str, dict[int, LedgerReply]] = field(default_factory=dict)

    def decide(self, fields: Mapping[str, bytes], books: ExpectedBooks) -> None:
        decision = ASK_DECISION.decode(fields["event"])
        state = "confirmed" if fields["kind"] == CONFIRMS else "refused"
        table, entered = fields["table"].decode(), decision.entered
        self.decided[table] = DecidedAsk(
            state, decision.round, decision.digest, fields["by"].decode(), entered
        )
        self.known[table] = merged(
            self.known.get(table, ()),
            entered,
            community_ordered=books.approved.community_ordered(table),
        )

    def repeat_claims(self, table: str, claims: Sequence[str]) -> None:
        """List claims, each once, whose state the service reports to a table again."""
        known = self.repeated_claims.get(table, [])
        if not frozenset(claims).isdisjoint(known):
            known = [claim for claim in known if claim not in claims]
        self.repeated_claims[table] = [*known, *claims][-REPEATED_CLAIMS_MAX:]

    def add_entry(
        self, number: int, fields: Mapping[str, bytes], books: ExpectedBooks
    ) -> Sequence[str]:
        """Add the data of a replayed ledger entry, and return the errors in its event, as texts.

        `books` are the books after the entry.

        Raises:
            ValueError: the event has no sequence number.
            msgspec.DecodeError: the entry cannot be read.
        """
        kind, table = fields["kind"], fields["table"].decode()
        if kind not in OF_TABLES:
            if kind in ASK_ACTS:
                self.decide(fields, books)
            elif kind == b"restore":
                # A restore applies corrections from outboxes, whose confirmations can be lost.
                self.unconfirmed.clear()
            elif kind in _DECISIONS:
                self.repeat_claims(table, [DECIDED.decode(fields["event"]).claim])
            return self._never_confirmed() if kind == b"reading" else ()
        seq = int(fields["seq"])
        faults = _other_fields(kind, fields, seq)
        if table in self.rounds:
            faults += self._confirmed_wrongly(
                table, number, fields, community_ordered=books.approved.community_ordered(table)
            )
        if kind == b"correct_wager":
            faults += self._corrected(table, number, fields)
        before = self.last.get(table, 0)
        if kind == b"wagers" or (kind == b"correct_wager" and table in books.rounds):
            self._pass(table, seq)
            fed = tuple(dict.fromkeys([one.meter for one in books.rounds.get(table, ())]))
            self.rounds[table] = OpenedRound(
                number, seq, fields["round"].decode(), fields["event"], fields["reply"], fed
            )
            if won := must_hit_by_wins(fields["reply"]):
                self.repeat_claims(table, [one.claim for one in won])
        else:
            faults += self._end_round(table, seq, fields, books)
        self._keep_reply(table, number, seq, fields)
        if seq <= before:
            message = f"event {seq} of table {table} follows its event {before}"
            faults.append(f"{message}: it was counted again")
        return faults

    def _never_confirmed(self) -> list[str]:
        """Return the corrections that no restore explains before the close of a gaming day.

        After a restore, the service closes no day before the ledger has the entry of the restore.
        The archiver archives no day with such a correction, so the entries stay in Redis.
        """
        found = [
            f"table {table}: {problem}; then the gaming day was closed"
            for table, problem in sorted(self.unconfirmed.items())
        ]
        self.unconfirmed.clear()
        return found

    def _corrected(self, table: str, number: int, fields: Mapping[str, bytes]) -> list[str]:
        """Return the errors in the correction of a wager, as texts.

        The correction must come before the first card. It must not change other wagers of the
        round, their patrons or the draw.
        """
        if not confirmed_by(fields["by"].decode()):
            self.unconfirmed[table] = _UNCONFIRMED.format(entry=number)
        opened = self.rounds.get(table)
        if opened is None:
            return []
        event, faults = correction_of_wager(fields["event"]), []
        before = {one.position: one for one in placed_in(opened.event).positions}
        after = {one.position: one for one in event.positions}
        own = before.get(event.position)
        if event.adds == (own is not None and event.wager in own.wagers):
            had = "is in the round already" if event.adds else "is not in the round"
            faults.append(f"{event.wager} of position {event.position} {had}")
        elif own and not event.adds and own.wagers[event.wager] != event.amount:
            faults.append(
                f"it takes back {event.amount} cents, but {event.wager} of position"
                f" {event.position} is {own.wagers[event.wager]} cents"
            )
        due = corrected_wagers(before, event)
        if own is None and event.position in due and event.position in after:
            patron = after[event.position].patron
            due[event.position] = msgspec.structs.replace(due[event.position], patron=patron)
        if due != after or event.round != opened.round or len(after) < len(event.positions):
            faults.append(f"its other wagers are not those of event {opened.seq}")
        if reply_in(fields["reply"]).draw != reply_in(opened.reply).draw:
            faults.append(f"its draw is not that of event {opened.seq}")
        if self.known.get(table):
            faults.append("cards of the round were entered before this correction")
        return faults

    def _end_round(
        self, table: str, seq: int, fields: Mapping[str, bytes], books: ExpectedBooks
    ) -> list[str]:
        self._pass(table, seq)
        self.over[table] = fields["round"].decode()
        opened = self.rounds.pop(table, None)
        if fields["kind"] != b"result":
            return []
        settled = settled_in(fields["reply"])
        won = [one.claim for one in settled.reply.claims or ()]
        if settled.has_envy:
            owed = envy_of_result(books, table, seq)
            won += [claim for claim in owed if owed[claim].state == "validated"]
        if won:
            self.repeat_claims(table, won)
        if opened is None:
            return []
        faults = _other_lines(opened, settled.reply.lines or (), books)
        return faults + self._other_link_share(table, opened, settled, books)

    def _other_link_share(
        self, table: str, opened: OpenedRound, settled: SettledReply, books: ExpectedBooks
    ) -> list[str]:
        """Return an error if a community share did not go to the right players of the link.

        These are the players whose wagers on the meter were accepted, in rounds that are open now.
        """
        approved, reply = books.approved, settled.reply
        if table not in approved.tables:
            return []
        game, meters = approved.tables[table].game, books.meters_by_item(opened.fed)
        due: dict[tuple[str, int | None], list[tuple[str, str, int]]] = {}
        for line in settled.paid:
            names = approved.meters.get(meters[line.item])
            wager = names.link_shares.get(game) if names else None
            if wager and is_community_share(line.item):
                due[line.item, line.hand_of] = [
                    (each.table, each.round, one.position)
                    for each in self.link_rounds()
                    if meters[line.item] in each.fed
                    for one in each.players(wager)
                ]
        must = [(*won, *of) for of, every in due.items() for won in every]
        had = [
            (one.table, one.round, one.position, one.item, one.hand_of)
            for one in parts_elsewhere(reply)
        ]
        if had == must and (reply.link_share is not None) == bool(due):
            return []
        wrong, right = (
            ", ".join(f"position {position} of {at}" for at, _, position, *_ in every) or "nobody"
            for every in (had, must)
        )
        return [f"at other tables, it divides its community share among {wrong}, not among {right}"]

    def link_rounds(self, assets: Mapping[str, Sequence[str]] | None = None) -> list[LinkRound]:
        """Return the open rounds of the link, in the order of the tables' names."""
        return [
            LinkRound(
                table,
                (assets or {}).get(table, [""])[-1],
                one.round,
                one.seq,
                placed_in(one.event).positions,
                one.fed,
            )
            for table, one in sorted(self.rounds.items())
        ]

    def _keep_reply(self, table: str, number: int, seq: int, fields: Mapping[str, bytes]) -> None:
        replies = self.replies.setdefault(table, {})
        replies[seq] = LedgerReply(number, _digest(fields["event"]), _digest(fields["reply"]))
        while (first := next(iter(replies))) <= seq - REPLIES_KEPT:
            del replies[first]

    def _pass(self, table: str, seq: int) -> None:
        self.last[table] = max(seq, self.last.get(table, 0))
        self.decided.pop(table, None)
        self.known.pop(table, None)

    def _confirmed_wrongly(
        self, table: str, number: int, fields: Mapping[str, bytes], *, community_ordered: bool
    ) -> list[str]:
        """Return an error if an event names a confirmer whose decision is in no earlier entry.

        The table must have an open round.

        Also note an event that lacks a necessary confirmer: somebody decided on an earlier
        correction request of the round. A restore applies such an event if Redis lost the event,
        but kept the decision.
        """
        by, known = fields["by"], self.known.get(table, ())
        who = confirmed_by(by.decode()) if CONFIRMED_BY in by else ""
        if not who and not known:
            return []
        correction_of = partial(correction_in, fields["event"], community_ordered=community_ordered)
        if not who:
            if correction_of(known) is not None:
                self.unconfirmed[table] = _UNCONFIRMED_LATER.format(entry=number)
            return []
        decided = self.decided.get(table)
        correction = correction_of(decided.entered if decided else ())
        digest = correction.digest if correction else ""
        due = DecidedAsk("confirmed", fields["round"].decode(), digest, who)
        if decided == due:
            return []
        return [f"it says that {who} confirmed it, but no entry of this round says so"]


def _other_fields(kind: bytes, fields: Mapping[str, bytes], seq: int) -> list[str]:
    """Return errors in an entry: its author, event and reply must fit its table, round and `seq`.

    The reply matters, because a table that repeats the event gets the reply again.
    """
    faults, by, table = [], fields["by"], b"table:" + fields["table"]
    event = _EVENT_HEAD.decode(fields["event"])
    if by != table and by.partition(CONFIRMED_BY)[0] != table:
        faults.append(f"it is by {by.decode()}, and not by its table")
    if event.seq != seq or event.round.encode() != fields["round"]:
        differs = "which differs from the entry"
        faults.append(f"its event is {event.seq} of round {event.round}, {differs}")
    reply = settled_in(fields["reply"]).reply if kind == b"result" else reply_in(fields["reply"])
    if reply.status != "accepted" or reply.seq != seq:
        faults.append(f"its reply is {reply.status} to event {reply.seq}")
    return faults


def _other_lines(opened: OpenedRound, lines: Sequence[Line], books: ExpectedBooks) -> list[str]:
    """Return the errors in a result: wagers or a draw that differ from the entry of the wagers.

    In the result, each wager must have one settlement line. Every other line that pays a percentage
    of a meter must name the amount of its position's wager on this meter.
    """
    wagered = books.wagers
    placed = placed_in(opened.event)
    had = [(one.position, one.item, one.wagered) for one in lines if one.item in wagered]
    had.sort()
    if had != placed.wagers:
        return [f"it settles other wagers than those of event {opened.seq}, which were counted"]
    meters, own = books.meters_by_item(opened.fed), set(placed.wagers)
    faults = [
        f"{one.item} of position {one.position} is for a wager of {one.wagered} cents, which is not"
        f" in event {opened.seq}"
        for one in lines
        if one.percent and one.item not in wagered
        if own.isdisjoint(
            (one.position, wager, one.wagered) for wager in books.wagers_of(meters[one.item])
        )
    ]
    drawn = [one.item for one in lines if one.item in _DRAWN]
    if not drawn:
        return faults
    draw = reply_in(opened.reply).draw
    odd = [item for item in drawn if getattr(draw, _DRAWN[item], None) is None]
    return faults + [f"it pays {item}, which was not drawn" for item in odd]


def _digest(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=16).digest()
