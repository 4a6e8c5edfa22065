"""Messages of the public contract.

A card is two characters; money is an integer in cents. Every decoder is strict: it refuses a number
in quotes, a boolean instead of a number, and a field that the contract does not have.

In the contract, jackpot messages are only about wins. pitlink also sends a jackpot message for a
decision on Envy Bonuses. This message names the claim under which the bonuses are owed, with the
ending ``-envy``. So a reader that does not know this extension sees an unknown claim.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Final, Literal, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from bonus.json_input import UNREADABLE
from bonus.rounds import Line
from bonus.wagers import PaidFrom

ROUND_LENGTH_MAX: Final = 64
POSITIONS_MAX: Final = 99
EVENT_BYTES_MAX: Final = 16_384
"""A longer event is refused without decoding. Real events are far shorter."""

LINK_PLAYERS_BYTES_MAX: Final = 32_768
"""The most that the players of the link can take in a reply. Brokers pass on twice as much."""

HELD: Final = "held"
"""State of a table that must wait for a hand pay, and the code of refusals during this wait."""

HELD_MESSAGE: Final = "the table waits for a hand pay: the cards stay until it is paid or rejected"

_ENVY_ENDING: Final = "-envy"

CardName = str
"""The name of a card; the rules of the game check its form later."""
KnownCard = Annotated[
    str, msgspec.Meta(pattern="^([2-9TJQKA][cdhs]|Jk|[a-z][a-z0-9_]*)$", max_length=64)
]
"""The name of a card or a result, or its form: the game's own names are checked later."""
Seq = Annotated[int, msgspec.Meta(ge=1, le=2**53 - 1)]
Cents = Annotated[int, msgspec.Meta(ge=1, le=10**12)]
PositionNumber = Annotated[int, msgspec.Meta(ge=1, le=POSITIONS_MAX)]
RoundId = Annotated[str, msgspec.Meta(min_length=1, max_length=ROUND_LENGTH_MAX)]
Patron = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
Reason = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Instant = str
"""Time as pitlink writes it: RFC 3339 in UTC, such as ``2026-11-20T02:14:07.250Z``."""

TableTime = Annotated[datetime, msgspec.Meta(tz=True)]
"""Time as a table sends it: RFC 3339, with the offset from UTC."""


class _Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    pass


class WageredPosition(_Message, frozen=True, kw_only=True):
    """Wagers that the wagering device of a position had accepted at lock-out.

    Attributes:
        wagers: the cents of each wager, by its name.
    """

    position: PositionNumber
    patron: Patron | None = None
    wagers: Annotated[dict[str, Cents], msgspec.Meta(min_length=1, max_length=16)]


class DealtPosition(_Message, frozen=True, kw_only=True):
    """Hand dealt to a position.

    Attributes:
        cards: left out with `no_win`, if the player folded and the cards were collected, and in a
            game in which one result is for the whole table.
        folded: true if the player folded.
        no_win: true if the dealer declared that the hand wins nothing; otherwise left out.
    """

    position: PositionNumber
    patron: Patron | None = None
    cards: Annotated[list[CardName], msgspec.Meta(max_length=8)] | None = None
    folded: bool = False
    no_win: bool | UnsetType = UNSET

    @property
    def declared(self) -> bool:
        return self.no_win is True


WageredPositions = Annotated[
    list[WageredPosition], msgspec.Meta(min_length=1, max_length=POSITIONS_MAX)
]


class Wagers(_Message, frozen=True, kw_only=True, tag="wagers"):
    """Wagers that feed a meter, sent after lock-out and before the first card is dealt.

    Attributes:
        positions: the positions with wagers that feed a meter.
    """

    seq: Seq
    at: TableTime
    round: RoundId
    positions: WageredPositions


class UndecodedWagers(_Message, frozen=True, kw_only=True, tag="wagers"):
    """Wagers whose positions stay JSON, so that repeated positions are not decoded again."""

    seq: Seq
    at: TableTime
    round: RoundId
    positions: msgspec.Raw


UNDECODED_WAGERS: Final = msgspec.json.Decoder(UndecodedWagers)


class EnteredCards(_Message, frozen=True, kw_only=True, omit_defaults=True):
    """Cards that were entered at a table but are not in the result of the round.

    Attributes:
        what: whose cards these are.
        position: the position of a ``hand``.
        cards: at least one card, except with `no_win`.
        taken_back: true if the dealer took the cards back before the round was settled or voided.
        reason: why the cards were taken back, if somebody entered a reason.
        no_win: true if the hand had no cards, but was declared to win nothing.
    """

    what: Literal["hand", "dealer", "community"]
    position: PositionNumber | None = None
    cards: Annotated[list[KnownCard], msgspec.Meta(min_length=1, max_length=8)] = []
    taken_back: bool = False
    reason: Reason | None = None
    no_win: bool = False

    def __post_init__(self) -> None:
        """Check that there are cards, or the dealer's declaration that a hand wins nothing.

        Raises:
            ValueError: cards are missing; or `no_win` is true with cards, or for something other
                than a hand.
        """
        if self.no_win and (self.cards or self.what != "hand"):
            raise ValueError("no_win is for a hand without cards")
        if not self.no_win and not self.cards:
            raise ValueError("cards are missing")


def cards_to_compare(
    what: str, cards: Iterable[str], *, community_ordered: bool
) -> tuple[str, ...]:
    """Return entered cards so that equal ones are the same.

    The order counts only for the community cards of a game with a wager on the first of them:
    `community_ordered` says whether the game has one.
    """
    return tuple(cards if community_ordered and what == "community" else sorted(cards))


_Entered = Annotated[list[EnteredCards], msgspec.Meta(max_length=128)]


class Result(_Message, frozen=True, kw_only=True, tag="result", omit_defaults=True):
    """Result of a round: every hand dealt to a position, the dealer's hand, the community cards.

    Attributes:
        positions: every position that was dealt a hand, with or without a progressive wager. If one
            result is for the whole table, every position with such a wager.
        dealer: the dealer's cards, or the result of the table.
        community: the community cards in the order of the deal, if some were dealt.
        entered_before: the cards or results that the dealer took back and entered differently.
        confirm: true if a floorperson must first confirm that the cards were changed.
    """

    seq: Seq
    at: TableTime
    round: RoundId
    positions: Annotated[list[DealtPosition], msgspec.Meta(min_length=1, max_length=POSITIONS_MAX)]
    dealer: Annotated[list[CardName], msgspec.Meta(max_length=8)]
    community: Annotated[list[CardName], msgspec.Meta(max_length=8)] | None = None
    # extensions of the contract
    entered_before: _Entered | UnsetType = UNSET
    confirm: bool = False


class Void(_Message, frozen=True, kw_only=True, tag="void", omit_defaults=True):
    """Voiding of a round that has no result (649a.13). All wagers of the round are returned.

    Attributes:
        entered: the cards or results that were entered before the voiding.
        confirm: true if a floorperson must confirm the voiding first, because of these cards.
    """

    seq: Seq
    at: TableTime
    round: RoundId
    reason: Reason
    # extensions of the contract
    entered: _Entered | UnsetType = UNSET
    confirm: bool = False


# The contract has no correction of one wager, and no withdrawal of a correction request.
class WagerCorrection(_Message, frozen=True, kw_only=True, tag="correct_wager"):
    """Correction of one wager after lock-out, which a floorperson must confirm.

    Attributes:
        action: whether the wager is added or taken back.
        wager: the name of the wager.
        positions: all wagers of the round after the correction, so that table and service settle
            the same wagers. If this list is empty, the round is over.
    """

    seq: Seq
    at: TableTime
    round: RoundId
    action: Literal["add", "take_back"]
    position: PositionNumber
    wager: str
    amount: Cents
    reason: Reason
    positions: Annotated[list[WageredPosition], msgspec.Meta(max_length=POSITIONS_MAX)]

    @property
    def adds(self) -> bool:
        return self.action == "add"

    @property
    def what(self) -> Literal["add_wager", "take_back_wager"]:
        """The kind of correction in a correction request."""
        return "add_wager" if self.adds else "take_back_wager"


def corrected_wagers(
    before: Mapping[int, WageredPosition], event: WagerCorrection
) -> dict[int, WageredPosition]:
    """Return the wagers after a correction. A position that had no wagers has no patron here."""
    after = dict(before)
    own = after.pop(event.position, None)
    wagers = dict(own.wagers) if own else {}
    if event.adds:
        wagers[event.wager] = event.amount
    else:
        wagers.pop(event.wager, None)
    if wagers:
        patron = own.patron if own else None
        after[event.position] = WageredPosition(
            position=event.position, patron=patron, wagers=wagers
        )
    return after


class UndecodedCorrection(_Message, frozen=True, kw_only=True, tag="correct_wager"):
    seq: Seq
    at: TableTime
    round: RoundId
    action: str
    position: PositionNumber
    wager: str
    amount: Cents
    reason: str
    positions: msgspec.Raw


class Withdrawal(_Message, frozen=True, kw_only=True, tag="withdrawal"):
    """Withdrawal of a table's correction request."""

    seq: Seq
    at: TableTime
    round: RoundId


class Hello(_Message, frozen=True, kw_only=True, tag="hello"):
    """Request for the last `seq` and the open round of the table. It can be sent at any time."""

    at: TableTime | None = None


TableEvent = Wagers | WagerCorrection | Result | Void | Withdrawal | Hello
MoneyEvent = Wagers | WagerCorrection | Result | Void | Withdrawal
"""Events with a sequence number. The table repeats each until it has a reply."""


class DrawMade(_Message, frozen=True, kw_only=True):
    """What was drawn for a round (649a.12(i)(3)).

    Attributes:
        magic_card: the Magic Card; null if none was drawn.
        lucky_position: the position for the Lucky Bonus, or ``dealer``; null if none was drawn.
    """

    magic_card: CardName | None
    lucky_position: int | Literal["dealer"] | None


class ErrorDetail(_Message, frozen=True, kw_only=True, omit_defaults=True):
    """Reason for a refusal.

    Attributes:
        code: the reason for programs.
        message: the reason for people.
        field: the wrong field of the event, if one field is at fault.
    """

    code: str
    message: str
    field: str | None = None


class ClaimOpened(_Message, frozen=True, kw_only=True, omit_defaults=True):
    """Progressive win that waits for a floorperson.

    Attributes:
        item: the wager that won.
        hand_of: for a share of a meter, the position whose hand brings it.
    """

    claim: str
    position: int
    item: str
    # extension of the contract; the amount is last, because the script adds it
    hand_of: int | None = None
    amount: int


class LinkPlayers(_Message, frozen=True, kw_only=True):
    """The players of another table who get parts of a community share.

    Attributes:
        round: the open round of the table.
        positions: the position at which each of them gets a part.
    """

    table: str
    round: str
    positions: tuple[int, ...]


def link_players_bytes(tables: Mapping[str, int]) -> int:
    """Return how long the list of the link's players can be in a reply, at most.

    `tables` has the number of positions of each table. A round id has letters of all languages,
    but no unprintable characters.
    """
    longest = "\U0001f0a1" * ROUND_LENGTH_MAX
    every = tuple(
        LinkPlayers(table=table, round=longest, positions=tuple(range(1, positions + 1)))
        for table, positions in tables.items()
    )
    return len(msgspec.json.encode(every))


class LinkShare(_Message, frozen=True, kw_only=True, omit_defaults=True):
    """The parts of a community share for players at other tables of the link.

    Their claims have the next numbers after the claims of this table, in the same order.

    Attributes:
        item: the item of the settlement lines for the players at this table.
        hand_of: the position whose hand brings the share.
        players: the players of each other table, in the order of the tables' names. Left out if
            they are those of the last share of the same `item` before.
        amount: the part of each player.
    """

    item: str
    hand_of: int
    players: tuple[LinkPlayers, ...] = ()
    amount: int


class OpenedValue(_Message, frozen=True):
    """A hidden value that a wager reached.

    Attributes:
        micros: the value, in millionths of a dollar.
        salt: the random salt of its commitment, in hexadecimal.
    """

    micros: int
    salt: str


class HiddenValueDrawn(_Message, frozen=True, omit_defaults=True):
    """A new hidden value of a must-hit-by meter.

    Attributes:
        cycle: the cycle of the meter that the value ends.
        commitment: SHA-256 over meter, cycle, value and salt, in hexadecimal.
        sealed: the value and its salt, encrypted for the services of the floor.
        opened: the value that ended the cycle before; null in the first cycle. The next ledger
            entry has the wager that reached it.
    """

    meter: str
    cycle: int
    commitment: str
    sealed: str
    opened: OpenedValue | None = None


class WagersAccepted(
    _Message, frozen=True, kw_only=True, tag_field="status", tag="accepted", omit_defaults=True
):
    """Reply to accepted wagers.

    Attributes:
        claims: the wins of must-hit-by meters by these wagers.
        drawn: for each of these wins, the opened hidden value and the next one. A restore needs
            them if Redis loses the win.
    """

    seq: int
    draw: DrawMade | None
    # extensions of the contract
    claims: tuple[ClaimOpened, ...] = ()
    drawn: tuple[HiddenValueDrawn, ...] = ()


def wagers_reply(
    seq: int, draw: str, claims: Sequence[ClaimOpened] = (), drawn: Sequence[HiddenValueDrawn] = ()
) -> str:
    """Return the reply to accepted wagers, `WagersAccepted`, from the draw in JSON.

    >>> wagers_reply(41, "null")
    '{"status":"accepted","seq":41,"draw":null}'
    """
    won = ""
    if claims:
        parts = (msgspec.json.encode(part).decode() for part in (claims, drawn))
        won = ',"claims":{},"drawn":{}'.format(*parts)
    return f'{{"status":"accepted","seq":{seq},"draw":{draw}{won}}}'


class Reply(_Message, frozen=True, kw_only=True, omit_defaults=True):
    """Reply to an event.

    Attributes:
        seq: the number of the event; null if the event could not be read.
        status: whether the event counts.
        draw: for `wagers`: what was drawn; null if nothing was drawn.
        drawn: for wagers that win must-hit-by meters: their hidden values.
        lines: for a `result`: the settlement, in paying order.
        claims: for a `result`: the wins that wait for a floorperson. For accepted wagers: their
            wins of must-hit-by meters. For wagers that are refused with ``held``: the wins that
            hold the table.
        error: for ``refused``: the reason.
        expected: for ``out_of_order``: the `seq` that must come now.
        link_share: for a `result` that brings a community share to the whole link: the parts of the
            players at the other tables.
    """

    seq: int | None
    status: Literal["accepted", "refused", "out_of_order"]
    draw: DrawMade | None = None
    drawn: tuple[HiddenValueDrawn, ...] | None = None
    lines: tuple[Line, ...] | None = None
    claims: tuple[ClaimOpened, ...] | None = None
    error: ErrorDetail | None = None
    expected: int | None = None
    # extension of the contract
    link_share: tuple[LinkShare, ...] | None = None


class PartElsewhere(NamedTuple):
    """A player's part of a community share, at another table than that of the hand."""

    claim: str
    table: str
    round: str
    position: int
    item: str
    hand_of: int
    amount: int


def parts_elsewhere(reply: Reply) -> list[PartElsewhere]:
    """Return the parts of community shares for players at other tables, each with its claim."""
    if not reply.link_share or not reply.claims:
        return []
    stem, own = reply.claims[0].claim.rpartition("-")[0], len(reply.claims)
    players = dict[str, tuple[LinkPlayers, ...]]()
    parts = list[tuple[str, str, int, str, int, int]]()
    for share in reply.link_share:
        every = players[share.item] = share.players or players.get(share.item, ())
        parts += [
            (at.table, at.round, position, share.item, share.hand_of, share.amount)
            for at in every
            for position in at.positions
        ]
    return [PartElsewhere(f"{stem}-{own + turn}", *part) for turn, part in enumerate(parts, 1)]


class HelloReply(_Message, frozen=True, kw_only=True, tag_field="type", tag="hello"):
    """Reply to a hello.

    Attributes:
        last_seq: the last `seq` that the table used; 0 if it has used none.
        open_round: the table's open round; null if no round is open.
    """

    last_seq: Annotated[int, msgspec.Meta(ge=0, le=2**53 - 2)]
    open_round: str | None


class LedgerSeal(_Message, frozen=True, kw_only=True):
    """Digest of a link's ledger, or of the operators' log, after an audit without errors.

    Attributes:
        entries: the number of the last entry that the audit covered.
        seal: SHA-256 over all entries up to this entry.
    """

    entries: int
    seal: str
    at: str


class TableStatus(_Message, frozen=True, kw_only=True):
    """Status of a table's agent.

    Attributes:
        online: true while the agent is connected; false in its last will.
        state: ``open``, ``locked``, ``dealt``, ``settling``, ``held``, ``locked_out`` or
            ``events_lost``; in the last will ``offline``.
    """

    online: bool
    state: str
    at: Instant


class MeterValue(_Message, frozen=True, kw_only=True):
    """Current value of a meter.

    Attributes:
        version: a number that only rises. Ignore a value with a lower version than the last one.
        state: ``pending`` while a win of this meter waits for a floorperson.
    """

    meter: str
    amount: int
    version: int
    cycle: int
    state: Literal["open", "pending", "closed", "inoperable"]
    at: Instant


class ControllerBeat(_Message, frozen=True, kw_only=True):
    """Heartbeat of a link, every second.

    Attributes:
        state: ``closed`` if people closed the link.
        reason: why the link is inoperable or closed; empty while it is operable.
        beat: a number that rises with each heartbeat.
    """

    state: Literal["operable", "inoperable", "closed"]
    reason: str
    beat: int
    at: Instant


class Jackpot(_Message, frozen=True, kw_only=True, omit_defaults=True):
    """Win of a meter, or a decision on a win (duty D8).

    Attributes:
        event: what happened to the win.
        claim: the id of the claim, the record of a win; with the ending ``-envy`` for a decision
            on an Envy Bonus alone.
        meter_after: the meter after the win, in cents. If a hand wins several parts of a meter, it
            is the meter after the last part.
        hand_of: for a share of a meter, the position whose hand brings it.
        hand_table: the table of this hand, if it is another table of the link.
    """

    event: Literal["hit", "validated", "rejected", "paid"]
    claim: str
    meter: str
    table: str
    position: int
    item: str
    hand: str
    amount: int
    meter_after: int
    at: Instant
    hand_of: int | None = None
    hand_table: str | None = None


TABLE_EVENT: Final = msgspec.json.Decoder(TableEvent)
REPLY: Final = msgspec.json.Decoder(Reply)
HELLO_REPLY: Final = msgspec.json.Decoder(HelloReply)
METER_VALUE: Final = msgspec.json.Decoder(MeterValue)
CONTROLLER_BEAT: Final = msgspec.json.Decoder(ControllerBeat)
JACKPOT: Final = msgspec.json.Decoder(Jackpot)
TABLE_STATUS: Final = msgspec.json.Decoder(TableStatus)


class _Sequenced(msgspec.Struct, frozen=True):
    seq: Seq


_SEQUENCED: Final = msgspec.json.Decoder(_Sequenced)


def seq_of(payload: bytes) -> int | None:
    """Return the `seq` of a message even if other fields are wrong; None if it has no `seq`."""
    if len(payload) > 4 * EVENT_BYTES_MAX:
        return None
    try:
        return _SEQUENCED.decode(payload).seq
    except UNREADABLE:
        return None


def holds_table(paid_from: str | None) -> bool:
    """Check if a win with this source of payment holds the table until the win is final.

    Only a hand pay does: the law requires that the cards remain on the table until the necessary
    documentation is done (649a.11(c)(5)(iv), (7)(iv), (8)(iii), (9)(iv)).
    """
    return paid_from == PaidFrom.HAND_PAY


def held_by(claims: Iterable[str]) -> str:
    return f"{HELD_MESSAGE} ({', '.join(claims)})"


def envy_message_claim(claim: str) -> str:
    """Return the claim name for a message about the Envy Bonuses of a claim.

    >>> envy_message_claim("pit.T-1-42-1")
    'pit.T-1-42-1-envy'
    """
    return f"{claim}{_ENVY_ENDING}"


def envy_owed_under(named: str) -> str | None:
    """Return the claim whose Envy Bonuses a jackpot message is about; None if it is about a win.

    >>> envy_owed_under("pit.T-1-42-1-envy"), envy_owed_under("pit.T-1-42-1")
    ('pit.T-1-42-1', None)
    """
    return named.removesuffix(_ENVY_ENDING) if named.endswith(_ENVY_ENDING) else None


def envy_claim_name(result: str, holder: int) -> str:
    """Return the claim name of the Envy Bonuses for a hand whose own win has no claim.

    `result` names the link, the table and the number of the result. `holder` is the position of the
    hand.
    >>> envy_claim_name("pit.T-1-42", 3)
    'pit.T-1-42-e3'
    """
    return f"{result}-e{holder}"
