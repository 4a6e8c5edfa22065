"""The shipped Caddyfile with a real Caddy: it forwards, and nothing else can command it."""

import http.client
import os
import ssl
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.deploy.tree import DEPLOY
from tests.servers import answering, free_port, require
from tests.waiting import dies_with_us, eventually


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
        http.client.HTTPSConnection("localhost", port, timeout=5, context=context)
    ) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


@pytest.mark.duty("D20")
def test_the_proxy_forwards_and_has_no_other_port(service_port: int) -> None:
    """At its admin API, any account of the machine could replace it and read PINs."""
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
        }
        command = [require("caddy"), "run", "--adapter", "caddyfile", "--config", str(config)]
        with (Path(home) / "log").open("w") as log:
            caddy = subprocess.Popen(dies_with_us(command), env=environment, stdout=log, stderr=log)
        try:
            eventually(lambda: caddy.poll() is not None or port in listening_ports(caddy.pid))

            def forwards() -> bool:
                try:
                    return get(port, "/signage")[0] == 200
                except OSError:
                    return False

            eventually(forwards, what="the proxy forwards")
            assert get(port, "/signage") == (200, "/signage for 127.0.0.1")
            assert get(port, "/metrics")[0] == 404
            assert listening_ports(caddy.pid) == {port}
        finally:
            caddy.terminate()
            caddy.wait(timeout=20)
