"""The wins of a link that wait, or waited, for a floorperson, as its ledger makes them."""

from collections.abc import Mapping
from typing import Final

import msgspec

from meters.books.expected import Held
from meters.books.keys import LinkKeys
from meters.desk.claim_rows import Decision
from meters.intake.result_work import ClaimRecord
from meters.restore.image import Image

_STATES: Final = {"validate": "validated", "reject": "rejected", "pay": "paid"}


class ClaimImage:
    """The wins within an image of a store."""

    def __init__(self, keys: LinkKeys, image: Image) -> None:
        self._keys = keys
        self._image = image

    def open(self, number: int, record: ClaimRecord, held: Held, at: bytes) -> None:
        """Take a win of the entry of a number."""
        image, keys, claim = self._image, self._keys, record.claim
        image.put(
            keys.claim(claim),
            {
                "record": msgspec.json.encode(record),
                "amount": held.cents,
                "after": held.after_cents,
                "state": "pending",
                "entry": number,
                "at": at,
            },
        )
        image.put(keys.waiting, {claim: number})
        place = f"{number:016d}:{claim}"
        image.put(keys.wins, {f"{record.meter}:{place}": 0})
        if held.percent:
            image.put(keys.wins, {f"{record.meter}!{place}": 0})
            image.add(keys.meters, f"pending:{record.meter}", 1)

    def decide(self, decision: Decision, held: Held, entry: Mapping[str, bytes]) -> None:
        """Take a decision: its entry, and the win as it was before."""
        image, keys, act = self._image, self._keys, decision.act
        if held.percent and act != "pay":
            image.add(keys.meters, f"pending:{held.meter}", -1)
        if decision.slip:
            image.put(keys.slips, {" ".join(decision.slip.casefold().split()): decision.claim})
        if act != "validate" or not held.hand_pay:
            image.drop(keys.waiting, decision.claim)
        claim = keys.claim(decision.claim)
        if not image.at(claim):
            # It was opened before the archive begins, and is decided: nobody asks for it.
            return
        by, at = entry["by"], entry["at"]
        image.put(claim, {"state": _STATES[act], "by": by, "decision": entry["event"]})
        image.put(claim, {f"{act}_by": by, f"{act}_at": at})
