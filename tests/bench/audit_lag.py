"""How far the audit is behind the ledgers while tables play, and whether this grows."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from meters.service.ledger_auditing import FOLLOWED_EVERY_S

_GROWS_FROM: Final = 1.5
_PAUSES: Final = 2


class LagSample(NamedTuple):
    """A moment: the entries of all ledgers, those that are sealed, and the auditor's bytes read.

    The service seals a ledger after each audit, once a minute. Between two audits, the auditor
    reads new entries every few seconds. How many, only the bytes show that it has read.
    """

    at_s: float
    entries: int
    sealed: int
    read_bytes: int


class Lag(msgspec.Struct, frozen=True):
    """The largest lags of the audit, in entries.

    Attributes:
        unread_first_half: entries that the auditor had not read, in the first half of the run.
        unread_second_half: the same in the second half.
        unsealed: entries that no ended audit had audited.
        unread_s: for how long the largest number of unread entries was written.
        bounded: whether the unread entries were not growing.
    """

    unread_first_half: int
    unread_second_half: int
    unsealed: int
    unread_s: float
    bounded: bool


def lag_of(samples: Sequence[LagSample], rested: LagSample) -> Lag:
    """Return the largest lags of a run.

    `rested` was taken after the run, when the auditor had read everything, as it also had when the
    first sample was taken. So the bytes that it read in between are those of all entries, which
    are about equally long, and of a comparison with the tables for each seal. As these make it seem
    to lag more until then, a run needs an audit in each half, and many entries a table.
    """
    first, last = samples[0], samples[-1]
    bytes_an_entry = (rested.read_bytes - first.read_bytes) / (rested.entries - first.entries)
    middle_s = (first.at_s + last.at_s) / 2

    def unread(one: LagSample) -> float:
        read = (one.read_bytes - first.read_bytes) / bytes_an_entry
        return max(0.0, one.entries - max(first.entries + read, one.sealed))

    before = max(unread(one) for one in samples if one.at_s <= middle_s)
    after = max(unread(one) for one in samples if one.at_s > middle_s)
    written_per_s = (last.entries - first.entries) / (last.at_s - first.at_s)
    # In a pause of the auditor, entries wait although it keeps up.
    usual = _PAUSES * FOLLOWED_EVERY_S * written_per_s
    return Lag(
        round(before),
        round(after),
        max(one.entries - one.sealed for one in samples),
        round(max(before, after) / written_per_s, 1),
        after <= max(_GROWS_FROM * before, usual),
    )
