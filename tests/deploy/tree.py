import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml

from tests.waiting import LONG_S

ROOT: Final = Path(__file__).resolve().parents[2]
DEPLOY: Final = ROOT / "deploy"
COMPOSE: Final = DEPLOY / "compose.yaml"
MANIFESTS: Final = tuple(sorted((DEPLOY / "kubernetes").glob("*.yaml")))

DOCS: Final = DEPLOY / "docs"
PAGES: Final = (
    ROOT / "README.md", *sorted((ROOT / ".github").glob("*.md")), *sorted(DOCS.rglob("*.md")),
)  # fmt: skip

_CODE_BLOCK: Final = re.compile(r"^ *```\w*\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
_CODE_SPAN: Final = re.compile(r"`([^`]+)`")
_WRITTEN: Final = re.compile(
    r"(?:^|[\s`'\"=]|bin/)(?<!--namespace )pitlink(?P<typed> [a-z][^`#|<>]*)", re.MULTILINE
)


def run_script(name: str, *arguments: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [DEPLOY / name, *arguments], capture_output=True, text=True, check=False, timeout=LONG_S,
        env=os.environ | env,
    )  # fmt: skip


def documents(path: Path) -> Iterator[dict[str, Any]]:
    yield from yaml.safe_load_all(path.read_text())


def compose() -> dict[str, Any]:
    """Return the compose file with its anchors resolved and without extensions."""
    found: dict[str, Any] = next(documents(COMPOSE))
    return {key: value for key, value in found.items() if not key.startswith("x-")}


def manifests() -> Iterator[dict[str, Any]]:
    for path in MANIFESTS:
        yield from documents(path)


def code_spans(page: str) -> Iterator[str]:
    """Yield the text of each code span of a page, in one line; code blocks are left out."""
    for found in _CODE_SPAN.finditer(_CODE_BLOCK.sub("", page)):
        yield " ".join(found[1].split())


def typed_in_text(path: Path) -> Iterator[list[str]]:
    """Yield the pitlink commands of a script, a unit or a page's code, as words."""
    text = path.read_text().replace("\\\n", " ")
    if path.suffix == ".md":
        text = "\n".join((*_CODE_BLOCK.findall(text), *code_spans(text))).replace("\\|", "|")
    unit = path.parent.name == "systemd"
    for line in text.splitlines():
        usage = "[OPTIONS]" in line  # of the generated page of commands: nobody types this
        if usage or line.startswith("#") or (unit and not line.startswith("ExecStart=")):
            continue
        for found in _WRITTEN.finditer(line):
            yield shlex.split(found["typed"].replace("(", " ").replace(")", " "), comments=True)


def typed_in_containers() -> Iterator[list[str]]:
    for service in compose()["services"].values():
        if service["image"].startswith("pitlink:") and service["command"]:
            yield list(map(str, service["command"]))
    for each in manifests():
        for container in containers(each):
            if container["image"].startswith("pitlink:"):
                yield list(map(str, container["args"]))


def template(manifest: dict[str, Any]) -> dict[str, Any]:
    spec = manifest.get("spec", {})
    found: dict[str, Any] = spec.get("jobTemplate", {}).get("spec", spec).get("template", {})
    return found


def pod(manifest: dict[str, Any]) -> dict[str, Any] | None:
    return template(manifest).get("spec")


def containers(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    return list((pod(manifest) or {}).get("containers", ()))


def kept_capabilities(image: str) -> list[str]:
    """Return the capabilities that a container must keep: Caddy's program has a file capability.

    If the container may not have it, the kernel refuses to run the program on any port.
    """
    return ["NET_BIND_SERVICE"] if image.startswith("caddy:") else []
