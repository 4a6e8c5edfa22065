"""Host names of the service over HTTP and HTTPS, and the headers of every answer (D20)."""

import re
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import httpx
import pytest
import trustme
from litestar.routes import HTTPRoute
from litestar.types import Receive, Scope, Send

from bonus.errors import UserError
from controllers.agent.agent_metrics import AgentMetrics, serve_metrics
from meters.floor.floor_file import read_floor
from meters.http.middleware import HostNames, ServerMiddleware, ServerSettings
from meters.http.server import serve_web
from tests.servers import RedisServer
from tests.waiting import free_port, served
from tests.web.events import Events, listening
from tests.web.raw import get, raw
from tests.web.stand import FLOOR, PIN, Stand
from tests.web.test_roles import CASES, path_of

HEADERS: Final = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def check_headers(answer: httpx.Response, what: str) -> None:
    names = [name.lower() for name, _ in answer.headers.multi_items()]
    assert len(names) == len(set(names)), what
    policy = answer.headers["content-security-policy"]
    expected = dict(HEADERS)
    if "frame-ancestors 'self'" in policy:  # the signage alone can be shown in a frame
        assert answer.url.path.startswith("/signage"), what
        del expected["x-frame-options"]
    else:
        assert "frame-ancestors 'none'" in policy, what
    found = {name: answer.headers[name] for name in HEADERS if name in answer.headers}
    assert found == expected, what
    assert "default-src 'none'" in policy, what
    assert "unsafe" not in policy, what
    kept = answer.headers["cache-control"]
    assert kept.startswith("no-store") or (answer.is_success and "immutable" in kept), what
    assert "server" not in names, what
    assert not any(name.startswith("access-control-") for name in names), what


METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND")


@pytest.mark.slow
async def test_every_route_by_every_method_answers_with_the_security_headers(stand: Stand) -> None:
    """All routes of the application, and paths without a route; none answers with a 5xx.

    What the staff is shown is kept nowhere either.
    """
    async with stand.signed_in("Ada") as ada:
        for route in CASES:
            if route.startswith("GET "):
                async with ada.client.stream("GET", path_of(route)) as answer:
                    check_headers(answer, route)
    paths = {route.path_format for route in stand.app().routes if isinstance(route, HTTPRoute)}
    assert paths == {route.partition(" ")[2] for route in CASES}
    foreign = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    async with stand.client(foreign) as client:
        for path in sorted(paths | {"/nowhere", "/%2e%2e/floor.toml", "//", "/é"}):
            for method in METHODS:
                async with client.stream(method, path) as answer:
                    check_headers(answer, f"{method} {path}")
                    assert answer.status_code < 500, f"{method} {path}"
                    if method not in {"GET", "HEAD", "OPTIONS"}:
                        assert answer.status_code in {403, 404, 405}, f"{method} {path}"


async def test_a_head_request_answers_as_get_without_the_body() -> None:
    """There are no heartbeats, whose ages on the pages differ in length."""
    async with Stand().running() as stand, stand.client() as client:
        page = (await client.get("/signage")).text
        asset = next(iter(re.findall(r'"(/assets/[^"]+css)"', page)))
        paths = ("/signage", "/signage/main", "/floor", "/signage/main/pays", "/healthz", "/no")
        # The length of a compressed page depends on the time in it.
        plain = {"Accept-Encoding": "identity"}
        for path in (*paths, asset):
            got, head = (
                await client.get(path, headers=plain),
                await client.head(path, headers=plain),
            )
            assert head.status_code == got.status_code, path
            assert head.content == b"", path
            assert head.headers.get("content-type") == got.headers.get("content-type"), path
            assert head.headers.get("content-length") == str(len(got.content)), path
        packed = await client.head(asset)
        assert int(packed.headers["content-length"]) < len(got.content)
        assert (await client.head("/floor")).status_code == 200
        for stream in ("/api/v1/meters/stream", PREVIEW):
            assert (await client.head(stream)).status_code == 405


PREVIEW: Final = "/signage/tcp-main/preview/hit"


async def test_pages_are_sent_compressed_and_streams_as_they_come(stand: Stand) -> None:
    stand.put(112_362, 7)
    async with stand.client() as client:
        page = await client.get("/signage")
        script = next(each for each in re.findall(r'"(/assets/[^"]+)"', page.text) if ".js" in each)
        for path in ("/signage", "/signage/tcp-main/pays", "/floor", script):
            packed = await client.get(path)
            plain = await client.get(path, headers={"Accept-Encoding": "identity"})
            assert packed.headers["content-encoding"] == "gzip", path
            assert "content-encoding" not in plain.headers, path
            assert packed.headers["vary"] == "Accept-Encoding", path
            assert packed.num_bytes_downloaded < len(plain.content) * 0.6, path
        assert packed.content == plain.content
        assert plain.headers["vary"] == "Accept-Encoding"
        for path in ("/metrics", "/api/v1/meters", "/signage/tcp-main/meter.png"):
            assert "content-encoding" not in (await client.get(path)).headers, path
    for path in ("/api/v1/meters/stream", PREVIEW):
        async with listening(stand.url, path) as events:
            assert "content-encoding" not in events.response.headers
            assert (await events.next()).event == "page"
            assert (await events.next_of("meter")).data["link"] == "tcp-main"


OUR_NAMES: Final = (
    "127.0.0.1:{port}", "localhost:{port}", "LOCALHOST", "localhost.", "[::1]:{port}",
    "203.0.113.7", "pit.example", "Pit.Example:8443",
)  # fmt: skip
OTHER_NAMES: Final = (
    "evil.example", "evil.example:{port}", "pit.example.evil.example", "evilpit.example",
    "127.0.0.1.evil.example", "localhost.evil.example", "127.0.0.1:x", "[::1", "user@localhost",
    "localhost/", "",
)  # fmt: skip


async def test_pages_are_served_by_our_own_names_alone(stand: Stand) -> None:
    """A browser that takes another name for ours reads and does nothing, though signed in."""
    acts = {"claims/c1/validate": {}, "sign-in": {"name": "Flo", "pin": PIN}}
    async with stand.signed_in("Flo") as flo:
        client = flo.client
        for host in (*OUR_NAMES, *OTHER_NAMES):
            headers = {"Host": host.format(port=stand.port)}
            for path in ("/signage", "/api/v1/claims", "/metrics", "/nowhere"):
                answer = await client.get(path, headers=headers)
                check_headers(answer, path)
                assert (answer.status_code != 421) == (host in OUR_NAMES), (host, path)
                if host in OTHER_NAMES:
                    assert answer.json()["error"]["code"] == "misdirected_request"
                    assert "hosts" in answer.json()["error"]["message"]
            headers["Origin"] = f"http://{headers['Host']}"
            for act, body in acts.items() if host in OTHER_NAMES else ():
                answer = await client.post(f"/api/v1/{act}", json=body, headers=headers)
                assert answer.status_code == 421, (host, act)
                assert "set-cookie" not in answer.headers
    assert stand.claims.acts == []


def test_a_panel_is_known_by_its_port_too_except_behind_a_proxy() -> None:
    names = HostNames("10.0.0.7", 8090, ["pit.example"], any_port=False)
    assert all(map(names.include, ("10.0.0.7:8090", "localhost:8090", "pit.example")))
    assert not any(map(names.include, ("10.0.0.7:1", "10.0.0.7", "localhost:80", "x:8090")))
    assert HostNames("10.0.0.7", 443, any_port=False).include("10.0.0.7")


async def test_a_foreign_page_gets_nothing_from_the_stream(stand: Stand) -> None:
    """The browser hides the stream from a foreign page, and does not send the session's cookie."""
    headers = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    async with stand.signed_in("Dana") as dana:
        cookie = {"Cookie": dana.client.headers["Cookie"]}
        for path, sent in (("meters", {}), ("floor", cookie)):
            address = f"/api/v1/{path}/stream"
            async with stand.client(headers | sent) as client, client.stream("GET", address) as got:
                check_headers(got, path)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def written(authority: trustme.CA, directory: Path) -> tuple[Path, Path]:
    issued = authority.issue_cert("localhost", "127.0.0.1")
    chain, key = directory / "pit.pem", directory / "pit.key"
    chain.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    issued.private_key_pem.write_to_path(key)
    return chain, key


async def test_over_https_one_signs_in_from_anywhere_and_browsers_come_back_so(
    shared_redis_server: RedisServer, tmp_path: Path, authority: trustme.CA
) -> None:
    chain, key = written(authority, tmp_path)
    named = f'certificate = "{chain}"\nprivate_key = "{key}"\n'
    floor = FLOOR.replace("[service]\n", f"[service]\n{named}")
    async with Stand(floor, shared_redis_server).running("Flo") as stand:
        trusting = ssl.create_default_context()
        authority.configure_trust(trusting)
        url = f"https://localhost:{stand.port}"
        async with httpx.AsyncClient(base_url=url, verify=trusting, timeout=10) as client:
            page = await client.get("/floor")
            check_headers(page, "/floor")
            assert page.headers["strict-transport-security"] == "max-age=31536000"
            body = {"name": "Flo", "pin": PIN}
            answer = await client.post("/api/v1/sign-in", json=body, headers={"Origin": url})
            assert answer.status_code == 200
            assert (await client.get("/api/v1/me")).json()["name"] == "Flo"
            async with client.stream("GET", "/api/v1/floor/stream") as response:
                await Events(response).next_of("changed")
        async with raw(stand.port) as clear:
            clear.send(get("/api/v1/meters"))
            assert b"200" not in await clear.rest()
        old = ssl.create_default_context()
        authority.configure_trust(old)
        with pytest.warns(DeprecationWarning, match="TLSv1_1"):
            old.maximum_version = ssl.TLSVersion.TLSv1_1
        async with httpx.AsyncClient(base_url=url, verify=old, timeout=10) as client:
            with pytest.raises(httpx.ConnectError):
                await client.get("/healthz")


async def test_plain_http_says_nothing_of_https_and_a_proxy_that_ends_it_does(stand: Stand) -> None:
    assert "strict-transport-security" not in (await stand.get("/floor")).headers
    proxied = await stand.get("/floor", host="pit.example", **{"X-Forwarded-Proto": "https"})
    assert proxied.headers["strict-transport-security"] == "max-age=31536000"


def test_a_certificate_that_cannot_be_used_is_reported_with_its_file(
    tmp_path: Path, authority: trustme.CA
) -> None:
    chain, key = written(authority, tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    _, foreign = written(authority, other)
    nothing = tmp_path / "nothing.pem"
    nothing.write_text("no certificate\n")
    assert ServerSettings((), str(chain), str(key)).tls() is not None
    for pair in ((chain, foreign), (nothing, key), (tmp_path / "gone.pem", key), (chain, chain)):
        with pytest.raises(UserError, match=pair[0].name):
            ServerSettings((), *map(str, pair)).tls()


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
    port, front = free_port(), ServerSettings(metrics_token=token)
    async with served(
        lambda ready: (
            serve_metrics(AgentMetrics(), "127.0.0.1", port, ready, settings=front)
            if agent
            else serve_web(stand.app(), "127.0.0.1", port, ready, settings=front)
        )
    ):
        yield f"http://127.0.0.1:{port}"


@pytest.mark.duty("D20")
@pytest.mark.parametrize("agent", [False, True], ids=["service", "agent"])
async def test_metrics_are_for_this_machine_or_for_everybody_who_shows_the_token(
    stand: Stand, *, agent: bool
) -> None:
    """Without a token, not through a proxy. With one, this machine is no exception."""
    async with serving(stand, None, agent=agent) as url, httpx.AsyncClient() as client:
        direct = await client.get(f"{url}/metrics")
        assert direct.status_code == 200
        assert FIGURES in direct.content
        for headers in FORWARDED:
            answer = await client.get(f"{url}/metrics", headers=headers)
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "local_only")
            assert "metrics_token" in answer.json()["error"]["message"]
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


@pytest.mark.duty("D20")
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


@pytest.mark.duty("D20")
async def test_who_asks_from_elsewhere_is_refused() -> None:
    """The address of the connection counts, as for a patron on the floor's network."""
    here = ("127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1")
    statuses: list[object] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: Mapping[str, object]) -> None:
        statuses.extend(message[key] for key in ("status",) if key in message)

    fronted = ServerMiddleware(app, HostNames("10.0.0.1", 8080))
    for address in (*here, "10.1.2.3", "::ffff:10.1.2.3", "fe80::1%eth0", ""):
        scope = {
            "type": "http", "path": "/metrics", "scheme": "http", "client": (address, 1),
            "headers": [(b"host", b"10.0.0.1:8080")],
        }  # fmt: skip
        statuses.clear()
        await fronted(scope, None, send)  # type: ignore[arg-type]
        assert statuses == [200 if address in here else 403], address


@pytest.mark.duty("D20")
def test_the_token_is_in_a_file_next_to_the_floor_file(tmp_path: Path) -> None:
    path = tmp_path / "floor.toml"
    path.write_text(FLOOR.replace("[service]\n", '[service]\nmetrics_token = "token"\n'))
    service = read_floor(path).service
    assert service.metrics_token == str(tmp_path / "token")
    with pytest.raises(UserError, match="token: cannot be read"):
        ServerSettings.of(service)
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    front = ServerSettings.of(service)
    assert front.metrics_token == TOKEN
    assert TOKEN not in repr(front)
    (tmp_path / "token").write_text("\n")
    with pytest.raises(UserError, match="must contain exactly one line"):
        ServerSettings.of(service)
