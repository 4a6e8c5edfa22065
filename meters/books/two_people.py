"""The rule of two people: one person must not do both acts under two names (duty D4).

For example, one person validates a hand pay and another person pays it. A person who sets the PIN
of another user could do both acts. The following argument is valid for all parallel requests:

- A session ends when its user gets another PIN. To act under another name, a person needs a PIN of
  that name that was set in the last 24 hours. They set this PIN themselves, or an administrator who
  helps them sets it. The session under that name began after the PIN was set. One script finds a
  session together with the PINs that were set in the last 24 hours. So each request of the session
  has the setter's name.
- A person who sets an administrator's PIN can set more PINs under the administrator's name. So the
  rule follows all setters, from PIN to PIN. The order of the times does not matter, because only
  the last time is known if a PIN was set twice.
- The script of the first act stores, in the same atomic step, the names of those who set the PINs
  of that act's session. The script of the second act reads these names, and the name of the person
  who did the first act. The script refuses the second act if the two acts have a name in common. No
  other request can change the data while a script runs.
- A PIN that is set after a request was admitted can open only a later session. So if a PIN was set
  too late for the second act to see, nobody used it for the first act.
"""

from collections.abc import Iterable, Mapping
from typing import Final, Self

import msgspec

COMMAND: Final = "command line"
"""The beginning of the actor's name if a command did the act."""


class PinSetters(msgspec.Struct, frozen=True):
    """The people who set PINs in the last 24 hours, as far as this concerns one user.

    Attributes:
        own: the people who set the user's PIN, and those who set the PINs of these people, and so
            on. The user is not among them.
        shared: all people who do not count as a second person for the user at present. With each of
            them is the name of a person who set that person's PIN, the user's PIN, or both. This
            person set the PINs directly or through others.
    """

    own: tuple[str, ...] = ()
    shared: Mapping[str, str] = {}

    @classmethod
    def of(cls, name: str, pins_set: Iterable[tuple[str, str]]) -> Self:
        """Select the setters that concern a user from all PINs that were set in the last 24 hours.

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

    @property
    def by_command(self) -> str | None:
        """The account on a machine that set the user's PIN with a command, or None."""
        return next((setter for setter in self.own if setter.startswith(COMMAND)), None)

    @property
    def text(self) -> bytes:
        """The setters as text for the scripts."""
        return msgspec.json.encode(self)


NO_SETTERS: Final = PinSetters()
"""The setters of a user whose PIN nobody else set, and who set no other PIN, in 24 hours."""


def _reached(start: str, steps: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return all names that can be reached from `start` through pairs of names, nearest first."""
    following: dict[str, list[str]] = {}
    for name, other in sorted(steps):
        following.setdefault(name, []).append(other)
    found, at = [start], 0
    while at < len(found):
        found += [name for name in following.get(found[at], ()) if name not in found]
        at += 1
    return tuple(found[1:])


def why_one_person(first: str, second: str, setter: str, *, did: str, does: str) -> str:
    """Return the reason why a user does not count as the second person, as text for this user.

    Args:
        first: the person who did the first act.
        second: the user who reads the text.
        setter: the person who set a PIN, as the script found. Empty if one name did both acts.
        did: the first person's act, such as "validated this win".
        does: the second person's act, such as "pays it".
    """
    if not setter:
        return f"you {did}: another person {does}"
    if setter == first:
        reason = f"{first} set your PIN"
    elif setter == second:
        reason = f"you set the PIN of {first}"
    else:
        reason = f"{setter} set your PIN and that of {first}"
    return (
        f"{first} {did}, and {reason} in the last 24 hours, directly or through others:"
        f" a third person {does}"
    )
