"""A table's agent with a service that does as it is told."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from controllers.agent.agent import Agent
from tests.controllers.scripted import ScriptedService, live_agent, running
from tests.servers import Mosquitto


@pytest.fixture
def outbox(tmp_path: Path) -> Path:
    """Where the agent keeps what it sends."""
    return tmp_path / "T-1.sqlite"


@pytest.fixture
async def service(mosquitto: Mosquitto) -> AsyncIterator[ScriptedService]:
    """A service that answers as a test has it."""
    async with running(ScriptedService(mosquitto.url)) as service:
        yield service


@pytest.fixture
async def agent(
    mosquitto: Mosquitto, service: ScriptedService, outbox: Path
) -> AsyncIterator[Agent]:
    """An agent that can take wagers."""
    async with live_agent(mosquitto.url, outbox) as agent:
        yield agent
