"""The data of a link in Redis as it was before the first gaming day of an archive.

A restore needs this data if earlier gaming days of the archive were deleted. The archive has the
balances and undecided claims of that moment, from which the rest is derived, with three exceptions:
replies, payout slips, and records of wins that were already decided. These are lost, but they are
years old.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

import msgspec

from meters.books.approvals import Approval
from meters.books.approved_configuration import approved_terms
from meters.books.checkpoint import Checkpoint
from meters.books.restore_entries import VERSIONS_RAISED
from meters.redis_client.link_keys import LinkKeys
from meters.restore.store_snapshot import Row, StoreSnapshot

_RESTORED_MOST: Final = 1_000
"""The assumed largest number of earlier restores of a link. Each raised the version numbers of the
link's meters, so the rebuilt ones begin at the sum of all these raises."""

_APPROVAL: Final = msgspec.json.Decoder(Approval)


def opening_rows(keys: LinkKeys, checkpoint: Checkpoint) -> Iterator[Row]:
    """Yield a link's Redis data at the close of a gaming day, except balances and ledger."""
    image, meters = StoreSnapshot(keys), keys.meters
    if not checkpoint.entries:
        return
    closed = date.fromisoformat(checkpoint.closed_day)
    image.put(meters, {"day_closed": checkpoint.closed_day, "reading": checkpoint.entries})
    image.put(meters, {"day": (closed + timedelta(days=1)).isoformat(), "desk": checkpoint.entries})
    image.put(meters, {"archived": checkpoint.entries})
    for meter in checkpoint.terms:
        image.put(meters, {f"version:{meter}": _RESTORED_MOST * VERSIONS_RAISED})
    if checkpoint.closed:
        image.put(meters, {"closed": f"before {closed + timedelta(days=1)}", "closed_by": ""})
    if approval := checkpoint.approval:
        said = _APPROVAL.decode(approval.event)
        image.put(keys.approved, {"digest": said.digest, "text": said.text, "by": approval.by})
        image.put(keys.approved, {"at": "", "entry": approval.entry})
        # People can have changed a term by proposal since, and left the floor file as it was.
        filed = approved_terms(said.text)
        image.put(meters, {f"file:{one}": filed[one] for one in checkpoint.terms if one in filed})
    yield from image.rows()
