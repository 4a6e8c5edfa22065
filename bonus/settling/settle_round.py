"""Settlement of rounds from lines of JSON, in the format of the public contract.

Each line is one round, and gets one answer: its settlement, or an error.
"""

from collections.abc import Iterator, Mapping
from typing import BinaryIO, Final, Protocol

import msgspec

from bonus.law.games import Games
from bonus.law.meter_terms import MeterTerms
from bonus.printable import escape_in_json
from bonus.rounds import (
    Due,
    MeterAfter,
    MeterHolding,
    RoundError,
    RoundPosition,
    SettledPosition,
    Settlement,
    SettlementText,
)
from bonus.settling.round_checks import check_round, check_wagers
from bonus.settling.round_text import (
    LINE_BYTES_MAX,
    RoundText,
    dealt_of,
    decode_round,
    holdings_of,
    rules_of,
    terms_of,
    wagered_of,
)
from bonus.settling.settlement import at_limit, contributions, resolve, settle_round, void_lines
from bonus.settling.table_rules import TableRules
from bonus.wagers import MICROS_PER_CENT


class Refusal(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a round is refused.

    Attributes:
        code: the reason for programs.
        message: the reason for people.
        field: the wrong field of the round, if one field is at fault.
    """

    code: str
    message: str
    field: str | None = None


class RefusedRound(msgspec.Struct, frozen=True):
    """The answer instead of a settlement.

    Attributes:
        error: what is wrong.
    """

    error: Refusal


_ENCODER: Final = msgspec.json.Encoder()

_READ_BYTES_MAX: Final = 65_536
"""Lines are read together up to this size, so few system calls are needed."""


class Source(Protocol):
    """A source of lines, such as a buffered file."""

    def read1(self, size: int, /) -> bytes:
        """Return the available bytes, at most ``size``; wait only if there are none."""


def settle_lines(source: Source, sink: BinaryIO, games: Games | None = None) -> bool:
    """Settle the round on each line of ``source``; return whether all were settled.

    Lines that are available together are read together, and answered before more lines are read, so
    a program that waits for an answer receives it. Without ``games``, use the chapters.
    """
    all_settled = True
    for lines in _available_lines(source):
        answers: list[bytes] = []
        for line in lines:
            try:
                answers.append(_settled(line, games))
            except RoundError as error:
                answers.append(_refused(error))
                all_settled = False
        sink.write(b"".join(answers))
        sink.flush()
    return all_settled


def _settled(line: bytes, games: Games | None) -> bytes:
    settlement, meters = _settle(line, games)
    text = b",".join([each.text for each in settlement.positions])
    return b'{"lines":[%b],"meters":%b}\n' % (text, _ENCODER.encode(meters))


def _refused(error: RoundError) -> bytes:
    """Return the answer for a refused round; its message can quote the round, so it is escaped."""
    refused = RefusedRound(Refusal(error.code, error.message, error.field))
    return escape_in_json(_ENCODER.encode(refused).decode()).encode() + b"\n"


def settle_line(line: bytes, games: Games | None = None) -> SettlementText:
    """Settle the round on a line of JSON; a RoundError says why it is refused."""
    settlement, meters = _settle(line, games)
    return SettlementText(tuple([due.line for due in settlement.dues]), meters)


def _settle(line: bytes, games: Games | None) -> tuple[Settlement, dict[str, MeterAfter]]:
    text, wagers = decode_round(line, games)
    rules = rules_of(text, games)
    terms = terms_of(text, rules, games)
    holdings = holdings_of(text, terms)
    if _is_void(text, rules):
        positions = wagered_of(text, wagers)
        check_wagers(positions, rules, terms, decided=False)
        irregular = rules.chapter.irregular
        rule = irregular.void if text.irregularity == "void" else irregular.dealer_exposed
        after = _without_contributions(text, positions, holdings, rules, terms)
        lines = void_lines(positions, rules, rule)
        settled = SettledPosition.of(map(Due, lines))
        return Settlement((settled,) if lines else ()), _meters(after, terms)
    played = dealt_of(text, wagers, rules)
    check_round(played, rules, terms)
    settlement = settle_round(played, rules, terms)
    if settlement.takes:
        dues, holdings = resolve(settlement, holdings, terms)
        settlement = Settlement((SettledPosition.of(dues),))
    return settlement, _meters(holdings, terms)


def _is_void(text: RoundText, rules: TableRules) -> bool:
    """Return whether all wagers are returned, as after an exposed card (649a.13(d))."""
    exposed = text.irregularity == "dealer_exposed"
    return text.irregularity == "void" or (exposed and not rules.chapter.irregular.settled)


def _available_lines(source: Source) -> Iterator[list[bytes]]:
    """Yield the lines that each read completes.

    A line that is too long is cut, but is still too long for ``decode_round``.
    """
    begun = b""
    while read := source.read1(_READ_BYTES_MAX):
        *lines, begun = (begun + read).split(b"\n")
        begun = begun[: LINE_BYTES_MAX + 1]
        yield lines
    if begun:
        yield [begun]


def _without_contributions(
    text: RoundText,
    positions: tuple[RoundPosition, ...],
    holdings: Mapping[str, MeterHolding],
    rules: TableRules,
    terms: Mapping[str, MeterTerms],
) -> dict[str, MeterHolding]:
    """Return the meter balances of a void round without its contributions (reading T28).

    Nothing is subtracted from a reserve that the round does not name.
    """
    after = dict(holdings)
    reserves = [kind for kind in holdings if text.meters[kind].reserve is not None]
    for kind, added in contributions(positions, rules, terms, holdings, reserves).items():
        before = holdings[kind]
        held_micros = before.amount_micros + before.overflow_micros - added.amount_micros
        reserve_micros = 0
        if text.meters[kind].reserve is not None:
            reserve_micros = before.reserve_micros - added.reserve_micros
        if held_micros < 0 or reserve_micros < 0:
            message = f"{kind} is lower than this round's contributions"
            raise RoundError("bad_meter", message, f"meters.{kind}")
        after[kind] = at_limit(before, held_micros, reserve_micros=reserve_micros)
    return after


def _meters(
    holdings: Mapping[str, MeterHolding], terms: Mapping[str, MeterTerms]
) -> dict[str, MeterAfter]:
    return {
        kind: MeterAfter(
            holding.amount_micros // MICROS_PER_CENT,
            holding.reserve_micros // MICROS_PER_CENT if terms[kind].has_reserve else None,
            holding.overflow_micros // MICROS_PER_CENT if holding.limit_micros else None,
        )
        for kind, holding in holdings.items()
    }
