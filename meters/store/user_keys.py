"""Names of the Redis keys of users, sessions and the operators' log.

All these keys have one hash tag, which cannot be the id of a link.
"""

import hashlib
from dataclasses import dataclass
from typing import Final

USERS_TAG: Final = "@people"
_PREFIX: Final = f"pitlink:{{{USERS_TAG}}}:"


@dataclass(frozen=True, slots=True)
class UserKeys:
    """The Redis keys of a facility's users.

    A folded name has a common form (lower case), so that names can be compared.
    """

    users: str = f"{_PREFIX}users"
    """Sorted set, all scores 0: the folded names of the users."""

    administrators: str = f"{_PREFIX}administrators"
    """Set: the folded names of the enabled administrators."""

    log: str = f"{_PREFIX}log"
    """Stream: the operators' log. Entry n has the id ``n-0`` (duty D17)."""

    log_head: str = f"{_PREFIX}log-head"
    """Hash: the number and the chained digest of the last entry in the operators' log."""

    user_prefix: str = f"{_PREFIX}user:"

    pins_set: str = f"{_PREFIX}pins-set"
    """Sorted set, by time: each user whose PIN another person set, and that person. Items last a
    day (D4)."""

    @property
    def log_and_head(self) -> list[str]:
        """Both keys of the log, in the order that the Lua scripts expect."""
        return [self.log, self.log_head]

    def user(self, folded: str) -> str:
        """Return the key of a hash: the user with this folded name."""
        return f"{self.user_prefix}{folded}"

    def account(self, folded: str) -> str:
        """Return the key of a sorted set: numbers of log entries about a user or by a user."""
        return f"{_PREFIX}account:{folded}"

    def session(self, token_digest: str) -> str:
        """Return the key of a hash: a session, by its token's digest. It expires after 12 hours."""
        return f"{_PREFIX}session:{token_digest}"

    def session_of(self, token: str) -> str:
        return self.session(hashlib.sha256(token.encode()).hexdigest())

    def attempts(self, of: str) -> str:
        """Return the key of a sorted set, by time: the failed sign-ins that a limit counts."""
        return f"{_PREFIX}tries:{_digest(of)}"

    def undecided(self, of: str) -> str:
        """Return the key of a sorted set, by start time: sign-ins whose PIN is being checked."""
        return f"{_PREFIX}undecided:{_digest(of)}"

    def lock(self, of: str) -> str:
        """Return the key of a string that exists while a limit locks sign-in."""
        return f"{_PREFIX}lock:{_digest(of)}"

    def devices(self, folded: str) -> str:
        """Return the key of a sorted set: digests of a user's devices, sorted by last sign-in."""
        return f"{_PREFIX}devices:{folded}"

    def locks(self, folded: str) -> str:
        """Return the key of a sorted set: the locks of a user name, sorted by their end times."""
        return f"{_PREFIX}locks:{folded}"

    def lock_out(self, of: str) -> list[str]:
        """Return all keys of a limit, in the order that the scripts expect."""
        return [self.attempts(of), self.lock(of), self.undecided(of)]


def _digest(of: str) -> str:
    return hashlib.sha256(of.encode()).hexdigest()[:32]
