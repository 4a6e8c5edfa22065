"""Every Redis key of the people's side; all share one hash tag, which no link's id can be."""

import hashlib
from dataclasses import dataclass
from typing import Final

PEOPLE_TAG: Final = "@people"
_PREFIX: Final = f"pitlink:{{{PEOPLE_TAG}}}:"


@dataclass(frozen=True, slots=True)
class UserKeys:
    """The keys of a facility's people."""

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
    """Sorted set: whose PIN was set, and by whom, by the moment; for a day (duty D4)."""

    @property
    def log_and_head(self) -> list[str]:
        """The log and its head, as every script that notes something takes them."""
        return [self.log, self.log_head]

    def user(self, folded: str) -> str:
        """Hash: a user, by his folded name."""
        return f"{self.user_prefix}{folded}"

    def account(self, folded: str) -> str:
        """Sorted set: the numbers of the log's entries on somebody's account and PIN."""
        return f"{_PREFIX}account:{folded}"

    def session(self, token_digest: str) -> str:
        """Hash: a session, by the digest of its token; it goes when it has been idle too long."""
        return f"{_PREFIX}session:{token_digest}"

    def session_of(self, token: str) -> str:
        """Hash: a session, by its token."""
        return self.session(hashlib.sha256(token.encode()).hexdigest())

    def attempts(self, of: str) -> str:
        """Sorted set: the failures to sign in as a name or from an address, by their moment."""
        return f"{_PREFIX}tries:{_digest(of)}"

    def undecided(self, of: str) -> str:
        """Sorted set: the tries whose PIN is being looked at, by the moment they began."""
        return f"{_PREFIX}undecided:{_digest(of)}"

    def lock(self, of: str) -> str:
        """String: there while nobody may sign in as a name or from an address."""
        return f"{_PREFIX}lock:{_digest(of)}"

    def devices(self, folded: str) -> str:
        """Sorted set: the devices with which somebody signed in, by digest and last moment."""
        return f"{_PREFIX}devices:{folded}"

    def locks(self, folded: str) -> str:
        """Sorted set: where signing in as a user failed, and until when it is locked there."""
        return f"{_PREFIX}locks:{folded}"

    def lock_out(self, of: str) -> list[str]:
        """All that the lock-out knows of a name or an address, as the scripts take it."""
        return [self.attempts(of), self.lock(of), self.undecided(of)]


def _digest(of: str) -> str:
    """A key's part of bounded length, whatever a stranger gives for a name."""
    return hashlib.sha256(of.encode()).hexdigest()[:32]
