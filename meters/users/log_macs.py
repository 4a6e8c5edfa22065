"""MACs of the operators' log, which prove that a holder of a service's key bundle wrote an entry.

Duty D17. Anybody can calculate the digests that chain the entries. Therefore each entry also has an
HMAC. Its key is valid only for the entries after one head of the log. Redis receives that key, and
never the secret from which it is made. The script refuses if the log has a new head meanwhile.
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
from meters.books.chain import entry_text
from meters.floor.facility import Service
from meters.redis_client.credentials import log_secrets

MAC: Final = b"mac"
"""The field of an entry with its MAC, before the digest of the chain."""

_ID_DIGITS: Final = 16
_READ_AGAIN_S: Final = 1.0
_BLOCK_BYTES: Final = 64
_INNER: Final = bytes(byte ^ 0x36 for byte in range(256))
_OUTER: Final = bytes(byte ^ 0x5C for byte in range(256))


@dataclass(frozen=True, slots=True)
class LogHead:
    """End of the log: its last entry, the chain's value there, and the secret of its MAC."""

    entries: int = 0
    chain: str = ""
    mac_by: str = ""


@dataclass(frozen=True, slots=True)
class _Secret:
    """A secret; `age` is 0 for the oldest, 1 for the next."""

    id: str
    age: int
    text: bytes

    def key_after(self, head: LogHead) -> bytes:
        """Derive the key for the entries that one step adds after a head of the log."""
        return hmac.digest(self.text, f"{head.entries}:{head.chain}".encode(), "sha256")


class LogSecrets:
    """The secrets for the MACs: the newest one writes, and all of them check.

    Args:
        read: returns them, the newest first; none if there is no key bundle. It is called again
            when the log has the MAC of an unknown secret, because they may have been renewed.

    Raises:
        UserError: they cannot be read.
    """

    def __init__(self, read: Callable[[], Sequence[str]] = tuple) -> None:
        self._read = read
        self._secrets: dict[str, _Secret] = {}
        self._newest: _Secret | None = None
        self._again_s = 0.0
        self._take(read())

    @classmethod
    def of(cls, service: Service) -> Self:
        """Return the secrets of the bundle that a floor file names.

        Raises:
            UserError: they cannot be read.
        """
        return cls(partial(log_secrets, service))

    @property
    def newest(self) -> str:
        """Name of the newest secret in the log; empty for none."""
        return self._newest.id if self._newest else ""

    def find(self, of: str) -> _Secret | None:
        """Return the secret of that name, or None if it is not known yet."""
        if of not in self._secrets and time.monotonic() >= self._again_s:
            # The bundle cannot be read while it is being replaced.
            with contextlib.suppress(UserError):
                self._take(self._read())
            self._again_s = time.monotonic() + _READ_AGAIN_S
        return self._secrets.get(of)

    def arguments(self, head: LogHead) -> list[str | int | bytes]:
        """Return the last arguments of a script that adds entries after a head of the log."""
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
    """Check of the MACs of a log, entry by entry from the first.

    Entries from before there were secrets have no MAC. From the first entry with the MAC of a known
    secret, every entry must have one, and none may be of a secret that was already renewed.

    Attributes:
        last: the name of the secret of the last accepted MAC.
    """

    secrets: LogSecrets
    last: str = ""
    _age: int | None = None
    _step: tuple[str, bytes] = ("", b"")

    def check(
        self,
        head: LogHead,
        entry_id: str,
        fields: Sequence[tuple[bytes, bytes]],
        mac: str,
    ) -> str | None:
        """Return why no service or command can have written an entry, or None.

        Args:
            head: the entry before.
            entry_id: the entry's id in its stream.
            fields: its fields in their order, without MAC and chain.
            mac: the MAC; empty for none.
        """
        of, _, digest = mac.partition(":")
        secret = self.secrets.find(of) if of else None
        if secret is None:
            return self._unknown(of)
        own = secret.key_after(head)
        text = entry_text(head.chain, entry_id, fields)
        # All entries of one step have the key of the first of them.
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
        self._age, self._step = secret.age, (of, key)
        return None

    def _unknown(self, of: str) -> str | None:
        if self._age is not None:
            return f"has {'the MAC of an unknown secret' if of else 'no MAC'}: no service wrote it"
        self.last = of or self.last
        if of and not self.secrets.newest:
            return "has a MAC, and there are no log-secrets in services/ to check it with"
        return None
