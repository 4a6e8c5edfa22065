"""Public facts of a demonstration: its users, their PIN, and the text on every page."""

from typing import Final

MARK: Final = "Demonstration: simulated play, no real money"

PIN: Final = "135790"
"""PIN of every user of a demonstration. No other user has this PIN."""

USERS: Final = (
    ("Dana", "dealer"),
    ("Flo", "floorperson"),
    ("Fred", "floorperson"),
    ("Sue", "supervisor"),
    ("Sam", "supervisor"),
    ("Al", "auditor"),
    ("Ada", "administrator"),
)
"""Names and roles. There are two floorpersons and two supervisors, because some acts need two
people."""


def users_text() -> str:
    """Return the demonstration's users as a text, grouped by role.

    >>> users_text()[:45]
    'Dana (dealer), Flo and Fred (floorperson), Su'
    """
    by_role: dict[str, list[str]] = {}
    for name, role in USERS:
        by_role.setdefault(role, []).append(name)
    return ", ".join(f"{' and '.join(names)} ({role})" for role, names in by_role.items())
