"""The person who restores data, confirmed by their PIN if Redis still has users (duty D17)."""

from dataclasses import dataclass
from typing import Final

from bonus.errors import UserError
from meters.floor.floor_file import Floor
from meters.floor.roles import Right, roles_in_words
from meters.store.redis_clients import AnyRedis
from meters.users.pin_prompt import as_user_error, confirm_person
from meters.users.user_names import clean_name
from meters.users.user_store import UsersError, UserStore
from meters.users.users import UserDirectory

_NOBODY_NAMED: Final = "technician"


@dataclass(frozen=True, slots=True)
class Author:
    """The author of a restore, for the ledger.

    `confirmed` is true if they entered a PIN that they had chosen themselves.
    """

    name: str
    confirmed: bool


class AuthorConfirmation:
    """The confirmation of the author's name, once for all links of a restore."""

    def __init__(self, redis: AnyRedis, floor: Floor, name: str | None) -> None:
        self._redis = redis
        self._floor = floor
        self._name = name
        self._users: bool | None = None
        self._author: Author | None = None

    async def possible(self) -> bool:
        """Return whether Redis still has users, so that a name can be confirmed.

        Raises:
            UserError: Redis has users, but no name was given; or Redis has no users, and the given
                name breaks the rules for names; or Redis failed.
        """
        if self._users is None:
            try:
                self._users = bool(await UserStore(self._redis).every_user())
            except UsersError as error:
                raise as_user_error(error) from None
            if self._name is not None and not self._users:
                # The ledger keeps the name for ever. Reports and the floor page show it.
                try:
                    self._name = clean_name(self._name)
                except UsersError as error:
                    raise UserError(f"--by {self._name!r}: {error.message}") from None
        if self._users and self._name is None:
            roles = roles_in_words(Right.LINKS)
            raise UserError(f"--by NAME is missing: who restores the data? ({roles})")
        return self._users

    async def confirm(self, *, all_lost: bool) -> Author:
        """Return the author. If Redis has users, ask for the author's PIN.

        `all_lost` means that Redis has no data of the link, or only the data of an interrupted
        restore. Then the users in Redis can have been added just now, and no service runs where
        they could choose a PIN. So a PIN that another person set is enough, but the ledger says
        that nobody could confirm the name.

        Raises:
            UserError: the name is not confirmed, so nothing may be restored.
        """
        known = self._author
        if known is None or not (known.confirmed or all_lost or not self._users):
            name = self._name or _NOBODY_NAMED
            if await self.possible():
                directory = UserDirectory.of_floor(self._redis, self._floor)
                person = await confirm_person(
                    directory, name, "restores the data", may_have_to_choose=all_lost
                )
                known = Author(person.name, confirmed=not person.must_choose)
            else:
                known = Author(name, confirmed=False)
        self._author = known
        return known

    @property
    def unconfirmed(self) -> str:
        name = self._name or _NOBODY_NAMED
        return f"Redis has no users, so nobody can confirm the name {name}. The ledger will say so."
