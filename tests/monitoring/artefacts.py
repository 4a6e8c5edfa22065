import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

DEPLOY: Final = Path(__file__).resolve().parents[2] / "deploy"
PROMETHEUS: Final = DEPLOY / "prometheus"
DASHBOARDS: Final = tuple(sorted((DEPLOY / "grafana" / "dashboards").glob("*.json")))

_RULE: Final = re.compile(r"^      - alert: (\w+)\n        expr: '(.*)'\n", re.MULTILINE)
_TEXT: Final = re.compile(r'"[^"]*"')
_METRIC: Final = re.compile(r"\b(?:pitlink|process)_[a-z_]+\b|\bup\b")
_ROW: Final = re.compile(r"^\| `([a-z_]+)` \| (.*?) \|", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Query:
    dashboard: str
    panel: str
    expr: str

    def resolved(self, **variables: str) -> str:
        found = self.expr
        for name, value in {**variables, "__rate_interval": "10s"}.items():
            found = found.replace(f"${name}", value)
        return found


def rules() -> Mapping[str, str]:
    return dict(_RULE.findall((PROMETHEUS / "alerts.yml").read_text()))


def metrics_in(expr: str) -> frozenset[str]:
    return frozenset(_METRIC.findall(_TEXT.sub('""', expr)))


def dashboard(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def panels() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in DASHBOARDS:
        for panel in dashboard(path)["panels"]:
            if panel["type"] != "row":
                yield path.stem, panel


def queries() -> list[Query]:
    return [
        Query(name, panel["title"], target["expr"])
        for name, panel in panels()
        for target in panel["targets"]
    ]


def described() -> Mapping[str, frozenset[str]]:
    """Return the metrics of docs/reference/metrics.md, each with its labels."""
    rows = _ROW.findall((DEPLOY / "docs/reference/metrics.md").read_text())
    return {name: frozenset(re.findall(r"`(\w+)`", labels)) for name, labels in rows}
