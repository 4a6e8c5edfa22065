"""The MACs of the operators' log: who has a service's bundle of keys wrote the entry (duty D17).

The digests that chain the entries can be worked out by anybody. Therefore each entry bears an HMAC
too, of a key that is made for what follows one head of the log alone. Redis is given that key and
never the secret of which it is made; its script refuses where the log has gone on meanwhile.
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
"""The field of an entry that carries its MAC, before the digest of the chain."""

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
    """A secret; `age` is 0 for the first that there was, 1 for the next."""

    id: str
    age: int
    text: bytes

    def key_after(self, head: LogHead) -> bytes:
        """Derive the key for the entries that one step adds after a head of the log."""
        return hmac.digest(self.text, f"{head.entries}:{head.chain}".encode(), "sha256")


class LogSecrets:
    """The secrets of which the MACs are made: the newest writes, and all can be checked.

    Args:
        read: gives them, the newest first; none where there is no bundle of keys. It is asked again
            when the log has the MAC of an unknown one, since they may have been renewed.

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
        """Those of the bundle that a floor file names.

        Raises:
            UserError: they cannot be read.
        """
        return cls(partial(log_secrets, service))

    @property
    def newest(self) -> str:
        """Name of the newest secret in the log; empty for none."""
        return self._newest.id if self._newest else ""

    def find(self, of: str) -> _Secret | None:
        """Give the secret of that name, or none if it is not known yet."""
        if of not in self._secrets and time.monotonic() >= self._again_s:
            # While the bundle is being replaced it cannot be read.
            with contextlib.suppress(UserError):
                self._take(self._read())
            self._again_s = time.monotonic() + _READ_AGAIN_S
        return self._secrets.get(of)

    def arguments(self, head: LogHead) -> list[str | int | bytes]:
        """Give the last arguments of a script that adds entries after a head of the log."""
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
    """Checks the MACs of a log, entry by entry from the first.

    What was written before there were secrets has none; from the first entry on that has one of a
    known secret, each must have one, and none of a secret that was renewed by then.

    Attributes:
        last: the name of the secret of the last MAC that was taken.
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
        """Say why no service or command wrote an entry, or give None.

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
        # Of several entries of one step all have the key of the first.
        keys = [own, self._step[1]] if self._step[0] == of else [own]
        for key in keys:
            due = hmac.new(key, text, "sha1").hexdigest()
            if hmac.compare_digest(due.encode(), digest.encode()):
                break
        else:
            return "does not have the MAC of what it says: no service wrote it"
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
