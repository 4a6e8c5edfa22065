"""The wins of a link that wait, or waited, for a floorperson, rebuilt from its ledger."""

from collections.abc import Mapping
from typing import Final

import msgspec

from meters.books.claim_records import ClaimRecord
from meters.books.expected_transfers import HeldEnvy, HeldWin
from meters.books.slip_numbers import fold_in_link
from meters.claims.claim_rows import DecisionRecord
from meters.redis_client.link_keys import LinkKeys
from meters.restore.store_snapshot import StoreSnapshot

_RECORD: Final = msgspec.json.Decoder(ClaimRecord)
_STATES: Final = {
    "validate": "validated", "reject": "rejected", "pay": "paid",
    "pay_envy": "paid", "reject_envy": "rejected",
}  # fmt: skip


class ClaimSnapshot:
    """The wins in a snapshot of a store."""

    def __init__(self, keys: LinkKeys, snapshot: StoreSnapshot) -> None:
        self._keys = keys
        self._snapshot = snapshot

    def open(self, number: int, record: ClaimRecord, held: HeldWin, at: bytes) -> None:
        """Add a win that the entry `number` opened."""
        image, keys, claim = self._snapshot, self._keys, record.claim
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
        member = f"{number:016d}:{claim}"
        image.put(keys.wins, {f"{record.meter}:{member}": 0})
        if held.percent:
            image.put(keys.wins, {f"{record.meter}!{member}": 0})
            image.add(keys.meters, f"pending:{record.meter}", 1)

    def owe(self, claim: str) -> None:
        """Add the Envy Bonuses that wait for a win's decision."""
        self._snapshot.put(self._keys.claim(claim), {"envy": "pending"})

    def open_envy(self, number: int, record: ClaimRecord, after_cents: int, at: bytes) -> None:
        """Add Envy Bonuses for a hand of which no win waits."""
        image, keys, claim = self._snapshot, self._keys, record.claim
        image.put(
            keys.claim(claim),
            {
                "record": msgspec.json.encode(record),
                "amount": 0,
                "after": after_cents,
                "state": "validated",
                "entry": number,
                "at": at,
                "envy": "validated",
            },
        )
        image.put(keys.waiting, {claim: number})
        image.put(keys.wins, {f"{record.meter}:{number:016d}:{claim}": 0})

    def settle_envy(
        self, decision: DecisionRecord, *, waits: bool, entry: Mapping[str, bytes]
    ) -> None:
        """Apply the decision on owed Envy Bonuses. `waits` says whether the win waits."""
        image, keys = self._snapshot, self._keys
        claim, state = keys.claim(decision.claim), _STATES[decision.act]
        if not waits:
            image.drop(keys.waiting, decision.claim)
        if not image.at(claim):
            return
        by, at = entry["by"], entry["at"]
        image.put(claim, {"envy": state, "envy_by": by, "envy_at": at})
        if _RECORD.decode(image.at(claim)["record"]).only_envy:
            image.put(claim, {"state": state, "by": by, "decision": entry["event"]})
            image.put(claim, {f"{decision.act}_by": by, f"{decision.act}_at": at})
        elif decision.act == "reject_envy":
            image.put(claim, {"envy_decision": entry["event"]})

    def decide(
        self,
        decision: DecisionRecord,
        held: HeldWin,
        envy: tuple[HeldEnvy | None, HeldEnvy | None],
        entry: Mapping[str, bytes],
    ) -> None:
        """Apply a decision.

        `held` is the win before the decision. `envy` are its Envy Bonuses before and after.
        """
        image, keys, act = self._snapshot, self._keys, decision.act
        if held.percent and act != "pay":
            image.add(keys.meters, f"pending:{held.meter}", -1)
        if decision.slip:
            image.put(keys.slips, {fold_in_link(decision.slip): decision.claim})
        before, after = envy
        if (act != "validate" or not held.hand_pay) and after is None:
            image.drop(keys.waiting, decision.claim)
        claim = keys.claim(decision.claim)
        if not image.at(claim):
            # The claim was opened before the archive begins, and is decided. Nobody asks for it.
            return
        by, at = entry["by"], entry["at"]
        image.put(claim, {"state": _STATES[act], "by": by, "decision": entry["event"]})
        image.put(claim, {f"{act}_by": by, f"{act}_at": at})
        if before != after:
            decided = "rejected" if act == "reject" else "paid"
            image.put(claim, {"envy": after.state if after else decided})
            image.put(claim, {"envy_by": by, "envy_at": at})
