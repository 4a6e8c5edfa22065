"""Correction requests: what a floorperson confirms, and how the books keep it.

A correction is a void after cards were entered, or a result with hands that were entered
differently before. A confirmation is valid only for exactly what was shown: the round, the reason,
the entered cards and, for a result, everything that is settled. The digest of these names it.
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
"""A person's decision on a correction request, which is also the kind of the ledger entry."""

CONFIRMS: Final = b"confirm_correction"
ASK_ACTS: Final = frozenset({CONFIRMS, b"refuse_correction"})
_CONFIRMED_BY: Final = ", confirmed by "
_DECISION: Final = "!"


class Correction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The part of a correction that a floorperson sees and confirms.

    Attributes:
        what: whether it is a void or a result.
        round: the round.
        reason: the reason of the void; empty for a result.
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
        """Return the correction that an event makes, or None if it makes none."""
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
        """The digest that a confirmation names, in hexadecimal."""
        return hashlib.blake2b(msgspec.json.encode(self), digest_size=16).hexdigest()

    def settled(self, entered: EnteredCards) -> Sequence[str]:
        """Return the result's cards that replace cards entered before; empty if there are none."""
        match entered.what:
            case "dealer":
                return self.dealer
            case "community":
                return self.community
            case _:
                hands = (one.cards for one in self.positions if one.position == entered.position)
                return next(hands, None) or ()


class Ask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A correction request. `at` is the time when the table first asked."""

    ask: str
    table: str
    at: str
    correction: Correction


class AskDecision(msgspec.Struct, frozen=True, omit_defaults=True):
    """A person's decision on a correction request, as the ledger keeps it."""

    ask: str
    act: AskAct
    by: str
    what: str
    round: str
    digest: str
    reason: str = ""


@dataclass(frozen=True)
class StoredAsk:
    """A correction request as the store has it.

    Attributes:
        table: the table that asks, from the name of the field.
        digest: the digest that a decision refers to.
        ask_id: its id.
        text: the text from which people are shown the request.
        decision: ``confirmed`` or ``refused``, then the person, a line each; empty while undecided.
    """

    table: str
    digest: str
    ask_id: str
    text: str
    decision: str

    @cached_property
    def ask(self) -> Ask:
        """The decoded request.

        Raises:
            ValueError: it differs from what was stored: somebody has changed it in the store.
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
        """The decision and the person who made it; both empty while undecided."""
        state, _, rest = self.decision.partition("\n")
        return state, rest.partition("\n")[0]


_ASK: Final = msgspec.json.Decoder(Ask)
_EVENT: Final = msgspec.json.Decoder(Void | Result)
ASK_DECISION: Final = msgspec.json.Decoder(AskDecision)


def stored_asks(fields: Mapping[str, str]) -> Iterator[StoredAsk]:
    """Yield each correction request of a link from the fields of its hash in the store."""
    tables = {name.removesuffix(_DECISION) for name in fields}
    for table in sorted(tables):
        digest, _, rest = fields.get(table, "").partition("\n")
        ask_id, _, text = rest.partition("\n")
        yield StoredAsk(table, digest, ask_id, text, fields.get(table + _DECISION, ""))


def correction_in(event: bytes) -> Correction | None:
    """Return the correction that an entry's event makes, or None if it makes none.

    Raises:
        msgspec.DecodeError: it is not the event of a void or a result.
    """
    return Correction.of(_EVENT.decode(event))


def confirmed_by(by: str) -> str:
    """Return the person who confirmed an entry's correction, from its field `by`; empty if nobody.

    >>> confirmed_by("table:TCP-01, confirmed by Ada Lane"), confirmed_by("table:TCP-01")
    ('Ada Lane', '')
    """
    table, sign, who = by.partition(_CONFIRMED_BY)
    return who if sign and table.startswith("table:") else ""
