"""Detection of a second agent for the same table."""

from typing import Final

_LOSSES_WITHIN_S: Final = 60.0
_LOSSES_MAX: Final = 5


class ConnectionLosses:
    """Lost connections within a minute, of which two agents of one table have many.

    All agents of a table use the same client name, and the broker ends the older of two connections
    with one name.
    """

    def __init__(self) -> None:
        self._at_s: list[float] = []

    def count_loss(self, now_s: float) -> bool:
        """Return whether this loss is one too many within a minute; if so, count from 0 again."""
        recent = [at_s for at_s in self._at_s if now_s - at_s < _LOSSES_WITHIN_S]
        self._at_s = [*recent, now_s]
        if len(self._at_s) < _LOSSES_MAX:
            return False
        self._at_s = []
        return True
