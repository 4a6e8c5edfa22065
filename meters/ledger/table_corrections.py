"""Corrections at a table: cards that a dealer took back, changed wagers, and confirmations.

If a round is voided after cards were entered, the void names these cards. If the dealer replaced a
hand, the result names the cards of the replaced hand (duty D17). Such voids and results are acts,
like decisions of people: their ledger entries are in the index of acts. A floorperson confirms or
refuses each correction of a wager. Other corrections need a floorperson if the floor file or the
event requires it. Until this decision, Redis has a correction request.

A correction is one of three changes:

- A round is voided after its cards were entered.
- The cards of a hand are replaced before the result is sent.
- A wager is added or taken back before the first card.

A confirmation is valid only for the correction that the floorperson saw, so it names the
correction's digest. The digest covers the round, the reason, and the cards that were entered first.
For a result, it also covers the cards with which the round is settled; for a wager, it covers the
wager, its amount, position and patron.

The cards in a request stay known until the round ends, even if the request is refused, withdrawn or
replaced by another request. After the request, each void of the round is a correction, and so is
each result with other cards, even if the event does not name the entered cards. Otherwise a table
could repeat a refused correction without the cards that reveal the correction.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final, Literal, Self

import msgspec
from msgspec import UNSET, UnsetType

from bonus.json_input import UNREADABLE
from meters.ledger.script_steps import AskStep
from meters.wire.messages import (
    DealtPosition,
    EnteredCards,
    MoneyEvent,
    Result,
    Void,
    WagerCorrection,
    cards_to_compare,
)

OF_TABLES: Final = frozenset({b"wagers", b"correct_wager", b"result", b"void"})
"""The kinds of ledger entries that are tables' events. Entries of every other kind are acts."""


class _Entered(msgspec.Struct, frozen=True):
    entered: list[EnteredCards] | UnsetType = UNSET
    entered_before: list[EnteredCards] | UnsetType = UNSET


CONFIRMED_BY: Final = b", confirmed by "
"""In the `by` of a ledger entry: the text in front of the person who confirmed a correction."""

_ENTERED: Final = msgspec.json.Decoder(_Entered)


def entered_in(event: MoneyEvent) -> Sequence[EnteredCards]:
    """Return the cards that a table entered, but that are not in the result of the round."""
    match event:
        case Void():
            return event.entered or ()
        case Result():
            return event.entered_before or ()
        case _:
            return ()


def entered_in_text(kind: str, event: bytes | str) -> Sequence[EnteredCards]:
    """Return the cards that a void's or result's text names as entered and taken back."""
    if kind not in {"void", "result"}:
        return ()
    found = _ENTERED.decode(event)
    return (found.entered if kind == "void" else found.entered_before) or ()


def is_act(kind: bytes, event: bytes, by: bytes) -> bool:
    """Check if a ledger entry belongs in the index of acts.

    All ledger entries that are not tables' events belong there. A table's event belongs there only
    if it corrects a wager, if it names cards that were entered and taken back, or if a floorperson
    confirmed it. `by` says who wrote the entry. The service (`LinkIntake`) has the same rule.

    Raises:
        msgspec.DecodeError: the event is not valid.
    """
    if kind not in OF_TABLES or kind == b"correct_wager":
        return True
    if CONFIRMED_BY in by and by.startswith(b"table:"):
        return True
    return b'"entered' in event and bool(entered_in_text(kind.decode(), event))


def count_hands(entered: Sequence[EnteredCards]) -> int:
    """Count the hands to which the entered cards belong. The community cards count as one hand."""
    return len({(cards.what, cards.position) for cards in entered})


AskAct = Literal["confirm_correction", "refuse_correction"]
"""A person's decision on a correction request. Its value is also the kind of the ledger entry."""

CONFIRMS: Final = b"confirm_correction"
ASK_ACTS: Final = frozenset({CONFIRMS, b"refuse_correction"})
KNOWN_MAX: Final = 128
"""Greatest count of `EnteredCards` that Redis stores from a round's correction requests."""

_DECISION: Final = "!"


class CorrectedWager(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A wager that a correction adds or takes back."""

    position: int
    wager: str
    amount: int
    patron: str | None = None


class Correction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The part of a correction that a floorperson sees and confirms.

    `reason` is the reason of the void, or of the correction of a wager; empty for a result.
    `entered` are the cards that the dealer entered and took back; for a void, all cards that the
    dealer entered. `positions`, `dealer` and `community` are those of the result. `wager` is the
    wager that is added or taken back.
    """

    what: Literal["void", "result", "add_wager", "take_back_wager"]
    round: str
    reason: str
    entered: tuple[EnteredCards, ...]
    positions: tuple[DealtPosition, ...] = ()
    dealer: tuple[str, ...] = ()
    community: tuple[str, ...] = ()
    wager: CorrectedWager | None = None

    @classmethod
    def of(
        cls, event: MoneyEvent, known: Sequence[EnteredCards] = (), *, community_ordered: bool
    ) -> Self | None:
        """Return the correction in a table's event, or None if the event corrects nothing.

        `known` are the cards that earlier correction requests of the round named.
        `community_ordered` is true if the order of the community cards counts at this game.
        """
        match event:
            case WagerCorrection():
                positions = [one for one in event.positions if one.position == event.position]
                patron = positions[0].patron if positions else None
                wager = CorrectedWager(event.position, event.wager, event.amount, patron)
                return cls(event.what, event.round, event.reason, (), wager=wager)
            case Void():
                made = cls("void", event.round, event.reason, tuple(entered_in(event)))
            case Result():
                made = cls(
                    "result",
                    event.round,
                    "",
                    tuple(entered_in(event)),
                    tuple(event.positions),
                    tuple(event.dealer),
                    tuple(event.community or ()),
                )
            case _:
                return None
        changed = [
            each for each in known if not made.keeps(each, community_ordered=community_ordered)
        ]
        entered = merged(made.entered, changed, community_ordered=community_ordered)
        return msgspec.structs.replace(made, entered=entered) if entered else None

    def keeps(self, entered: EnteredCards, *, community_ordered: bool) -> bool:
        """Check if the result has exactly the cards `entered`, and does not fold their hand."""
        if self.what == "void" or self.folded(entered):
            return False
        compared = partial(cards_to_compare, entered.what, community_ordered=community_ordered)
        settled = compared(self.settled(entered)), self.declared(entered)
        return settled == (compared(entered.cards), entered.no_win)

    def folded(self, entered: EnteredCards) -> bool:
        return entered.what == "hand" and any(
            one.folded for one in self.positions if one.position == entered.position
        )

    def declared(self, entered: EnteredCards) -> bool:
        """Check if the result declares that the hand of the cards `entered` wins nothing."""
        return entered.what == "hand" and any(
            one.declared for one in self.positions if one.position == entered.position
        )

    @property
    def digest(self) -> str:
        """The digest with which a confirmation names the correction."""
        return hashlib.blake2b(msgspec.json.encode(self), digest_size=16).hexdigest()

    def settled(self, entered: EnteredCards) -> Sequence[str]:
        """Return the cards of the result that replace the cards `entered`, or no cards."""
        match entered.what:
            case "dealer":
                return self.dealer
            case "community":
                return self.community
            case _:
                hands = (one.cards for one in self.positions if one.position == entered.position)
                return next(hands, None) or ()


def merged(
    entered: Sequence[EnteredCards], more: Sequence[EnteredCards], *, community_ordered: bool
) -> tuple[EnteredCards, ...]:
    """Return entered cards, and the cards in `more` that are not yet among them."""
    which = partial(_which, community_ordered=community_ordered)
    there = set(map(which, entered))
    return (*entered, *(each for each in more if which(each) not in there))


def _which(
    entered: EnteredCards, *, community_ordered: bool
) -> tuple[str, int | None, tuple[str, ...], bool]:
    cards = cards_to_compare(entered.what, entered.cards, community_ordered=community_ordered)
    return entered.what, entered.position, cards, entered.no_win


def known_text(known: Sequence[EnteredCards]) -> str:
    """Return the cards that a round's requests named, as Redis has them; empty if there are none.

    >>> known_text([EnteredCards(what="dealer", cards=["2c", "7d", "9h"])])
    '[{"what":"dealer","cards":["2c","7d","9h"]}]'
    """
    return msgspec.json.encode(known).decode() if known else ""


def known_cards(text: str) -> tuple[EnteredCards, ...]:
    """Return the cards in a text of `known_text`.

    Raises:
        msgspec.DecodeError: the text in Redis was changed.
    """
    return _KNOWN.decode(text) if text else ()


class Ask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A correction request. `at` is the time when the table first sent the correction."""

    ask: str
    table: str
    at: str
    correction: Correction


def ask_step(
    ask: str,
    table: str,
    at: str,
    correction: Correction,
    known: Sequence[EnteredCards],
    *,
    community_ordered: bool,
) -> AskStep:
    """Return a table's correction request of the time `at` for the script `apply_events`.

    The cards of this request are added to `known`, the cards that earlier requests of the round
    named, up to a limit. The limit makes no difference for the table: every void of the round
    already needs a confirmation, and so does every result without all known cards.
    """
    text = msgspec.json.encode(Ask(ask, table, at, correction)).decode()
    now_known = merged(known, correction.entered, community_ordered=community_ordered)
    now_known = now_known[: max(len(known), KNOWN_MAX)]
    return AskStep(correction.digest, ask, text, known_text(now_known))


class AskDecision(msgspec.Struct, frozen=True, omit_defaults=True):
    """A person's decision on a correction request.

    Attributes:
        ask: the id of the request.
        act: the kind of the entry.
        what: ``void``, ``result``, ``add_wager`` or ``take_back_wager``.
        digest: the digest of the correction that the person saw.
        reason: the reason that the dealer gave.
        entered: the cards of the round that were entered and changed. They are here even if the
            request was refused, because the round needs a confirmation until it ends.
        wager: the wager that the correction adds or takes back.
    """

    ask: str
    act: AskAct
    by: str
    what: str
    round: str
    digest: str
    reason: str = ""
    entered: tuple[EnteredCards, ...] = ()
    wager: CorrectedWager | None = None


@dataclass(frozen=True)
class StoredAsk:
    """A correction request as Redis has it.

    A decision names the request's `digest`. The floor page shows the request from its JSON `text`.
    `decision` has ``confirmed`` or ``refused`` in the first line, and the name of the person in the
    second; it is empty while the request is undecided.
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
_KNOWN: Final = msgspec.json.Decoder(tuple[EnteredCards, ...])
_EVENT: Final = msgspec.json.Decoder(Void | Result | WagerCorrection)
ASK_DECISION: Final = msgspec.json.Decoder(AskDecision)


def stored_asks(fields: Mapping[str, str]) -> Iterator[StoredAsk]:
    """Yield each correction request from the fields of the link's Redis hash of requests."""
    tables = {name.removesuffix(_DECISION) for name in fields}
    for table in sorted(tables):
        digest, _, rest = fields.get(table, "").partition("\n")
        ask_id, _, text = rest.partition("\n")
        yield StoredAsk(table, digest, ask_id, text, fields.get(table + _DECISION, ""))


def correction_in(
    event: bytes, known: Sequence[EnteredCards], *, community_ordered: bool
) -> Correction | None:
    """Return the correction in a ledger entry's event, or None if the event corrects nothing.

    The arguments are as for `Correction.of`.

    Raises:
        msgspec.DecodeError: the event is neither a void nor a result, and corrects no wager.
    """
    return Correction.of(_EVENT.decode(event), known, community_ordered=community_ordered)


def confirmed_by(by: str) -> str:
    """Return the person who confirmed a correction, from the field `by` of its ledger entry.

    The name is empty if the entry has no confirmed correction.

    >>> confirmed_by("table:TCP-01, confirmed by Ada Lane"), confirmed_by("table:TCP-01")
    ('Ada Lane', '')
    """
    table, sign, who = by.partition(CONFIRMED_BY.decode())
    return who if sign and table.startswith("table:") else ""
