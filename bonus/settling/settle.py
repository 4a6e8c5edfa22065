"""Settlement of rounds from lines of JSON, in the format of the public contract.

Each input line is one round, and each output line is one answer. If a round cannot be settled, its
answer is an error, and the next round is read.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO, Final

import msgspec

from bonus.law.meter_terms import MeterTerms
from bonus.printable import escape_in_json
from bonus.settling.meter_holdings import contributions, resolve
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
from bonus.settling.rounds import RoundError, RoundPosition
from bonus.settling.settlement import settle_round, void_lines
from bonus.settling.settlement_lines import Due, Line, MeterHolding, encode_line
from bonus.settling.table_rules import TableRules
from bonus.wagers import MICROS_PER_CENT, MeterKind


class MeterAfter(msgspec.Struct, frozen=True, omit_defaults=True):
    """Balances of a meter and its reserve after a round, in cents."""

    amount: int
    reserve: int | None = None


class SettlementText(msgspec.Struct, frozen=True):
    """The settlement of a round, as it is written in JSON."""

    lines: tuple[Line, ...]
    meters: dict[MeterKind, MeterAfter]


class _Error(msgspec.Struct, frozen=True, omit_defaults=True):
    code: str
    message: str
    field: str | None = None


class _Refused(msgspec.Struct, frozen=True):
    error: _Error


_ENCODER: Final = msgspec.json.Encoder()


def settle_lines(source: BinaryIO, sink: BinaryIO) -> bool:
    """Settle the round on each line of ``source``, and write each answer to ``sink``.

    Return whether all rounds were settled. Only one line at a time is in memory. Each answer is
    written before the next line is read.
    """
    all_settled = True
    for line in _lines(source):
        try:
            dues, meters = _settle(line)
            texts = b",".join([due.text or encode_line(due.line) for due in dues])
            answer = b'{"lines":[%b],"meters":%b}' % (texts, _ENCODER.encode(meters))
        except RoundError as error:
            answer = _refused(error)
            all_settled = False
        sink.write(answer + b"\n")
        sink.flush()
    return all_settled


def _refused(error: RoundError) -> bytes:
    """Return the answer for a round that cannot be settled.

    The error message can quote text of the round, so unprintable characters are escaped.
    """
    refused = _Refused(_Error(error.code, error.message, error.field))
    return escape_in_json(_ENCODER.encode(refused).decode()).encode()


def settle_line(line: bytes) -> SettlementText:
    """Settle the round on a line of JSON.

    Raises:
        RoundError: the round cannot be read (``round_text``), or its wagers or cards are not
            possible (``round_checks``).
    """
    dues, meters = _settle(line)
    return SettlementText(tuple([due.line for due in dues]), meters)


def _settle(line: bytes) -> tuple[Sequence[Due], dict[MeterKind, MeterAfter]]:
    text, wagers = decode_round(line)
    rules = rules_of(text)
    terms = terms_of(text, rules)
    holdings = holdings_of(text, terms)
    if _is_void(text, rules):
        positions = wagered_of(text, wagers)
        check_wagers(positions, rules, terms, decided=False)
        irregular = rules.chapter.irregular
        rule = irregular.void if text.irregularity == "void" else irregular.dealer_exposed
        after = _without_contributions(text, positions, holdings, terms)
        return [Due(each) for each in void_lines(positions, rules, rule)], _meters(after, terms)
    played = dealt_of(text, wagers, rules)
    check_round(played, rules, terms)
    dues, after = resolve(settle_round(played, rules, terms), holdings, terms)
    return dues, _meters(after, terms)


def _is_void(text: RoundText, rules: TableRules) -> bool:
    """Return whether all wagers of a round are returned.

    They are returned if the round is void. They are also returned if a dealer's card was exposed
    and the chapter settles no wager in this case (649a.13(d)).
    """
    exposed = text.irregularity == "dealer_exposed"
    return text.irregularity == "void" or (exposed and not rules.chapter.irregular.settled)


def _lines(source: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a source; a line that is too long is cut.

    The cut line is still longer than ``LINE_BYTES_MAX``, so ``decode_round`` refuses it.
    """
    while line := source.readline(LINE_BYTES_MAX + 2):
        rest = line
        while len(rest) == LINE_BYTES_MAX + 2 and not rest.endswith(b"\n"):
            rest = source.readline(LINE_BYTES_MAX + 2)
        yield line.removesuffix(b"\n")


def _without_contributions(
    text: RoundText,
    positions: tuple[RoundPosition, ...],
    holdings: Mapping[MeterKind, MeterHolding],
    terms: Mapping[MeterKind, MeterTerms],
) -> dict[MeterKind, MeterHolding]:
    """Return the meter balances of a void round without the round's contributions (reading T28).

    If the round does not name the reserve of a meter, nothing is subtracted from this reserve.
    """
    after = dict(holdings)
    for kind, added in contributions(positions, terms).items():
        amount_micros = holdings[kind].amount_micros - added.amount_micros
        reserve_micros = 0
        if text.meters[kind].reserve is not None:
            reserve_micros = holdings[kind].reserve_micros - added.reserve_micros
        if amount_micros < 0 or reserve_micros < 0:
            message = f"{kind} is lower than this round's contributions"
            raise RoundError("bad_meter", message, f"meters.{kind}")
        after[kind] = MeterHolding(amount_micros, reserve_micros)
    return after


def _meters(
    holdings: Mapping[MeterKind, MeterHolding], terms: Mapping[MeterKind, MeterTerms]
) -> dict[MeterKind, MeterAfter]:
    return {
        kind: MeterAfter(
            holding.amount_micros // MICROS_PER_CENT,
            holding.reserve_micros // MICROS_PER_CENT if terms[kind].reserve_bps else None,
        )
        for kind, holding in holdings.items()
    }
