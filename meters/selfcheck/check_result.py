"""What a check comes to."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """One thing checked: whether it holds, and what was seen. `warns` where it only should."""

    what: str
    holds: bool
    seen: str
    warns: bool = False

    @property
    def fails(self) -> bool:
        """Whether nothing may operate because of it."""
        return not (self.holds or self.warns)
