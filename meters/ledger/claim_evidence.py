"""Claims as the ledger has them: records, decisions and payout slips (duties D16, D17).

The ledger entries of a claim's round and decisions determine every field of the claim's Redis hash.
So an audit computes these fields from the ledger, compares them with Redis, and finds changes that
somebody made directly in Redis.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Self, get_args

import msgspec

from meters.ledger.accounts import HOUSE, Transfer, claim_account, overflow_account, transfers_in
from meters.ledger.claim_records import ClaimRecord, Records, must_hit_by_record, record_of
from meters.ledger.entry_messages import (
    DECIDED,
    RESTORING,
    DecisionRecord,
    SettledReply,
    must_hit_by_wins,
    placed_in,
    settled_in,
)
from meters.ledger.expected_claims import envy_of_result
from meters.ledger.expected_transfers import ExpectedBooks, HeldEnvy, HeldWin
from meters.ledger.floor_approvals import approved_floor
from meters.ledger.link_state import ClaimRequest
from meters.ledger.redis_layout import ANY_WIN, METER_AWARD
from meters.ledger.slip_numbers import fold_slip, kept_for
from meters.ledger.table_corrections import OF_TABLES, is_act
from meters.ledger.table_evidence import TableEvidence
from meters.wire.messages import (
    ClaimOpened,
    Reply,
    Result,
    WagerCorrection,
    Wagers,
    parts_elsewhere,
)

Fields = Mapping[str, str]
"""The fields of a claim's Redis hash."""

WINS_KEPT: Final = 25
"""Number of the latest wins of each meter that remain in Redis, even if they are old (duty D16)."""

_RESULT: Final = msgspec.json.Decoder(Result)
_WAGERS: Final = msgspec.json.Decoder(Wagers | WagerCorrection)
_RECORD: Final = msgspec.json.Decoder(ClaimRecord)
_GIVEN: Final = msgspec.json.Decoder(dict[str, object])
_STATES: Final = {
    "validate": "validated", "reject": "rejected", "pay": "paid",
    "pay_envy": "paid", "reject_envy": "rejected", "reopen": "pending",
}  # fmt: skip
_REQUESTS: Final = frozenset(get_args(ClaimRequest))
_REQUEST_FIELDS: Final = ("request", "request_by", "request_at", "request_entry")
CORRECTION_FIELDS: Final = ("slip_correction", "correct_slip_by", "correct_slip_at")
"""The fields of a claim about the last correction of its slip number. This correction can be long
after the final decision."""
_ENVY_ACTS: Final = frozenset({"pay_envy", "reject_envy"})
_COMPARED: Final = (
    "amount", "after", "state", "entry", "at", "by", "decision",
    "envy", "envy_by", "envy_at", "envy_decision",
    *(f"{act}_{what}" for act in _STATES for what in ("by", "at")),
    *_REQUEST_FIELDS, "returned", "of_house",
    *CORRECTION_FIELDS,
)  # fmt: skip
_SHOWN_MAX: Final = 80


CLAIM_ACTS: Final = frozenset(act.encode() for act in (*_STATES, *_REQUESTS, "correct_slip"))
"""The kinds of the ledger entries that change a claim."""


class WinPlace(NamedTuple):
    """The place of a claim in the lists of wins: by the entry that opened it, then by its name.

    `is_award` is true if the win is a percentage of the meter.
    """

    entry: int
    claim: str
    meter: str
    is_award: bool

    @classmethod
    def of(cls, claim: str, fields: Fields) -> Self:
        record = record_of(fields)
        return cls(int(fields["entry"]), claim, record.meter, record.percent is not None)

    @property
    def members(self) -> list[str]:
        """The members that belong to the claim in the index of wins in Redis."""
        lists = (ANY_WIN, METER_AWARD) if self.is_award else (ANY_WIN,)
        return [f"{self.meter}{each}{self.entry:016d}:{self.claim}" for each in lists]


@dataclass
class Evidence:
    """The claims of a link, according to its ledger.

    Attributes:
        claims: the fields that the Redis hash of each claim must have.
        ended: the number of the ledger entry that finally decided each claim.
        assets: the asset numbers that each table had in the approved floor files, the latest last.
        in_order: the place of each claim in `claims`, sorted.
        slips: for each payout slip, the claim that was paid with the slip; if a restore keeps the
            slip's number, the text of `kept_for`. The numbers are in the folded form.
        slips_in_order: the payout slips in the order in which they were added to `slips`.
        opened: the claims of the replayed results.
        acts: the numbers of the ledger entries that are acts (`is_act`). Acts up to the entry
            `acts_after` were removed.

    A checkpoint has the first three attributes. So a replay that begins at a checkpoint lacks the
    earlier payout slips, which are too many for a checkpoint, and the earlier acts, which Redis no
    longer has.
    """

    claims: dict[str, dict[str, str]] = field(default_factory=dict)
    ended: dict[str, int] = field(default_factory=dict)
    assets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    in_order: list[WinPlace] = field(default_factory=list)
    slips: dict[str, str] = field(default_factory=dict)
    slips_in_order: list[str] = field(default_factory=list)
    opened: set[str] = field(default_factory=set)
    acts: list[int] = field(default_factory=list)
    acts_after: int = 0

    def __post_init__(self) -> None:
        places = (WinPlace.of(claim, fields) for claim, fields in self.claims.items())
        self.in_order = sorted(places)

    def remaining(self, also: Iterable[str]) -> set[str]:
        """Return the claims that remain in Redis when Redis no longer has their gaming days.

        These are the latest wins of each meter, and the claims in `also`.
        """
        found, counts = set(also), Counter[tuple[str, bool]]()
        for place in reversed(self.in_order):
            for award in {False, place.is_award}:
                counts[place.meter, award] += 1
                if counts[place.meter, award] <= WINS_KEPT and place.claim in self.claims:
                    found.add(place.claim)
        return found

    def add_entry(
        self, number: int, fields: Mapping[str, bytes], tables: TableEvidence, books: ExpectedBooks
    ) -> None:
        """Add the data of a replayed ledger entry.

        `tables` are the tables before this entry, and `books` are the balances after it.

        Raises:
            KeyError, ValueError, msgspec.DecodeError: the entry cannot be read.
        """
        kind = fields["kind"]
        if is_act(kind, fields["event"], fields["by"]):
            self.acts.append(number)
        if kind in OF_TABLES:
            self._add_event(number, fields, tables, books)
            return
        if slips := slips_in(number, fields):
            self.slips |= slips
            self.slips_in_order += slips
        if kind in CLAIM_ACTS:
            self._decide(number, fields, books)
        elif kind == b"approve":
            for table, asset in approved_floor(fields["event"]).assets.items():
                known = self.assets.get(table, ())
                if asset not in known[-1:]:
                    self.assets[table] = (*known, asset)

    def _add_event(
        self, number: int, fields: Mapping[str, bytes], tables: TableEvidence, books: ExpectedBooks
    ) -> None:
        if fields["kind"] != b"result":
            if won := must_hit_by_wins(fields["reply"]):
                self._open_must_hit_by(number, fields, won, books)
        elif fields["table"].decode() in tables.rounds:
            settled = settled_in(fields["reply"])
            if settled.reply.claims != () or settled.has_envy:
                self._open(number, fields, tables, settled, books)

    def differences(self, claim: str, held: Fields) -> list[str]:
        return claim_differences(claim, self.claims[claim], held, self.assets_of(claim))

    def assets_of(self, claim: str) -> Sequence[str]:
        return self.assets.get(record_of(self.claims[claim]).table, ())

    def forget_ended(self, but: Set[str], to: int) -> None:
        """Remove finally decided claims except `but`, and acts up to entry `to`, to save memory."""
        self.acts.clear()
        self.acts_after = to
        self.slips_in_order.clear()
        for claim in self.ended.keys() - but:
            self.claims.pop(claim, None)
            del self.ended[claim]
        self.in_order = [place for place in self.in_order if place.claim in self.claims]

    def _open(
        self,
        number: int,
        fields: Mapping[str, bytes],
        tables: TableEvidence,
        settled: SettledReply,
        books: ExpectedBooks,
    ) -> None:
        table, reply = fields["table"].decode(), settled.reply
        opened = tables.rounds[table]
        lines, claims = reply.lines or (), reply.claims or ()
        envy = envy_of_result(books, table, reply.seq or 0) if settled.has_envy else {}
        link = next((one.partition(".")[0] for one in (*(c.claim for c in claims), *envy)), "")
        claimed = {(one.position, one.item, one.hand_of) for one in claims}
        meters = books.meters_by_item(opened.fed)
        waiting = [
            line
            for line in lines
            if (line.position, line.item, line.hand_of) in claimed and line.paid_from
        ]
        records = Records(
            _RESULT.decode(fields["event"]),
            placed_in(opened.event).positions,
            lines,
            waiting,
            link=link,
            table=table,
            asset=self.assets.get(table, [""])[-1],
            meter_of=meters.__getitem__,
        )
        made: dict[str, tuple[ClaimRecord, dict[str, str]]] = {}
        for line in waiting:
            record = records.record(line)
            claim = record.claim
            made[claim] = record, fields_of(books.claims[claim], envy.get(claim))
        if reply.link_share:
            made |= self._shares_on_link(records, reply, tables, books, table=table, meters=meters)
        for claim, held in envy.items():
            if claim not in books.claims:
                record = records.envy_record(held.holder, held.lines_of(lines))
                found = {"amount": "0", "after": str(held.after_cents), "state": "validated"}
                made[claim] = record, found | {"envy": "validated"}
        self._add_opened(number, fields, made)

    def _shares_on_link(
        self,
        records: Records,
        reply: Reply,
        tables: TableEvidence,
        books: ExpectedBooks,
        *,
        table: str,
        meters: Mapping[str, str],
    ) -> dict[str, tuple[ClaimRecord, dict[str, str]]]:
        """Return the parts of a community share for players at other tables.

        `TableEvidence` reports a part that no player can have; it is left out here.
        """
        rounds = {one.table: one for one in tables.link_rounds(self.assets)}
        like = {(line.item, line.hand_of): line for line in reply.lines or ()}
        game = books.approved.tables[table].game
        made: dict[str, tuple[ClaimRecord, dict[str, str]]] = {}
        for share in parts_elsewhere(reply):
            wager = books.approved.meters[meters[share.item]].link_shares[game]
            at = rounds.get(share.table)
            placed = at.positions if at else ()
            won = next((one for one in placed if one.position == share.position), None)
            if at and won and wager in won.wagers:
                record = records.link_record(like[share.item, share.hand_of], at, won, wager)
                held = books.claims.get(record.claim)
                made[record.claim] = record, fields_of(held, None)
        return {claim: one for claim, one in made.items() if claim in books.claims}

    def _open_must_hit_by(
        self,
        number: int,
        fields: Mapping[str, bytes],
        won: Sequence[ClaimOpened],
        books: ExpectedBooks,
    ) -> None:
        table, event = fields["table"].decode(), _WAGERS.decode(fields["event"])
        made: dict[str, tuple[ClaimRecord, dict[str, str]]] = {}
        for turn, one in enumerate(won, start=1):
            held = books.claims[one.claim]
            record = must_hit_by_record(
                event, one.position, held.wager,
                meter=held.meter, rule=books.terms[held.meter].rule,
                link=one.claim.partition(".")[0], table=table,
                asset=self.assets.get(table, [""])[-1], turn=turn, turns=len(won),
            )  # fmt: skip
            made[record.claim] = record, fields_of(held, None)
        self._add_opened(number, fields, made)

    def _add_opened(
        self,
        number: int,
        fields: Mapping[str, bytes],
        made: Mapping[str, tuple[ClaimRecord, dict[str, str]]],
    ) -> None:
        for claim, (record, found) in sorted(made.items()):
            self.opened.add(claim)
            is_award = record.percent is not None
            self.in_order.append(WinPlace(number, claim, record.meter, is_award))
            self.claims[claim] = found | {
                "record": msgspec.json.encode(record).decode(),
                "entry": str(number),
                "at": fields["at"].decode(),
            }

    def _decide(self, number: int, fields: Mapping[str, bytes], books: ExpectedBooks) -> None:
        decided, by = DECIDED.decode(fields["event"]), fields["by"].decode()
        claim = decided.claim
        if claim in books.claims or claim in books.envy:
            self.ended.pop(claim, None)
        elif decided.act not in {"correct_slip", *_REQUESTS}:
            self.ended[claim] = number
        # The slip number of a win that does not remain in Redis can be corrected until its gaming
        # day is deleted from Redis. A replay that begins after this day does not have the win.
        if claim in self.claims:
            self.claims[claim] = decided_claim(self.claims[claim], decided, by, number, fields)


def slips_in(number: int, fields: Mapping[str, bytes]) -> dict[str, str]:
    """Return the claims of the payout slips in a ledger entry, by slip number.

    Only restores, and acts on claims, have slips. For a number that a restore keeps, the value is
    the text of `kept_for`.
    """
    kind = fields["kind"]
    if kind in CLAIM_ACTS:
        decided = DECIDED.decode(fields["event"])
        return {fold_slip(decided.slip): decided.claim} if decided.slip else {}
    if kind == b"restore":
        kept = RESTORING.decode(fields["event"]).kept
        return {slip: kept_for(claim, number) for slip, claim in kept.items()}
    return {}


def table_of(claim: str) -> str:
    """Return the name of the table at which a claim was won.

    >>> table_of("main.TCP-01-42-1")
    'TCP-01'
    """
    return claim.partition(".")[2].rsplit("-", 2)[0]


def fields_of(held: HeldWin | None, envy: HeldEnvy | None) -> dict[str, str]:
    """Return the fields of a claim's Redis hash that follow from its win and its Envy Bonuses."""
    found: dict[str, str] = {}
    if held:
        found = {"amount": str(held.cents), "after": str(held.after_cents), "state": held.state}
        if held.by:
            found["by"] = held.by
    return found | ({"envy": envy.state} if envy else {})


def decided_claim(
    due: Fields, decided: DecisionRecord, by: str, number: int, entry: Mapping[str, bytes]
) -> dict[str, str]:
    """Return the fields of a claim's Redis hash after an act on it.

    `due` are the fields before the act. `entry` is the ledger entry of the act, and `number` its
    number.
    """
    at, event, act = entry["at"].decode(), entry["event"].decode(), decided.act
    found = dict(due)
    if act in _REQUESTS:
        request = () if act == "withdraw_request" else (event, by, at, str(number))
        found = {name: text for name, text in due.items() if name not in _REQUEST_FIELDS}
        found |= zip(_REQUEST_FIELDS, request, strict=False)
    elif act == "correct_slip":
        found |= dict(zip(CORRECTION_FIELDS, (event, by, at), strict=True))
    else:
        envy, alone = _envy_after(due, decided), decided.claim.rpartition("-")[2].startswith("e")
        if envy is not None and envy != due.get("envy"):
            found |= {"envy": envy, "envy_by": by, "envy_at": at}
        if act in _ENVY_ACTS and not alone:
            found |= {"envy_decision": event} if act == "reject_envy" else {}
        else:
            found |= {"state": _STATES[act], "by": by, "decision": event}
            found |= {f"{act}_by": by, f"{act}_at": at}
        if act not in _ENVY_ACTS:
            for name in (*_REQUEST_FIELDS, "returned", "of_house"):
                found.pop(name, None)
        if act == "reject":
            found["returned"] = _returned(number, transfers_in(entry["transfers"]), decided.claim)
        if act == "reopen":
            found.pop("envy_decision", None)
            of_house = (HOUSE, claim_account(decided.claim))
            moved = transfers_in(entry["transfers"])
            if paid := sum(one.micros for one in moved if (one.source, one.target) == of_house):
                found["of_house"] = str(paid)
    return found


def _envy_after(due: Fields, decided: DecisionRecord) -> str | None:
    before = due.get("envy")
    if before is None:
        return None
    if decided.act == "reopen":
        return before if before == "paid" else "pending"
    if decided.act == "reject_envy" or decided.envy_back:
        return "rejected"
    if decided.act == "pay_envy" or decided.envy_paid:
        return "paid"
    return "validated" if before == "pending" else before


def claim_differences(
    claim: str, due: Fields, held: Fields, assets: Sequence[str] = ()
) -> list[str]:
    """Return the differences between a claim in Redis and in the ledger, field by field, as texts.

    The claim's record can have any of the table's asset numbers in `assets`.
    """
    if not held:
        return [f"claim {claim} is in the ledger, but missing in Redis"]
    found = [
        _difference(claim, name, held.get(name), due.get(name))
        for name in _COMPARED
        if held.get(name) != due.get(name)
        and not (name == "returned" and _is_returned(held.get(name), due.get(name, "")))
    ]
    return found + _record_differences(claim, due["record"], held.get("record", ""), assets)


def _is_returned(held: str | None, due: str) -> bool:
    """Check if two texts of `_returned` differ only in the cycle, for a rejected win of 0 cents.

    The rejection of such a win has no transfer in the ledger, so the ledger does not show the cycle
    at the end of the text.
    """
    amounts, _, cycle = due.rpartition(" ")
    moved_nothing = amounts.endswith(" 0 0") and cycle == "0"
    return moved_nothing and held is not None and held.rpartition(" ")[0] == amounts


def _record_differences(claim: str, due: str, held: str, assets: Sequence[str]) -> list[str]:
    if held == due:
        return []
    try:
        stored, given = _RECORD.decode(held), _GIVEN.decode(held)
    except ValueError as error:
        return [f"claim {claim}: its record cannot be read: {error}"]
    made, found = _RECORD.decode(due), []
    for name in ClaimRecord.__struct_fields__:
        one, other = getattr(stored, name), getattr(made, name)
        known = one in assets or not other if name == "asset" else False
        if one != other and not known:
            found.append(_difference(claim, name, _text(one), _text(other)))
    found += [
        f"claim {claim}: its record has a field {name[:_SHOWN_MAX]!r}, which records do not have"
        for name in given
        if name not in ClaimRecord.__struct_fields__
    ]
    return found


def _text(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _difference(claim: str, name: str, held: str | None, due: str | None) -> str:
    return f"claim {claim}: {name} is {shown(held)}, the ledger says {shown(due)}"


def shown(value: str | None) -> str:
    if value is None:
        return "missing"
    return repr(value if len(value) <= _SHOWN_MAX else f"{value[:_SHOWN_MAX]}…")


def _returned(entry: int, transfers: Sequence[Transfer], claim: str) -> str:
    """Return the amounts that a rejection moved away from a win, as a reopening needs them.

    The text has four numbers: the rejection's ledger entry, the micros that went back to the meter,
    the micros that went to the meter's overflow (to the reserve of a must-hit-by meter), and the
    meter's cycle at that time. If the micros of the overflow went on to another meter, this meter
    and its cycle follow.
    """
    own = [one for one in transfers if one.source == claim_account(claim)]
    to_meter, to_overflow = (
        sum(one.micros for one in own if one.target.startswith(kind))
        for kind in (("meter:",), ("overflow:", "reserve:"))
    )
    amounts = f"{entry} {to_meter} {to_overflow} {own[0].cycle if own else 0}"
    for one in transfers:
        if one.source.startswith(overflow_account("")):
            return f"{amounts} {one.target.partition(':')[2]} {one.cycle}"
    return amounts
