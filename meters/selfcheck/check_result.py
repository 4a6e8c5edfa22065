from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """Result of one check, with its details. If `warns` is true, a failure is only a warning."""

    what: str
    holds: bool
    seen: str
    warns: bool = False

    @property
    def fails(self) -> bool:
        """Does this result stop every link?"""
        return not (self.holds or self.warns)

    @property
    def mark(self) -> str:
        """The first word of the line that shows this result: ``ok``, ``warn`` or ``FAIL``."""
        return "ok" if self.holds else "warn" if self.warns else "FAIL"
