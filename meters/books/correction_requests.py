"""Corrections that a table asks a floorperson to confirm: what is asked, and how the books keep it.

A correction is a void after cards were entered, or a result with hands that were entered
differently before. A confirmation serves for exactly what was shown: round, reason, cards entered
and, of a result, everything that is settled. Their digest names it.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, Self

import msgspec

from meters.books.entered_cards import entered_in
from meters.wire.messages import (
    UNREADABLE,
    DealtPosition,
    EnteredCards,
    MoneyEvent,
    Result,
    Void,
)

AskAct = Literal["confirm_correction", "refuse_correction"]
"""What a person does with what a table asks for, and the kind of the ledger's entry."""

CONFIRMS: Final = b"confirm_correction"
ASK_ACTS: Final = frozenset({CONFIRMS, b"refuse_correction"})
_CONFIRMED_BY: Final = ", confirmed by "
_DECISION: Final = "!"


class Correction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What of a correction a floorperson is shown and confirms.

    Attributes:
        what: whether it is a void or a result.
        round: the round.
        reason: why the round is void; empty for a result.
        entered: the cards that were entered and are not in the result.
        positions: the hands of the result.
        dealer: the dealer's hand of the result.
        community: the community cards of the result.
    """

    what: Literal["void", "result"]
    round: str
    reason: str
    entered: tuple[EnteredCards, ...]
    positions: tuple[DealtPosition, ...] = ()
    dealer: tuple[str, ...] = ()
    community: tuple[str, ...] = ()

    @classmethod
    def of(cls, event: MoneyEvent) -> Self | None:
        """Return what an event corrects; None where it corrects nothing."""
        entered = tuple(entered_in(event))
        if not entered:
            return None
        match event:
            case Void():
                return cls("void", event.round, event.reason, entered)
            case Result():
                return cls(
                    "result",
                    event.round,
                    "",
                    entered,
                    tuple(event.positions),
                    tuple(event.dealer),
                    tuple(event.community or ()),
                )
            case _:
                return None

    @property
    def digest(self) -> str:
        """The digest by which a confirmation names it, in hexadecimal."""
        return hashlib.blake2b(msgspec.json.encode(self), digest_size=16).hexdigest()

    def settled(self, entered: EnteredCards) -> Sequence[str]:
        """Return what the result has in place of cards that were entered; empty for nothing."""
        match entered.what:
            case "dealer":
                return self.dealer
            case "community":
                return self.community
            case _:
                hands = (one.cards for one in self.positions if one.position == entered.position)
                return next(hands, None) or ()


class Ask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A correction that a table asks for; `at` is when it first did."""

    ask: str
    table: str
    at: str
    correction: Correction


class AskDecision(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a person decided about an ask, as the ledger keeps it."""

    ask: str
    act: AskAct
    by: str
    what: str
    round: str
    digest: str
    reason: str = ""


@dataclass(frozen=True)
class StoredAsk:
    """An ask as the store has it.

    Attributes:
        table: whose it is, by the field that it stands in.
        digest: the digest that it is kept under, which a decision serves for.
        ask_id: its id.
        text: what people are shown.
        decision: what was decided: ``confirmed`` or ``refused``, and who, a line each; or empty.
    """

    table: str
    digest: str
    ask_id: str
    text: str
    decision: str

    @cached_property
    def ask(self) -> Ask:
        """What is asked.

        Raises:
            ValueError: it is not what it was kept as: somebody has changed it in the store.
        """
        try:
            ask = _ASK.decode(self.text)
        except UNREADABLE as error:
            raise ValueError(f"it cannot be read: {error}") from None
        known = self.table, self.ask_id, self.digest
        if (ask.table, ask.ask, ask.correction.digest) != known:
            raise ValueError("it is not what the table asked for")
        return ask

    @property
    def decided(self) -> tuple[str, str]:
        """How it was decided and by whom; empty while it is not."""
        state, _, rest = self.decision.partition("\n")
        return state, rest.partition("\n")[0]


_ASK: Final = msgspec.json.Decoder(Ask)
_EVENT: Final = msgspec.json.Decoder(Void | Result)
ASK_DECISION: Final = msgspec.json.Decoder(AskDecision)


def stored_asks(fields: Mapping[str, str]) -> Iterator[StoredAsk]:
    """Give each ask of a link, by the fields of its hash in the store."""
    tables = {name.removesuffix(_DECISION) for name in fields}
    for table in sorted(tables):
        digest, _, rest = fields.get(table, "").partition("\n")
        ask_id, _, text = rest.partition("\n")
        yield StoredAsk(table, digest, ask_id, text, fields.get(table + _DECISION, ""))


def correction_in(event: bytes) -> Correction | None:
    """Return what the event of an entry corrects; None where it corrects nothing.

    Raises:
        msgspec.DecodeError: it is none.
    """
    return Correction.of(_EVENT.decode(event))


def confirmed_by(by: str) -> str:
    """Return who confirmed the correction that an entry is, by its field `by`; empty for nobody.

    >>> confirmed_by("table:TCP-01, confirmed by Ada Lane"), confirmed_by("table:TCP-01")
    ('Ada Lane', '')
    """
    table, sign, who = by.partition(_CONFIRMED_BY)
    return who if sign and table.startswith("table:") else ""
