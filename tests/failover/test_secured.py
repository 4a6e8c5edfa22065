"""Sentinel as `pitlink setup --redis` installs it: over TLS, with the keys of `pitlink keys`."""

import re
import shutil
from pathlib import Path

import pytest

from bonus.errors import UserError
from tests.failover.secured import SecuredMachines
from tests.keys.floor import write_floor
from tests.processes import Pitlink, run_pitlink
from tests.servers import eventually
from tests.staff import hire

pytestmark = pytest.mark.slow


@pytest.mark.duty("D20")
def test_the_installed_servers_with_our_keys(tmp_path: Path) -> None:
    """Replication, sentinels and the service are three users, each with a password."""
    machines = SecuredMachines(tmp_path)
    machines.check_primary(0, 0)
    with pytest.raises(UserError, match="no sentinel answers at 127"):
        machines.check_primary(1, 0)
    with machines:
        config = machines.config
        hire(config, "Ada Lane", "administrator")
        assert "Ada Lane" in run_pitlink("user", "list", "--config", str(config)).stdout

        # The books and the users have different Redis users, over the same sentinels.
        with Pitlink("serve", "--config", str(config)) as serve:
            serve.until(lambda: "link operable" in serve.errors, what="the link operable")

        # A machine of `pitlink archive` may have no other keys than its own.
        for part in ("archive", "sentinels"):
            shutil.copytree(machines.keys / part, tmp_path / "archives" / part)
        alone = tmp_path / "archive.toml"
        write_floor(alone, redis=machines.url, keys=tmp_path / "archives")
        archived = run_pitlink("archive", "--config", str(alone))
        assert archived.returncode == 0, archived.stderr
        assert "main: no closed gaming day" in archived.stdout

        # The sentinels tell `pitlink setup` which machine has the primary.
        machines.check_primary(1, 0)
        with pytest.raises(UserError, match=r"names another primary, 127\.0\.0\.2\. Give"):
            machines.check_primary(1, 1)
        machines.check_primary(0, 0)
        with pytest.raises(UserError, match="its replicas would delete their data"):
            machines.check_primary(0, 0, is_empty=True)

        with machines.sentinel(1) as client:
            client.execute_command("SENTINEL", "FAILOVER", "pitlink")

        def promoted() -> list[int]:
            roles = []
            for number in (1, 2):
                with machines.client(number) as client:
                    roles.append(client.role()[0])
            return [number for number, role in enumerate(roles, start=1) if role == b"master"]

        def agreed(primary: int) -> bool:
            try:
                machines.check_primary(0, primary)
            except UserError:
                return False
            return True

        (primary,) = eventually(promoted, within_s=60, what="a replica promoted")
        # The sentinels name it by its own address, which the floor file has.
        eventually(lambda: agreed(primary), within_s=60, what="its address")
        audit = ("audit", "--config", str(config))
        eventually(lambda: run_pitlink(*audit).returncode == 0, within_s=60, what="it read")

        shutil.copytree(machines.keys, tmp_path / "old")
        (tmp_path / "old" / "sentinels" / "password").unlink()
        other = tmp_path / "other.toml"
        write_floor(other, redis=machines.url, keys=tmp_path / "old")
        refused = run_pitlink("user", "list", "--config", str(other))
        assert refused.returncode == 1
        assert "0 of 3 sentinels answer" in refused.stderr
        # On a busy machine, one can answer too late.
        assert re.search("[23] refuse the password of the sentinels", refused.stderr)
