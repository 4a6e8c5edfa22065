"""Rows that show claims to people, and messages that tell tables and displays about claims."""

from collections.abc import Iterable, Mapping
from typing import Final, Literal

import msgspec
import structlog

from bonus.display import hand_place, hand_words, item_words, money, part_of_meter
from bonus.json_input import UNREADABLE
from bonus.settling.winning_cards import WinningCards, winning_cards
from meters.acts.claim_types import ClaimRequestRow, ClaimRow, ClaimState, EnvyOwed, Wagered
from meters.floor.floor_file import Floor
from meters.ledger.claim_records import ClaimRecord, OwedEnvy, record_of
from meters.ledger.entry_messages import DECIDED, DecisionRecord
from meters.ledger.script_steps import PaidDue
from meters.process.clock import now_text
from meters.process.logs import ThrottledLog
from meters.wire.messages import Jackpot, envy_message_claim

_log = structlog.get_logger()


def claim_words(fields: Mapping[str, str], titles: Mapping[str, str]) -> str:
    record = record_of(fields)
    lines = [] if record.only_envy else [_win_words(record, int(fields["amount"]), titles)]
    lines += [
        f"{item_words(owed.item, titles)} of position {owed.position}, {money(owed.amount)}"
        for owed in record.envy
    ]
    place = f"round {record.round}, position {record.position}, {hand_words(record.hand)}"
    return f"{place}: {'; '.join(lines)}"


def _win_words(record: ClaimRecord, amount_cents: int, titles: Mapping[str, str]) -> str:
    share = part_of_meter(record.percent, record.item) if record.percent else "fixed amount"
    if record.hand_of is not None:
        share = f"{share}, for the hand of {hand_place(record.hand_of, record.hand_table)}"
    return f"{item_words(record.item, titles)}, {share}, {money(amount_cents)}"


class ClaimRows:
    """Rows that show claims to people, with the names in the floor file."""

    def __init__(self, floor: Floor) -> None:
        self._tax_from_cents = floor.facility.tax_documents_from
        self._reject_above_cents = floor.facility.two_people_reject_above
        self._floor = floor
        self._titles = {link.id: link.titles for link in floor.link}
        self._electronic = frozenset(
            name
            for game in floor.games.values()
            for wager in game.wager
            if wager.electronic
            for name in wager.names
        )
        self._unreadable = ThrottledLog()
        self._links = {link.id: link.name for link in floor.link}
        self._meters = {
            (link.id, meter.meter_id): meter.title for link in floor.link for meter in link.meter
        }

    def two_people_reject(self, record: ClaimRecord, amount_cents: int) -> bool:
        if self._reject_above_cents is None:
            return record.is_hand_pay
        return amount_cents > self._reject_above_cents

    def rows(self, claims: Iterable[Mapping[str, str]]) -> list[ClaimRow]:
        """Make the rows of claims; archived claims have no fields, and get no row.

        A damaged claim is logged, and gets no row: the audit reports it, and the link does not
        operate.
        """
        return [row for fields in claims if fields and (row := self._readable(fields))]

    def _readable(self, fields: Mapping[str, str]) -> ClaimRow | None:
        try:
            return self.row(fields)
        except (*UNREADABLE, LookupError, ValueError) as error:
            if (kept_back := self._unreadable.due("claim")) is not None:
                entry = fields.get("entry", "")
                _log.error(
                    "claim not readable", entry=entry, reason=str(error), kept_back=kept_back
                )
            return None

    def row(self, fields: Mapping[str, str]) -> ClaimRow:
        record = record_of(fields)
        decision, request = _decision(fields, "decision"), _decision(fields, "request")
        of_slip = _decision(fields, "slip_correction") or decision
        of_envy = _decision(fields, "envy_decision")
        envy: ClaimState | None = msgspec.convert(fields.get("envy"), ClaimState | None)
        amount_cents = int(fields["amount"])
        cards = self._cards(record)
        titles = self._titles.get(record.link, self._floor.games.titles)
        made = [name for bet in record.wagers for name in bet.wagers]
        electronic = tuple(dict.fromkeys(name for name in made if name in self._electronic))
        return ClaimRow(
            claim=record.claim,
            hand_record=record.hand_record,
            order=fields["entry"],
            turn=record.turn,
            turns=record.turns,
            link=record.link,
            link_name=self._links.get(record.link, record.link),
            meter=record.meter,
            meter_name=self._meters.get((record.link, record.meter), record.meter),
            table=record.table,
            asset=record.asset,
            round=record.round,
            position=record.position,
            patron=record.patron,
            item=record.item,
            item_name=item_words(record.item, titles),
            wager=record.wager,
            wager_name=item_words(record.wager, titles) if record.wager else "",
            hand=record.hand,
            hand_name=hand_words(record.hand),
            cards=record.cards,
            dealer=record.dealer,
            community=record.community,
            counted=cards.counted,
            winning=cards.winning,
            wagered=record.wagered,
            amount=amount_cents,
            meter_after=int(fields["after"]),
            percent=record.percent,
            paid_from=record.paid_from,
            rule=record.rule,
            wagers=msgspec.convert(record.wagers, tuple[Wagered, ...], from_attributes=True),
            chips=sum(name not in electronic for name in made),
            electronic=electronic,
            no_win=record.no_win,
            envy=msgspec.convert(record.envy, tuple[EnvyOwed, ...], from_attributes=True),
            envy_not_due=envy == "rejected",
            envy_amount=sum(owed.amount for owed in record.envy),
            envy_state=envy,
            envy_by=fields.get("envy_by"),
            envy_at=fields.get("envy_at"),
            envy_reason=of_envy.reason if of_envy else None,
            only_envy=record.only_envy,
            state=msgspec.convert(fields["state"], ClaimState),
            at=fields["at"],
            decided_by=fields.get("by"),
            decided_at=fields.get(f"{decision.act}_at") if decision else None,
            requested_by=decision.requested_by if decision else None,
            validated_by=fields.get("validate_by"),
            validated_at=fields.get("validate_at"),
            paid_by=fields.get("pay_by") or fields.get("pay_envy_by"),
            paid_at=fields.get("pay_at") or fields.get("pay_envy_at"),
            reason=decision.reason if decision else None,
            slip=of_slip.slip if of_slip else None,
            slip_corrected_by=fields.get("correct_slip_by"),
            slip_corrected_at=fields.get("correct_slip_at"),
            request=_request_row(fields, request) if request else None,
            two_people_reject=self.two_people_reject(record, amount_cents),
            tax_documents=self._tax_from_cents is not None and amount_cents >= self._tax_from_cents,
            pin_set_by=decision.pin_set_by
            if decision and decision.act == "validate" and record.is_hand_pay
            else (),
            hand_of=record.hand_of,
            hand_table=record.hand_table,
        )

    def _cards(self, record: ClaimRecord) -> WinningCards:
        """Return a win's cards by the game of the table where they were dealt.

        If the floor file no longer has the table, return the cards on which all games agree.
        """
        found = self._floor.find_table(record.hand_table or record.table)
        games = [found[1].chapter] if found else self._floor.games.values()
        return winning_cards(
            games, record.item, hand=record.cards, dealer=record.dealer, community=record.community
        )


def _decision(fields: Mapping[str, str], name: str) -> DecisionRecord | None:
    return DECIDED.decode(fields[name]) if name in fields else None


def _request_row(fields: Mapping[str, str], request: DecisionRecord) -> ClaimRequestRow:
    return ClaimRequestRow(
        entry=int(fields["request_entry"]),
        act="reopen" if request.act == "request_reopen" else "reject",
        by=fields["request_by"],
        at=fields["request_at"],
        reason=request.reason or "",
        envy_not_due=bool(request.envy_back),
        pin_set_by=request.pin_set_by,
    )


Event = Literal["hit", "validated", "rejected", "paid"]
EVENT_OF: Final[Mapping[str, Event]] = {
    "pending": "hit", "validated": "validated", "rejected": "rejected", "paid": "paid",
}  # fmt: skip
"""The event of a message by the state of a claim. A reopened win is announced as a hit again."""


def is_reopened(fields: Mapping[str, str]) -> bool:
    """Check if a claim waits for a floorperson because a rejection was reopened."""
    return fields["state"] == "pending" and "reopen_at" in fields


def hit_message(record: ClaimRecord, paid: PaidDue) -> Jackpot:
    """Make the message that announces a win to all displays simultaneously (duty D8)."""
    return win_message("hit", record, paid.amount_cents, paid.meter_after_cents)


def state_message(record: ClaimRecord, fields: Mapping[str, str]) -> Jackpot:
    """Return a claim's present message for displays."""
    event = EVENT_OF.get(fields["state"], "hit")
    return win_message(event, record, int(fields["amount"]), int(fields["after"]))


def win_message(event: Event, record: ClaimRecord, amount_cents: int, after_cents: int) -> Jackpot:
    return Jackpot(
        event=event,
        claim=record.claim,
        meter=record.meter,
        table=record.table,
        position=record.position,
        item=record.item,
        hand=record.hand,
        amount=amount_cents,
        meter_after=after_cents,
        at=now_text(),
        hand_of=record.hand_of,
        hand_table=record.hand_table or None,
    )


def envy_message(record: ClaimRecord, owed: OwedEnvy, event: Event, after_cents: int) -> Jackpot:
    """Make the message about an Envy Bonus: its `hand` is another position's winning hand."""
    return msgspec.structs.replace(
        win_message(event, record, owed.amount, after_cents),
        claim=envy_message_claim(record.claim),
        meter=owed.meter or record.meter,
        position=owed.position,
        item=owed.item,
    )
