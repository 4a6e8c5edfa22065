from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check. If `warns` is true, a failure is only a warning."""

    what: str
    holds: bool
    seen: str
    warns: bool = False

    @property
    def fails(self) -> bool:
        return not (self.holds or self.warns)

    @property
    def mark(self) -> str:
        return "ok" if self.holds else "warn" if self.warns else "FAIL"

    @property
    def line(self) -> str:
        return f"{self.what}: {self.seen}"


def passed(what: str, seen: str) -> Check:
    return Check(what, holds=True, seen=seen)


def warning(what: str, seen: str) -> Check:
    return Check(what, holds=False, seen=seen, warns=True)


def failure(what: str, seen: str) -> Check:
    return Check(what, holds=False, seen=seen)


def judged(what: str, problem: str | None, good: str, *, warns: bool = False) -> Check:
    return Check(what, not problem, problem or good, warns)


def age_text(seconds: float) -> str:
    """Return an age in its largest unit.

    >>> age_text(9.4), age_text(840), age_text(7_300), age_text(260_000)
    ('9 s', '14 min', '2 h', '3 days')
    """
    if seconds < 60:
        return f"{max(0.0, seconds):.0f} s"
    if seconds < 3_600:
        return f"{seconds // 60:.0f} min"
    if seconds < 48 * 3_600:
        return f"{seconds // 3_600:.0f} h"
    return f"{seconds // 86_400:.0f} days"
