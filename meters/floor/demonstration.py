"""What is known to everybody at a demonstration: its people, their PIN, the words on every page."""

from typing import Final

MARK: Final = "Demonstration: simulated play, no real money"

PIN: Final = "135790"
"""Of everybody at a demonstration, and of nobody elsewhere."""

PEOPLE: Final = (
    ("Dana", "dealer"),
    ("Flo", "floorperson"),
    ("Fred", "floorperson"),
    ("Sue", "supervisor"),
    ("Sam", "supervisor"),
    ("Al", "auditor"),
    ("Ada", "administrator"),
)
"""Names and roles; two floorpersons and two supervisors, since some acts take two people."""


def people_text() -> str:
    """The people in words, by their roles.

    >>> people_text()[:45]
    'Dana (dealer), Flo and Fred (floorperson), Su'
    """
    by_role: dict[str, list[str]] = {}
    for name, role in PEOPLE:
        by_role.setdefault(role, []).append(name)
    return ", ".join(f"{' and '.join(names)} ({role})" for role, names in by_role.items())
