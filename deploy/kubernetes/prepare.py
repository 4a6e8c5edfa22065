#!/usr/bin/env python3
"""Print the ConfigMaps and Secrets that the manifests in this directory name.

    deploy/kubernetes/prepare.py floor.toml pitlink-keys | kubectl apply --filename -

They contain a floor file, the keys that `pitlink keys` made from it
(deploy/docs/run/kubernetes.md), and the servers' files of deploy/.

The tables' keys and the authority's key do not go to the cluster.
"""

import base64
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

DEPLOY: Final = Path(__file__).resolve().parents[1]
_WORKERS: Final = ("1", "2")


def objects(floor: Path, keys: Path) -> Iterator[Mapping[str, object]]:
    """Yield every object, with one secret for each part that needs one.

    Raises:
        OSError: a file does not exist, or cannot be read.
    """
    yield _config_map("pitlink-floor", {"floor.toml": floor})
    servers = ("redis.conf", "mosquitto.conf", "Caddyfile")
    yield _config_map("pitlink-servers", {name: DEPLOY / name for name in servers})
    for part in ("broker", "redis", "check", "archive"):
        yield _secret(f"pitlink-keys-{part}", _files(keys / part))
    for worker in _WORKERS:
        yield _secret(f"pitlink-keys-service-{worker}", _files(keys / "services" / worker))


def _files(directory: Path) -> dict[str, Path]:
    return {path.name: path for path in sorted(directory.iterdir()) if path.is_file()}


def _config_map(name: str, files: Mapping[str, Path]) -> Mapping[str, object]:
    data = {key: path.read_text(encoding="utf-8") for key, path in files.items()}
    return _object("ConfigMap", name, {"data": data})


def _secret(name: str, files: Mapping[str, Path]) -> Mapping[str, object]:
    data = {key: base64.b64encode(path.read_bytes()).decode() for key, path in files.items()}
    return _object("Secret", name, {"type": "Opaque", "data": data})


def _object(kind: str, name: str, rest: Mapping[str, object]) -> Mapping[str, object]:
    metadata = {"name": name, "namespace": "pitlink"}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **rest}


def main() -> int:
    """Print the objects as one list, and return the exit status."""
    if len(sys.argv) != 3:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    try:
        items = list(objects(Path(sys.argv[1]), Path(sys.argv[2])))
    except OSError as error:
        sys.stderr.write(f"prepare.py: {error.filename}: {error.strerror}\n")
        return 1
    json.dump({"apiVersion": "v1", "kind": "List", "items": items}, sys.stdout, indent=1)
    sys.stdout.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
