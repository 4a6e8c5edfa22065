"""Detection of a second agent for the same table, from repeated losses of the connection."""

from typing import Final

_LOSSES_WITHIN_S: Final = 60.0
_LOSSES_MAX: Final = 5


class ConnectionLosses:
    """Counter of an agent's lost broker connections within a minute.

    If two connections have the same client name, the broker ends the older connection. All agents
    of one table use the same client name. So two agents of one table repeatedly disconnect each
    other.
    """

    def __init__(self) -> None:
        self._at_s: list[float] = []

    def count_loss(self, now_s: float) -> bool:
        """Count a lost connection; return whether too many connections were lost within a minute.

        If too many were lost, the count restarts from 0.
        """
        recent = [at_s for at_s in self._at_s if now_s - at_s < _LOSSES_WITHIN_S]
        self._at_s = [*recent, now_s]
        if len(self._at_s) < _LOSSES_MAX:
            return False
        self._at_s = []
        return True
