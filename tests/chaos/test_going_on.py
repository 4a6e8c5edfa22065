"""A floor whose store came back without some answered events, and its way back to play."""

from pathlib import Path

import pytest

from tests.chaos.devices import ROUND, Devices
from tests.chaos.test_torn_store import incr, last_step
from tests.mqtt.stand import Stand
from tests.servers import eventually, run_pitlink


@pytest.mark.slow
@pytest.mark.duty("D10")
def test_duty_d10_a_loss_is_seen_by_link_and_table_and_an_operator_can_go_on(
    tmp_path: Path,
) -> None:
    """The link stops. Without the ledger mark the table stops; with a new outbox it plays again."""
    with Stand(tmp_path) as stand:
        service, table = stand.service, stand.table().table
        with Devices(service.config, table) as devices:
            devices.play(ROUND)
            service.process.kill()
            stand.redis.kill()
            data = incr(stand.redis).read_bytes()
            incr(stand.redis).write_bytes(data[: last_step(data)])
            stand.redis.start()
            service.launch()
            eventually(lambda: "has held" in service.process.errors, what="the link")
            assert not service.ready()
            checked = run_pitlink("check", "--config", str(service.config))
            assert checked.returncode == 1
            assert "it lost some, or is another" in checked.stdout
            eventually(lambda: devices.refusal() == "inoperable", what="refusals")

            service.process.kill()
            for mark in (tmp_path / "data" / "marks").glob("main.*.json"):
                mark.unlink()
            service.start()
            eventually(lambda: devices.refusal() == "events_lost", what="the table")
            eventually(lambda: '"events lost"' in service.process.errors, what="the service's log")
        outbox = tmp_path / "data" / "tables" / f"{table}.sqlite"
        outbox.rename(outbox.with_suffix(".evidence"))
        # The service still holds the round open whose result was lost. It has to be voided.
        with Devices(service.config, table, plays=False) as devices:
            assert devices.ask("void", reason="the store lost its result")["ok"]
            eventually(lambda: devices.refusal() is None, what="wagers taken again")
        assert service.audit()["balanced"]
