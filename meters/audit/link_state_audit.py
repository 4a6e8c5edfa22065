"""Comparison of a link's state in Redis with its ledger: balances, terms, approvals, proposals."""

from collections.abc import Iterable, Mapping
from typing import Final

from meters.ledger.chain import CHAIN
from meters.ledger.claim_evidence import shown
from meters.ledger.ledger_replay import PROBLEMS_MAX, Replay
from meters.ledger.link_rows import meters_row
from meters.ledger.link_state import Snapshot
from meters.ledger.redis_layout import SCHEMA_FIELD
from meters.store.link_store import LinkStore

_AT_ONCE: Final = 100
"""Count of proposals that one call reads. Such a call delays Redis by less than a millisecond."""


_OF_METER: Final = {
    "terms": "record of terms",
    "cycle": "cycle",
    "pending": "count of pending claims",
    "hidden": "sealed hidden value",
}
_PROMOTION: Final = "promotion"
_OF_LINK: Final = {
    "rounds": "count of open rounds",
    "day_closed": "last closed gaming day",
    CHAIN: "digest of the last entry",
}
_ELSEWHERE: Final = frozenset({"entries", "changes", "day", SCHEMA_FIELD})
"""Fields of the hash of meters that the ledger does not decide, or that are compared elsewhere."""


def balance_problems(replay: Replay, snapshot: Snapshot) -> list[str]:
    """Return differences in accounts, accounting meters and the hash of meters, as texts.

    The hash has the terms and the cycle of each meter (duty D12), and the state of the link, such
    as open or closed.
    """
    return [
        *replay.differences(snapshot.accounts),
        *_other_fields(meters_row(replay), snapshot.meters),
        *_other_versions(replay, snapshot.meters),
        *replay.other_tallies(snapshot.tallies),
    ]


def _other_fields(due: Mapping[str, str], held: Mapping[str, str]) -> Iterable[str]:
    """Compare the hash of meters; a count of zero can be missing.

    Terms in the floor file (``file``) and versions are not compared here, because the ledger does
    not decide them. These terms change when a service opens the link with an approved file.
    Versions rise with each script call.
    """
    for name in sorted((due.keys() | held.keys()) - _ELSEWHERE):
        of, _, meter = name.partition(":")
        one, other = held.get(name), due.get(name)
        if of not in {"file", "version"} and one != other and {one, other} != {None, "0"}:
            of_meter, of_link = _OF_METER.get(of, of), _OF_LINK.get(of, of)
            what = f"meter {meter}: its {of_meter}" if meter else f"the link's {of_link}"
            if of == _PROMOTION:
                what = f"promotion {meter}: its last start"
            yield f"{what} is {shown(one)}, the ledger says {shown(other)}"


async def link_state_problems(
    store: LinkStore, replay: Replay, snapshot: Snapshot, *, whole: bool, approved: bool
) -> list[str]:
    """Return the differences between the link's state in Redis and in the ledger, as texts.

    The state is the proposals, and the approved configuration if `approved` is true. `replay` ends
    at the last entry of `snapshot`, which has the indexes. If `whole` is false, only undecided
    proposals are checked.
    """
    link, found = replay.link, list[str]()
    if approved:
        differences = _differences(link.approved, snapshot.approved)
        found += [f"the approved configuration: {each}" for each in differences]
    found += _other_open(replay, snapshot.proposals)
    due = sorted(link.proposals if whole else link.open)
    for begin in range(0, len(due), _AT_ONCE):
        some = due[begin : begin + _AT_ONCE]
        entries, rows = await store.proposals_at(some)
        if entries != replay.entries:
            # Since the replay, somebody can have decided one of these proposals. The next audit
            # checks these proposals.
            break
        for proposal, held in zip(some, rows, strict=True):
            differences = _differences(link.proposals[proposal], held)
            found += [f"proposal {proposal}: {each}" for each in differences]
    return found[:PROBLEMS_MAX]


def _other_versions(replay: Replay, meters: Mapping[str, str]) -> Iterable[str]:
    """Return texts about meters whose version number in Redis is too low.

    A version number never falls, so a lower number was changed by somebody. A display ignores a
    value with a lower version number than the one that it shows.
    """
    for meter, least in replay.link.versions.items():
        text = meters.get(f"version:{meter}", "")
        if not text.isdigit() or int(text) < least:
            expected = f"the ledger raised it {least} times"
            yield f"meter {meter} has version {shown(text)}, {expected}"


def _other_open(replay: Replay, held: Mapping[str, int]) -> Iterable[str]:
    due = replay.link.open
    for proposal in sorted(due.keys() - held.keys()):
        yield f"proposal {proposal} waits, but is not in Redis's list"
    for proposal, order in held.items():
        if due.get(proposal) != order:
            yield f"proposal {proposal[:100]!r} waits in Redis, the ledger says otherwise"


def _differences(due: Mapping[str, str], held: Mapping[str, str]) -> Iterable[str]:
    for name in sorted(held.keys() | due.keys()):
        if held.get(name) != due.get(name):
            yield f"{name} is {shown(held.get(name))}, the ledger says {shown(due.get(name))}"
