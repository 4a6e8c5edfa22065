"""MACs of the operators' log (D17): they prove that a writer of entries has a service's key bundle.

Anybody who can write into Redis can calculate the digests that chain the entries. So each entry
also has an HMAC. The service derives the key of the HMAC from a secret and from the head, which is
the log's last entry. The key is valid only for the entries right after this head. Redis receives
the key, but never the secret. If another process adds an entry after the service has read the head,
the Lua script refuses to write.
"""

import contextlib
import hashlib
import hmac
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Self

from bonus.errors import UserError
from meters.floor.facility import Service
from meters.ledger.chain import entry_text
from meters.store.credentials import log_secrets

MAC: Final = b"mac"
"""The field with the MAC of a log entry. The next field is the chain digest."""

_ID_DIGITS: Final = 16
_READ_AGAIN_S: Final = 1.0
_BLOCK_BYTES: Final = 64
_INNER: Final = bytes(byte ^ 0x36 for byte in range(256))
_OUTER: Final = bytes(byte ^ 0x5C for byte in range(256))


@dataclass(frozen=True, slots=True)
class LogHead:
    """The last entry of the operators' log. `mac_by` names the secret of the last MAC."""

    entries: int = 0
    chain: str = ""
    mac_by: str = ""


@dataclass(frozen=True, slots=True)
class _Secret:
    """A secret for MACs. The oldest secret has the `age` 0, the next one 1, and so on."""

    id: str
    age: int
    text: bytes

    def key_after(self, head: LogHead) -> bytes:
        """Derive the HMAC key for the entries that one script call adds after this head."""
        return hmac.digest(self.text, f"{head.entries}:{head.chain}".encode(), "sha256")


class LogSecrets:
    """The secrets for the MACs of the operators' log.

    New entries get MACs with the newest secret; old MACs are checked with all secrets. `read`
    returns the secrets, the newest first; none without a key bundle. If the log has a MAC with an
    unknown secret, `read` is called again, because the secret can be new in the bundle.

    Raises:
        UserError: the secrets cannot be read.
    """

    def __init__(self, read: Callable[[], Sequence[str]] = tuple) -> None:
        self._read = read
        self._secrets: dict[str, _Secret] = {}
        self._newest: _Secret | None = None
        self._again_s = 0.0
        self._take(read())

    @classmethod
    def of(cls, service: Service) -> Self:
        return cls(partial(log_secrets, service))

    @property
    def newest(self) -> str:
        """The name by which log entries cite the newest secret; empty if there are no secrets."""
        return self._newest.id if self._newest else ""

    def find(self, of: str) -> _Secret | None:
        if of not in self._secrets and time.monotonic() >= self._again_s:
            # The key bundle cannot be read at the moment when it is replaced.
            with contextlib.suppress(UserError):
                self._take(self._read())
            self._again_s = time.monotonic() + _READ_AGAIN_S
        return self._secrets.get(of)

    def arguments(self, head: LogHead) -> list[str | int | bytes]:
        """Return the last arguments of Lua scripts that add entries: the head and a MAC key."""
        known: list[str | int | bytes] = [head.entries, head.chain, head.mac_by]
        if self._newest is None:
            return [*known, "", ""]
        key = self._newest.key_after(head).ljust(_BLOCK_BYTES, b"\0")
        return [*known, self._newest.id, key.translate(_INNER) + key.translate(_OUTER)]

    def _take(self, texts: Sequence[str]) -> None:
        for age, text in enumerate(reversed(texts)):
            secret = _Secret(_id_of(text), age, text.encode())
            self._secrets[secret.id] = self._newest = secret


def _id_of(text: str) -> str:
    return hashlib.sha256(b"pitlink log secret:" + text.encode()).hexdigest()[:_ID_DIGITS]


@dataclass(slots=True)
class MacCheck:
    """Check of the MACs of the operators' log, entry by entry from the first entry.

    Entries from the time before the services had a secret have no MAC. After the first MAC of a
    known secret, every entry must have a MAC, and its secret must not be older than the secret of
    the MAC before. `last` names the secret of the last accepted MAC. `checked` names the secret of
    the last MAC that was checked.
    """

    secrets: LogSecrets
    last: str = ""
    _age: int | None = None
    _step: tuple[str, bytes] = ("", b"")
    checked: str = ""

    def resume(self, last: str, checked: str) -> bool:
        """Continue after the entries that an earlier check has read.

        Return False if the entries must be read again: the secret `checked` is not known here; or
        secrets are known here but no MAC was checked. A person could have removed the name of the
        secret from the checkpoint, so that later entries need no MAC.
        """
        secret = self.secrets.find(checked) if checked else None
        self.last, self.checked = last, checked
        # An audit ends after a whole script call, so no later entry needs the key of that call.
        self._age = secret.age if secret else None
        return secret is not None or not (checked or self.secrets.newest)

    def check(
        self, head: LogHead, entry_id: str, fields: Sequence[tuple[bytes, bytes]], mac: str
    ) -> str | None:
        """Return why the MAC of an entry is not accepted; None if it is accepted.

        `head` is the head before the entry. `fields` are in order, without the MAC and the chain
        digest.
        """
        of, _, digest = mac.partition(":")
        secret = self.secrets.find(of) if of else None
        if secret is None:
            return self._unknown(of)
        own = secret.key_after(head)
        text = entry_text(head.chain, entry_id, fields)
        # All entries of one script call have MACs with the key of the first of these entries.
        keys = [own, self._step[1]] if self._step[0] == of else [own]
        for key in keys:
            due = hmac.new(key, text, "sha1").hexdigest()
            if hmac.compare_digest(due.encode(), digest.encode()):
                break
        else:
            return "has a MAC that does not match it: no service wrote it"
        self.last = of
        if self._age is not None and secret.age < self._age:
            return "has the MAC of a secret that had been renewed"
        self._age, self._step, self.checked = secret.age, (of, key), of
        return None

    def _unknown(self, of: str) -> str | None:
        if self._age is not None:
            return f"has {'the MAC of an unknown secret' if of else 'no MAC'}: no service wrote it"
        self.last = of or self.last
        if of and not self.secrets.newest:
            return "has a MAC, and there are no log-secrets in services/ to check it with"
        return None
