"""Other services of a link, known from their heartbeats.

Tables, displays and other readers see only one controller for a link, and any of its services can
send the controller's heartbeat. So a service that cannot operate a link is silent while another one
operates it, and reports its failure only if it hears no other. By that time, the tables accept no
more progressive wagers, or will soon accept no more (duty D13).
"""

import asyncio
from collections import deque
from typing import Final

from meters.wire.messages import CONTROLLER_BEAT, UNREADABLE

HEARD_FOR_S: Final = 3.0
"""Seconds for which a heartbeat of another service counts. The tables use the same time."""

_OWN_KEPT: Final = 64


class OtherServices:
    def __init__(self) -> None:
        self._own: deque[bytes] = deque(maxlen=_OWN_KEPT)
        self._heard_s: float | None = None
        self._listening_since_s: float | None = None

    def listen_first(self) -> None:
        """Begin to listen to other services. It is not known yet whether any of them runs."""
        self._listening_since_s = _now_s()

    def listen_again(self) -> None:
        """Forget the services heard so far. From now on, only new heartbeats count."""
        self._heard_s = None
        self.listen_first()

    def note_own(self, payload: bytes) -> None:
        """Note a heartbeat that this service sends, to recognize it when it comes back."""
        self._own.append(payload)

    def hear(self, payload: bytes, *, retained: bool) -> bool:
        """Process a heartbeat. Return True if it says that another service cannot operate the link.

        A retained heartbeat can have any age, so it does not prove that a service runs.
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
        """Was a heartbeat of another service that operates the link heard recently?"""
        return self._heard_s is not None and _now_s() - self._heard_s < HEARD_FOR_S

    @property
    def may_operate(self) -> bool:
        """Does another service operate the link, or is this not known yet?"""
        since_s = self._listening_since_s
        return self.operate or (since_s is not None and _now_s() - since_s < HEARD_FOR_S)

    @property
    def are_known(self) -> bool:
        """Has this service listened long enough to know the other services?"""
        return self.operate or not self.may_operate


def _now_s() -> float:
    return asyncio.get_running_loop().time()
