"""Two floorpersons of a chaos run, who use whichever service answers."""

import random
import threading
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import httpx

from tests.staff import Colleague

NAMES: Final = ("B. Reyes", "C. Ito")
_LOOK_EVERY_S: Final = 0.3
_REJECTED: Final = 0.1


class Floorperson(threading.Thread):
    """Decides pending claims in competition with a colleague. A failed call proves nothing."""

    def __init__(self, name: str, urls: Sequence[str], seed: int) -> None:
        super().__init__(name=name, daemon=True)
        self.acts: Counter[str] = Counter()
        self.said_no: Counter[int] = Counter()
        self.decided: list[tuple[str, str]] = []
        self.failed: BaseException | None = None
        self._urls = urls
        self._rng = random.Random(f"{name} {seed}")
        self._signed_in: dict[str, Colleague] = {}
        self._ending = threading.Event()
        self._slips = 0

    def finish(self) -> None:
        self._ending.set()

    def run(self) -> None:
        try:
            while not self._ending.wait(_LOOK_EVERY_S):
                self._look()
        except BaseException as error:
            self.failed = error

    def _look(self) -> None:
        url = self._rng.choice(self._urls)
        try:
            for claim in httpx.get(f"{url}/api/v1/claims", timeout=5).json():
                self._decide(url, claim)
        except (httpx.HTTPError, AssertionError, TypeError):
            # The service is gone or frozen, or cannot sign anybody in yet. The next look comes
            # soon.
            self._signed_in.pop(url, None)

    def _decide(self, url: str, claim: dict[str, Any]) -> None:
        body: dict[str, object] = {}
        if claim["state"] == "pending":
            act = "reject" if self._rng.random() < _REJECTED else "validate"
            if act == "reject":
                body["reason"] = "no such hand on the table"
                body["envy_not_due"] = self._rng.random() < 0.5
        elif claim["state"] != "validated" or claim["paid_from"] != "hand_pay":
            act = "pay-envy"
        else:
            act = "pay"
            body["envy_paid"] = claim["envy_state"] == "validated"
            self._slips += 1
            body["slip"] = f"{self.name}-{self._slips}"
        if url not in self._signed_in:
            self._signed_in[url] = Colleague(url, self.name)
        answer = self._signed_in[url].post(f"/api/v1/claims/{claim['claim']}/{act}", **body)
        if answer.status_code == 200:
            self.acts[act] += 1
            if act != "pay-envy":
                self.decided.append((claim["claim"], act))
            return
        self.said_no[answer.status_code] += 1
        if answer.status_code in {401, 403}:
            self._signed_in.pop(url, None)
