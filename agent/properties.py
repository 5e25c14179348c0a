"""Counts the nodes and pods of the member cluster.

contract: placement 11
"""

import asyncio
from datetime import UTC, datetime
from typing import Final

from agent.settings import AgentSettings
from api.kinds import NODE, POD
from hub import Hub, HubError
from planning.members import properties
from planning.members.properties import Observed

_RUNNING: Final = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"
"""Selects the pods that use resources of a node."""


class Properties:
    """The properties of a cluster when it was last checked."""

    def __init__(self, cluster: Hub, *, settings: AgentSettings) -> None:
        self._cluster = cluster
        self._settings = settings
        self.observed: Observed | None = None
        """None until the cluster has been checked."""
        self.problem = ""
        """Why the last check failed; empty if it succeeded."""
        self._due = 0.0

    async def renew(self) -> None:
        """Check again if the last check is too old; a failure is recorded in `problem`."""
        clock = asyncio.get_running_loop().time
        if clock() < self._due:
            return
        patience = self._settings.properties_patience
        try:
            async with asyncio.timeout(patience.total_seconds()):
                self.observed = await self._look()
            self.problem = ""
            self._due = clock() + self._settings.properties_age.total_seconds()
        except HubError as error:
            self.problem = str(error)
        except TimeoutError:
            self.problem = f"no answer within {patience.total_seconds():g} s"

    async def _look(self) -> Observed:
        version = await self._cluster.version()
        nodes = await self._cluster.list(NODE)
        pods = await self._cluster.list(POD, fields=_RUNNING)
        return properties.observe(nodes.items, pods.items, version=version, now=datetime.now(UTC))
