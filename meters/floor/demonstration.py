"""The users of a demonstration, their public PIN, and the notice that every page shows."""

from typing import Final

MARK: Final = "Demonstration: simulated play, no real money"

PIN: Final = "135790"
"""Every user of a demonstration has it, and it is public."""

USERS: Final = (
    ("Dana", "dealer"),
    ("Flo", "floorperson"),
    ("Fred", "floorperson"),
    ("Sue", "supervisor"),
    ("Sam", "supervisor"),
    ("Al", "auditor"),
    ("Ada", "administrator"),
)
"""Some acts need two people with the same role: so two floorpersons and two supervisors."""


def users_text() -> str:
    """Return the demonstration's users as a text, grouped by role.

    >>> users_text()[:45]
    'Dana (dealer), Flo and Fred (floorperson), Su'
    """
    by_role: dict[str, list[str]] = {}
    for name, role in USERS:
        by_role.setdefault(role, []).append(name)
    return ", ".join(f"{' and '.join(names)} ({role})" for role, names in by_role.items())
