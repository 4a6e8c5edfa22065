import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final

_EVERY_S: Final = 60.0
_AT_ONCE: Final = 5
_KINDS_MAX: Final = 1_024


@dataclass(slots=True)
class _Logged:
    since_s: float
    times: int = 0
    kept_back: int = 0


class ThrottledLog:
    """Limit on repeated warnings: in each minute, only the first few of each kind are logged.

    So a table that sends too many events, thousands a second, cannot fill the disk. The metrics
    count all events. The clock must be monotonic.
    """

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._clock_s = clock_s
        self._logged: dict[Hashable, _Logged] = {}

    def due(self, kind: Hashable) -> int | None:
        """Return how many warnings were left out before this one; None if it is left out too."""
        now_s = self._clock_s()
        logged = self._logged.get(kind)
        if logged is None or now_s - logged.since_s >= _EVERY_S:
            if logged is None and len(self._logged) >= _KINDS_MAX:
                del self._logged[next(iter(self._logged))]
            kept_back = logged.kept_back if logged else 0
            self._logged.pop(kind, None)
            self._logged[kind] = _Logged(now_s, 1)
            return kept_back
        if logged.times < _AT_ONCE:
            logged.times += 1
            return 0
        logged.kept_back += 1
        return None
