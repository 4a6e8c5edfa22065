"""Signs that another agent works the same table: connections lost again and again."""

from typing import Final

_LOSSES_WITHIN_S: Final = 60.0
_LOSSES_MAX: Final = 5


class ConnectionLosses:
    """Count of how often an established connection was lost in the last minute.

    A broker ends the older of two connections of one name. Two agents of one table therefore
    disconnect each other again and again.
    """

    def __init__(self) -> None:
        self._at_s: list[float] = []

    def count_loss(self, now_s: float) -> bool:
        """Count a loss. Return whether there were too many; the count then begins again."""
        recent = [at_s for at_s in self._at_s if now_s - at_s < _LOSSES_WITHIN_S]
        self._at_s = [*recent, now_s]
        if len(self._at_s) < _LOSSES_MAX:
            return False
        self._at_s = []
        return True
