"""The wins that Redis still has at the close of an archived gaming day, from the archive files."""

from collections.abc import Iterable, Mapping
from heapq import heappush, heappushpop
from typing import Final, NamedTuple

import msgspec

from bonus.settling.settlement_lines import WrittenPercent
from meters.archive import archiver
from meters.ledger.claim_evidence import CORRECTION_FIELDS


class _Record(msgspec.Struct, frozen=True):
    """The fields of a claim's record that decide in which lists of wins Redis has the claim."""

    meter: str
    percent: WrittenPercent | None


class _Decided(msgspec.Struct, frozen=True):
    entry: str
    record: str


class _Place(NamedTuple):
    """The place of a win among the wins of its meter: the order that Redis uses."""

    entry: int
    claim: str


_RECORD: Final = msgspec.json.Decoder(_Record)
_DECIDED: Final = msgspec.json.Decoder(_Decided)
_FIELDS: Final = msgspec.json.Decoder(dict[str, str])
_FORGET_FROM: Final = 10_000
"""Number of decided wins from which the wins that Redis no longer has are looked for."""


class DecidedWins:
    """The decided wins that remain in Redis when their gaming days are no longer there.

    These are the latest wins of each meter, and the wins that the service reports to a table again.
    `pitlink archive` deletes all others.
    """

    def __init__(self) -> None:
        self._fields: dict[str, str] = {}
        self._corrections: dict[str, Mapping[str, bytes]] = {}
        self._latest: dict[tuple[str, bool], list[_Place]] = {}
        self._forget_from = _FORGET_FROM

    def add(self, claim: str, fields: str) -> None:
        """Add a decided win. `fields` is JSON: the fields that Redis had.

        Raises:
            msgspec.DecodeError: the fields are not those of a claim.
        """
        decided = _DECIDED.decode(fields)
        record, place = _RECORD.decode(decided.record), _Place(int(decided.entry), claim)
        self._fields[claim] = fields
        for meter_awards in (False, True) if record.percent else (False,):
            latest = self._latest.setdefault((record.meter, meter_awards), [])
            if place in latest:
                continue
            if len(latest) < archiver.WINS_KEPT:
                heappush(latest, place)
            else:
                heappushpop(latest, place)

    def correct_slip(self, claim: str, entry: Mapping[str, bytes]) -> None:
        self._corrections[claim] = entry

    def forget(self, repeated: Iterable[Iterable[str]], *, now: bool = False) -> None:
        """Forget the wins that Redis no longer has, if there are many of them, or with `now`.

        `repeated` has for each table the claims whose state the service reports again.
        """
        if len(self._fields) < self._forget_from and not now:
            return
        remain = {place.claim for latest in self._latest.values() for place in latest}
        remain.update(*repeated)
        # The slip number of a win can be corrected days before its last Envy Bonus is paid.
        for claim in self._fields.keys() - remain:
            del self._fields[claim]
            self._corrections.pop(claim, None)
        self._forget_from = max(_FORGET_FROM, 2 * len(self._fields))

    def claims(self) -> dict[str, dict[str, str]]:
        """Return the fields of the wins that remain."""
        found = dict[str, dict[str, str]]()
        for claim, text in self._fields.items():
            fields = _FIELDS.decode(text)
            # The file can have a correction that was made before the file was written, but after
            # the close of the last gaming day.
            found[claim] = {
                name: value for name, value in fields.items() if name not in CORRECTION_FIELDS
            }
            if entry := self._corrections.get(claim):
                corrected = (entry[name].decode() for name in ("event", "by", "at"))
                found[claim] |= dict(zip(CORRECTION_FIELDS, corrected, strict=True))
        return found
