"""Decoding of a round from a line of JSON, in the format of ``pitlink settle``."""

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Annotated, Final, Generic, Literal, TypeVar

import msgspec

from bonus.cards import Card
from bonus.errors import nearest
from bonus.json_input import UNREADABLE
from bonus.law.chapter_file import OF_COMMUNITY
from bonus.law.choices import Choices, choice_problem
from bonus.law.games import Games, chapter_games
from bonus.law.meter_terms import MeterTerms, meter_terms
from bonus.printable import unprintable_problem
from bonus.rounds import (
    Draw,
    KeptWagers,
    LuckyPosition,
    MeterHolding,
    Round,
    RoundError,
    RoundPosition,
    one_card,
    read_cards,
)
from bonus.settling.table_rules import TableRules, table_rules
from bonus.wagers import MICROS_PER_CENT

LINE_BYTES_MAX: Final = 65_536
"""A longer line is refused without being decoded."""

_KEPT_BYTES_MAX: Final = 512
"""Longer wagers in JSON are not kept in decoded form; all real wagers are shorter."""

_NO_WAGERS: Final = b"{}"

_VALIDATION: Final = re.compile(r"(.*?)(?: - at `(?:key` in `)?\$\.?([^`]*)`)?", re.DOTALL)

Cents = Annotated[int, msgspec.Meta(ge=0, le=10**15)]
"""Balance of a meter, up to ten trillion dollars: well below 2**53 cents."""


_Wagers = TypeVar("_Wagers")


class _PositionOf(msgspec.Struct, Generic[_Wagers], frozen=True, forbid_unknown_fields=True):
    """A position of a round.

    Attributes:
        position: its number. 1 is farthest to the dealer's left.
        patron: any text. Positions with the same text are one player, who has one share of a
            divided jackpot, one payout limit, and no Envy Bonus for their own hands. Without the
            text, the position is a player of its own.
        cards: the cards of the hand. Leave them out if the hand was folded and collected.
        folded: true if the player folded.
        no_win: true if the dealer declared that the hand wins nothing.
        wagers: the cents of each wager by its name, including the wager after the deal (`play`,
            `raise`). If this is left out, the wagers are unknown, but other players still win Envy
            Bonuses for the hand.
        fourth_card: Three Card Prime: the position's own fourth card, for its Pair Bonus.
    """

    # Players often repeat their wagers. So wagers are decoded after the round, each text only once.

    position: int
    patron: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    cards: list[str] | None = None
    folded: bool = False
    no_win: bool = False
    wagers: _Wagers | msgspec.Raw = msgspec.Raw(_NO_WAGERS)
    fourth_card: str | None = None


class DrawText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The draws for the Five Card Hand Bonus; null if nothing was drawn.

    Attributes:
        magic_card: the card that was drawn.
        lucky_position: the position that was drawn.
    """

    magic_card: str | None = None
    lucky_position: LuckyPosition | None = None


class MeterText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A meter before the settlement, with the contributions of this round's wagers, in cents.

    Attributes:
        wager: the amount of each wager on the meter; the largest amount if there are several.
        amount: the money in the meter.
        reserve: the money in its reserve, if it has one.
        limit: the payout limit of the meter; null for none.
        overflow: the money above the payout limit. A round does not say that another meter gets
            this money (`overflow_to` of the floor file): what a reseed and the reserve bring above
            the limit also stays here, and refills the meter for the next win of the round.
        smaller_wagers: the smaller amounts that the floor file allows, the largest first. They win
            a proportional part of each percentage.
    """

    wager: Annotated[int, msgspec.Meta(le=10**9)]
    amount: Cents
    reserve: Cents | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=10**15)] | None = None
    overflow: Cents = 0
    smaller_wagers: Annotated[
        tuple[Annotated[int, msgspec.Meta(le=10**9)], ...], msgspec.Meta(max_length=3)
    ] = ()

    @property
    def limit_problem(self) -> str | None:
        if self.limit is not None and self.amount > self.limit:
            return "holds more than its limit"
        if self.overflow and self.amount != self.limit:
            return "has an overflow, so it must be at its limit"
        return None


class _RoundOf(msgspec.Struct, Generic[_Wagers], frozen=True, forbid_unknown_fields=True):
    """A whole round. A field that is not listed, or that the game does not have, is refused.

    A card is a rank ``23456789TJQKA`` and a suit ``cdhs``, such as ``Td``; the joker is ``Jk``. In
    a game with ``[[result]]``, the name of a result takes the place of a card. Amounts are in
    cents.

    Attributes:
        game: ``three_card_poker``, ``three_card_prime``, ``four_card_prime`` or a game of the
            house.
        positions: the positions that play, in any order.
        paytables: the choices of the table. A wager without its choice is not offered.
        dealer: the dealer's cards. Leave them out for a void round.
        community: the community cards in the order of the deal, if a wager needs them: two in Three
            Card Poker.
        pair_bonus_community_card: Three Card Prime: one fourth card for all Pair Bonus wagers, even
            if a position has its own.
        all_six_card: Four Card Prime: the card of the All-Six Bonus.
        draw: the draws for the Five Card Hand Bonus. Leave this out if nothing was drawn.
        meters: the meters that the round's wagers feed, by their kind.
        irregularity: ``void``: every wager is returned. ``dealer_exposed``: a card of the dealer
            was seen too early, and the chapter says which wagers are settled.
    """

    game: str
    positions: list[_PositionOf[_Wagers]]
    paytables: msgspec.Raw = msgspec.Raw(b"{}")
    dealer: list[str] | None = None
    community: list[str] | None = None
    pair_bonus_community_card: str | None = None
    all_six_card: str | None = None
    draw: DrawText | None = None
    meters: dict[str, MeterText] = {}
    irregularity: Literal["void", "dealer_exposed"] | None = None


RoundText = _RoundOf[msgspec.Raw]

_ROUND: Final = msgspec.json.Decoder(RoundText)
_ROUND_AND_WAGERS: Final = msgspec.json.Decoder(_RoundOf[dict[str, int]])
_WAGERS: Final = msgspec.json.Decoder(dict[str, int])
_CHOICES: Final = msgspec.json.Decoder(dict[str, str | int | dict[str, int]])
_NO_DRAW: Final = Draw()


def decode_round(line: bytes, games: Games | None = None) -> tuple[RoundText, Sequence[KeptWagers]]:
    """Decode a round, and the wagers of each position, from a line of JSON.

    Raises:
        RoundError: the code is ``too_long``, ``not_json``, ``malformed`` (a field is unknown, is
            missing or has the wrong type), ``unknown_game``, ``wrong_field`` (the game has no such
            field) or ``unprintable_text``.
    """
    if len(line) > LINE_BYTES_MAX:
        raise RoundError("too_long", f"the line is longer than {LINE_BYTES_MAX} bytes")
    try:
        text = _ROUND.decode(line)
        texts = [bytes(box.wagers) for box in text.positions]
        wagers = [_wagers(each) for each in texts]
        if _may_repeat_wagers(line, texts):
            _ROUND_AND_WAGERS.decode(line)
    except UNREADABLE as error:
        raise _first_error(line, error) from None
    games = games or chapter_games()
    if text.game not in games:
        message = f"there is no game {text.game!r}{nearest(text.game, games)}"
        raise RoundError("unknown_game", message, "game")
    _check_fields(text, games)
    for index, box in enumerate(text.positions):
        if box.patron is not None and (problem := unprintable_problem(box.patron)):
            raise RoundError("unprintable_text", f"patron {problem}", f"positions[{index}].patron")
    return text, wagers


def rules_of(text: RoundText, games: Games | None = None) -> TableRules:
    """Return the rules of the casino table at which a round was played.

    Raises:
        RoundError: the ``paytables`` of the round are wrong (``malformed``, ``not_offered``).
    """
    return _rules(games or chapter_games(), text.game, bytes(text.paytables))


def terms_of(
    text: RoundText, rules: TableRules, games: Games | None = None
) -> dict[str, MeterTerms]:
    """Return the terms of the meters that a round names.

    Raises:
        RoundError: ``unknown_meter``, or ``bad_meter`` (the chapter does not allow the terms or the
            reserve, the balances do not fit the payout limit, or one wager feeds meters with other
            amounts).
    """
    terms: dict[str, MeterTerms] = {}
    for name, meter in text.meters.items():
        if name not in rules.meters.titles:
            raise RoundError(
                "unknown_meter", f"{name!r} is not a meter of {text.game}", f"meters.{name}"
            )
        chosen = rules.choices.get(rules.meters.wagers_of(name)[0])
        choice = chosen if isinstance(chosen, str) else None
        try:
            terms[name] = meter_terms(
                name, meter.wager, choice, text.game, games, meter.smaller_wagers
            )
        except ValueError as error:
            raise RoundError("bad_meter", str(error), f"meters.{name}") from None
        if meter.reserve is not None and not terms[name].has_reserve:
            raise RoundError("bad_meter", f"{name} has no reserve", f"meters.{name}.reserve")
        if problem := meter.limit_problem:
            raise RoundError("bad_meter", f"{name} {problem}", f"meters.{name}.amount")
    for name, each in terms.items():
        for other, beside in terms.items():
            if each.wagers == beside.wagers and each.wagers_cents != beside.wagers_cents:
                raise RoundError(
                    "bad_meter",
                    f"{each.wagers[0]} feeds {name} and {other}, which must have the same `wager`"
                    " and `smaller_wagers`",
                    f"meters.{other}",
                )
    return terms


def holdings_of(text: RoundText, terms: Mapping[str, MeterTerms]) -> dict[str, MeterHolding]:
    return {
        kind: MeterHolding(
            text.meters[kind].amount * MICROS_PER_CENT,
            (text.meters[kind].reserve or 0) * MICROS_PER_CENT,
            text.meters[kind].overflow * MICROS_PER_CENT,
            (text.meters[kind].limit or 0) * MICROS_PER_CENT,
        )
        for kind in terms
    }


def wagered_of(text: RoundText, wagers: Sequence[KeptWagers]) -> tuple[RoundPosition, ...]:
    """Return the positions of a void round; the cards do not matter."""
    return tuple(
        RoundPosition(box.position, box.patron, None, box.folded, placed)
        for box, placed in zip(text.positions, wagers, strict=True)
    )


def dealt_of(text: RoundText, wagers: Sequence[KeptWagers], rules: TableRules) -> Round:
    """Return a round with its cards; the RoundError is ``wrong_cards`` or ``bad_card``."""
    deal = rules.chapter.deal
    positions: list[RoundPosition] = []
    for index, box in enumerate(text.positions):
        cards, fourth = None, None
        if box.cards is not None:
            field = f"positions[{index}].cards"
            cards = read_cards(box.cards, deal.hand, field, deal.rule, rules.deck)
        if box.fourth_card is not None:
            fourth = one_card(box.fourth_card, f"positions[{index}].fourth_card")
        positions.append(
            RoundPosition(
                box.position,
                box.patron,
                cards,
                box.folded,
                wagers[index],
                fourth_card=fourth,
                no_win=box.no_win,
            )
        )
    return Round(
        positions=tuple(positions),
        dealer=None
        if text.dealer is None
        else read_cards(text.dealer, deal.dealer, "dealer", deal.rule, rules.deck),
        community=None
        if text.community is None
        else read_cards(text.community, deal.community, "community", deal.rule, rules.deck),
        draw=_draw(text.draw),
        pair_bonus_community_card=_card(
            text.pair_bonus_community_card, "pair_bonus_community_card"
        ),
        all_six_card=_card(text.all_six_card, "all_six_card"),
        dealer_exposed=text.irregularity == "dealer_exposed",
    )


def _may_repeat_wagers(line: bytes, texts: Sequence[bytes]) -> bool:
    """Return whether it is possible that a position names its wagers more than once.

    If a position names its wagers twice, ``texts`` has only the last wagers, so the line must be
    decoded again to check the first. The result can be True without need: the name is counted
    wherever it occurs, and an escape counts too, because it could hide the name.
    """
    named = len(texts) - texts.count(_NO_WAGERS)
    return b"\\" in line or line.count(b'"wagers"') > named


def _decoded_wagers(text: bytes) -> KeptWagers:
    return KeptWagers(_WAGERS.decode(text))


_short_wagers: Final = lru_cache(maxsize=8_192)(_decoded_wagers)


def _wagers(text: bytes) -> KeptWagers:
    return _short_wagers(text) if len(text) <= _KEPT_BYTES_MAX else _decoded_wagers(text)


def _first_error(line: bytes, error: Exception) -> RoundError:
    """Return the first error of a line. ``error`` can be a later error: wagers are decoded last."""
    try:
        _ROUND_AND_WAGERS.decode(line)
    except msgspec.ValidationError as first:
        return _malformed(first)
    except UNREADABLE as first:
        error = first
    return RoundError("not_json", f"not JSON: {error}")


def _malformed(error: msgspec.ValidationError, within: str = "") -> RoundError:
    found = _VALIDATION.fullmatch(str(error))
    reason, path = (found[1], found[2]) if found else (str(error), None)
    field = ".".join(part for part in (within, (path or "").partition("[...]")[0]) if part)
    return RoundError("malformed", reason, field or None)


@lru_cache(maxsize=256)
def _rules(games: Games, game: str, paytables: bytes) -> TableRules:
    try:
        choices: Choices = _CHOICES.decode(paytables)
    except msgspec.ValidationError as error:
        raise _malformed(error, "paytables") from None
    except UNREADABLE as error:
        raise RoundError("not_json", f"not JSON: {error}", "paytables") from None
    chapter = games[game]
    for name, choice in choices.items():
        problem = choice_problem(chapter, name, choice, choices)
        if problem:
            raise RoundError("not_offered", problem, f"paytables.{name}")
    return table_rules(chapter, choices)


def _draw(text: DrawText | None) -> Draw:
    if text is None:
        return _NO_DRAW
    return Draw(_card(text.magic_card, "draw.magic_card"), text.lucky_position)


def _check_fields(text: RoundText, games: Games) -> None:
    for field in _foreign_fields(games, text.game):
        if field != "fourth_card":
            if getattr(text, field) not in (None, {}):
                raise RoundError("wrong_field", f"a round of {text.game} has no {field}", field)
            continue
        for index, box in enumerate(text.positions):
            if box.fourth_card is not None:
                message = f"a position of {text.game} has no fourth_card"
                raise RoundError("wrong_field", message, f"positions[{index}].fourth_card")


@cache
def _foreign_fields(games: Games, game: str) -> tuple[str, ...]:
    """Return the fields that a game does not have; ``fourth_card`` of positions is last."""
    chapter = games[game]
    cards = {of for wager in chapter.wager for of in wager.cards}
    fourth = any(wager.fourth_card for wager in chapter.wager)
    has = {
        "dealer": chapter.deal.dealer,
        "community": OF_COMMUNITY & cards,
        "draw": any(wager.draws for wager in chapter.wager),
        "meters": any(wager.fed for wager in chapter.wager),
        "pair_bonus_community_card": fourth,
        "all_six_card": "hand_and_all_six" in cards,
        "fourth_card": fourth,
    }
    return tuple(field for field, had in has.items() if not had)


def _card(name: str | None, field: str) -> Card | None:
    return None if name is None else one_card(name, field)
