"""A settled round for the Lua script: the reply, the amounts due to winners, and new claims."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import msgspec

from bonus.settling.settlement_lines import Due, Line, encode_line
from meters.books.claim_records import ClaimRecord, Records
from meters.books.script_steps import DueStep, EnvyStep, ReplyParts
from meters.intake.table_catalog import CatalogTable
from meters.wire.messages import ClaimOpened, DrawMade, Result, WagerCorrection, Wagers, holds_table

_AMOUNT: Final = '"amount":'


class OpenRound(msgspec.Struct, frozen=True):
    """A round with accepted wagers and without a result.

    `wagers` is the last event that changed them, the wagers event or a correction, and `basis` is
    its sequence number (`seq`). `fed` are the ids of the meters to which the wagers contributed.
    `known` are the cards that correction requests of the round named, as `known_text` writes them.
    """

    basis: int
    wagers: Wagers | WagerCorrection
    draw: DrawMade | None
    fed: tuple[str, ...]
    known: str = ""


@dataclass(frozen=True, slots=True)
class OpenedClaim:
    """A claim that a result opens. `due` is the place of its amount in the amounts due, from 0."""

    record: ClaimRecord
    due: int


class ResultWriter:
    """Writer of a settled round for the Lua script `apply_events`.

    Only the script knows the amount of a percentage of a meter. So the reply has gaps, which the
    script fills. `claims` are those of the wins that wait for a floorperson.
    """

    def __init__(
        self, known: CatalogTable, event: Result, opened: OpenRound, settled: Sequence[Due]
    ) -> None:
        self._known = known
        self._event = event
        self._opened_round = opened
        self._settled = settled
        self._meter_id = _meter_ids(known)
        self._lines: list[str | int] = []
        self._opened: list[str | int] = []
        self._envy: dict[str, list[Line]] = {}
        self.dues: list[DueStep] = []
        self.claims: list[OpenedClaim] = []

    @cached_property
    def _records(self) -> Records:
        """Made only if needed: most results open no claim."""
        known, settled = self._known, self._settled
        return Records(
            self._event,
            self._opened_round.wagers.positions,
            [due.line for due in settled],
            [due.line for due in settled if self._waits(due)],
            link=known.link,
            table=known.table.id,
            asset=known.table.asset,
            meter_of=self._meter_id,
        )

    def put(self, due: Due) -> None:
        """Add one line of the settlement: a wager or bonus, with the amount due to the winner."""
        line = due.line
        text = str(due.text or encode_line(line), "utf-8")
        if not line.paid and due.take is None:
            self._lines += (",", text)
            return
        record = self._records.record(line) if self._waits(due) else None
        number = len(self.dues) + 1
        opened = self._open(record, due, number) if record else ""
        self.dues.append(
            DueStep(
                take=0 if due.take is None else due.take + 1,
                fixed_cents=line.paid,
                meter=self._meter_id(line.item),
                claim_key=1 if record else 0,
                claim=record.claim if record else "",
                record=msgspec.json.encode(record).decode() if record else "",
                holds=opened if holds_table(line.paid_from) else "",
                envy=self._owe(line) if line.envy_of is not None else "",
            )
        )
        self._lines.append(",")
        self._lines += [text] if due.take is None else _gap(text, '"paid":', number)

    def _open(self, record: ClaimRecord, due: Due, number: int) -> str:
        """Add a win's claim to the reply. Return the text of the claim up to the amount."""
        opened = ClaimOpened(
            claim=record.claim, position=record.position, item=record.item, amount=due.line.paid
        )
        text = msgspec.json.encode(opened).decode()
        self._opened.append(",")
        self._opened += [text] if due.take is None else _gap(text, _AMOUNT, number)
        self.claims.append(OpenedClaim(record, number - 1))
        return text[: text.index(_AMOUNT) + len(_AMOUNT)]

    def _owe(self, envy: Line) -> str:
        """Return the claim under which an Envy Bonus is owed; empty if the bonus is not owed.

        If a win of the hand waits for a floorperson, the bonus is owed under its claim. If none
        waits, the amount of the bonus decides: below `validate_from` in the floor file, the table
        pays it, and pitlink only records it.
        """
        claim = self._records.claim_under(envy)
        if claim is None:
            if envy.envy_of is None or envy.paid < self._known.validate_from_cents:
                return ""
            claim = self._records.envy_claim_of(envy.envy_of)
        self._envy.setdefault(claim, []).append(envy)
        return claim

    @property
    def envy(self) -> tuple[EnvyStep, ...]:
        """The owed Envy Bonuses, together for each claim."""
        opened = {claim.record.claim for claim in self.claims}
        return tuple(
            EnvyStep(
                claim_key=0,
                claim=claim,
                meter=self._meter_id(envy[0].item),
                record="" if claim in opened else self._envy_record(envy),
            )
            for claim, envy in self._envy.items()
        )

    def _envy_record(self, envy: Sequence[Line]) -> str:
        record = self._records.envy_record(envy[0].envy_of or 0, envy)
        return msgspec.json.encode(record).decode()

    def reply(self) -> ReplyParts:
        """Return the parts of the reply. Only shares of a meter are amounts that it lacks."""
        return tuple(
            _joined(
                f'{{"seq":{self._event.seq},"status":"accepted","lines":[',
                *self._lines[1:],
                '],"claims":[',
                *self._opened[1:],
                "]}",
            )
        )

    def _waits(self, due: Due) -> bool:
        """Check if a floorperson must validate a win.

        The rules are 649a.11(c)(5), (7), (8), (9), and `validate_from` in the floor file.
        """
        line = due.line
        if due.take is not None:
            return True
        if not line.paid or line.paid < self._known.validate_from_cents:
            return False
        placing = self._known.rules.placings.get(line.item)
        return placing is not None and line.paid >= line.wagered * placing.validated_for_1


def _meter_ids(known: CatalogTable) -> Callable[[str], str]:
    """Return a function that returns the id of the meter that pays an item of a table.

    It is no method of the writer, because the writer's records keep it: that would make a cycle of
    objects for each round, which only Python's garbage collector can delete.
    """

    def meter_id(item: str) -> str:
        return known.meters[known.rules.meters.meter_of[item]].meter_id

    return meter_id


def _gap(text: str, field: str, due: int) -> list[str | int]:
    """Return a text in three parts: the text up to a field's value, the number `due`, the rest.

    The value of the field is 0. `due` stands in its place until the Lua script puts the amount
    there. The name of the field with its quotes appears only once in the text, because no other
    string in the record contains quotes.
    """
    head, tail = text.split(f"{field}0", 1)
    return [head + field, due, tail]


def _joined(*parts: str | int) -> Iterator[str | int]:
    run: list[str] = []
    for part in parts:
        if isinstance(part, int):
            yield "".join(run)
            yield part
            run = []
        else:
            run.append(part)
    yield "".join(run)
