"""The hidden values of must-hit-by meters: how services draw, seal and read them.

Redis, its copies, the ledger and its archive have a hidden value only sealed: encrypted with a
secret in the key bundle of the services. So nobody can read the value with a credential of Redis or
of the broker, or from a backup. The services' own account can: a service must know the value to
decide which wager wins.
"""

import base64
import hashlib
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from bonus.errors import UserError
from bonus.odds.must_hit_by_odds import HIGHEST_OF, Distribution
from bonus.wagers import MICROS_PER_CENT
from meters.floor.floor_file import Floor
from meters.floor.key_bundle import HIDDEN_VALUE_SECRETS_FILE, read_secrets
from meters.ledger.hidden_values import SALT_BYTES, commitment_of
from meters.process.private_files import make_directory, write_private
from meters.store.credentials import hidden_value_secrets
from meters.wire.messages import HiddenValueDrawn, OpenedValue

_NONCE_BYTES: Final = 12
_MICROS_BYTES: Final = 8
_SECRET_BYTES: Final = 32


class HiddenValueError(UserError):
    """A hidden value cannot be drawn or read, because a secret is missing."""


@dataclass(frozen=True, slots=True)
class DrawnValue:
    """A new hidden value: its record for the ledger, and the value itself."""

    record: HiddenValueDrawn
    value: OpenedValue

    @property
    def text(self) -> str:
        return msgspec.json.encode(self.record).decode()


class HiddenValues:
    """Draws, seals and reads hidden values.

    `known` are the services' secrets, newest first. `below` returns a random number from 0 up to,
    but not including, its argument; by default, it is `secrets.randbelow`. If no secret opens a
    value, `again` returns the secrets once more: they can have been renewed.

    A restore sets `first`, the values of meters' first cycles, and `played_micros`, what wagers of
    before the restore add to each meter: a value that is new to them is above all of it.
    """

    def __init__(
        self,
        known: Sequence[str] = (),
        below: Callable[[int], int] | None = None,
        again: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._ciphers = [AESGCM(_key_of(one)) for one in known]
        self._again = again
        self.first: Mapping[str, OpenedValue] = {}
        self.played_micros: Mapping[str, int] = {}
        self._below = below or secrets.randbelow

    @classmethod
    def of(cls, floor: Floor) -> Self:
        """Use the secrets of the key bundle, and of a file in the service's own directory.

        Without a key bundle, this file is made at the first use. It stays in use when the floor
        gets key bundles. Without must-hit-by meters, use no secret.

        Raises:
            UserError: the secrets cannot be read.
        """
        service = floor.service
        if not any(meter.must_hit_by for link in floor.link for meter in link.meter):
            return cls()
        own = Path(service.data) / HIDDEN_VALUE_SECRETS_FILE

        def read() -> Sequence[str]:
            of_bundle = hidden_value_secrets(service)
            if of_bundle is None and not own.exists():
                _make_secret(own)
            return [*(of_bundle or ()), *(read_secrets(own) if own.exists() else ())]

        return cls(read(), again=read)

    def draw(
        self,
        meter: str,
        cycle: int,
        *,
        start_micros: int,
        maximum_cents: int,
        distribution: Distribution = "uniform",
        opened: OpenedValue | None = None,
    ) -> DrawnValue:
        """Draw the hidden value of a cycle that begins with `start_micros` on the meter.

        It is above the start, and at most the maximum. `opened` is the value that ended the cycle
        before.
        """
        value = self.first.get(meter) if cycle == 1 else None
        if value is None:
            most_micros = maximum_cents * MICROS_PER_CENT
            least_micros = start_micros + self.played_micros.get(meter, 0)
            if least_micros >= most_micros:  # not all of it was in one cycle
                least_micros = start_micros
            above = max(
                self._below(most_micros - least_micros) for _ in range(HIGHEST_OF[distribution])
            )
            value = OpenedValue(least_micros + 1 + above, secrets.token_hex(SALT_BYTES))
        committed, sealed = commitment_of(meter, cycle, value), self._seal(meter, cycle, value)
        record = HiddenValueDrawn(meter, cycle, committed, sealed, opened)
        return DrawnValue(record, value)

    def known(self, record: HiddenValueDrawn) -> DrawnValue:
        """Return a value that was drawn before, from its record.

        Raises:
            HiddenValueError: no secret of this service opens the value.
        """
        return DrawnValue(record, self.read(record.meter, record.cycle, record.sealed))

    def read(self, meter: str, cycle: int, sealed: str) -> OpenedValue:
        """Return the hidden value in a text of `HiddenValueDrawn.sealed`.

        Raises:
            HiddenValueError: no secret of this service opens the text.
        """
        try:
            data = base64.b64decode(sealed, validate=True)
        except ValueError:
            data = b""
        if found := self._opened(data, _place(meter, cycle)):
            return found
        with suppress(UserError):  # the key bundle cannot be read while it is replaced
            self._ciphers = [AESGCM(_key_of(one)) for one in self._again()] or self._ciphers
        if found := self._opened(data, _place(meter, cycle)):
            return found
        raise HiddenValueError(
            f"no secret of this service opens the hidden value of {meter}: copy"
            f" {HIDDEN_VALUE_SECRETS_FILE} from another service or from a backup"
        )

    def _opened(self, data: bytes, place: bytes) -> OpenedValue | None:
        for cipher in self._ciphers:
            with suppress(InvalidTag, ValueError):
                plain = cipher.decrypt(data[:_NONCE_BYTES], data[_NONCE_BYTES:], place)
                micros, salt = plain[:_MICROS_BYTES], plain[_MICROS_BYTES:]
                return OpenedValue(int.from_bytes(micros), salt.hex())
        return None

    def _seal(self, meter: str, cycle: int, value: OpenedValue) -> str:
        if not self._ciphers:
            raise HiddenValueError(
                f"there is no {HIDDEN_VALUE_SECRETS_FILE} to seal the hidden value of {meter} with:"
                " run `pitlink keys`, copy services/, and restart the services"
            )
        nonce = secrets.token_bytes(_NONCE_BYTES)
        # Every value has the same length: the length of the sealed text shows no digit of it.
        plain = value.micros.to_bytes(_MICROS_BYTES) + bytes.fromhex(value.salt)
        sealed = self._ciphers[0].encrypt(nonce, plain, _place(meter, cycle))
        return base64.b64encode(nonce + sealed).decode()


NO_HIDDEN_VALUES: Final = HiddenValues()
"""For programs that apply no events: they can neither draw nor read a hidden value."""


def _make_secret(path: Path) -> None:
    """Make a file with one secret, unless another service makes it at the same time."""
    make_directory(path.parent)
    new = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    write_private(new, secrets.token_urlsafe(_SECRET_BYTES) + "\n")
    with suppress(FileExistsError):
        path.hardlink_to(new)
    new.unlink()
    # A value that was sealed with the secret must not survive the secret.
    home = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(home)
    finally:
        os.close(home)


def _place(meter: str, cycle: int) -> bytes:
    return f"{meter}\n{cycle}".encode()


def _key_of(secret: str) -> bytes:
    return hashlib.sha256(b"pitlink hidden values:" + secret.encode()).digest()
