from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import pytest
from redis.asyncio import Redis

from meters.floor.roles import Role
from meters.store.user_keys import UserKeys
from meters.users.log_macs import LogSecrets
from meters.users.operators_log import LogRow
from meters.users.pins import PinHashing
from meters.users.sessions import OpenedSession, Sessions, SignedIn
from meters.users.sign_in_attempts import Caller
from meters.users.user_store import UsersError
from meters.users.users import Actor, UserDirectory, Users

PIN: Final = "730482"
WRONG: Final = "264907"
HERE: Final = "192.0.2.7"
BY_COMMAND: Final = Actor("command line (amy)")


def fast_pins() -> PinHashing:
    return PinHashing(time_cost=1, memory_kib=8)


async def code_of(doing: Awaitable[object]) -> str:
    """Return the code of the refusal of an act; empty if it was done."""
    try:
        await doing
    except UsersError as error:
        return error.code
    return ""


def watch_pins(
    monkeypatch: pytest.MonkeyPatch, then: Callable[[], Awaitable[object]] | None = None
) -> list[str | None]:
    """Return the stored PINs that are looked at from now on; something happens after each look."""
    looked_at: list[str | None] = []
    real = PinHashing.matches

    async def matches(self: PinHashing, pin: str, kept: str | None) -> bool:
        looked_at.append(kept)
        right = await real(self, pin, kept)
        if then is not None:
            await then()
        return right

    monkeypatch.setattr(PinHashing, "matches", matches)
    return looked_at


@dataclass(frozen=True)
class Register:
    redis: Redis
    user_directory: UserDirectory
    keys: UserKeys = field(default_factory=UserKeys)

    @property
    def users(self) -> Users:
        return self.user_directory.users

    @property
    def sessions(self) -> Sessions:
        return self.user_directory.sessions

    async def add(self, name: str, role: Role = Role.FLOORPERSON) -> None:
        """Add a user with the PIN `PIN`, which counts as their own."""
        await self.users.add(name, role, PIN, BY_COMMAND, own=True)

    async def sign_in(
        self, name: str = "Flo", pin: str = PIN, *, client: str = HERE, old: str | None = None,
        device: str = "",
    ) -> OpenedSession:  # fmt: skip
        return await self.sessions.sign_in(name, pin, Caller(client, device), old)

    async def refused(
        self, name: str = "Flo", pin: str = WRONG, *, client: str = HERE, device: str = ""
    ) -> str:
        code = await code_of(self.sign_in(name, pin, client=client, device=device))
        assert code, f"{name} was signed in"
        return code

    async def whose(self, token: str, *, keep_alive: bool = False) -> SignedIn | None:
        return await self.sessions.find(token, keep_alive=keep_alive)

    async def log(self) -> list[LogRow]:
        return list(reversed(await self.user_directory.log.page(None, 1_000)))

    async def acts(self) -> list[tuple[str, str, str]]:
        return [(row.what, row.by, row.about) for row in await self.log()]


def register_with(
    redis: Redis,
    *secrets: str,
    read: Callable[[], Sequence[str]] | None = None,
    sessions: bytes = b"sessions",
) -> Register:
    """Return the users as a service with these secrets stores them, the newest secret first."""
    known = LogSecrets(read or (lambda: secrets))
    return Register(redis, UserDirectory(redis, 5, fast_pins(), sessions, known))
