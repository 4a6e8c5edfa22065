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
