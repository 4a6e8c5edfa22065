"""Users for tests of real processes: added by the command, then signed in."""

from pathlib import Path
from typing import Any, Final

import httpx

from tests.processes import run_pitlink
from tests.waiting import LONG_S

PIN: Final = "730482"
GIVEN: Final = "264907"
"""PIN of each added user until they choose the other one at their first sign-in."""
_WITHIN_S: Final = LONG_S


def hire(config: Path, name: str, role: str) -> None:
    """Add a user with `pitlink user add`. An existing user stays unchanged."""
    done = run_pitlink("user", "add", name, "--role", role, "--config", str(config), stdin=GIVEN)
    assert done.returncode == 0 or "already" in done.stderr, done.stderr


class Colleague:
    """Signed-in user who talks to the service as their page does."""

    def __init__(self, url: str, name: str, pin: str = PIN) -> None:
        self._url = url
        answer = self._sign_in(name, pin)
        if answer.status_code == 401 and pin == PIN:
            answer = self._sign_in(name, GIVEN)
        assert answer.status_code == 200, answer.text
        self.headers = {
            # A browser sends a secure cookie to a loopback address. This client does not.
            "Cookie": answer.headers["set-cookie"].partition(";")[0],
            "X-CSRF-Token": answer.json()["csrf"],
        }
        if answer.json()["choose_pin"]:
            chosen = self.post("/api/v1/me/pin", pin=GIVEN, new_pin=pin)
            assert chosen.status_code == 204, chosen.text

    def _sign_in(self, name: str, pin: str) -> httpx.Response:
        return httpx.post(
            f"{self._url}/api/v1/sign-in", json={"name": name, "pin": pin}, timeout=_WITHIN_S
        )

    def get(self, path: str) -> httpx.Response:
        return httpx.get(self._url + path, headers=self.headers, timeout=_WITHIN_S)

    def post(self, path: str, **body: object) -> httpx.Response:
        return httpx.post(self._url + path, headers=self.headers, json=body, timeout=_WITHIN_S)

    def decide(self, claim: str, act: str, **body: object) -> dict[str, Any]:
        answer = self.post(f"/api/v1/claims/{claim}/{act}", **body)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found
