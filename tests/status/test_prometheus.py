"""`pitlink status` with a strange program where Prometheus or a service should be."""

import json
import ssl
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Final

import httpx
import pytest
import trustme

from meters.selfcheck.web_readings import get, open_client
from tests.floor_text import Value, floor_text, link_text, table_text
from tests.servers import run_pitlink

pytestmark = pytest.mark.slow

_TOKEN: Final = "a-token-that-only-prometheus-knows"  # noqa: S105
_RULES: Final = {"groups": [{"rules": [{"name": "PitlinkAllDown"}]}]}


class Stranger(ThreadingHTTPServer):
    """Server that answers as Prometheus and as a service, or `slow`: without an end.

    It names `instances` as services, and has one `value` for every other query.
    """

    def __init__(self) -> None:
        super().__init__(("0.0.0.0", 0), _Handler)  # noqa: S104
        self.slow = False
        self.instances: list[str] = []
        self.value = "1"
        self.rules: object = _RULES
        self.tokens: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def answer(self, path: str) -> object:
        up = [{"metric": {"instance": each}, "value": [1, "1"]} for each in self.instances]
        answers: dict[str, object] = {
            "/api/v1/alerts": {"alerts": []},
            "/api/v1/rules": self.rules,
            "/api/v1/query?query=up": {"result": up},
            "/api/v1/query": {"result": [{"metric": {}, "value": [1, self.value]}]},
        }
        found = (data for begin, data in answers.items() if path.startswith(begin))
        return next(({"data": data} for data in found), {"ready": True, "links": {}})


class _Handler(BaseHTTPRequestHandler):
    server: Stranger

    def do_GET(self) -> None:
        if self.headers.get("Authorization") == f"Bearer {_TOKEN}":
            self.server.tokens.append(f"{self.headers['Host'].partition(':')[0]}{self.path}")
        self.send_response(200)
        self.end_headers()
        while self.server.slow:
            self.wfile.write(b" ")
            time.sleep(0.5)
        self.wfile.write(json.dumps(self.server.answer(self.path)).encode())

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def stranger() -> Iterator[Stranger]:
    with Stranger() as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()


@pytest.fixture
def config(tmp_path: Path) -> Path:
    token = tmp_path / "token"
    token.write_text(f"{_TOKEN}\n")
    token.chmod(0o600)
    service: dict[str, Value] = {"metrics_token": str(token)}
    path = tmp_path / "floor.toml"
    path.write_text(floor_text(link_text("main", table_text("T-1")), service=service))
    return path


def shown(config: Path, stranger: Stranger) -> str:
    words = ("status", "--once", "--config", str(config), "--prometheus", stranger.url)
    done = run_pitlink(*words)
    assert (done.returncode, done.stderr) == (1, "")
    return done.stdout


def test_an_answer_without_an_end_is_given_up(config: Path, stranger: Stranger) -> None:
    stranger.slow = True
    assert "warn  alerts: Prometheus is not reachable" in shown(config, stranger)


def test_values_that_are_no_numbers(config: Path, stranger: Stranger) -> None:
    stranger.instances = [f"127.0.0.1:{stranger.server_port}"]
    for stranger.value, said in (
        ("much", "warn  alerts: Prometheus is not what answers at"),
        ("NaN", "warn  lag: not known"),
    ):
        assert said in shown(config, stranger)


def test_a_prometheus_that_knows_nothing_of_pitlink_is_not_in_order(
    config: Path, stranger: Stranger
) -> None:
    """It has no alerts, but this does not mean that nothing is wrong."""
    assert "reads no service: its job pitlink has no address" in shown(config, stranger)
    stranger.instances, stranger.rules = [f"127.0.0.1:{stranger.server_port}"], {"groups": []}
    output = shown(config, stranger)
    assert f"warn  alerts: Prometheus at {stranger.url} has no alerts of pitlink" in output
    assert "alerts: none" not in output


def test_the_token_goes_to_no_address_that_only_prometheus_names(
    config: Path, stranger: Stranger
) -> None:
    stranger.instances = [f"{host}:{stranger.server_port}" for host in ("0.0.0.0", "127.0.0.1")]  # noqa: S104
    stranger.instances.append(f"127.0.0.1:1@0.0.0.0:{stranger.server_port}")
    shown(config, stranger)
    assert stranger.tokens == ["127.0.0.1/metrics"]


@pytest.mark.parametrize("ours", [True, False])
async def test_only_the_certificate_itself_is_trusted(
    tmp_path: Path, stranger: Stranger, *, ours: bool
) -> None:
    """The chain of a certificate has an authority that signs certificates of others too."""
    authority, chain = trustme.CA().create_child_ca(), tmp_path / "pit.pem"
    issued = authority.issue_cert("pit.example")
    assert len(issued.cert_chain_pems) > 1
    chain.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    (issued if ours else authority.issue_cert("other.example")).configure_cert(context)
    stranger.socket = context.wrap_socket(stranger.socket, server_side=True)
    async with open_client(str(chain)) as client:
        url = stranger.url.replace("http:", "https:")
        if ours:
            assert (await get(client, url)).json() == {"ready": True, "links": {}}
        else:
            with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
                await get(client, url)
