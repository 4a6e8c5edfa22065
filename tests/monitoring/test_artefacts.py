"""Rules, runbook and dashboards alone: promtool accepts them, and every name in them exists."""

import itertools
import json
import re
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.monitoring.artefacts import (
    DASHBOARDS,
    DEPLOY,
    PROMETHEUS,
    dashboard,
    described,
    metrics_in,
    panels,
    queries,
    rules,
)
from tests.waiting import require

GRID: Final = 24
ALERTS: Final = Path(__file__).with_name("alerts.yml")
PROVISIONED: Final = (DEPLOY / "grafana/provisioning/datasources/prometheus.yaml").read_text()
SOURCE: Final = {"type": "prometheus", "uid": "${source}"}
"""The data source of every panel: the choice in the dashboard's first variable."""


def promtool(*arguments: str | Path) -> str:
    done = subprocess.run(
        [require("promtool"), *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_prometheus_takes_its_configuration_and_rules() -> None:
    said = promtool("check", "config", PROMETHEUS / "prometheus.yml")
    assert f"{len(rules())} rules found" in said


@pytest.mark.slow
def test_every_rule_fires_where_it_should_and_only_there(tmp_path: Path) -> None:
    """Summaries are compared as they are filled in; all else is without variables."""
    cases: dict[str, dict[str, Any]] = yaml.safe_load(ALERTS.read_text())
    (group,) = yaml.safe_load((PROMETHEUS / "alerts.yml").read_text())["groups"]
    shipped = {rule["alert"]: rule for rule in group["rules"]}
    assert {name.partition(",")[0] for name in cases} == shipped.keys()
    tests: dict[str, list[object]] = {}
    for name, case in cases.items():
        rule, fires, quiet = shipped[name.partition(",")[0]], case.pop("fires"), case.pop("quiet")
        every, after = fires.pop("every", "15s"), fires.pop("after")
        firing = {
            "exp_annotations": rule["annotations"] | {"summary": fires.pop("summary")},
            "exp_labels": rule["labels"] | fires,
        }
        assert "{{" not in str(firing)
        for title, number, at, alerts in (
            (f"{name} fires", 0, after, [firing]),
            (f"{name} does not: {quiet['because']}", 1, quiet.get("after", after), []),
        ):
            series = [
                {"series": one, "values": values[number]}
                for one, values in case.items()
                if values[number]
            ]
            check = {"alertname": rule["alert"], "eval_time": at, "exp_alerts": alerts}
            test = {"name": title, "input_series": series, "alert_rule_test": [check]}
            tests.setdefault(every, []).append(test | {"interval": every})
    for every, of in tests.items():
        head = {"rule_files": [str(PROMETHEUS / "alerts.yml")], "evaluation_interval": every}
        (tmp_path / f"{every}.yml").write_text(json.dumps(head | {"tests": of}))
    promtool("test", "rules", *tmp_path.iterdir())


def test_every_rule_says_what_it_means_and_has_its_page_in_the_runbook() -> None:
    alerts = (PROMETHEUS / "alerts.yml").read_text().split("      - alert: ")[1:]
    text = (DEPLOY / "docs/recover/runbook.md").read_text()
    _, *pages = re.split(r"^## (?=Pitlink)", text, flags=re.MULTILINE)
    runbook = {page.partition("\n")[0]: page for page in pages}
    assert list(rules()) == [alert.partition("\n")[0] for alert in alerts] == list(runbook)
    for alert in alerts:
        name = alert.partition("\n")[0]
        severity = re.search(r"severity: (critical|warning)\n", alert)
        assert severity, name
        assert f"\n\n**{severity[1].capitalize()}" in runbook[name], name
        assert re.search(r"summary: '.{20,}'\n", alert), name
        assert re.search(r"description: '.{20,}'\n", alert), name
        page = "https://pit.example/docs/recover/runbook.html"
        assert f"runbook_url: {page}#{name.lower()}\n" in alert


def test_rules_and_panels_name_only_metrics_that_are_described() -> None:
    known = {
        part
        for name in described()
        for part in (name, f"{name}_bucket", f"{name}_sum", f"{name}_count")
    } | {"up"}
    exprs = [*rules().values(), *(query.expr for query in queries())]
    assert not {name for expr in exprs for name in metrics_in(expr)} - known


def test_dashboards_are_whole() -> None:
    """Each has ids of its own, uses its variables, links to the others, and overlaps no panels.

    Its first variable is the data source, so that a house can import it into its own Grafana.
    """
    assert [path.stem for path in DASHBOARDS] == ["floor", "meters", "operations"]
    uids = {dashboard(path)["uid"] for path in DASHBOARDS}
    assert len(uids) == len(DASHBOARDS)
    for path in DASHBOARDS:
        found = dashboard(path)
        assert found["schemaVersion"] >= 39
        assert found["id"] is None
        assert len({panel["id"] for panel in found["panels"]}) == len(found["panels"])
        source, *others = found["templating"]["list"]
        assert (source["name"], source["type"], source["query"]) == (
            "source", "datasource", "prometheus",
        )  # fmt: skip
        assert f"uid: {source['current']['value']}\n" in PROVISIONED
        assert [one["datasource"] for one in others] == [SOURCE] * len(others)
        variables = {one["name"] for one in others}
        asked = " ".join(query.expr for query in queries() if query.dashboard == path.stem)
        assert {"link"} <= variables <= set(re.findall(r"\$(\w+)", asked))
        links = {link["url"] for link in found["links"]}
        assert links == {f"/d/{uid}" for uid in uids - {found["uid"]}}
        taken: set[tuple[int, int]] = set()
        for panel in found["panels"]:
            at = panel["gridPos"]
            assert at["x"] + at["w"] <= GRID, panel["title"]
            columns, rows = range(at["x"], at["x"] + at["w"]), range(at["y"], at["y"] + at["h"])
            cells = set(itertools.product(columns, rows))
            assert not cells & taken, f"{panel['title']} lies over another panel"
            taken |= cells


def test_every_panel_says_what_it_shows_in_which_unit() -> None:
    for name, panel in panels():
        title = f"{name}: {panel['title']}"
        assert len(panel["description"]) > 15, title
        defaults = panel["fieldConfig"]["defaults"]
        assert defaults["unit"], title
        assert defaults["thresholds"]["steps"][0]["value"] is None, title
        assert panel["targets"], title
        for target in (panel, *panel["targets"]):
            assert target["datasource"] == SOURCE, title


def test_every_figure_that_an_alert_goes_by_is_drawn() -> None:
    """The exceptions are metrics that show nothing while all is well."""
    drawn = {name for query in queries() for name in metrics_in(query.expr)}
    asked = {name for expr in rules().values() for name in metrics_in(expr)}
    assert asked - drawn == {
        "pitlink_beat_timestamp_seconds",
        "pitlink_events_not_taken_total",
        "pitlink_redis_memory_limit_bytes",
        "process_start_time_seconds",
    }
