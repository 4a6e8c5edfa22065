"""What the tests of deploy/ look at: its files, and the commands of pitlink that stand in them."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml

ROOT: Final = Path(__file__).resolve().parents[2]
DEPLOY: Final = ROOT / "deploy"
COMPOSE: Final = DEPLOY / "compose.yaml"
MANIFESTS: Final = tuple(sorted((DEPLOY / "kubernetes").glob("*.yaml")))

_WRITTEN: Final = re.compile(r"(?:^|[\s`'\"]|bin/)pitlink(?P<typed> [a-z][^`#|<>]*)", re.MULTILINE)


def documents(path: Path) -> Iterator[dict[str, Any]]:
    """The documents of a YAML file."""
    yield from yaml.safe_load_all(path.read_text())


def compose() -> dict[str, Any]:
    """The compose file, its anchors resolved and its own extensions left out."""
    found: dict[str, Any] = next(documents(COMPOSE))
    return {key: value for key, value in found.items() if not key.startswith("x-")}


def manifests() -> Iterator[dict[str, Any]]:
    """Every object of the Kubernetes example."""
    for path in MANIFESTS:
        yield from documents(path)


def typed_in_text(path: Path) -> Iterator[list[str]]:
    """The commands of pitlink in a script, a unit or the code blocks of a page, as words."""
    text = path.read_text().replace("\\\n", " ")
    if path.suffix == ".md":
        text = "\n".join(re.findall(r"^```\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
    unit = path.parent.name == "systemd"
    for line in text.splitlines():
        if line.startswith("#") or (unit and not line.startswith("ExecStart=")):
            continue
        for found in _WRITTEN.finditer(line):
            yield shlex.split(found["typed"].replace("(", " ").replace(")", " "), comments=True)


def typed_in_containers() -> Iterator[list[str]]:
    """The commands that containers of our image are given."""
    for service in compose()["services"].values():
        if service["image"].startswith("pitlink:") and service["command"]:
            yield list(map(str, service["command"]))
    for each in manifests():
        for container in containers(each):
            if container["image"].startswith("pitlink:"):
                yield list(map(str, container["args"]))


def pod(manifest: dict[str, Any]) -> dict[str, Any] | None:
    """What an object runs, or None where it runs nothing."""
    spec = manifest.get("spec", {})
    spec = spec.get("jobTemplate", {}).get("spec", spec)
    found: dict[str, Any] | None = spec.get("template", {}).get("spec")
    return found


def containers(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """The containers of an object."""
    return list((pod(manifest) or {}).get("containers", ()))


def kept_capabilities(image: str) -> list[str]:
    """What a container must keep. Caddy's image has a program with a file capability.

    Where the container cannot have that, the kernel refuses to run it, whatever port it listens on.
    """
    return ["NET_BIND_SERVICE"] if image.startswith("caddy:") else []
