import asyncio
from pathlib import Path

from controllers.agent.agent import Agent
from controllers.agent.http_address import ListeningAddress
from controllers.agent.metrics import AgentMetrics, serve_metrics
from controllers.panel.access import panel_key
from controllers.panel.app import serve_panel
from meters.floor.floor_file import Floor
from meters.http.middleware import ServerSettings


def panel_key_path(floor: Floor, table_id: str) -> Path:
    return Path(floor.service.data) / "tables" / f"{table_id}.panel-key"


class TablePages:
    def __init__(
        self,
        floor: Floor,
        agent: Agent,
        panel: ListeningAddress | None,
        metrics: ListeningAddress | None,
    ) -> None:
        self._floor, self._agent, self._panel, self._metrics_at = floor, agent, panel, metrics
        self.front = ServerSettings.of(floor.service)
        self.key = panel_key(panel_key_path(floor, agent.layout.table)) if panel else ""
        self._metrics = AgentMetrics()
        self._metrics.add(agent)
        self._panel_ready, self._metrics_ready = asyncio.Event(), asyncio.Event()

    async def ready(self) -> bool:
        if self._panel:
            await self._panel_ready.wait()
        if self._metrics_at:
            await self._metrics_ready.wait()
        return True

    async def serve(self) -> None:
        """Serve the table's pages until canceled.

        Raises:
            UserError: an address cannot be used; the error is in an exception group.
        """
        async with asyncio.TaskGroup() as group:
            if (at := self._panel) is not None:
                panel = serve_panel(
                    self._floor,
                    self._agent,
                    at.host,
                    at.port,
                    self._panel_ready,
                    key=self.key,
                    demonstration=self._floor.facility.demonstration,
                    settings=self.front,
                    metrics=self._metrics,
                )
                group.create_task(panel, name="panel")
            if (at := self._metrics_at) is not None:
                ready = self._metrics_ready
                metrics = serve_metrics(self._metrics, at.host, at.port, ready, settings=self.front)
                group.create_task(metrics, name="metrics")
            await asyncio.Event().wait()
