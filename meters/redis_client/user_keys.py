"""Redis keys of users, sessions and the operators' log.

All share one hash tag, which cannot be a link's id.
"""

import hashlib
from dataclasses import dataclass
from typing import Final

PEOPLE_TAG: Final = "@people"
_PREFIX: Final = f"pitlink:{{{PEOPLE_TAG}}}:"


@dataclass(frozen=True, slots=True)
class UserKeys:
    """The keys of a facility's users."""

    users: str = f"{_PREFIX}users"
    """Sorted set, all of score 0: the users' folded names."""

    administrators: str = f"{_PREFIX}administrators"
    """Set: the folded names of the administrators that are enabled."""

    log: str = f"{_PREFIX}log"
    """Stream: the operators' log, entry n under the id ``n-0`` (duty D17)."""

    log_head: str = f"{_PREFIX}log-head"
    """Hash: the number of the log's last entry, and the chain's value there."""

    user_prefix: str = f"{_PREFIX}user:"

    pins_set: str = f"{_PREFIX}pins-set"
    """Sorted set: the user whose PIN was set and the person who set it, by time; for a day (D4)."""

    @property
    def log_and_head(self) -> list[str]:
        """The log and its head, as every script that notes something expects them."""
        return [self.log, self.log_head]

    def user(self, folded: str) -> str:
        """Return the key of a hash: a user, by their folded name."""
        return f"{self.user_prefix}{folded}"

    def account(self, folded: str) -> str:
        """Return the key of a sorted set: the log entries' numbers on a user's account and PIN."""
        return f"{_PREFIX}account:{folded}"

    def session(self, token_digest: str) -> str:
        """Return the key of a hash: a session, by its token's digest; it expires when idle."""
        return f"{_PREFIX}session:{token_digest}"

    def session_of(self, token: str) -> str:
        """Return the key of a hash: a session, by its token."""
        return self.session(hashlib.sha256(token.encode()).hexdigest())

    def attempts(self, of: str) -> str:
        """Return the key of a sorted set: failed sign-ins of a name or an address, by time."""
        return f"{_PREFIX}tries:{_digest(of)}"

    def undecided(self, of: str) -> str:
        """Return the key of a sorted set: the attempts whose PIN is being checked, by start."""
        return f"{_PREFIX}undecided:{_digest(of)}"

    def lock(self, of: str) -> str:
        """Return the key of a string, which exists while a name or an address is locked."""
        return f"{_PREFIX}lock:{_digest(of)}"

    def devices(self, folded: str) -> str:
        """Return the key of a sorted set: a user's sign-in devices, by digest and last time."""
        return f"{_PREFIX}devices:{folded}"

    def locks(self, folded: str) -> str:
        """Return the key of a sorted set: where a user's sign-in failed, with the lock's end."""
        return f"{_PREFIX}locks:{folded}"

    def lock_out(self, of: str) -> list[str]:
        """Return all lock-out keys of a name or an address, as the scripts expect them."""
        return [self.attempts(of), self.lock(of), self.undecided(of)]


def _digest(of: str) -> str:
    """Return a part of a key with a limited length, whatever name was typed."""
    return hashlib.sha256(of.encode()).hexdigest()[:32]
