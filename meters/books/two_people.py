"""Whether two acts may be one person's: the rule of two people, as far as PINs matter (duty D4).

The argument, which holds whatever runs in parallel:

- A session ends when its user gets another PIN, and a session is found together with the PINs that
  were set in the last 24 hours, by one script. So a person who acts under another's name, with a
  PIN that they or an administrator in league with them set in that time, acts in a session that
  began after it, and the setter is among those that the session's request brings along.
- Who sets an administrator's PIN can set others' under that name. So setters are followed through
  all PINs that were set in that time, whoever set which first: a PIN set twice keeps its last
  moment alone.
- The script that carries out a first act keeps its setters in the same step. The script that
  carries out the second reads them there, with the name of who did the first, and refuses where
  the two acts have a name in common. It decides on what is kept at that moment: no other request
  can come in between.
- A PIN that is set after a request was admitted opens a later session, never the one that was
  admitted. So what is not known yet to the second act was not needed for the first.
"""

from collections.abc import Iterable, Mapping
from typing import Final, Self

import msgspec

COMMAND: Final = "command line"
"""How the name begins under which something was done by command."""


class PinSetters(msgspec.Struct, frozen=True):
    """Who set which PIN in the last 24 hours, as far as it concerns one user.

    Attributes:
        own: who set the user's own PIN, other than they themselves, and who set the PINs of those.
        shared: everybody with whom the user does not count as two people at present, each with the
            one who set the PIN of one of them, or of both, directly or through others.
    """

    own: tuple[str, ...] = ()
    shared: Mapping[str, str] = {}

    @classmethod
    def of(cls, name: str, pins_set: Iterable[tuple[str, str]]) -> Self:
        """What concerns a user, of all PINs set in the last 24 hours.

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
        """By which account of the machine the user's PIN was set, if by any."""
        return next((setter for setter in self.own if setter.startswith(COMMAND)), None)

    @property
    def text(self) -> bytes:
        """The same as the scripts take it."""
        return msgspec.json.encode(self)


NO_SETTERS: Final = PinSetters()
"""Of somebody whose PIN nobody set lately, and who set nobody's."""


def _reached(start: str, steps: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """All names to which steps lead from one, the nearest first."""
    following: dict[str, list[str]] = {}
    for name, other in sorted(steps):
        following.setdefault(name, []).append(other)
    found, at = [start], 0
    while at < len(found):
        found += [name for name in following.get(found[at], ()) if name not in found]
        at += 1
    return tuple(found[1:])


def why_one_person(first: str, second: str, setter: str, *, did: str, does: str) -> str:
    """Why somebody is not the second person of an act, as they are told.

    Args:
        first: who did the first half.
        second: who is told.
        setter: who set a PIN, as the script found; empty where both are of one name.
        did: what the first person did, such as "validated this win".
        does: what the second does, such as "pays it".
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
