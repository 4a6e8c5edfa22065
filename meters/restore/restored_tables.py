"""The state of each table of a link, rebuilt from its events in the ledger."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from meters.books.expected_transfers import Added
from meters.books.store import REPLIES_KEPT
from meters.books.table_audit import stored_contribution
from meters.books.table_evidence import REPEATED_CLAIMS_MAX
from meters.redis_client.link_keys import LinkKeys
from meters.restore.store_snapshot import StoreSnapshot
from meters.wire.messages import ClaimOpened, Reply, Wagers

_ROUND: Final = ("round", "basis", "wagers", "draw", "contributed")

_CLAIM: Final = msgspec.json.Decoder(ClaimOpened)
_REPLY: Final = msgspec.json.Decoder(Reply)
_WAGERS: Final = msgspec.json.Decoder(Wagers)


def digest_of(event: bytes) -> bytes:
    """Return an event's digest. With it, the Lua scripts recognize a repeated event."""
    return hashlib.blake2b(event, digest_size=16).hexdigest().encode()


class TableSnapshot:
    """The tables in the rebuilt data of a link."""

    def __init__(self, keys: LinkKeys, snapshot: StoreSnapshot) -> None:
        self._keys = keys
        self._snapshot = snapshot

    def opened(self, table: str) -> Wagers | None:
        """Return the wagers of a table's open round, or None if no round is open."""
        wagers = self._snapshot.at(self._keys.table(table)).get("wagers")
        return None if wagers is None else _WAGERS.decode(wagers)

    def open_round(self, table: str, entry: Mapping[str, bytes], added: Sequence[Added]) -> None:
        """Apply the ledger entry of wagers. `added` has the wagers' contribution to each meter."""
        event = _WAGERS.decode(entry["event"])
        draw = msgspec.json.encode(_REPLY.decode(entry["reply"]).draw)
        self._snapshot.put(
            self._keys.table(table),
            {
                "round": event.round,
                "basis": event.seq,
                "wagers": entry["event"],
                "draw": draw,
                "contributed": msgspec.msgpack.encode([stored_contribution(one) for one in added]),
            },
        )
        self._keep_reply(table, entry)

    def end_round(self, table: str, entry: Mapping[str, bytes], claims: Sequence[str]) -> None:
        """Apply the ledger entry of a result or a void. `claims` are those that a result opened."""
        key = self._keys.table(table)
        self._snapshot.put(key, {"over": entry["round"]})
        self.repeat_claims(table, claims)
        self._snapshot.drop(key, *_ROUND)
        self._keep_reply(table, entry)

    def repeat_claims(self, table: str, claims: Sequence[str]) -> None:
        """Add claims to the list of a table's latest claims.

        The service reports the states of these claims when the table sends a hello event. Each
        claim is in the list once.
        """
        key = self._keys.table(table)
        known = self._snapshot.text(key, "claims").split()
        every = [*(claim for claim in known if claim not in claims), *claims]
        self._snapshot.put(key, {"claims": " ".join(every[-REPEATED_CLAIMS_MAX:])})

    def hold(self, table: str, claim: ClaimOpened) -> None:
        """Hold a table until the claim of a win is finally decided."""
        key, line = self._keys.table(table), msgspec.json.encode(claim).decode()
        held = self._snapshot.text(key, "held").splitlines()
        self._snapshot.put(key, {"held": "\n".join((*held, line))})

    def release(self, table: str, claim: str) -> None:
        """End the hold of a table for one decided claim. Other claims can still hold the table."""
        key = self._keys.table(table)
        held = self._snapshot.text(key, "held").splitlines()
        holding = [line for line in held if _CLAIM.decode(line).claim != claim]
        if holding:
            self._snapshot.put(key, {"held": "\n".join(holding)})
        else:
            self._snapshot.drop(key, "held")

    def _keep_reply(self, table: str, entry: Mapping[str, bytes]) -> None:
        """Store the newest reply to a table, and remove old replies, as the Lua scripts do."""
        key, seq = self._keys.table(table), int(entry["seq"])
        self._snapshot.put(
            key, {"last": seq, f"reply:{seq}": digest_of(entry["event"]) + entry["reply"]}
        )
        self._snapshot.drop(
            key,
            *(
                field
                for field in list(self._snapshot.at(key))
                if field.startswith("reply:") and int(field[6:]) <= seq - REPLIES_KEPT
            ),
        )
