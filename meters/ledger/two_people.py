"""The rule of two people: nobody does both acts of a decision, even under two names (duty D4).

For example, one person validates a hand pay, and another person pays it. A person who sets the PIN
of another user could sign in as this user, and do both acts. pitlink prevents this, even if
requests arrive at the same time:

- A session ends when its user gets another PIN. To act under the name of user B, person A needs a
  PIN of B that was set in the last 24 hours. Either A set this PIN, or an administrator set it to
  help A. The session under B's name began after the PIN was set. One script call reads the session
  and the PINs that were set in the last 24 hours. So at each request of the session, the service
  knows who set the PIN.
- A person who sets an administrator's PIN can then set more PINs under the administrator's name. So
  the rule follows all setters, from PIN to PIN. It ignores the times at which the PINs were set: if
  a PIN was set twice, only the last time is known.
- The script of the first act also stores the names of the people who set the PINs of that act's
  session. The script of the second act reads these names, and the name of the person who did the
  first act. If the two acts have a name in common, the script refuses the second act. No other
  request can change the data while a script runs.
- A PIN that is set after the service has admitted a request can open only a later session. So if
  the script of the second act does not know yet that a PIN was set, nobody used this PIN for the
  first act.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping
from typing import Final, Self

import msgspec

_OURS: Final = frozenset({"service", "simulated", "demonstration", "pitlink", "command"})
"""The words with which names of programs begin in the ledger and in the operators' log. No user's
name begins with them."""
COMMAND: Final = "command line"
"""The beginning of the name in a record, if a `pitlink` command did the act and no user did."""


class PinSetters(msgspec.Struct, frozen=True):
    """The people who set PINs in the last 24 hours, as far as this concerns one user.

    Each can have set a PIN directly, or through a chain of people who set each other's PINs.

    Attributes:
        own: the people who set the user's PIN. The user is not among them.
        shared: the people who do not count as a second person for the user. The value for such a
            person is somebody who set the user's PIN, or that person's PIN, or both.
    """

    own: tuple[str, ...] = ()
    shared: Mapping[str, str] = {}

    @classmethod
    def of(cls, name: str, pins_set: Iterable[tuple[str, str]]) -> Self:
        """Select the setters for one user from all PINs that were set in the last 24 hours.

        >>> PinSetters.of("Flo", [("Flo", "Ada"), ("Finn", "Ada"), ("Sue", "Al")])
        PinSetters(own=('Ada',), shared={'Ada': 'Ada', 'Finn': 'Ada'})
        >>> PinSetters.of("Flo", [("Flo", "Bea"), ("Bea", "Ada"), ("Finn", "Ada")]).shared
        {'Bea': 'Bea', 'Ada': 'Ada', 'Finn': 'Ada'}
        """
        pairs = [(whose, setter) for whose, setter in pins_set if whose != setter]
        own = _reached(name, pairs)
        shared = {setter: setter for setter in own}
        for root in (*own, name):
            for whose in _reached(root, ((setter, whose) for whose, setter in pairs)):
                if whose != name:
                    shared.setdefault(whose, root)
        return cls(own, shared)

    def bar(self, name: str, first: str, first_pin_set_by: Collection[str]) -> str | None:
        """Return a setter of PINs who bars `name` as the second person after `first`, or None.

        This is the rule of `two_people.lua`, for a page that shows who may act. `first_pin_set_by`
        are the people who set the PIN of `first` in the 24 hours before the first act.

        >>> PinSetters(("Ada",), {"Ada": "Ada"}).bar("Bea", "Cal", ["Ada"])
        'Ada'
        """
        theirs = (setter for setter in first_pin_set_by if setter == name or setter in self.own)
        return self.shared.get(first) or next(theirs, None)

    @property
    def by_command(self) -> str | None:
        """The machine account under which a `pitlink` command set the user's PIN, or None."""
        return next((setter for setter in self.own if setter.startswith(COMMAND)), None)

    @property
    def text(self) -> bytes:
        return msgspec.json.encode(self)


NO_SETTERS: Final = PinSetters()
"""No setters: in the last 24 hours, nobody else set the user's PIN, and the user set no PIN of
others."""


def _reached(start: str, steps: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the names to which `steps` lead from `start`, the nearest first."""
    following: dict[str, list[str]] = {}
    for name, other in sorted(steps):
        following.setdefault(name, []).append(other)
    found, at = [start], 0
    while at < len(found):
        found += [name for name in following.get(found[at], ()) if name not in found]
        at += 1
    return tuple(found[1:])


def bar_ends(
    name: str,
    pins_set: Mapping[tuple[str, str], float],
    first: str,
    first_pin_set_by: Collection[str],
) -> float | None:
    """Return the time in ms that is 24 hours before a bar ends, or None if the bar never ends.

    The bar is that of `PinSetters.bar`. The keys of `pins_set` are a user and the person who set
    the user's PIN; the values are the times when the PINs were set. The result is one of these
    times.
    """
    times = sorted(set(pins_set.values()))

    def is_free(at_ms: float) -> bool:
        later = [pair for pair, set_ms in pins_set.items() if set_ms > at_ms]
        return PinSetters.of(name, later).bar(name, first, first_pin_set_by) is None

    at = bisect_left(times, x=True, key=is_free)
    return times[at] if at < len(times) else None


def is_person(name: str) -> bool:
    """Check if a name in the ledger is that of a person, and not of a program.

    >>> [is_person(name) for name in ("Ada", "service", "simulated floorperson", "Service-2")]
    [True, False, False, False]
    """
    folded = unicodedata.normalize("NFC", name).strip().casefold()
    return re.split("[ .'-]", folded)[0] not in _OURS


def why_one_person(first: str, second: str, setter: str, *, did: str, does: str) -> str:
    """Return the reason why a user must not do the second act, as text for this user.

    `setter` is the person who set a PIN, according to the script; empty if `first` is `second`.
    `did` and `does` are the two acts, such as "validated this win" and "pay it".
    """
    if not setter:
        return f"you {did}: another person must {does}"
    if setter == first:
        reason = f"{first} set your PIN"
    elif setter == second:
        reason = f"you set the PIN of {first}"
    else:
        reason = f"{setter} set your PIN and that of {first}"
    return (
        f"{first} {did}, and {reason} in the last 24 hours, directly or through others."
        f" A third person, whose PIN none of these people set, must {does}: for example, add a user"
        " with `pitlink user add`"
    )
