"""Rounds in and settlements out, a JSON object a line, as the contract has them.

A round is read, checked and settled by itself; one that cannot be is answered in its place by an
error, and the next one is read.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, BinaryIO, Final, Literal

import msgspec

from bonus.holdings import MICROS_PER_CENT, contributions, resolve
from bonus.lines import Holding, Line
from bonus.paytables import MeterKind, MeterTerms, Wager, meter_terms
from bonus.rounds import (
    DealtPosition,
    Draw,
    LuckyPosition,
    Round,
    RoundError,
    check_round,
    check_wagers,
    one_card,
    three_cards,
    two_cards,
)
from bonus.settlement import DEALER_EXPOSED_RULE, VOID_RULE, settle_round, void_lines

LINE_BYTES_MAX: Final = 65_536
"""A longer line is refused unread: no round of seven positions comes near it."""

_GAMES: Final = ("three_card_poker", "three_card_prime", "four_card_prime")
_VALIDATION: Final = re.compile(r"(.*?)(?: - at `(?:key` in `)?\$\.?([^`]*)`)?", re.DOTALL)

Cents = Annotated[int, msgspec.Meta(ge=0)]


class MiniRoyal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Odds "to 1" for a mini-royal, where they are offered (649a.12(g))."""

    ante_bonus: Annotated[int, msgspec.Meta(ge=5)] | None = None
    pair_plus: Annotated[int, msgspec.Meta(ge=40)] | None = None


class Paytables(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The choices of a Rules Submission for Three Card Poker."""

    ante_bonus: Literal["b-A", "b-B", "b-C", "c-A", "c-B", "c-C"] | None = None
    pair_plus: Literal["A", "B", "C", "D", "E"] | None = None
    progressive: Literal["A", "B"] | None = None
    six_card_bonus: Literal["A", "B", "C", "D", "E"] | None = None
    mini_royal: MiniRoyal | None = None
    version: Literal["1", "2", "3", 1, 2, 3] | None = None


class PositionText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A position as a round has it; wagers in cents."""

    position: int
    patron: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    cards: list[str] | None = None
    folded: bool = False
    wagers: dict[str, int] = {}


class DrawText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was drawn for a round."""

    magic_card: str | None = None
    lucky_position: LuckyPosition | None = None


class MeterText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A meter when settling begins, in cents, this round's contributions included."""

    wager: int
    amount: Cents
    reserve: Cents | None = None


class RoundText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A round of Three Card Poker as a line has it."""

    game: str
    positions: list[PositionText]
    paytables: Paytables = Paytables()
    dealer: list[str] | None = None
    community: list[str] | None = None
    draw: DrawText | None = None
    meters: dict[str, MeterText] = {}
    irregularity: Literal["void", "dealer_exposed"] | None = None


class MeterAfter(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a meter holds after the round, in cents."""

    amount: int
    reserve: int | None = None


class Settled(msgspec.Struct, frozen=True):
    """A settlement as a line has it."""

    lines: tuple[Line, ...]
    meters: dict[MeterKind, MeterAfter]


class _Error(msgspec.Struct, frozen=True, omit_defaults=True):
    code: str
    message: str
    field: str | None = None


class _Refused(msgspec.Struct, frozen=True):
    error: _Error


class _Game(msgspec.Struct, frozen=True):
    game: str


_GAME: Final = msgspec.json.Decoder(_Game)
_ROUND: Final = msgspec.json.Decoder(RoundText)
_ENCODER: Final = msgspec.json.Encoder()


def settle_lines(source: BinaryIO, sink: BinaryIO) -> bool:
    """Settle each line of ``source`` onto ``sink``, in order; whether all of them were settled.

    No more than one line is held at a time, and each answer is out before the next line is read.
    """
    all_settled = True
    for line in _lines(source):
        answer: Settled | _Refused
        try:
            answer = settle_line(line)
        except RoundError as error:
            answer = _Refused(_Error(error.code, error.message, error.field))
            all_settled = False
        sink.write(_ENCODER.encode(answer) + b"\n")
        sink.flush()
    return all_settled


def settle_line(line: bytes) -> Settled:
    """Settle the round that a line holds.

    Raises:
        RoundError: as ``check_round``; ``too_long``, ``not_json``, ``malformed`` (a field is
            unknown, missing or of another kind), ``unknown_game``, ``unknown_wager``,
            ``unknown_meter``, ``bad_meter`` (not on the chapter's terms), ``not_settled`` (a game
            or wager that this version does not settle).
    """
    text = _decode(line)
    terms = _terms(text)
    positions = tuple(_position(box, index) for index, box in enumerate(text.positions))
    holdings = {
        kind: Holding(
            text.meters[kind].amount * MICROS_PER_CENT,
            (text.meters[kind].reserve or 0) * MICROS_PER_CENT,
        )
        for kind in terms
    }
    if text.irregularity is not None:
        check_wagers(positions, terms)
        rule = VOID_RULE if text.irregularity == "void" else DEALER_EXPOSED_RULE
        after = _without_contributions(text, positions, holdings, terms)
        return Settled(void_lines(positions, rule), _meters(after, terms))
    played = _read_cards(text, positions)
    check_round(played, terms)
    lines, after = resolve(settle_round(played, terms), holdings, terms)
    return Settled(lines, _meters(after, terms))


def _lines(source: BinaryIO) -> Iterator[bytes]:
    """The lines of a source, of an overlong one no more than shows that it is."""
    while line := source.readline(LINE_BYTES_MAX + 2):
        rest = line
        while len(rest) == LINE_BYTES_MAX + 2 and not rest.endswith(b"\n"):
            rest = source.readline(LINE_BYTES_MAX + 2)
        yield line.removesuffix(b"\n")


def _decode(line: bytes) -> RoundText:
    if len(line) > LINE_BYTES_MAX:
        raise RoundError("too_long", f"the line is longer than {LINE_BYTES_MAX} bytes")
    try:
        # The game comes first: what fields a round may have depends on it.
        game = _GAME.decode(line).game
        if game not in _GAMES:
            raise RoundError("unknown_game", f"{game!r} is none of {', '.join(_GAMES)}", "game")
        if game != "three_card_poker":
            raise RoundError("not_settled", f"this version does not settle {game}", "game")
        return _ROUND.decode(line)
    except msgspec.ValidationError as error:
        found = _VALIDATION.fullmatch(str(error))
        reason, path = (found[1], found[2]) if found else (str(error), None)
        raise RoundError("malformed", reason, (path or "").partition("[...]")[0] or None) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RoundError("not_json", f"not JSON: {error}") from None


def _terms(text: RoundText) -> dict[MeterKind, MeterTerms]:
    terms = {}
    for name, meter in text.meters.items():
        field = f"meters.{name}"
        if name not in list(MeterKind):
            raise RoundError("unknown_meter", f"{name!r} is no meter of 649a", field)
        kind = MeterKind(name)
        choice = text.paytables.progressive if kind is MeterKind.PROGRESSIVE else None
        try:
            terms[kind] = meter_terms(kind, meter.wager, choice)
        except ValueError as error:
            raise RoundError("bad_meter", str(error), field) from None
        if meter.reserve is not None and not terms[kind].reserve_bps:
            raise RoundError("bad_meter", f"{kind} has no reserve", f"{field}.reserve")
    return terms


def _position(box: PositionText, index: int) -> DealtPosition:
    wagers = {}
    for name, amount_cents in box.wagers.items():
        if name not in list(Wager):
            message = f"{name!r} is no wager of three_card_poker"
            raise RoundError("unknown_wager", message, f"positions[{index}].wagers.{name}")
        wagers[Wager(name)] = amount_cents
    return DealtPosition(box.position, box.patron, None, box.folded, wagers)


def _read_cards(text: RoundText, positions: tuple[DealtPosition, ...]) -> Round:
    """The round with its cards, which a void one need not have, nor have right."""
    if text.dealer is None:
        raise RoundError("cards_missing", "the dealer's hand is missing", "dealer")
    dealt = tuple(
        DealtPosition(
            box.position,
            box.patron,
            None if given.cards is None else three_cards(given.cards, f"positions[{index}].cards"),
            box.folded,
            box.wagers,
        )
        for index, (box, given) in enumerate(zip(positions, text.positions, strict=True))
    )
    drawn = text.draw or DrawText()
    return Round(
        positions=dealt,
        dealer=three_cards(text.dealer, "dealer"),
        community=None if text.community is None else two_cards(text.community, "community"),
        draw=Draw(
            None if drawn.magic_card is None else one_card(drawn.magic_card, "draw.magic_card"),
            drawn.lucky_position,
        ),
    )


def _without_contributions(
    text: RoundText,
    positions: tuple[DealtPosition, ...],
    holdings: Mapping[MeterKind, Holding],
    terms: Mapping[MeterKind, MeterTerms],
) -> dict[MeterKind, Holding]:
    """The meters of a void round: what it added comes off again (reading T28).

    A reserve that the line does not give is not known, and nothing is taken off it.
    """
    after = dict(holdings)
    for kind, added in contributions(positions, terms).items():
        amount_micros = holdings[kind].amount_micros - added.amount_micros
        reserve_micros = 0
        if text.meters[kind].reserve is not None:
            reserve_micros = holdings[kind].reserve_micros - added.reserve_micros
        if amount_micros < 0 or reserve_micros < 0:
            message = f"{kind} holds less than this round added to it"
            raise RoundError("bad_meter", message, f"meters.{kind}")
        after[kind] = Holding(amount_micros, reserve_micros)
    return after


def _meters(
    holdings: Mapping[MeterKind, Holding], terms: Mapping[MeterKind, MeterTerms]
) -> dict[MeterKind, MeterAfter]:
    return {
        kind: MeterAfter(
            holding.amount_micros // MICROS_PER_CENT,
            holding.reserve_micros // MICROS_PER_CENT if terms[kind].reserve_bps else None,
        )
        for kind, holding in holdings.items()
    }
