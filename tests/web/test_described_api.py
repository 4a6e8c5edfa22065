"""The running service against its own OpenAPI document: Schemathesis, signed in as each role."""

import asyncio
import itertools
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from redis.asyncio import Redis
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.generation.case import Case
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from meters.floor.roles import Role
from meters.store.user_keys import UserKeys
from meters.users.users import Actor, UserDirectory
from tests.mqtt.events import result, void, wagers
from tests.mqtt.stand import LINKS, Stand
from tests.staff import PIN

NOBODY: Final = "nobody"
ROLES: Final = tuple(role.value for role in Role)
BY_TURNS: Final = ("floorperson", "dealer", "auditor", NOBODY)
"""Who sends a request besides supervisor and administrator: one of these two may use each route."""

SPARE: Final = "Spare"
"""The user whom administrators change. The users who send requests keep their PINs."""

EXAMPLES: Final = 6
_ASKS: Final = 3
_JACKPOTS: Final = 6
_SPADES: Final = ("As", "Ks", "Qs")
_WITHIN_S: Final = 20
_STREAM: Final = "text/event-stream"
_CHECKS: Final = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]

Operation = APIOperation[Any, Any, Any, Any]


class DescribedApi:
    def __init__(self, stand: Stand) -> None:
        self._url = stand.service.url
        self._redis_url = stand.redis.url
        self._client = requests.Session()
        self._cookies: dict[str, dict[str, str]] = {NOBODY: {}}
        self._sources = itertools.count(1)
        self.answers: set[tuple[str, int]] = set()
        self.answered: set[str] = set()
        """Roles with an answer below 400."""
        asyncio.run(self._hire())
        self.known: dict[str, list[str]] = {
            "link": [*LINKS],
            "claim": [_jackpot(stand) for _ in range(_JACKPOTS)],
            "ask": _asks(stand),
            "name": [SPARE],
            "proposal": ["1", "P-1"],
            "meter": ["progressive", "five_card_progressive"],
            "report": ["day", "table"],
            "days": [f"{datetime.now(UTC):%Y-%m-%d}", "2026-11"],
            "entry": [str(entry) for entry in range(1, 40, 6)],
        }

    async def _hire(self) -> None:
        async with Redis.from_url(self._redis_url) as redis:
            user_directory = UserDirectory(redis, 60)
            for name, role in ((SPARE, Role.DEALER), *((role.value, role) for role in Role)):
                await user_directory.users.add(name, role, PIN, Actor("the test"), own=True)

    async def _forget_tries(self) -> None:
        """Clear failed sign-ins and locks, so that nobody is locked out by earlier requests."""
        prefix = UserKeys().user_prefix.removesuffix("user:")
        async with Redis.from_url(self._redis_url) as redis:
            for kind in ("tries", "lock", "undecided"):
                async for key in redis.scan_iter(f"{prefix}{kind}:*"):
                    await redis.delete(key)

    def session_of(self, role: str) -> dict[str, str]:
        if role not in self._cookies:
            asyncio.run(self._forget_tries())
            answer = httpx.post(
                f"{self._url}/api/v1/sign-in",
                json={"name": role, "pin": PIN},
                headers={"X-Forwarded-For": f"198.51.100.{next(self._sources) % 250}",
                         "X-Forwarded-Proto": "https"},
                timeout=_WITHIN_S,
            )  # fmt: skip
            assert answer.status_code == 200, answer.text
            self._cookies[role] = {
                "Cookie": answer.headers["set-cookie"].partition(";")[0],
                "X-CSRF-Token": answer.json()["csrf"],
            }
        return self._cookies[role]

    def operations(self) -> Iterator[Operation]:
        document = httpx.get(f"{self._url}/schema", timeout=_WITHIN_S).json()
        for found in schemathesis.openapi.from_dict(document).get_all_operations():
            assert isinstance(found, Ok), found
            yield found.ok()

    def try_operation(self, operation: Operation) -> None:
        """Send many requests to one operation, each from three users."""
        cases = st.one_of(
            operation.as_strategy(generation_mode=GenerationMode.POSITIVE),
            operation.as_strategy(generation_mode=GenerationMode.NEGATIVE),
        )

        @seed(1)
        @settings(
            max_examples=EXAMPLES,
            phases=[Phase.generate],
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(
            case=cases,
            role=st.sampled_from(BY_TURNS),
            real=st.integers(0, 3).map(bool),
            chance=st.randoms(use_true_random=False),
        )
        def send(case: Case[Any], role: str, *, real: bool, chance: random.Random) -> None:
            if real:
                for name in case.path_parameters:
                    case.path_parameters[name] = chance.choice(self.known[name])
            for each in ("supervisor", "administrator", role):
                self._send(case, each)

        send()

    def _send(self, case: Case[Any], role: str) -> None:
        case.cookies = {}
        label = case.operation.label
        headers = self.session_of(role)
        kwargs = case.as_transport_kwargs(base_url=self._url, headers=headers)
        # A generated token header would replace the session's own token.
        kwargs["headers"] = {**kwargs["headers"], **headers}
        with self._client.request(**kwargs, stream=True, timeout=_WITHIN_S) as answer:
            kind = answer.headers.get("content-type", "")
            self.answers.add((label, answer.status_code))
            if kind.startswith(_STREAM) and answer.ok:
                # The stream never ends. Only its beginning and its content type can be checked.
                assert next(answer.iter_lines()), label
                assert str(answer.status_code) in case.operation.definition.raw["responses"], label
            else:
                case.validate_response(answer, checks=_CHECKS)
            if answer.ok:
                self.answered.add(role)
            ended = answer.status_code == 401 and not label.endswith("/sign-in")
            if role != NOBODY and (ended or label.endswith("/sign-out")):
                self._cookies.pop(role, None)


def _asks(stand: Stand) -> list[str]:
    for _ in range(_ASKS):
        table = stand.table()
        table.accept(wagers(1))
        entered = [{"what": "hand", "position": 3, "cards": list(_SPADES)}]
        reply = table.ask(void(2, confirm=True, entered=entered))
        assert reply["error"]["code"] == "unconfirmed", reply
    return [row["ask"] for row in stand.service.asks()]


def _jackpot(stand: Stand) -> str:
    table = stand.table()
    table.accept(wagers(1))
    hand = {"position": 3, "patron": "p3", "cards": list(_SPADES), "folded": False}
    reply = table.ask(result(2, positions=[hand]))
    return str(reply["claims"][0]["claim"])


@pytest.mark.slow
def test_the_service_answers_as_it_describes_and_never_with_an_error_of_its_own(
    tmp_path: Path,
) -> None:
    with Stand(tmp_path) as stand:
        api = DescribedApi(stand)
        operations = list(api.operations())
        for operation in operations:
            api.try_operation(operation)
        errors = stand.service.process.errors
        assert stand.service.audit()["balanced"]
    assert "Traceback" not in errors
    assert "request failed" not in errors
    assert len(operations) > 25
    for operation in operations:
        statuses = {status for label, status in api.answers if label == operation.label}
        assert statuses - {401, 403}, f"nobody got past the gate of {operation.label}"
    assert api.answered == {NOBODY, *ROLES}
