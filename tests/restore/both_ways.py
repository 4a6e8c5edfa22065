"""Comparison of the two ways to read an archive: by sealed days, and entry by entry."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from meters.archive import archiver
from meters.archive.day_file import DayFile
from meters.floor.floor_file import Floor
from meters.redis_client.link_keys import LinkKeys
from meters.restore.copy_reading import CopyReader, LinkCopy
from meters.restore.ledger_copy import ArchivedLedger
from meters.restore.restored_tables import TableSnapshot
from tests.restore.stores import _but_nothing, keys_of


class EachEntryReader(CopyReader):
    """Reader that replays every entry of the archive."""

    def _sealed_days(self) -> Sequence[DayFile]:
        return ()


def short_live(floor: Floor, live_days: int = 1) -> Floor:
    return msgspec.structs.replace(
        floor, archive=msgspec.structs.replace(floor.archive, live_days=live_days)
    )


async def read_both_ways(floor: Floor, directory: Path) -> tuple[LinkCopy, LinkCopy]:
    """Read the archive of the first link of a floor: by sealed days, and entry by entry."""
    link = floor.link[0]
    copy = ArchivedLedger(directory, link.id)
    made = [
        await reader(floor, link, copy, copy.last, lambda *_: None).read()
        for reader in (CopyReader, EachEntryReader)
    ]
    return made[0], made[1]


def hold_both_alike(sealed: LinkCopy, each: LinkCopy, keys: LinkKeys) -> None:
    """Check that both ways gave the same data, except wins that `pitlink archive` deletes."""
    assert (sealed.trimmed, sealed.chain) == (each.trimmed, each.chain)
    made, was = keys_of(sealed.snapshot), keys_of(each.snapshot)
    after = each.trimmed.closing.entries if each.trimmed else 0
    for store in (made, was):
        acts = store.pop(keys.acts, {})
        store[keys.acts] = {act: one for act, one in acts.items() if int(act) > after}
    gone = _gone(each, keys)
    missing = {claim for claim in _claims(was, keys) if claim not in _claims(made, keys)}
    assert missing <= gone, sorted(missing - gone)
    was = {key: fields for key, fields in was.items() if key not in map(keys.claim, missing)}
    wins = was.pop(keys.wins, {})
    left = {member: one for member, one in wins.items() if _claim_of(member) not in missing}
    assert made.pop(keys.wins, {}) == left
    meters, meters_were = made.pop(keys.meters), was.pop(keys.meters)
    versions = {name for name in meters_were if name.startswith("version:")}
    for name in versions:
        assert int(meters[name]) >= int(meters_were[name]), name
    assert _but_nothing(meters, versions) == _but_nothing(meters_were, versions)
    for key in (keys.accounts, keys.tallies):
        assert _but_nothing(made.pop(key, {})) == _but_nothing(was.pop(key, {})), key
    for key in made.keys() | was.keys():
        assert made.get(key, {}) == was.get(key, {}), (key, made.get(key), was.get(key))


def _gone(each: LinkCopy, keys: LinkKeys) -> set[str]:
    """Return the wins that `pitlink archive` deletes from the whole data."""
    assert each.trimmed
    snapshot, closing = each.snapshot, each.trimmed.closing
    remain = {*closing.waiting, *snapshot.at(keys.waiting)}
    tables = TableSnapshot(keys, snapshot)
    for table in snapshot.at(keys.repeated_claims):
        remain.update(tables.stored(table).repeated_claims)
    lists: dict[str, list[tuple[int, str]]] = {}
    for member in snapshot.at(keys.wins):
        head, _, claim = member.rpartition(":")
        lists.setdefault(head[:-16], []).append((int(head[-16:]), claim))
    for wins in lists.values():
        remain.update(claim for _, claim in sorted(wins)[-archiver.WINS_KEPT :])
    every = {_claim_of(member): int(member.rpartition(":")[0][-16:]) for member in
             snapshot.at(keys.wins)}  # fmt: skip
    return {claim for claim, entry in every.items() if entry <= closing.entries} - remain


def _claims(store: Mapping[str, object], keys: LinkKeys) -> set[str]:
    prefix = keys.claim("")
    return {key.removeprefix(prefix) for key in store if key.startswith(prefix)}


def _claim_of(member: str) -> str:
    return member.rpartition(":")[2]
