"""Sign-in, sign-out and sessions of users. All services share the sessions, which are in Redis."""

import hashlib
import hmac
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from meters.floor.facility import PUBLIC_PIN
from meters.floor.roles import RIGHTS, Right, Role
from meters.ledger.two_people import PinSetters, bar_ends
from meters.process.clock import now_text
from meters.users.expected_users import pin_digest
from meters.users.pins import PinHashing, check_pin
from meters.users.sign_in_attempts import Caller, CountRefused, SignInAttempts, count_nothing
from meters.users.user_names import fold_name, parse_role
from meters.users.user_store import UsersError, UserStore

TOUCHED_EVERY_MS: Final = 15_000
DEVICE_KNOWN_MS: Final = 180 * 24 * 3_600_000
"""A device stays known for this time after the last sign-in on it."""

_DEVICES_MOST: Final = 20
_TOKEN_BYTES: Final = 32
_PINS_KNOWN: Final = timedelta(hours=24)
_WRONG: Final = "the name or the PIN is wrong"
_EXPIRED: Final = "this PIN expired 24 hours after it was set: an administrator can set a new one"


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A signed-in user.

    `csrf` is the token that the user's page sends with every act. If `must_choose`, another person
    set the user's PIN: the user may only choose a new one. If `lapsed`, the user did nothing for
    too long: until they enter their PIN, they may only read. `pins_set` has the time in ms at which
    each PIN was set in the last 24 hours, by user and setter. It is empty for a request that
    neither changes something nor shows who may change it.
    """

    name: str
    role: Role
    csrf: str
    must_choose: bool = False
    lapsed: bool = False
    pins_set: Mapping[tuple[str, str], float] = field(default_factory=dict)

    @property
    def setters(self) -> PinSetters:
        """The people who set PINs in the last 24 hours, as far as these PINs concern the user."""
        return PinSetters.of(self.name, self.pins_set)

    def bar(self, first: str, first_pin_set_by: Collection[str]) -> tuple[str, str | None] | None:
        """Return who bars the user from the second act, and until when (UTC).

        `first` is the person who did the first act. `first_pin_set_by` are the people who set the
        PIN of `first` in the 24 hours before the first act. The time is None if the bar does not
        end. If nobody bars the user, return None alone. This method does not check if the user did
        the first act themselves.
        """
        setter = self.setters.bar(self.name, first, first_pin_set_by)
        if setter is None:
            return None
        set_ms = bar_ends(self.name, self.pins_set, first, first_pin_set_by)
        if set_ms is None:
            return setter, None
        ends = datetime.fromtimestamp(set_ms / 1_000, UTC) + _PINS_KNOWN
        return setter, ends.isoformat(timespec="seconds").replace("+00:00", "Z")

    def may(self, right: Right) -> bool:
        """Return whether the role has a right. False until the user has chosen their own PIN."""
        return right in RIGHTS[self.role] and not self.must_choose


@dataclass(frozen=True, slots=True)
class OpenedSession:
    """A new session, with its token for the user's browser. Redis never has the token."""

    token: str
    person: SignedIn


class Sessions:
    """The sessions of the facility. The Redis key of a session has the digest of its token.

    If the user of a session does nothing for `idle_ms`, the session lapses. A session is sealed
    with `secret`, which Redis does not have. So a session that an attacker writes into Redis is not
    valid. `count_refused` is called for each refused sign-in attempt. The public PIN opens a
    session only in a `demonstration`, because users of a demonstration can still be in Redis when
    real play begins.
    """

    def __init__(
        self,
        store: UserStore,
        pins: PinHashing,
        idle_ms: int,
        secret: bytes = b"",
        *,
        count_refused: CountRefused = count_nothing,
        demonstration: bool = False,
    ) -> None:
        self._store = store
        self._demonstration = demonstration
        self._pins = pins
        self._idle_ms = idle_ms
        self._secret = secret
        self._attempts = SignInAttempts(store, count_refused)

    async def sign_in(
        self,
        name: str,
        pin: str,
        caller: Caller,
        old_token: str | None,
        *,
        keeps_device: bool = True,
    ) -> OpenedSession:
        """Check a name and a PIN, begin a session, and end the browser's earlier session.

        The attempt is counted before the PIN is checked; if the user is signed in, the count is
        taken back. An unknown name, a disabled user and a wrong PIN take equally long, and get one
        answer. With `keeps_device`, the device is then known for the name.

        Raises:
            UsersError: ``wrong_name_or_pin``; ``pin_expired`` if another person set the right PIN
                more than 24 hours ago; ``locked_out`` after too many failed attempts; ``slowed``
                after too many failed attempts of everybody; ``busy``; ``store_failed``.
        """
        store, keys, folded = self._store, self._store.keys, fold_name(name)
        async with self._attempts.begin(folded, caller) as begun:
            user = await store.fields(keys.user(folded))
            matches = await self._pins.matches(pin, user.get("pin"))
            if matches and (self._demonstration or pin != PUBLIC_PIN):
                token, csrf = _secret(), _secret()
                opened = await store.record(
                    "sign_in",
                    [
                        keys.user(folded),
                        self._key(token),
                        self._key(old_token or ""),
                        *keys.log_and_head,
                        keys.devices(folded),
                        *begun.keys,
                    ],
                    [
                        begun.number,
                        user["generation"],
                        folded,
                        csrf,
                        now_text(),
                        caller.client,
                        caller.device_digest if keeps_device else "",
                        _DEVICES_MOST,
                        DEVICE_KNOWN_MS,
                        keys.user_prefix,
                        self._seal(token, folded, user["role"], user["generation"]),
                        user["role"],
                        pin_digest(user["pin"]),
                    ],
                )
                if isinstance(opened, list):
                    name, role, must_choose = opened
                    person = SignedIn(name, parse_role(role), csrf, must_choose=must_choose == "1")
                    return OpenedSession(token, person)
                if opened == "pin_expired":
                    await self._attempts.refuse(begun, "sign_in_refused", user["name"])
                    raise UsersError("pin_expired", _EXPIRED)
            # An unknown name is not logged, because it can be a PIN in the wrong field.
            await self._attempts.refuse(begun, "sign_in_refused", user.get("name", ""))
            raise UsersError("wrong_name_or_pin", _WRONG)

    async def sign_once(self, name: str, pin: str, caller: Caller) -> SignedIn:
        """Check the name and PIN of a colleague, for one act on another user's device.

        The session ends immediately, and its token does not leave the function.

        Raises:
            UsersError: with the codes of `sign_in`.
        """
        opened = await self.sign_in(name, pin, caller, None, keeps_device=False)
        try:
            person = await self.find(opened.token, keep_alive=False, acts=True)
        finally:
            await self.sign_out(opened.token, caller.client)
        if person is None:  # they were disabled or got another PIN a moment ago
            raise UsersError("wrong_name_or_pin", _WRONG)
        return person

    async def choose_pin(
        self, token: str | None, person: SignedIn, old: str, new: str, caller: Caller
    ) -> None:
        """Set the PIN that a signed-in user has chosen. End the user's other sessions.

        Wrong entries of the present PIN `old` are counted and limited, as at the sign-in. `new`
        must differ from `old`, because another person can know `old`. `token` belongs to the user's
        session, which continues.

        Raises:
            UsersError: ``wrong_pin``, ``bad_pin``, ``locked_out``, ``slowed``, ``busy``,
                ``session_ended``, ``store_failed``. The PIN is then unchanged, except perhaps
                after ``store_failed``.
        """
        check_pin(new)
        store, keys, folded = self._store, self._store.keys, fold_name(person.name)
        async with self._attempts.begin(folded, caller) as begun:
            user = await store.fields(keys.user(folded))
            if not await self._pins.matches(old, user.get("pin")):
                await self._attempts.refuse(begun, "pin_refused", person.name, person.name)
                raise UsersError("wrong_pin", "your current PIN is wrong")
            if new == old:
                await self._attempts.drop(begun)
                raise UsersError("bad_pin", "this is your current PIN: choose another")
            # A new PIN raises the user's generation by 1, and the seal of this session covers the
            # generation.
            following = str(int(user["generation"]) + 1)
            status = await store.record(
                "choose_pin",
                [
                    keys.user(folded),
                    self._key(token or ""),
                    *keys.log_and_head,
                    keys.account(folded),
                    *begun.keys,
                ],
                [
                    begun.number,
                    user["generation"],
                    await self._pins.hash(new),
                    now_text(),
                    caller.client,
                    self._seal(token or "", folded, person.role, following),
                    pin_digest(user["pin"]),
                ],
            )
            if status != "ok":
                raise UsersError("session_ended", "your session has ended: sign in again")

    async def find(
        self, token: str | None, *, keep_alive: bool, acts: bool = False
    ) -> SignedIn | None:
        """Return the user of a session; None if the token is not valid.

        With `keep_alive`, the request comes from an act of the user, not from the page by itself.
        With `acts`, the user changes something, or sees who may change it: the script call then
        also reads who set PINs in the last 24 hours (see `two_people.py`).
        """
        if not token:
            return None
        found = await self._store.call(
            "find_session",
            [self._key(token), self._store.keys.pins_set],
            [
                self._store.keys.user_prefix,
                self._idle_ms,
                TOUCHED_EVERY_MS,
                int(keep_alive),
                int(acts),
            ],
        )
        if not isinstance(found, list):
            return None
        name, role, csrf, must_choose, generation, seal, lapsed, *pins_set = found
        due = self._seal(token, fold_name(name), role, generation)
        if due and not hmac.compare_digest(due, seal):
            return None
        pairs = (pair.partition("\n")[::2] for pair in pins_set[::2])
        set_ms = dict(zip(pairs, map(float, pins_set[1::2]), strict=True))
        return SignedIn(
            name,
            parse_role(role),
            csrf,
            must_choose=must_choose == "1",
            lapsed=lapsed == "1",
            pins_set=set_ms,
        )

    async def sign_out(self, token: str | None, client: str) -> None:
        if token:
            await self._store.record(
                "sign_out", [self._key(token), *self._store.keys.log_and_head], [now_text(), client]
            )

    def _seal(self, token: str, folded: str, role: str, generation: str) -> str:
        """Return the seal, which proves that a service began a session; empty without a secret."""
        if not self._secret:
            return ""
        text = "\n".join((token, folded, role, generation))
        return hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()

    def _key(self, token: str) -> str:
        return self._store.keys.session_of(token)


def _secret() -> str:
    return secrets.token_urlsafe(_TOKEN_BYTES)
