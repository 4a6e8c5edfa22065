"""The Kubernetes example: valid by the cluster's own schemas, complete, and restricted."""

import base64
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Final

import kubernetes_validate
import pytest

from tests.deploy.tree import DEPLOY, containers, kept_capabilities, manifests, pod, template
from tests.keys.floor import make_keys, write_floor

VERSION: Final = "1.31"
"""Oldest Kubernetes with everything used here."""
NEWEST: Final = kubernetes_validate.latest_version().removesuffix(".0")
"""Newest Kubernetes whose schemas are installed."""
PREPARE: Final = DEPLOY / "kubernetes" / "prepare.py"
RUNNING: Final = [each for each in manifests() if pod(each)]


def prepare(*arguments: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, PREPARE, *arguments], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("version", [VERSION, NEWEST])
def test_every_object_is_valid(version: str) -> None:
    """The check is strict: a field that the schema does not know is refused."""
    for each in manifests():
        assert kubernetes_validate.validate(each, version, strict=True) == version


def test_every_object_is_of_our_namespace() -> None:
    found = list(manifests())
    elsewhere = [each for each in found if each["metadata"].get("namespace") != "pitlink"]
    assert [each["kind"] for each in elsewhere] == ["Namespace"]
    kinds = Counter(each["kind"] for each in found)
    assert kinds["StatefulSet"] == 3
    assert {"PodDisruptionBudget", "CronJob", "NetworkPolicy"} <= set(kinds)


def test_the_image_is_that_of_the_latest_version_in_the_changelog() -> None:
    changelog = (DEPLOY / "docs" / "compliance" / "changelog.md").read_text()
    latest = re.search(r"^## ([^,\n]+), ", changelog, re.MULTILINE)
    assert latest is not None
    ours = {each["image"] for one in RUNNING for each in containers(one)}
    assert [each for each in ours if "pitlink" in each] == [f"pitlink:{latest[1]}"]


def test_every_selector_finds_its_pods() -> None:
    """A mistake in a selector or a port is valid, and nothing would receive a connection."""
    pods = [(_labels(each), containers(each)) for each in RUNNING]
    services = {each["metadata"]["name"] for each in manifests() if each["kind"] == "Service"}
    for each in manifests():
        spec = each["spec"] if each["kind"] != "Namespace" else {}
        wanted = spec.get("selector") or spec.get("podSelector") or {}
        wanted = wanted.get("matchLabels", {}) if each["kind"] != "Service" else wanted
        found = [inner for labels, inner in pods if wanted.items() <= labels.items()]
        assert found, each["metadata"]["name"]
        assert spec.get("serviceName") in {None, *services}
        if each["kind"] == "Service":
            ports = [port for inner in found for one in inner for port in one["ports"]]
            named = {port["name"] for port in ports} | {port["containerPort"] for port in ports}
            assert {one.get("targetPort", one["port"]) for one in spec["ports"]} <= named


@pytest.mark.duty("D20")
@pytest.mark.parametrize("manifest", RUNNING, ids=lambda each: each["metadata"]["name"])
def test_every_pod_is_restricted(manifest: dict[str, Any]) -> None:
    """The namespace's `restricted` standard requires it; the root file system is read-only."""
    spec = pod(manifest)
    assert spec is not None
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["automountServiceAccountToken"] is False
    # The proxy listens at port 80 too, as a user other than root; the standard allows it.
    proxies = [each for each in containers(manifest) if each["image"].startswith("caddy:")]
    low_ports = [{"name": "net.ipv4.ip_unprivileged_port_start", "value": "0"}] if proxies else None
    assert spec["securityContext"].get("sysctls") == low_ports
    for container in containers(manifest):
        kept = kept_capabilities(container["image"])
        added = {"add": kept} if kept else {}
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"], **added},
        }
        assert not container["image"].endswith(":latest")
        assert "memory" in container["resources"]["limits"]


def test_who_speaks_to_redis_is_let_through_to_it_and_by_it() -> None:
    """Those are all pods of our image, and the policies keep every other pod out."""
    speaking = {
        _labels(each)["app"]
        for each in RUNNING
        if any(one["image"].startswith("pitlink:") for one in containers(each))
    }
    assert speaking == {"pitlink", "pitlink-archive", "pitlink-audit"}
    policies = [each["spec"] for each in manifests() if each["kind"] == "NetworkPolicy"]
    into, out = set[str](), set[str]()
    for policy in policies:
        for rule in policy.get("ingress", ()):
            if _apps(policy["podSelector"]) == {"redis"}:
                for peer in rule["from"]:
                    into |= _apps(peer["podSelector"])
        for rule in policy.get("egress", ()):
            if any(_apps(peer.get("podSelector", {})) == {"redis"} for peer in rule["to"]):
                out |= _apps(policy["podSelector"])
    assert into == out == speaking


def _labels(manifest: dict[str, Any]) -> dict[str, str]:
    found: dict[str, str] = template(manifest)["metadata"]["labels"]
    return found


def _apps(selector: dict[str, Any]) -> set[str]:
    found = {selector["matchLabels"]["app"]} if "matchLabels" in selector else set[str]()
    for one in selector.get("matchExpressions", ()):
        assert (one["key"], one["operator"]) == ("app", "In")
        found |= set(one["values"])
    return found


def test_what_has_the_archive_runs_on_one_node() -> None:
    """Its volume is attached to one node. Otherwise the audit would delay the archive for days."""
    having = [each for each in RUNNING if "persistentVolumeClaim" in json.dumps(pod(each))]
    assert len(having) == 3
    for each in having:
        spec = pod(each)
        assert spec is not None
        (near,) = spec["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        assert near["topologyKey"] == "kubernetes.io/hostname"
        assert near["labelSelector"]["matchLabels"].items() <= _labels(each).items()
        assert near["labelSelector"]["matchLabels"] == {"volume": "pitlink-archive"}


@pytest.mark.slow
def test_what_pods_refer_to_is_made(tmp_path: Path) -> None:
    """The floor file, the keys or a manual step of the example creates each file they need."""
    config = write_floor(tmp_path / "floor.toml", broker="mqtts://broker:8883")
    keys = tmp_path / "keys"
    homes = ("--broker-home", "/etc/mosquitto/pitlink", "--redis-home", "/etc/redis/pitlink")
    make_keys(config, keys, "--services", "2", *homes)
    done = prepare(config, keys)
    assert (done.returncode, done.stderr) == (0, "")
    items = json.loads(done.stdout)["items"]
    for item in items:
        kubernetes_validate.validate(item, VERSION, strict=True)
    there = {item["metadata"]["name"]: set(item["data"]) for item in items}
    there["pitlink-front"] = {"tls.crt", "tls.key"}
    there["pitlink-metrics"] = {"token"}
    for name, files in referred():
        assert files <= there[name], name
    bundles = [(name, files) for name, files in referred() if "-service-" in name and files]
    assert len(bundles) == 2
    for name, files in bundles:
        assert files == there[name], "a service has its whole bundle"
    secret = next(item for item in items if item["metadata"]["name"] == "pitlink-keys-service-2")
    kept = base64.b64decode(secret["data"]["redis-password"])
    assert kept == (keys / "services" / "2" / "redis-password").read_bytes()
    manifest = json.dumps(items)
    for private in ("authority/ca.key", "tables/main.A-1/table.key"):
        assert base64.b64encode((keys / private).read_bytes()).decode() not in manifest


def referred() -> list[tuple[str, set[str]]]:
    found = []
    for manifest in RUNNING:
        spec = pod(manifest)
        assert spec is not None
        mounts = [mount for each in containers(manifest) for mount in each["volumeMounts"]]
        for volume in spec["volumes"]:
            files = {
                mount["subPath"]
                for mount in mounts
                if mount["name"] == volume["name"] and "subPath" in mount
            }
            if "configMap" in volume:
                found.append((volume["configMap"]["name"], files))
            elif "secret" in volume:
                found.append((volume["secret"]["secretName"], files))
            for source in volume.get("projected", {}).get("sources", ()):
                asked = {item["key"] for item in source["secret"]["items"]}
                found.append((source["secret"]["name"], asked))
    return found


def test_prepare_says_what_is_not_there(tmp_path: Path) -> None:
    assert prepare().returncode == 2
    done = prepare(tmp_path / "none.toml", tmp_path)
    assert done.returncode == 1
    assert "none.toml: No such file" in done.stderr
