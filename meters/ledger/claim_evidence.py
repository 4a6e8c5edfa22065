"""Claims as the ledger has them: records, decisions and payout slips (duties D16, D17).

The ledger entries of a claim's round and decisions determine every field of the claim's Redis hash.
So an audit computes these fields from the ledger, compares them with Redis, and finds changes that
somebody made directly in Redis.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from meters.ledger.accounts import HOUSE, Transfer, claim_account, transfers_in
from meters.ledger.claim_records import ClaimRecord, Records, record_of
from meters.ledger.entry_messages import DECIDED, RESTORING, DecisionRecord, placed_in, settled_in
from meters.ledger.expected_claims import envy_of_result
from meters.ledger.expected_transfers import ExpectedBooks, HeldEnvy, HeldWin
from meters.ledger.floor_approvals import approved_floor
from meters.ledger.redis_layout import ANY_WIN, METER_AWARD
from meters.ledger.slip_numbers import fold_slip, kept_for
from meters.ledger.table_corrections import is_act
from meters.wire.messages import Reply, Result

Fields = Mapping[str, str]
"""The fields of a claim's Redis hash."""

_Round = tuple[bytes, tuple[str, ...]]
"""The wagers event of a table's open round, and the meters to which the wagers contributed."""

_RESULT: Final = msgspec.json.Decoder(Result)
_RECORD: Final = msgspec.json.Decoder(ClaimRecord)
_GIVEN: Final = msgspec.json.Decoder(dict[str, object])
_STATES: Final = {
    "validate": "validated", "reject": "rejected", "pay": "paid",
    "pay_envy": "paid", "reject_envy": "rejected", "reopen": "pending",
}  # fmt: skip
_REQUESTS: Final = frozenset({"request_reject", "request_reopen"})
_REQUEST_FIELDS: Final = ("request", "request_by", "request_at", "request_entry")
CORRECTION_FIELDS: Final = ("slip_correction", "correct_slip_by", "correct_slip_at")
"""The fields of a claim about the last correction of its slip number, which can be long after its
final decision."""
_ENVY_ACTS: Final = frozenset({"pay_envy", "reject_envy"})
_COMPARED: Final = (
    "amount", "after", "state", "entry", "at", "by", "decision",
    "envy", "envy_by", "envy_at", "envy_decision",
    *(f"{act}_{what}" for act in _STATES for what in ("by", "at")),
    *_REQUEST_FIELDS, "returned", "of_house",
    *CORRECTION_FIELDS,
)  # fmt: skip
_SHOWN_MAX: Final = 80


CLAIM_ACTS: Final = frozenset(
    {act.encode() for act in _STATES} | {act.encode() for act in _REQUESTS} | {b"correct_slip"}
)
"""The kinds of the ledger entries that change a claim."""


@dataclass
class Evidence:
    """The claims of a link, according to the replayed ledger entries.

    Attributes:
        claims: the fields that the Redis hash of each claim must have. Claims whose round was not
            replayed completely are left out.
        ended: the number of the ledger entry that finally decided each claim.
        slips: the claim of each payout slip, which the slip paid, or for which a restore keeps its
            number. The numbers are in the form in which pitlink compares them.
        in_order: the claims that were added to `claims`, each with the number of the ledger entry
            that opened it, in the order of these numbers.
        slips_in_order: the payout slips that were added to `slips`, the last one last.
        begun_before: the claims of results whose wagers are before the first replayed entry.
        assets: the asset numbers that each table had in the approved floor files, the latest last.
        acts: the numbers of the ledger entries that are acts: decisions of a person, or entries
            that the service itself writes. Those up to the entry `acts_after` were removed.
        begun: the event with the wagers of each open round, and the meters that the wagers fed.
    """

    claims: dict[str, dict[str, str]] = field(default_factory=dict)
    ended: dict[str, int] = field(default_factory=dict)
    slips: dict[str, str] = field(default_factory=dict)
    opened: set[str] = field(default_factory=set)
    begun_before: set[str] = field(default_factory=set)
    assets: dict[str, list[str]] = field(default_factory=dict)
    acts: list[int] = field(default_factory=list)
    acts_after: int = 0
    begun: dict[str, _Round] = field(default_factory=dict)
    in_order: list[tuple[int, str]] = field(default_factory=list)
    slips_in_order: list[str] = field(default_factory=list)

    def resume(self, waiting: Mapping[str, dict[str, str]]) -> None:
        """Continue with claims that an earlier replay knew, given with their fields."""
        self.claims.update(waiting)
        self.in_order = sorted((int(fields["entry"]), claim) for claim, fields in waiting.items())

    def add_entry(self, number: int, fields: Mapping[str, bytes], books: ExpectedBooks) -> None:
        """Add the data of a replayed ledger entry. `books` are the balances after this entry.

        Raises:
            KeyError, ValueError, msgspec.DecodeError: the entry cannot be read.
        """
        kind, table = fields["kind"], fields["table"].decode()
        if is_act(kind, fields["event"], fields["by"]):
            self.acts.append(number)
        match kind:
            case b"wagers" | b"correct_wager" | b"void":
                if (round_added := books.rounds.get(table)) is None:
                    self.begun.pop(table, None)
                else:
                    fed = tuple(dict.fromkeys([added.meter for added in round_added]))
                    self.begun[table] = (fields["event"], fed)
            case b"result":
                opened, settled = self.begun.pop(table, None), settled_in(fields["reply"])
                reply = settled.reply
                if opened is None:
                    self.begun_before.update(one.claim for one in reply.claims or ())
                    self.begun_before |= envy_of_result(books, table, reply.seq or 0).keys()
                elif reply.claims != () or settled.has_envy:
                    self._open(number, fields, opened, reply, books)
            case _ if kind in CLAIM_ACTS:
                self._decide(number, fields, books)
            case b"approve":
                self.add_approval(fields["event"])
            case b"restore":
                kept = RESTORING.decode(fields["event"]).kept
                self.slips |= {slip: kept_for(claim, number) for slip, claim in kept.items()}
                self.slips_in_order += kept

    def add_approval(self, event: bytes | str) -> None:
        """Add the asset numbers of the tables in an approved floor file."""
        for table, asset in approved_floor(event).assets.items():
            known = self.assets.setdefault(table, [])
            if asset not in known[-1:]:
                known.append(asset)

    def differences(self, claim: str, held: Fields) -> list[str]:
        """Return the differences between a claim in Redis and in the ledger, as texts.

        There are none if the replayed entries do not contain the claim.
        """
        due = self.claims.get(claim)
        return claim_differences(claim, due, held, self.assets_of(claim)) if due else []

    def assets_of(self, claim: str) -> Sequence[str]:
        return self.assets.get(table_of(claim), ())

    def position_of(self, claim: str) -> tuple[int, str] | None:
        """Return a claim's position and winning wager (item), if all of its round was replayed."""
        if claim not in self.claims:
            return None
        record = record_of(self.claims[claim])
        return record.position, record.item

    def forget_ended(self, but: frozenset[str], to: int) -> None:
        """Remove finally decided claims except `but`, and acts up to entry `to`, to save memory."""
        self.acts.clear()
        self.acts_after = to
        self.slips_in_order.clear()
        self.in_order = [each for each in self.in_order if each[1] in but]
        for claim in self.ended.keys() - but:
            self.claims.pop(claim, None)
            del self.ended[claim]

    def _open(
        self,
        number: int,
        fields: Mapping[str, bytes],
        opened: _Round,
        reply: Reply,
        books: ExpectedBooks,
    ) -> None:
        wagers, fed = opened
        table = fields["table"].decode()
        lines, claims = reply.lines or (), reply.claims or ()
        envy = envy_of_result(books, table, reply.seq or 0)
        link = next((one.partition(".")[0] for one in (*(c.claim for c in claims), *envy)), "")
        claimed = {(one.position, one.item) for one in claims}
        meters = books.meters_by_item(fed)
        waiting = [
            line for line in lines if (line.position, line.item) in claimed and line.paid_from
        ]
        records = Records(
            _RESULT.decode(fields["event"]),
            placed_in(wagers).positions,
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
        for claim, held in envy.items():
            if claim not in books.claims:
                record = records.envy_record(held.holder, held.lines_of(lines))
                found = {"amount": "0", "after": str(held.after_cents), "state": "validated"}
                made[claim] = record, found | {"envy": "validated"}
        for claim, (record, found) in made.items():
            self.opened.add(claim)
            self.in_order.append((number, claim))
            self.claims[claim] = found | {
                "record": msgspec.json.encode(record).decode(),
                "entry": str(number),
                "at": fields["at"].decode(),
            }

    def _decide(self, number: int, fields: Mapping[str, bytes], books: ExpectedBooks) -> None:
        decided, by = DECIDED.decode(fields["event"]), fields["by"].decode()
        claim = decided.claim
        if decided.slip:
            self.slips[fold_slip(decided.slip)] = claim
            self.slips_in_order.append(fold_slip(decided.slip))
        if claim in books.claims or claim in books.envy:
            self.ended.pop(claim, None)
        elif decided.act not in {"correct_slip", *_REQUESTS}:
            self.ended[claim] = number
        if claim in self.claims:
            self.claims[claim] = decided_claim(self.claims[claim], decided, by, number, fields)


def table_of(claim: str) -> str:
    """Return the name of the table at which a claim was won.

    >>> table_of("main.TCP-01-42-1")
    'TCP-01'
    """
    return claim.partition(".")[2].rsplit("-", 2)[0]


def win_members(claim: str, fields: Fields) -> list[str]:
    record = record_of(fields)
    place = f"{int(fields['entry']):016d}:{claim}"
    members = [f"{record.meter}{ANY_WIN}{place}"]
    if record.percent is not None:
        members.append(f"{record.meter}{METER_AWARD}{place}")
    return members


def fields_of(held: HeldWin | None, envy: HeldEnvy | None) -> dict[str, str]:
    """Return the fields of a claim's Redis hash that follow from its win and its Envy Bonuses."""
    found: dict[str, str] = {}
    if held:
        found = {
            "amount": str(held.cents), "after": str(held.after_cents), "state": held.state,
        }  # fmt: skip
        if held.by:
            found["by"] = held.by
    return found | ({"envy": envy.state} if envy else {})


def decided_claim(
    due: Fields, decided: DecisionRecord, by: str, number: int, entry: Mapping[str, bytes]
) -> dict[str, str]:
    """Return the fields of a claim's Redis hash after a decision, a request or a correction.

    `due` are the fields before the change, and `entry` the ledger entry `number` of the change. If
    `due` has no field `record`, only the fields in `due` are known and returned.
    """
    at, event, act = entry["at"].decode(), entry["event"].decode(), decided.act
    found = dict(due)
    if act in _REQUESTS:
        found |= dict(zip(_REQUEST_FIELDS, (event, by, at, str(number)), strict=True))
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
    return found if "record" in due else {name: found[name] for name in due}


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

    If `record` is not among the fields `due` from the ledger, only these fields are compared. The
    claim's record can have any of the asset numbers that its table had.
    """
    if not held:
        return [f"claim {claim} is missing, the ledger has it"]
    names = _COMPARED if "record" in due else tuple(due)
    found = [
        _difference(claim, name, held.get(name), due.get(name))
        for name in names
        if held.get(name) != due.get(name)
        and not (name == "returned" and _is_returned(held.get(name), due.get(name, "")))
    ]
    if "record" in due:
        found += _record_differences(claim, due["record"], held.get("record", ""), assets)
    return found


def _is_returned(held: str | None, due: str) -> bool:
    """Check if `held` can be the amounts of a rejection with the amounts `due`.

    A rejected win of 0 cents has no transfer in the ledger, so the ledger does not show the cycle
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
        f"claim {claim}: its record has a field {name[:_SHOWN_MAX]!r} that no record has"
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

    The text has the number of the rejection's ledger entry, the micros that went back to the meter
    and to its overflow, because of its limit, and the meter's cycle at that time.
    """
    own = [one for one in transfers if one.source == claim_account(claim)]
    to_meter, to_overflow = (
        sum(one.micros for one in own if one.target.startswith(kind))
        for kind in ("meter:", "overflow:")
    )
    return f"{entry} {to_meter} {to_overflow} {own[0].cycle if own else 0}"
