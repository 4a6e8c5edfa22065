"""The other services of a link, as their beats tell.

Tables, displays and whatever else listens hear one controller, whoever speaks for it. So a service
that cannot operate a link keeps silent while another operates it, and says so once it hears none:
then the tables have locked themselves already, or are about to (duty D13).
"""

import asyncio
from collections import deque
from typing import Final

from meters.wire.messages import CONTROLLER_BEAT, UNREADABLE

HEARD_FOR_S: Final = 3.0
"""So long another's beat counts here: as long as the tables count it as life."""

_OWN_KEPT: Final = 64


class OtherServices:
    """What is heard of the others on one link."""

    def __init__(self) -> None:
        self._own: deque[bytes] = deque(maxlen=_OWN_KEPT)
        self._heard_s: float | None = None
        self._listening_since_s: float | None = None

    def listen_first(self) -> None:
        """Note that we begin to listen: whoever there is has not been heard yet."""
        self._listening_since_s = _now_s()

    def listen_anew(self) -> None:
        """Forget whom we heard: only who is heard from now on counts."""
        self._heard_s = None
        self.listen_first()

    def note_own(self, payload: bytes) -> None:
        """Note a beat of ours, which the broker gives back to us."""
        self._own.append(payload)

    def hear(self, payload: bytes, *, retained: bool) -> bool:
        """Take in a beat as it came; whether another says that it cannot operate the link.

        A retained one is of any age, and a sign of nobody's life.
        """
        if retained or payload in self._own:
            return False
        try:
            beat = CONTROLLER_BEAT.decode(payload)
        except UNREADABLE:
            return False
        if beat.state == "inoperable":
            return True
        self._heard_s = _now_s()
        return False

    @property
    def operate(self) -> bool:
        """Whether another was heard of late that operates the link."""
        return self._heard_s is not None and _now_s() - self._heard_s < HEARD_FOR_S

    @property
    def may_operate(self) -> bool:
        """The same, or we have not listened for long enough to tell."""
        since_s = self._listening_since_s
        return self.operate or (since_s is not None and _now_s() - since_s < HEARD_FOR_S)

    @property
    def are_known(self) -> bool:
        """Whether another is heard that operates the link, or we have listened for long enough."""
        return self.operate or not self.may_operate


def _now_s() -> float:
    return asyncio.get_running_loop().time()
