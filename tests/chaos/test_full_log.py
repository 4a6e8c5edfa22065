"""A log that cannot be written does not stop the service or the agent."""

import subprocess
from pathlib import Path

import pytest

from tests.mqtt.stand import Stand
from tests.processes import pitlink_command
from tests.waiting import dies_with_us, eventually

LINES = b"\n".join(
    [
        b'{"event": "wager", "position": 3, "wager": "progressive", "amount": 100}',
        b'{"event": "lockout"}',
        b'{"event": "void", "reason": "misdeal"}',
    ]
)


@pytest.mark.slow
def test_service_and_agent_work_with_their_logs_on_a_full_disk(tmp_path: Path) -> None:
    """`/dev/full` refuses each byte, as a full disk does."""
    with Stand(tmp_path) as stand, Path("/dev/full").open("wb") as full:
        config = str(stand.service.config)
        stand.service.process.kill()
        with subprocess.Popen(
            dies_with_us(pitlink_command("serve", "--config", config)), stderr=full
        ) as service:
            eventually(stand.service.ready, what="the service ready")
            done = subprocess.run(
                dies_with_us(pitlink_command("table", "T-1", "--config", config, "--events")),
                input=LINES, stdout=subprocess.PIPE, stderr=full, timeout=60, check=False,
            )  # fmt: skip
            answers = done.stdout.splitlines()
            assert len(answers) == 3
            assert all(b'"ok":true' in answer for answer in answers), answers
            # A lost broker makes both sides log.
            stand.mosquitto.kill()
            stand.mosquitto.start()
            eventually(stand.service.ready, what="the service ready again")
            assert service.poll() is None
            service.kill()
