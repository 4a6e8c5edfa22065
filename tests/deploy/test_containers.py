"""The image and the compose file: valid for the tools that read them, and restricted."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import compose_spec
import pytest
import yaml

from meters.floor.floor_file import read_floor
from tests.deploy.tree import COMPOSE, DEPLOY, ROOT, compose, kept_capabilities
from tests.servers import require

_DOCKER: Final = """#!/bin/bash
echo "$*" >>"$LOG"
[ "$1" != save ] || echo image >"$3"
"""
CONTAINERFILE: Final = (DEPLOY / "container" / "Containerfile").read_text()
_PINNED: Final = re.compile(r"pitlink:checkout|[a-z/-]+:v?\d+\.\d+\.\d+@sha256:[0-9a-f]{64}")


def specified(services: object) -> compose_spec.PyCompose:
    """Parse by the specification. This parser refuses a tag before a digest; Docker accepts it."""
    return compose_spec.PyCompose.from_json(
        re.sub(r":[^:@/\"]+@sha256:", "@sha256:", json.dumps(services))
    )


def test_the_compose_file_is_accepted() -> None:
    names = specified(compose()).service_names()
    assert {"redis", "broker", "service-1", "service-2", "tables", "prometheus"} <= set(names)


def test_docker_compose_accepts_it() -> None:
    """Debian 12 has version 1.29, which refuses settings that only version 2 knows."""
    accept([require("docker-compose")])


def test_the_plugin_of_docker_accepts_it() -> None:
    command = ["docker", "compose"]
    if not shutil.which("docker") or subprocess.run([*command, "version"], check=False).returncode:
        pytest.skip("there is no docker, or it has no plugin compose")
    accept(command)


def accept(command: list[str]) -> None:
    done = subprocess.run(
        [*command, "-f", COMPOSE, "config", "--quiet"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_project_has_its_name_in_every_version_of_the_command() -> None:
    """Version 1 refuses `name` in the file, and would call the project after the directory."""
    assert "name" not in compose()
    assert "COMPOSE_PROJECT_NAME=pitlink\n" in (DEPLOY / ".env").read_text()


@pytest.mark.duty("D20")
@pytest.mark.parametrize("name", sorted(compose()["services"]))
def test_every_container_is_restricted(name: str) -> None:
    """It has a fixed version, no capabilities, a read-only root, and loopback addresses only."""
    service = compose()["services"][name]
    assert _PINNED.fullmatch(service["image"]), service["image"]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    if name != "keys":
        assert service.get("cap_add", []) == kept_capabilities(service["image"])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
    # As a user other than root, in every version of Docker.
    low_ports = {"net.ipv4.ip_unprivileged_port_start": 0} if name == "front" else None
    assert service.get("sysctls") == low_ports
    assert "environment" not in service or not [
        key
        for key in service["environment"]
        if re.search("PASSWORD|SECRET|TOKEN", key) and not key.endswith("__FILE")
    ]


def test_what_is_mounted_is_there_and_every_key_goes_to_one_place() -> None:
    services = compose()["services"]
    holders: dict[str, set[str]] = {}
    for name, service in services.items():
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            if source.startswith("./"):
                assert (DEPLOY / source).exists(), source
            elif source.startswith("keys-") and name != "keys":
                holders.setdefault(source, set()).add(name)
    assert holders == {
        "keys-broker": {"broker"}, "keys-redis": {"redis"}, "keys-tables": {"tables"},
        "keys-service-1": {"service-1"}, "keys-service-2": {"service-2"},
        "keys-check": {"service-1", "service-2"}, "keys-archive": {"archive"},
        "keys-grafana": {"grafana"},
        "keys-metrics": {"service-1", "service-2", "tables", "prometheus"},
    }  # fmt: skip


def test_its_prometheus_differs_by_the_token_and_the_addresses_alone() -> None:
    """It scrapes another machine and so needs a token; the rest equals `deploy/prometheus`."""
    shipped, own = (
        yaml.safe_load((DEPLOY / place / "prometheus.yml").read_text())
        for place in ("prometheus", "container")
    )
    targets = (["front:8081", "front:8082"], ["tables:8090"])
    for job, each in zip(shipped["scrape_configs"], targets, strict=True):
        del job["file_sd_configs"]
        job["static_configs"] = [{"targets": each}]
        job["authorization"] = {"credentials_file": "keys/token"}
    assert own == shipped
    for service, port in (("service-1", "8081"), ("service-2", "8082"), ("tables", "8090")):
        assert f"0.0.0.0:{port}" in compose()["services"][service]["command"]
    volumes = compose()["services"]["prometheus"]["volumes"]
    assert "keys-metrics:/etc/prometheus/keys:ro" in volumes
    text = (DEPLOY / "container" / "floor.toml").read_text()
    assert 'metrics_token = "/etc/pitlink/keys/metrics/token"\n' in text


def test_the_floor_of_the_containers_names_them() -> None:
    floor = read_floor(DEPLOY / "container" / "floor.toml")
    services = compose()["services"]
    assert floor.facility.demonstration
    assert floor.service.broker == "mqtts://broker:8883"
    assert "nc -z 127.0.0.1 8883" in services["broker"]["healthcheck"]["test"]
    assert floor.service.redis == "rediss://redis:6379/0"
    assert floor.service.hosts == ("front", "tables")


def test_the_image_is_built_of_what_is_locked_and_runs_as_nobody_of_weight() -> None:
    for copied in re.findall(r"^COPY (?!--from)(.+) \S+$", CONTAINERFILE, re.MULTILINE):
        for source in copied.split():
            assert (ROOT / source).exists(), source
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    for source in ("bonus", "meters", "controllers", "deploy/requirements.lock", "pyproject.toml"):
        assert f"!{source}" in ignored
    assert "--require-hashes -r requirements.lock" in CONTAINERFILE
    assert re.findall(r"^USER (.*)$", CONTAINERFILE, re.MULTILINE) == ["10001:10001"]
    bases = re.findall(r"^FROM (\S+)", CONTAINERFILE, re.MULTILINE)
    assert set(bases) == {"${BASE}"}
    assert re.search(
        r"^ARG BASE=docker\.io/library/python:3\.12-slim-bookworm@sha256:",
        CONTAINERFILE,
        re.MULTILINE,
    )


def test_the_demonstration_is_built_on_the_image_and_written_beside_it(tmp_path: Path) -> None:
    (docker := tmp_path / "docker").write_text(_DOCKER)
    docker.chmod(0o755)
    log, out = tmp_path / "log", tmp_path / "out"
    subprocess.run(
        [DEPLOY / "container" / "build", "--demo", "--version", "9.9.9+snapshot", "--out", out],
        env=os.environ | {
            "PATH": f"{tmp_path}:{os.environ['PATH']}", "LOG": str(log),
            "PITLINK_SITE_PYTHON": sys.executable,
        },
        check=True, capture_output=True,
    )  # fmt: skip
    builds = [line for line in log.read_text().splitlines() if line.startswith("build ")]
    assert ["--tag pitlink:9.9.9-snapshot" in build for build in builds] == [True, False]
    assert "--build-arg IMAGE=pitlink:9.9.9-snapshot" in builds[1]
    assert "--tag pitlink-demo:9.9.9-snapshot" in builds[1]
    assert {path.name for path in out.iterdir()} == {
        "pitlink-9.9.9+snapshot.image.tar.gz", "pitlink-demo-9.9.9+snapshot.image.tar.gz",
    }  # fmt: skip
    demo = (DEPLOY / "container" / "Containerfile.demo").read_text()
    assert re.findall(r"^USER (.*)$", demo, re.MULTILINE)[-1] == "10001:10001"
    assert demo.endswith('\nCMD ["demo"]\n')
