"""The rule of two people: one person must not do both acts, by PINs that they set (duty D4).

The argument, which is valid for all parallel requests:

- A session ends when its user gets another PIN. One script finds a session together with the PINs
  that were set in the last 24 hours. To act under another name, a person needs a PIN that they, or
  an administrator who helps them, set in that time. Such a session began after the PIN was set. So
  the request of this session has the setter's name.
- A person who sets an administrator's PIN can set other PINs under that name. So all setters are
  followed, from PIN to PIN. The order of the times does not matter: if a PIN was set twice, only
  the last time is known.
- The script that carries out a first act stores, in the same step, the names of those who set the
  PINs of its session. The script that carries out the second act reads them there, with the name of
  the person who did the first. It refuses if the two acts have a name in common. It decides on the
  data of that moment, because no other request can come in between.
- A PIN that is set after a request was admitted opens a later session, never the admitted one. So
  a PIN that the second act cannot know of cannot have been used for the first.
"""

from collections.abc import Iterable, Mapping
from typing import Final, Self

import msgspec

COMMAND: Final = "command line"
"""The beginning of the name under which a command does an act."""


class PinSetters(msgspec.Struct, frozen=True):
    """The setters of PINs in the last 24 hours, as far as they concern one user.

    Attributes:
        own: the other people who set the user's own PIN, and those who set the PINs of these
            people.
        shared: everybody who does not count as a second person for the user at present. Each has
            the name of the person who set the PIN of one of the two, or of both, directly or
            through others.
    """

    own: tuple[str, ...] = ()
    shared: Mapping[str, str] = {}

    @classmethod
    def of(cls, name: str, pins_set: Iterable[tuple[str, str]]) -> Self:
        """Select the setters that concern a user, from all PINs set in the last 24 hours.

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
        """The account of the machine that set the user's PIN by a command, if there is one."""
        return next((setter for setter in self.own if setter.startswith(COMMAND)), None)

    @property
    def text(self) -> bytes:
        """The setters as text for the scripts."""
        return msgspec.json.encode(self)


NO_SETTERS: Final = PinSetters()
"""The setters of a user whose PIN nobody set lately, and who set no other PIN."""


def _reached(start: str, steps: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return all names that can be reached from one by steps, the nearest first."""
    following: dict[str, list[str]] = {}
    for name, other in sorted(steps):
        following.setdefault(name, []).append(other)
    found, at = [start], 0
    while at < len(found):
        found += [name for name in following.get(found[at], ()) if name not in found]
        at += 1
    return tuple(found[1:])


def why_one_person(first: str, second: str, setter: str, *, did: str, does: str) -> str:
    """Return why a user is not the second person of an act, as text for that user.

    Args:
        first: the person who did the first half.
        second: the user who reads the text.
        setter: the person who set a PIN, as the script found; empty if both names are the same.
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
