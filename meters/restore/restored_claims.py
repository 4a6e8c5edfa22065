"""The claims of a link, waiting or decided, rebuilt from the link's ledger."""

from collections.abc import Mapping
from typing import Final

import msgspec

from meters.books.claim_changes import ReturnedAmounts, paid_by_house
from meters.books.claim_records import ClaimRecord
from meters.books.expected_transfers import HeldEnvy, HeldWin
from meters.books.slip_numbers import fold_slip
from meters.claims.claim_rows import DecisionRecord
from meters.redis_client.link_keys import LinkKeys
from meters.restore.store_snapshot import StoreSnapshot
from meters.wire.messages import ClaimOpened

_RECORD: Final = msgspec.json.Decoder(ClaimRecord)
_STATES: Final = {
    "validate": "validated", "reject": "rejected", "pay": "paid",
    "pay_envy": "paid", "reject_envy": "rejected",
}  # fmt: skip
_REQUEST: Final = ("request", "request_by", "request_at", "request_entry")
_TRANSFERS: Final = msgspec.json.Decoder(list[tuple[str, str, int, int]])


class ClaimSnapshot:
    """The claims in the rebuilt data of a link."""

    def __init__(self, keys: LinkKeys, snapshot: StoreSnapshot) -> None:
        self._keys = keys
        self._snapshot = snapshot

    def open(self, number: int, record: ClaimRecord, held: HeldWin, at: bytes) -> None:
        """Add the claim of a win. The ledger entry `number` opened this claim."""
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
        """Add to a claim the Envy Bonuses that wait for the decision on the claim's win."""
        self._snapshot.put(self._keys.claim(claim), {"envy": "pending"})

    def open_envy(self, number: int, record: ClaimRecord, after_cents: int, at: bytes) -> None:
        """Add a claim of Envy Bonuses only, for a hand without a claim for a win."""
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
        """Apply the decision on a claim's Envy Bonuses.

        `waits` is true if the claim's win is still undecided.
        """
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

    def request(self, number: int, request: DecisionRecord, entry: Mapping[str, bytes]) -> None:
        """Store a request about a claim. The ledger entry `number` records the request."""
        claim = self._keys.claim(request.claim)
        if self._snapshot.at(claim):
            fields = (entry["event"], entry["by"], entry["at"], number)
            self._snapshot.put(claim, dict(zip(_REQUEST, fields, strict=True)))

    def reopen(
        self,
        decision: DecisionRecord,
        held: HeldWin,
        envy: HeldEnvy | None,
        entry: Mapping[str, bytes],
    ) -> ClaimOpened | None:
        """Reopen a rejected win. Return the opened claim, or None if its record is missing.

        `entry` is the ledger entry of the reopening. `held` is the win after this entry. `envy` are
        the claim's Envy Bonuses after it.
        """
        image, keys = self._snapshot, self._keys
        if held.percent:
            image.add(keys.meters, f"pending:{held.meter}", 1)
        claim = keys.claim(decision.claim)
        if not image.at(claim):
            return None
        by, at = entry["by"], entry["at"]
        image.put(claim, {"state": "pending", "by": by, "decision": entry["event"]})
        image.put(claim, {"reopen_by": by, "reopen_at": at})
        image.drop(claim, "returned", "envy_decision", *_REQUEST)
        if of_house := paid_by_house(_TRANSFERS.decode(entry["transfers"]), decision.claim):
            image.put(claim, {"of_house": of_house})
        if envy is not None and envy.state == "pending":
            image.put(claim, {"envy": "pending", "envy_by": by, "envy_at": at})
        image.put(keys.waiting, {decision.claim: int(image.text(claim, "entry"))})
        record = _RECORD.decode(image.at(claim)["record"])
        return ClaimOpened(
            claim=record.claim, position=record.position, item=record.item, amount=held.cents
        )

    def correct_slip(self, correction: DecisionRecord, entry: Mapping[str, bytes]) -> None:
        """Replace the number of a paid claim's payout slip. The old number stays used."""
        if correction.slip:
            folded = fold_slip(correction.slip)
            self._snapshot.put(self._keys.slips, {folded: correction.claim})
        claim = self._keys.claim(correction.claim)
        if self._snapshot.at(claim):
            self._snapshot.put(claim, {"slip_correction": entry["event"]})
            by, at = entry["by"], entry["at"]
            self._snapshot.put(claim, {"correct_slip_by": by, "correct_slip_at": at})

    def decide(
        self,
        number: int,
        decision: DecisionRecord,
        held: HeldWin,
        envy: tuple[HeldEnvy | None, HeldEnvy | None],
        entry: Mapping[str, bytes],
    ) -> None:
        """Apply a floorperson's decision on a claim.

        `number` is the number of the ledger entry. `held` is the win before the decision. `envy`
        has two values: the claim's Envy Bonuses before the decision, and after the decision.
        """
        image, keys, act = self._snapshot, self._keys, decision.act
        if held.percent and act != "pay":
            image.add(keys.meters, f"pending:{held.meter}", -1)
        if decision.slip:
            image.put(keys.slips, {fold_slip(decision.slip): decision.claim})
        before, after = envy
        if (act != "validate" or not held.hand_pay) and after is None:
            image.drop(keys.waiting, decision.claim)
        claim = keys.claim(decision.claim)
        if not image.at(claim):
            # The claim was opened before the archive begins, so its fields are not known. It is
            # decided now, and nobody needs the fields later.
            return
        by, at = entry["by"], entry["at"]
        image.put(claim, {"state": _STATES[act], "by": by, "decision": entry["event"]})
        image.put(claim, {f"{act}_by": by, f"{act}_at": at})
        image.drop(claim, "returned", "of_house", *_REQUEST)
        if act == "reject":
            moved = _TRANSFERS.decode(entry["transfers"])
            amounts = ReturnedAmounts.of(number, moved, decision.claim)
            image.put(claim, {"returned": amounts.text})
        if before != after:
            decided = "rejected" if act == "reject" else "paid"
            image.put(claim, {"envy": after.state if after else decided})
            image.put(claim, {"envy_by": by, "envy_at": at})
