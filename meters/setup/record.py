import hashlib
from pathlib import Path
from typing import Self

import msgspec

from bonus.errors import UserError
from meters.setup.file_writing import replace_file


class SetupRecord(msgspec.Struct, forbid_unknown_fields=True):
    """Facts about the earlier runs of `pitlink setup` on this machine.

    ``files`` has, for each path, the SHA-256 digests of all texts that a run wrote or was about to
    write there, and ``servers``, for each server, the digest of the files with which a run started
    it. What cannot be read or written is a UserError.
    """

    files: dict[str, list[str]] = {}
    servers: dict[str, str] = {}
    administrator: str | None = None

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read the record; empty if the file does not exist."""
        try:
            return msgspec.json.decode(path.read_bytes(), type=cls)
        except FileNotFoundError:
            return cls()
        except OSError as error:
            raise UserError(f"{path}: cannot be read: {error.strerror}") from None
        except msgspec.DecodeError as error:
            raise UserError(
                f"{path} is not a record of `pitlink setup` ({error}): move it away. Every file"
                " that differs then counts as changed by a person"
            ) from None

    def write(self, path: Path) -> None:
        replace_file(path, msgspec.json.format(msgspec.json.encode(self)) + b"\n")

    def has_written(self, path: Path, data: bytes) -> bool:
        return digest(data) in self.files.get(str(path), ())

    def add(self, path: Path, data: bytes) -> None:
        if not self.has_written(path, data):
            self.files.setdefault(str(path), []).append(digest(data))


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
