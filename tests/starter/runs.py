"""A run on the hub for commands, with a recorded status."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from api.kinds import NAMESPACED_SCOPE, Scope
from hub import Hub, Json
from tests.starter.typed import Fleetgate, Typed
from tests.support.hand_placement import HandPlacement

DATA = Path(__file__).parent / "data"


def recorded(name: str) -> Json:
    """Load a run as it was recorded at some moment."""
    found: Json = yaml.safe_load((DATA / f"{name}.yaml").read_text())
    return found


@dataclass(frozen=True)
class RunOnHub:
    """One run, and the commands for it."""

    hub: Hub
    scope: Scope
    name: str
    fleetgate: Fleetgate

    @property
    def namespace(self) -> str:
        """Namespace of the run; empty in the cluster scope."""
        return "default" if self.scope is NAMESPACED_SCOPE else ""

    @property
    def flags(self) -> list[str]:
        """The namespace flags for the run."""
        return ["-n", self.namespace] if self.namespace else []

    @property
    def request(self) -> str:
        """Name of the approval request before its stage canary."""
        return f"{self.name}-before-canary"

    async def type(self, *words: str) -> Typed:
        """Run a command with the run's namespace flags."""
        return await self.fleetgate(*words, *self.flags)

    async def create(self, moment: str, **spec: Any) -> None:
        """Create the run as it was recorded at some moment."""
        found = recorded(moment)
        await self._placement.write(self.scope.run, self.name, {"spec": found["spec"] | spec})
        await self.say(found["status"])

    async def ask(self) -> None:
        """Write the approval request before its stage canary."""
        await self._placement.ask(self.request, run=self.name, stage="canary")

    async def say(self, status: Json) -> None:
        """Write its status."""
        await self._placement.say(self.scope.run, self.name, status)

    async def read(self) -> Json:
        """Read the run."""
        return await self._placement.read_run(self.name)

    async def remove(self) -> None:
        """Delete the run and its approval request."""
        for kind, name in ((self.scope.approval, self.request), (self.scope.run, self.name)):
            if await self.hub.find(kind, name, namespace=self.namespace):
                await self.hub.delete(kind, name, namespace=self.namespace)

    @property
    def _placement(self) -> HandPlacement:
        return HandPlacement(self.hub, self.scope, self.name, self.namespace)
