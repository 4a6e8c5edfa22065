"""A real Prometheus with the shipped configuration, queried as Grafana does."""

import math
import shutil
import socket
from collections.abc import Mapping, Sequence
from typing import Any, Final

import httpx

from tests.monitoring.artefacts import PROMETHEUS
from tests.servers import Server
from tests.waiting import free_port, require

SCRAPED_EVERY: Final = "scrape_interval: 5s"


class Prometheus(Server):
    """Prometheus that scrapes every second instead of every five; all else is as shipped."""

    def __init__(self, services: Sequence[str], agents: Sequence[str]) -> None:
        self._program = require("prometheus")
        super().__init__()
        self.port = 0
        self._http = httpx.Client(timeout=60)
        for file in ("alerts.yml", "prometheus.yml"):
            shutil.copy(PROMETHEUS / file, self.home / file)
        config = self.home / "prometheus.yml"
        assert SCRAPED_EVERY in config.read_text()
        config.write_text(config.read_text().replace("_interval: 5s", "_interval: 1s"))
        for file, targets in (("services.yml", services), ("tables.yml", agents)):
            assert (PROMETHEUS / file).exists()
            listed = "".join(f"    - {target}\n" for target in targets)
            (self.home / file).write_text(f"- targets:\n{listed}")

    def __exit__(self, *raised: object) -> None:
        self._http.close()
        super().__exit__(*raised)

    def _choose_port(self) -> None:
        self.port = free_port()

    def _command(self) -> list[str]:
        return [
            self._program,
            f"--config.file={self.home / 'prometheus.yml'}",
            f"--storage.tsdb.path={self.home / 'data'}",
            f"--web.listen-address=127.0.0.1:{self.port}",
            "--log.level=warn",
        ]

    def _answers(self) -> bool:
        with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
            connection.sendall(b"GET /-/ready HTTP/1.0\r\n\r\n")
            return b" 200 " in connection.recv(64)

    def _ask(self, path: str, **parameters: str) -> Any:  # noqa: ANN401  (it is JSON)
        answer = self._http.get(f"http://127.0.0.1:{self.port}/api/v1/{path}", params=parameters)
        assert answer.status_code == 200, (parameters, answer.text)
        return answer.json()["data"]

    def query(self, expr: str) -> list[tuple[Mapping[str, str], float]]:
        """Return labels and values of an expression now, without values that are not numbers."""
        rows = self._ask("query", query=expr)["result"]
        found = [(row["metric"], float(row["value"][1])) for row in rows]
        return [(labels, value) for labels, value in found if not math.isnan(value)]

    def values(self, label: str) -> frozenset[str]:
        return frozenset(self._ask(f"label/{label}/values"))

    def rules(self) -> Mapping[str, tuple[str, str]]:
        """Return the health and the state of each rule."""
        rules = [rule for group in self._ask("rules")["groups"] for rule in group["rules"]]
        return {rule["name"]: (rule["health"], rule["state"]) for rule in rules}
