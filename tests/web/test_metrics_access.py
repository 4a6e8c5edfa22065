"""Access to `/metrics`, which shows reserves: for Prometheus, not for the floor's network."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import httpx
import pytest
from litestar.types import Receive, Scope, Send

from bonus.errors import UserError
from controllers.agent.metrics import AgentMetrics, serve_metrics
from meters.floor.floor_file import read_floor
from meters.http.metrics_access import MetricsAccess
from meters.http.middleware import HostNames, ServerMiddleware, ServerSettings
from meters.http.server import serve_web
from tests.floor.example import FLOOR
from tests.waiting import free_port
from tests.web.raw import raw
from tests.web.stand import Stand

pytestmark = pytest.mark.duty("D20")

TOKEN: Final = "7f3a9c51" * 8
FIGURES: Final = b"process_cpu_seconds_total"
FORWARDED: Final = (
    {"X-Forwarded-For": "10.1.2.3"},
    {"X-Forwarded-For": "127.0.0.1"},
    {"X-Forwarded-For": "10.1.2.3, 127.0.0.1"},
    {"X-Real-IP": "10.1.2.3"},
    {"Forwarded": "for=10.1.2.3"},
    {"Via": "1.1 proxy"},
    {"X-Forwarded-Proto": "https"},
    {"X-Forwarded-Host": "pit.example"},
)
SPELLINGS: Final = (
    "/metrics", "/metrics/", "//metrics", "/%6detrics", "/./metrics", "/x/../metrics",
    "/metrics//", "/metrics?a=b", "/METRICS", "/metrics;a", "/metrics%2f", "/metrics%00",
    "http://127.0.0.1/metrics",
)  # fmt: skip


@asynccontextmanager
async def serving(stand: Stand, token: str | None, *, agent: bool) -> AsyncIterator[str]:
    """Serve the service's pages, or only an agent's metrics, with a token; yield the address."""
    port, ready = free_port(), asyncio.Event()
    front = ServerSettings(metrics_token=token)
    task = asyncio.create_task(
        serve_metrics(AgentMetrics(), "127.0.0.1", port, ready, settings=front)
        if agent
        else serve_web(stand.app(), "127.0.0.1", port, ready, settings=front)
    )
    try:
        async with asyncio.timeout(20):
            await ready.wait()
        yield f"http://127.0.0.1:{port}"
    finally:
        task.cancel()
        await asyncio.wait({task})


@pytest.mark.parametrize("agent", [False, True], ids=["service", "agent"])
async def test_without_a_token_it_is_for_this_machine_and_not_through_a_proxy(
    stand: Stand, *, agent: bool
) -> None:
    async with serving(stand, None, agent=agent) as url, httpx.AsyncClient() as client:
        direct = await client.get(f"{url}/metrics")
        assert direct.status_code == 200
        assert FIGURES in direct.content
        for headers in FORWARDED:
            answer = await client.get(f"{url}/metrics", headers=headers)
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "local_only")
            assert "metrics_token" in answer.json()["error"]["message"]


async def test_however_its_path_is_written(stand: Stand) -> None:
    """A proxy may pass on a spelling that it takes for another path."""
    for path in SPELLINGS:
        async with raw(stand.port) as connection:
            connection.send(
                f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{stand.port}\r\n".encode(),
                b"X-Forwarded-For: 10.1.2.3\r\nConnection: close\r\n\r\n",
            )
            answer = await connection.rest()
            assert answer.startswith(b"HTTP/1.1 4"), path
            assert FIGURES not in answer, path


@pytest.mark.parametrize("agent", [False, True], ids=["service", "agent"])
async def test_with_a_token_it_is_for_everybody_who_shows_it(stand: Stand, *, agent: bool) -> None:
    """This holds from any address. This machine is no exception, because a proxy may run on it."""
    good = {"Authorization": f"Bearer {TOKEN}"}
    async with serving(stand, TOKEN, agent=agent) as url, httpx.AsyncClient() as client:
        for headers in (good, good | {"X-Forwarded-For": "10.1.2.3"}):
            answer = await client.get(f"{url}/metrics", headers=headers)
            assert answer.status_code == 200
            assert FIGURES in answer.content
        wrong: list[dict[str, str]] = [
            {}, {"Authorization": f"Bearer {TOKEN[:-1]}"},
            {"Authorization": f"Bearer {TOKEN}x"}, {"Authorization": f"Basic {TOKEN}"},
            {"Authorization": TOKEN}, {"Cookie": f"token={TOKEN}"},
        ]  # fmt: skip
        for headers in wrong:
            answer = await client.get(f"{url}/metrics", headers=headers)
            assert (answer.status_code, answer.json()["error"]["code"]) == (401, "token_needed")
            assert TOKEN not in answer.text
        assert (await client.get(f"{url}/metrics?token={TOKEN}")).status_code == 401
        if not agent:
            assert (await client.get(f"{url}/healthz")).status_code == 200


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("127.0.0.1", 200), ("127.8.9.1", 200), ("::1", 200), ("::ffff:127.0.0.1", 200),
        ("10.1.2.3", 403), ("::ffff:10.1.2.3", 403), ("fe80::1%eth0", 403), ("", 403),
    ],
)  # fmt: skip
async def test_who_asks_from_elsewhere_is_refused(address: str, status: int) -> None:
    """The address of the connection counts, as for a patron on the floor's network."""
    statuses: list[int] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: Mapping[str, object]) -> None:
        with contextlib.suppress(KeyError):
            statuses.append(message["status"])  # type: ignore[arg-type]

    fronted = ServerMiddleware(app, HostNames("10.0.0.1", 8080), MetricsAccess())
    scope = {
        "type": "http", "path": "/metrics", "scheme": "http", "client": (address, 1),
        "headers": [(b"host", b"10.0.0.1:8080")],
    }  # fmt: skip
    await fronted(scope, None, send)  # type: ignore[arg-type]
    assert statuses == [status]


def test_the_token_is_in_a_file_next_to_the_floor_file(tmp_path: Path) -> None:
    path = tmp_path / "floor.toml"
    path.write_text(FLOOR.replace("data =", 'metrics_token = "token"\ndata =', 1))
    service = read_floor(path).service
    assert service.metrics_token == str(tmp_path / "token")
    with pytest.raises(UserError, match="token: cannot be read"):
        ServerSettings.of(service)
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    front = ServerSettings.of(service)
    assert front.metrics_token == TOKEN
    assert TOKEN not in repr(front)
    (tmp_path / "token").write_text("\n")
    with pytest.raises(UserError, match="does not contain one line"):
        ServerSettings.of(service)
