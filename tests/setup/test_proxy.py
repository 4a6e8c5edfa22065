"""The shipped Caddyfile with a real Caddy: it forwards, and nothing else can command it."""

import http.client
import os
import ssl
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest

from tests.deploy.tree import DEPLOY
from tests.servers import answering, free_port, require
from tests.waiting import LONG_S, dies_with_us, eventually


@pytest.fixture
def service_port() -> Iterator[int]:
    with answering(lambda path, sent: (200, f"{path} for {sent['X-Forwarded-For']}")) as port:
        yield port


def listening_ports(process: int) -> set[int]:
    own = set()
    for opened in Path(f"/proc/{process}/fd").iterdir():
        try:
            own.add(str(opened.readlink()))
        except FileNotFoundError:
            continue
    lines = [
        line.split()
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/{process}/net/{name}").read_text().splitlines()[1:]
    ]
    return {
        int(words[1].rpartition(":")[2], 16)
        for words in lines
        if words[3] == "0A" and f"socket:[{words[9]}]" in own
    }


def get(port: int, path: str) -> tuple[int, str]:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with closing(
        http.client.HTTPSConnection("localhost", port, timeout=LONG_S, context=context)
    ) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


@contextmanager
def proxy(service_port: int, documents: Path) -> Iterator[tuple[int, int]]:
    """Yield the port and the process of a Caddy with the shipped configuration."""
    port = free_port()
    with tempfile.TemporaryDirectory() as home:
        config = Path(home) / "Caddyfile"
        text = (DEPLOY / "Caddyfile").read_text()
        # The tests have no other addresses and ports than their own.
        assert text.count("\tskip_install_trust\n") == 1
        own = "\tskip_install_trust\n\tauto_https disable_redirects\n\tdefault_bind 127.0.0.1\n"
        config.write_text(text.replace("\tskip_install_trust\n", own))
        environment = {
            **dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), home),
            "PATH": os.environ["PATH"],
            "PITLINK_SITE": f"https://localhost:{port}",
            "PITLINK_SERVICES": f"127.0.0.1:{service_port}",
            "PITLINK_DOCUMENTS": str(documents),
        }
        command = [require("caddy"), "run", "--adapter", "caddyfile", "--config", str(config)]
        with (Path(home) / "log").open("w") as log:
            caddy = subprocess.Popen(dies_with_us(command), env=environment, stdout=log, stderr=log)
        try:
            eventually(lambda: caddy.poll() is not None or port in listening_ports(caddy.pid))
            yield port, caddy.pid
        finally:
            caddy.terminate()
            caddy.wait(timeout=20)


@pytest.mark.duty("D20")
def test_the_proxy_forwards_and_has_no_other_port(service_port: int, tmp_path: Path) -> None:
    """At its admin API, any account of the machine could replace it and read PINs."""
    with proxy(service_port, tmp_path) as (port, process):

        def forwards() -> bool:
            try:
                return get(port, "/signage")[0] == 200
            except OSError:
                return False

        eventually(forwards, what="the proxy forwards")
        assert get(port, "/signage") == (200, "/signage for 127.0.0.1")
        assert get(port, "/docs/recover/runbook.html")[1].startswith("/docs/recover/runbook.html")
        assert get(port, "/metrics")[0] == 404
        assert listening_ports(process) == {port}


def test_the_proxy_has_the_documents_while_no_service_answers(tmp_path: Path) -> None:
    documents = tmp_path / "site"
    (documents / "recover").mkdir(parents=True)
    (documents / "recover" / "runbook.html").write_text("restart it")
    (tmp_path / "secret").write_text("secret")
    with proxy(free_port(), documents) as (port, _):

        def shown() -> bool:
            try:
                return get(port, "/docs/recover/runbook.html") == (200, "restart it")
            except OSError:
                return False

        eventually(shown, what="the runbook")
        paths = ("/signage", "/docs/../secret", "/docs/%2e%2e/secret", "/docs/none.html")
        # Caddy tries each for five seconds to reach a service.
        with ThreadPoolExecutor(len(paths)) as threads:
            answers = [*threads.map(partial(get, port), paths)]
        assert all(status >= 400 and "secret" not in text for status, text in answers), answers
