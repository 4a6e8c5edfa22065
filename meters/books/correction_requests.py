"""Correction requests in Redis. A floorperson confirms or refuses each request.

A correction is one of two changes: a round is voided after its cards were entered, or the cards of
a hand are replaced before the result is sent. A confirmation is valid only for the correction that
the floorperson saw. So each correction has a digest, and the confirmation names this digest. The
digest is calculated over the round, the reason, and the cards that were entered first. For a
result, it is also calculated over the cards with which the round is settled.
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
"""A person's decision on a correction request. Its value is also the kind of the ledger entry."""

CONFIRMS: Final = b"confirm_correction"
ASK_ACTS: Final = frozenset({CONFIRMS, b"refuse_correction"})
_CONFIRMED_BY: Final = ", confirmed by "
_DECISION: Final = "!"


class Correction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The part of a correction that a floorperson sees and confirms.

    Attributes:
        what: ``void`` or ``result``.
        round: the id of the round.
        reason: the reason of the void; empty for a result.
        entered: for a result, the cards that the dealer entered and took back. For a void, all
            cards that the dealer entered.
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
        """Return the correction in a table's event, or None if the event corrects nothing."""
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

    def declared(self, entered: EnteredCards) -> bool:
        """Return whether the result has a declaration instead of the cards `entered` of a hand.

        The declaration says that the hand wins nothing.
        """
        return entered.what == "hand" and any(
            one.declared for one in self.positions if one.position == entered.position
        )

    @property
    def digest(self) -> str:
        """The digest, in hexadecimal, that identifies the correction in a confirmation."""
        return hashlib.blake2b(msgspec.json.encode(self), digest_size=16).hexdigest()

    def settled(self, entered: EnteredCards) -> Sequence[str]:
        """Return the cards of the result that replace the cards `entered`.

        The dealer took the cards `entered` back. If nothing replaced them, return no cards.
        """
        match entered.what:
            case "dealer":
                return self.dealer
            case "community":
                return self.community
            case _:
                hands = (one.cards for one in self.positions if one.position == entered.position)
                return next(hands, None) or ()


class Ask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A correction request of a table.

    `ask` is the id of the request. `at` is the time when the table first sent the correction.
    """

    ask: str
    table: str
    at: str
    correction: Correction


class AskDecision(msgspec.Struct, frozen=True, omit_defaults=True):
    """A person's decision on a correction request, in the form that the ledger has."""

    ask: str
    act: AskAct
    by: str
    what: str
    round: str
    digest: str
    reason: str = ""


@dataclass(frozen=True)
class StoredAsk:
    """A correction request as Redis has it.

    Attributes:
        table: the table that sent the request. The Redis field has the name of this table.
        digest: the digest of the correction. A decision on the request names this digest.
        ask_id: the id of the request.
        text: the request as JSON text. The floor page shows the request from this text.
        decision: ``confirmed`` or ``refused`` in the first line, the name of the person in the
            second line. Empty while the request is undecided.
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
            ValueError: the request in Redis cannot be read, or somebody has changed it.
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
        """The decision and the person who decided. Two empty texts while nobody has decided."""
        state, _, rest = self.decision.partition("\n")
        return state, rest.partition("\n")[0]


_ASK: Final = msgspec.json.Decoder(Ask)
_EVENT: Final = msgspec.json.Decoder(Void | Result)
ASK_DECISION: Final = msgspec.json.Decoder(AskDecision)


def stored_asks(fields: Mapping[str, str]) -> Iterator[StoredAsk]:
    """Yield each correction request from the fields of the link's Redis hash of requests."""
    tables = {name.removesuffix(_DECISION) for name in fields}
    for table in sorted(tables):
        digest, _, rest = fields.get(table, "").partition("\n")
        ask_id, _, text = rest.partition("\n")
        yield StoredAsk(table, digest, ask_id, text, fields.get(table + _DECISION, ""))


def correction_in(event: bytes) -> Correction | None:
    """Return the correction in a ledger entry's event, or None if the event corrects nothing.

    Raises:
        msgspec.DecodeError: the event is not a void or a result.
    """
    return Correction.of(_EVENT.decode(event))


def confirmed_by(by: str) -> str:
    """Return the person who confirmed a correction, from the field `by` of its ledger entry.

    The name is empty if the entry has no confirmed correction.

    >>> confirmed_by("table:TCP-01, confirmed by Ada Lane"), confirmed_by("table:TCP-01")
    ('Ada Lane', '')
    """
    table, sign, who = by.partition(_CONFIRMED_BY)
    return who if sign and table.startswith("table:") else ""
