from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from controllers.agent.agent import Agent
from tests.controllers.scripted import LiveTable, ScriptedService, live_agent, running
from tests.servers import Mosquitto


@pytest.fixture
def outbox(tmp_path: Path) -> Path:
    return tmp_path / "T-1.sqlite"


@pytest.fixture
async def service(mosquitto: Mosquitto) -> AsyncIterator[ScriptedService]:
    async with running(ScriptedService(mosquitto.url)) as service:
        yield service


@pytest.fixture
def table(mosquitto: Mosquitto, service: ScriptedService, outbox: Path) -> LiveTable:
    return LiveTable(service, mosquitto.url, outbox)


@pytest.fixture
async def agent(
    mosquitto: Mosquitto, service: ScriptedService, outbox: Path
) -> AsyncIterator[Agent]:
    async with live_agent(mosquitto.url, outbox) as agent:
        yield agent
