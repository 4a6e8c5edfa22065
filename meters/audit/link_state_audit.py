"""Comparison of a link's state in Redis with its ledger: terms, cycles, approvals, proposals."""

from collections.abc import Iterable, Mapping
from typing import Final

from meters.ledger.chain import CHAIN
from meters.ledger.claim_evidence import shown
from meters.ledger.ledger_replay import PROBLEMS_MAX, Replay
from meters.ledger.link_state import Snapshot
from meters.ledger.money_terms import terms_as_text, terms_digest
from meters.store.link_store import LinkStore

_AT_ONCE: Final = 100
"""Count of proposals that one call reads. Such a call delays Redis by less than a millisecond."""


def balance_problems(replay: Replay, snapshot: Snapshot) -> list[str]:
    """Return differences in accounts, accounting meters and the fields of the meters, as texts.

    The fields are the terms and the cycle of each meter (duty D12), the digest of the last entry,
    the closed state, the last closed gaming day, and the count of open rounds.
    """
    found, meters, books = replay.differences(snapshot.accounts), snapshot.meters, replay.books
    found += [
        f"meter {meter} has other terms in Redis than in the ledger: {stored}"
        for meter, terms in books.terms.items()
        if (stored := meters.get(f"terms:{meter}", "none")) != terms_as_text(terms)
    ]
    if replay.entries and meters.get(CHAIN, "") != replay.chain:
        found.append(f"the ledger ends with the digest {replay.chain}, Redis has another")
    if ("closed" in meters) != replay.closed:
        said = "closed" if replay.closed else "open"
        found.append(f"the ledger says that the link is {said}, Redis says that it is not")
    if (day := meters.get("day_closed", "")) != replay.closed_day:
        last = replay.closed_day or "none"
        found.append(f"the last gaming day closed is {last}, Redis says {day or 'none'}")
    if (rounds := int(meters.get("rounds", "0"))) != len(books.rounds):
        found.append(f"Redis counts {rounds} open rounds, the ledger {len(books.rounds)}")
    found += [
        f"meter {meter} is in cycle {stored}, the ledger says {cycle}"
        for meter, cycle in books.cycles.items()
        if (stored := meters.get(f"cycle:{meter}", "0")) != str(cycle)
    ]
    return [*found, *replay.other_tallies(snapshot.tallies)]


async def link_state_problems(
    store: LinkStore, replay: Replay, snapshot: Snapshot, *, whole: bool
) -> list[str]:
    """Return the differences between the link's state in Redis and in the ledger, as texts.

    The state is: closed or open, proposals, the approved configuration, and the version numbers of
    the meters. `replay` is up to the last entry of `snapshot`, which has the indexes. Without
    `whole`, only undecided proposals are checked, and not the approved configuration.
    """
    link = replay.link
    found = [*_state_difference(replay, snapshot.meters), *_other_versions(replay, snapshot.meters)]
    # While a link operates, its self-check compares the approval with the ledger. A new approval
    # repairs a difference.
    if whole:
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


def _state_difference(replay: Replay, meters: Mapping[str, str]) -> Iterable[str]:
    due = dict(replay.link.standing)
    if replay.books.terms:
        texts = {meter: terms_as_text(terms) for meter, terms in replay.books.terms.items()}
        due["terms"] = terms_digest(texts)
    for name, value in due.items():
        if meters.get(name) != value:
            yield f"the link's {name} is {shown(meters.get(name))}, the ledger says {shown(value)}"


def _other_versions(replay: Replay, meters: Mapping[str, str]) -> Iterable[str]:
    """Return texts about meters whose version number in Redis is too low.

    A version number never falls, so somebody has changed it. A display ignores a meter's value if
    its version number is not higher than the last one that the display received.
    """
    for meter, least in replay.link.versions.items():
        text = meters.get(f"version:{meter}", "")
        if not text.isdigit() or int(text) < least:
            expected = f"the ledger raised it {least} times"
            yield f"meter {meter} has version {shown(text)}, {expected}"


def _other_open(replay: Replay, held: Mapping[str, int]) -> Iterable[str]:
    due = replay.link.open
    for proposal in sorted(due.keys() - held.keys()):
        yield f"proposal {proposal} waits, and is not in Redis's list"
    for proposal, order in held.items():
        if due.get(proposal) != order:
            yield f"proposal {proposal[:100]!r} waits in Redis, the ledger says otherwise"


def _differences(due: Mapping[str, str], held: Mapping[str, str]) -> Iterable[str]:
    for name in sorted(held.keys() | due.keys()):
        if held.get(name) != due.get(name):
            yield f"{name} is {shown(held.get(name))}, the ledger says {shown(due.get(name))}"
