"""Sentinel with the shipped files: over TLS, with the keys of `pitlink keys`."""

import os
import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.failover.secured import SENTINEL_PASSWORD, SecuredFollower, SecuredSentinel
from tests.keys.conftest import keys as keys  # noqa: PLC0414  (a fixture)
from tests.keys.floor import write_floor
from tests.processes import Pitlink, run_pitlink
from tests.servers import eventually, free_port
from tests.staff import PIN

pytestmark = pytest.mark.slow


def audit(config: Path, env: Mapping[str, str]) -> int:
    """Audit the books at the primary, although no replica is in step with it yet."""
    return run_pitlink("audit", "--config", str(config), env=env).returncode


@pytest.mark.duty("D20")
def test_the_shipped_files_with_our_keys(keys: Path, tmp_path: Path) -> None:
    """Replication, sentinels and the service are three users, each with a password."""
    with ExitStack() as stack:
        first = stack.enter_context(SecuredFollower(keys))
        second = stack.enter_context(SecuredFollower(keys, first))
        first.until_followed()
        sentinel = stack.enter_context(SecuredSentinel(keys, first))
        sentinel.until_seen()
        url = f"rediss+sentinel://localhost:{sentinel.port}/pitlink"
        config = write_floor(tmp_path / "floor.toml", redis=url, http=free_port(), keys=keys)
        env = os.environ | {"PITLINK_SENTINEL_PASSWORD": SENTINEL_PASSWORD}

        def user(*arguments: str) -> str:
            command = ("user", *arguments, "--config", str(config))
            done = run_pitlink(*command, stdin=PIN, env=env)
            assert done.returncode == 0, done.stderr
            return done.stdout

        user("add", "Ada Lane", "--role", "administrator")
        assert "Ada Lane" in user("list")

        # The books and the users have different Redis users, over the same sentinels.
        with Pitlink("serve", "--config", str(config), env=env) as serve:
            serve.until(lambda: "link operable" in serve.errors, what="the link operable")

        # A machine of `pitlink archive` may have no other keys than its own.
        shutil.copytree(keys / "archive", tmp_path / "archives" / "archive")
        alone = tmp_path / "archive.toml"
        write_floor(alone, redis=url, keys=tmp_path / "archives")
        archived = run_pitlink("archive", "--config", str(alone), env=env)
        assert archived.returncode == 0, archived.stderr
        assert "main: no closed gaming day" in archived.stdout

        with sentinel.client() as client:
            client.execute_command("SENTINEL", "FAILOVER", "pitlink")
        with second.client() as client:
            eventually(lambda: client.role()[0] == b"master", within_s=60, what="it promoted")
        eventually(lambda: audit(config, env) == 0, within_s=60, what="it read")

        refused = run_pitlink("user", "list", "--config", str(config))
        assert refused.returncode == 1
        assert "0 of 1 sentinels answer" in refused.stderr
        assert "1 refuse the password of the sentinels" in refused.stderr
        shutil.copytree(keys, tmp_path / "keys")
        (tmp_path / "keys" / "sentinel-password").write_text(f"{SENTINEL_PASSWORD}\n")
        other = tmp_path / "other.toml"
        write_floor(other, redis=url, keys=tmp_path / "keys")
        # Without the file, Redis is not even found.
        listed = run_pitlink("user", "list", "--config", str(other))
        assert "Ada Lane" in listed.stdout or "NOREPLICAS" in listed.stderr
