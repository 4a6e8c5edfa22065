"""Rows that show people the acts on a link, from the link's ledger (duty D17)."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Final

import msgspec

from bonus.display import exact_money, item_words, money
from bonus.json_input import UNREADABLE
from meters.acts.claim_types import FloorRow
from meters.acts.claim_views import claim_words
from meters.ledger.claim_records import record_of
from meters.ledger.entry_messages import (
    ARCHIVED,
    CHANGED,
    DECIDED,
    EXPIRED,
    OUTAGE,
    PROMOTION_ADDED,
    READING,
    RESTORING,
    SWITCHED,
    WITHDRAWN,
    correction_of_wager,
)
from meters.ledger.floor_approvals import Approval, HalfApproval
from meters.ledger.hidden_values import HIDDEN_VALUE_DRAWN
from meters.ledger.money_terms import Parameter, read_terms
from meters.ledger.table_corrections import ASK_DECISION, CorrectedWager, entered_in_text
from meters.wire.messages import EnteredCards, Result, Void

ActDetails = tuple[str, str]
"""The subject of an act (such as a claim), and a description of the act."""


class ActRow(FloorRow, frozen=True, kw_only=True):
    """An entry of a link's ledger about what a person or the service did (duty D17).

    `what` is the kind of the act. For a claim it is ``validate``, ``request_reject``,
    ``request_reopen``, ``withdraw_request``, ``reject``, ``reopen``, ``pay``, ``pay_envy``,
    ``reject_envy`` or ``correct_slip``. For a link or a meter it is ``seed``, ``close``, ``open``,
    ``propose``, ``withdraw``, ``parameter``, ``adjust``, ``promotion``, ``inoperable``,
    ``approve_first``, ``approve``, ``reading``, ``archive``, ``expire`` or ``restore``. For a table
    it is ``void`` after cards or results were entered, ``result`` if a hand or result was entered
    differently before, or ``correct_wager``. For a decided correction request it is
    ``confirm_correction`` or ``refuse_correction``. For a damaged entry it is ``unreadable``, and
    the audit reports the entry.

    Attributes:
        what: the kind of the act.
        of: the id of the claim, the proposal or the round; for other acts, ``link``, ``meter``,
            ``meters`` or ``ledger``.
        told: what was done, in words.
        hand_record: for a decision on a claim, a name that all claims of the hand have in common;
            empty for claims that are only in the archive.
    """

    entry: int
    at: str
    by: str
    what: str
    of: str
    table: str
    told: str
    hand_record: str = ""


def _decision(event: str) -> ActDetails:
    decision = DECIDED.decode(event)
    slip = decision.slip and f"slip {decision.slip}"
    if decision.old_slip:
        slip = f"slip {decision.old_slip} → {decision.slip}"
    words = [decision.reason, slip]
    if decision.requested_by:
        words.append(f"requested by {decision.requested_by}")
    if decision.envy_back:
        words.append(f"Envy Bonuses of {money(decision.envy_back)} not due")
    if decision.envy_paid:
        words.append(f"Envy Bonuses of {money(decision.envy_paid)} paid")
    words.append(_pin_set(decision.pin_set_by))
    return decision.claim, "; ".join(filter(None, words))


def _pin_set(by: Sequence[str]) -> str:
    return f"PIN set by {' and '.join(by)} in the 24 hours before this act" if by else ""


def _switched(event: str) -> ActDetails:
    return "link", SWITCHED.decode(event).reason


def _changed(event: str) -> ActDetails:
    change = CHANGED.decode(event)
    what = _PARAMETERS.get(change.parameter, "") if change.parameter else ""
    words = f"{item_words(change.meter)}{what}: {change.before} → {change.after}"
    if change.kind == "adjustment":
        words = f"{item_words(change.meter)}: {change.after}; it held {change.before} when proposed"
    proposed = f"proposed by {change.by}" if change.confirmed_by else ""
    parts = (words, change.reason, proposed, _pin_set(change.pin_set_by))
    return change.proposal, "; ".join(filter(None, parts))


def _withdrawn(event: str) -> ActDetails:
    withdrawn = WITHDRAWN.decode(event)
    return withdrawn.proposal, withdrawn.meter


def _seeded(event: str) -> ActDetails:
    terms = read_terms(event)
    kind = "Must-hit-by meter" if terms.must_hit_by else item_words(terms.kind)
    return "meter", f"{kind} seeded with {money(terms.seed_cents)}"


def _hidden_value(event: str) -> ActDetails:
    drawn = HIDDEN_VALUE_DRAWN.decode(event)
    words = f"{item_words(drawn.meter)}: hidden value drawn (SHA-256 {drawn.commitment[:12]}…)"
    if drawn.opened:
        words += f"; the value before was {exact_money(drawn.opened.micros)}"
    return "meter", words


def _promotion(event: str) -> ActDetails:
    added = PROMOTION_ADDED.decode(event)
    of, wagered = f"from the house to {item_words(added.meter)}", money(added.wagered)
    match added.count:
        case None:
            words = f"{money(added.amount)} {of}"
        case "begins":
            words = f"a part of each wager {of} from now on"
        case "goes_on":
            words = (
                f"{money(added.amount)} more {of}, so {money(added.added)} for {wagered} wagered"
            )
        case "ends":
            words = (
                f"over, with {money(added.amount)} more {of}: {money(added.added)} for {wagered}"
            )
            words += " wagered"
    return "meter", f"{added.name}: {words}, for {added.day}"


def _outage(event: str) -> ActDetails:
    outage = OUTAGE.decode(event)
    lasted = datetime.fromisoformat(outage.until) - datetime.fromisoformat(outage.since)
    words = [f"for {_span(max(0, round(lasted.total_seconds())))}", *outage.reasons]
    if outage.times > 1:
        words.insert(1, f"{outage.times} outages in this time")
    return "link", "; ".join(words)


def _span(seconds: int) -> str:
    """Return the words for a duration.

    >>> _span(59), _span(7325)
    ('59 s', '2 h 2 min 5 s')
    """
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    parts = (f"{hours} h" if hours else "", f"{minutes} min" if hours or minutes else "")
    return " ".join(filter(None, (*parts, f"{seconds} s")))


def _approved(event: str) -> ActDetails:
    approval = msgspec.json.decode(event, type=Approval)
    first = f"approved first by {approval.first_by}" if approval.first_by else ""
    return "link", _of_floor_file(approval, first)


def _half_approved(event: str) -> ActDetails:
    half = msgspec.json.decode(event, type=HalfApproval)
    return "link", _of_floor_file(half, "the first of two people")


def _of_floor_file(approval: Approval | HalfApproval, by: str) -> str:
    changed = ", ".join(approval.changed) or "as in the floor file"
    words = f"{changed} (SHA-256 {approval.digest[:12]}…)"
    return "; ".join(filter(None, (words, by, _pin_set(approval.pin_set_by))))


def _read(event: str) -> ActDetails:
    return "meters", f"gaming day {READING.decode(event).day} closed"


def _archived(event: str) -> ActDetails:
    archived = ARCHIVED.decode(event)
    entries = f"entries {archived.first} to {archived.last}"
    return "ledger", f"gaming day {archived.day} archived, {entries}"


def _expired(event: str) -> ActDetails:
    expired = EXPIRED.decode(event)
    return "ledger", f"archived gaming days {expired.since} to {expired.until} deleted"


def _restored(event: str) -> ActDetails:
    restoring = RESTORING.decode(event)
    words = [] if restoring.confirmed else ["nobody could confirm who restored"]
    words.append(f"{restoring.held} of {max(restoring.seen, restoring.held)} entries remained")
    words.append(f"{restoring.events} events applied again from the tables' outboxes")
    if restoring.differing:
        words.append(f"events with another reply than before: {', '.join(restoring.differing)}")
    if restoring.without:
        words.append(f"lost events of these tables were abandoned: {', '.join(restoring.without)}")
    if restoring.kept:
        kept = ", ".join(f"{slip} of {claim}" for slip, claim in sorted(restoring.kept.items()))
        words.append(f"payout slips that stay used, without a payment in the ledger: {kept}")
    return "link", "; ".join(words)


def _entered_words(entered: EnteredCards) -> str:
    whose = f"position {entered.position}" if entered.what == "hand" else _WHOSE[entered.what]
    shown = _DECLARED if entered.no_win else " ".join(entered.cards)
    words = f"{whose} {shown}"
    if entered.taken_back:
        words += ", taken back"
    return f"{words}: {entered.reason}" if entered.reason else words


def _void(event: str) -> ActDetails:
    void = msgspec.json.decode(event, type=Void)
    entered = "; ".join(map(_entered_words, entered_in_text("void", event)))
    return void.round, f"round {void.round}: {void.reason}; entered: {entered}"


def _corrected_wager(event: str) -> ActDetails:
    corrected = correction_of_wager(event.encode())
    wager = CorrectedWager(corrected.position, corrected.wager, corrected.amount)
    words = f"round {corrected.round}: {_wager_words(corrected.what, wager)}: {corrected.reason}"
    return corrected.round, words if corrected.positions else f"{words}; no wager is left"


def _wager_words(what: str, wager: CorrectedWager) -> str:
    done = "added" if what == "add_wager" else "taken back"
    return f"{item_words(wager.wager)} of {money(wager.amount)} at position {wager.position} {done}"


def _result(event: str) -> ActDetails:
    result = msgspec.json.decode(event, type=Result)
    settled: dict[tuple[str, int | None], str] = {
        ("dealer", None): _settled_as(result.dealer),
        ("community", None): _settled_as(result.community),
        **{
            ("hand", dealt.position): f"as {_DECLARED}"
            if dealt.declared
            else _settled_as(dealt.cards)
            for dealt in result.positions
        },
    }
    words = []
    for each in entered_in_text("result", event):
        cards = settled.get((each.what, each.position), _settled_as(None))
        words.append(f"{_entered_words(each)}; settled {cards}")
    return result.round, f"round {result.round}: {'; '.join(words)}"


def _settled_as(cards: Sequence[str] | None) -> str:
    return f"as {' '.join(cards)}" if cards else "without cards"


def _ask_decision(event: str) -> ActDetails:
    decision = ASK_DECISION.decode(event)
    what = f"{decision.what} of round {decision.round}"
    if decision.wager:
        what = f"round {decision.round}: {_wager_words(decision.what, decision.wager)}"
    return decision.round, f"{what}: {decision.reason}" if decision.reason else what


# A change of the paytable needs no word here: the value says it, such as "paytable B".
_PARAMETERS: Final[Mapping[Parameter, str]] = {
    "wager": ", wager",
    "magic_card_every": ", Magic Card",
    "lucky_every": ", Lucky Bonus",
    "limit": ", limit",
    "contribution_max": ", largest contribution",
}
_DAMAGED: Final = (*UNREADABLE, LookupError, ValueError, OverflowError)
_DECLARED: Final = "declared to win nothing"
_WHOSE: Final = {"dealer": "dealer", "community": "community cards"}
_DECISIONS: Final = frozenset({
    "validate", "reject", "pay", "pay_envy", "reject_envy", "request_reject", "request_reopen",
    "withdraw_request", "reopen", "correct_slip",
})  # fmt: skip
_DETAILS: Final[Mapping[str, Callable[[str], ActDetails]]] = {
    "seed": _seeded,
    "hidden_value": _hidden_value,
    **dict.fromkeys(_DECISIONS, _decision),
    "close": _switched,
    "open": _switched,
    "propose": _changed,
    "withdraw": _withdrawn,
    "parameter": _changed,
    "adjust": _changed,
    "promotion": _promotion,
    "inoperable": _outage,
    "approve": _approved,
    "approve_first": _half_approved,
    "restore": _restored,
    "reading": _read,
    "archive": _archived,
    "expire": _expired,
    "void": _void,
    "correct_wager": _corrected_wager,
    "result": _result,
    "confirm_correction": _ask_decision,
    "refuse_correction": _ask_decision,
}


def claim_in(fields: Mapping[str, str]) -> str:
    """Return the claim that a ledger entry decides, or an empty text."""
    if fields.get("kind") not in _DECISIONS:
        return ""
    try:
        return DECIDED.decode(fields["event"]).claim
    except _DAMAGED:
        return ""


def act_row(
    entry: int,
    fields: Mapping[str, str],
    claim: Mapping[str, str] = MappingProxyType({}),
    titles: Mapping[str, str] = MappingProxyType({}),
) -> ActRow:
    """Make the row that shows the act of a ledger entry, or shows that the entry is damaged.

    `claim` has the Redis fields of the claim that the act decides, if any.
    """
    try:
        return _act_row(entry, fields, claim, titles)
    except _DAMAGED:
        told = "this entry cannot be read: see the reason why the link is inoperable"
        return ActRow(entry=entry, at="", by="", what="unreadable", of="", table="", told=told)


def _act_row(
    entry: int, fields: Mapping[str, str], claim: Mapping[str, str], titles: Mapping[str, str]
) -> ActRow:
    datetime.fromisoformat(fields["at"])
    of, details = _DETAILS[fields["kind"]](fields["event"])
    return ActRow(
        entry=entry,
        at=fields["at"],
        by=fields["by"],
        what=fields["kind"],
        of=of,
        table=fields["table"],
        told="; ".join(filter(None, (claim_words(claim, titles) if claim else "", details))),
        hand_record=record_of(claim).hand_record if claim else "",
    )
