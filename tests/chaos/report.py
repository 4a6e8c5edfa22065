"""Report of a chaos run."""

from typing import Final

import msgspec

_GROWN_MAX: Final = 3
_GROWN_ALLOWED_KIB: Final = 60_000
_KIB_PER_ENTRY: Final = 16
"""KiB by which the store may grow for each entry, because it keeps the ledger."""


class Memory(msgspec.Struct, frozen=True):
    """Resident memory of a part in KiB: at first sight, at the end, and the maximum."""

    first: int
    last: int
    most: int


class Report(msgspec.Struct, kw_only=True):
    seed: int
    seconds: float
    tables: int
    faults: dict[str, dict[str, int]]
    rounds: int
    wagers_accepted: int
    wagers_in_ledger: int
    events: dict[str, int]
    entries: int
    claims: dict[str, int]
    percentages: dict[str, int]
    decisions: dict[str, int]
    events_answered_again: int
    longest_outage_s: float
    memory_kib: dict[str, Memory]
    problems: list[str]

    @property
    def holds(self) -> bool:
        return not self.problems

    @property
    def fault_count(self) -> int:
        return sum(count for kinds in self.faults.values() for count in kinds.values())

    def encoded(self) -> bytes:
        return msgspec.json.format(msgspec.json.encode(self)) + b"\n"


def grown(name: str, memory: Memory, entries: int) -> str | None:
    """Return why a part's memory seems to grow without limit, or None."""
    bound = memory.first * _GROWN_MAX + _GROWN_ALLOWED_KIB
    if name == "redis":
        bound += entries * _KIB_PER_ENTRY
    if memory.most > bound:
        return f"{name} grew from {memory.first} to {memory.most} KiB; the bound is {bound}"
    return None
