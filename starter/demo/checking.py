"""Checking what the tutorial did: objects on the hub, content on the members."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from api.kinds import CLUSTER_STAGED_UPDATE_RUN, CONFIG_MAP, Kind
from api.reasons import ConditionType
from api.runs import ClusterStatus, UpdateRun
from hub import Hub, Json
from planning import conditions
from starter.failures import CommandFailure
from starter.following import follow

PATIENCE: Final = timedelta(seconds=60)
"""Limit for each step: longer than any step takes on a slow machine."""
RunCheck = Callable[[UpdateRun], bool]
"""Returns whether a run is in the expected state."""


class FleetChecks:
    """Reads the hub and the members; fails the demo if something expected does not happen."""

    def __init__(self, hub: Hub, members: Mapping[str, Hub]) -> None:
        self.hub = hub
        self._members = members

    async def until(self, kind: Kind, name: str, what: str, holds: Callable[[Json], bool]) -> Json:
        """Wait until the check holds for the object, and return it.

        Raises CommandFailure after PATIENCE; `what` names the expected state in its text.
        """
        try:
            async with asyncio.timeout(PATIENCE.total_seconds()):
                async with follow(self.hub, kind, name=name) as changes:
                    async for change in changes:
                        if change.new is not None and holds(change.new):
                            return change.new
        except TimeoutError as error:
            raise not_seen(f"{kind} {name} {what}") from error
        raise AssertionError("following never ends by itself")

    async def until_run(self, name: str, what: str, holds: RunCheck) -> UpdateRun:
        """Wait until the check holds for the cluster-scoped run, and return the run."""
        found = await self.until(
            CLUSTER_STAGED_UPDATE_RUN, name, what, lambda body: holds(UpdateRun.from_wire(body))
        )
        return UpdateRun.from_wire(found)

    async def until_gone(self, kind: Kind, name: str) -> None:
        """Wait until the object no longer exists."""
        try:
            async with asyncio.timeout(PATIENCE.total_seconds()):
                async with follow(self.hub, kind, name=name) as changes:
                    if await self.hub.find(kind, name) is None:
                        return
                    async for change in changes:
                        if change.new is None:
                            return
        except TimeoutError as error:
            raise not_seen(f"{kind} {name} gone") from error

    async def change_on(
        self, member: str, kind: Kind, name: str, change: Json, namespace: str
    ) -> None:
        """Change an object on a member, as someone does by hand."""
        await self._members[member].patch(kind, name, change, namespace=namespace)

    async def recreate_on(self, member: str, kind: Kind, name: str, namespace: str) -> None:
        """Delete an object on a member, and wait until the agent has created it again."""
        hub = self._members[member]
        old = await hub.get(kind, name, namespace=namespace)
        await hub.delete(kind, name, namespace=namespace)
        try:
            async with asyncio.timeout(PATIENCE.total_seconds()):
                async with follow(hub, kind, name=name, namespace=namespace) as changes:
                    async for change in changes:
                        new = change.new
                        if new and new["metadata"]["uid"] != old["metadata"]["uid"]:
                            return
        except TimeoutError as error:
            raise not_seen(f"{kind} {name} on {member} again") from error

    async def values(self, name: str, namespace: str) -> dict[str, str]:
        """Read the value `key` of a ConfigMap on each member; `-` if the ConfigMap is missing."""
        found = await asyncio.gather(
            *(each.find(CONFIG_MAP, name, namespace=namespace) for each in self._members.values())
        )
        values = [body["data"]["key"] if body else "-" for body in found]
        return dict(zip(self._members, values, strict=True))


def not_seen(what: str) -> CommandFailure:
    """Make the failure that something expected did not happen."""
    return CommandFailure(
        f"expected: {what}",
        advice="`fleetgate local status` and `fleetgate local logs worker` may show why not",
    )


def moment(cluster: ClusterStatus, kind: ConditionType) -> datetime:
    """Return when a cluster got the condition: when its update started, or succeeded."""
    found = conditions.find(cluster.conditions, kind)
    if found is None:
        raise not_seen(f"cluster {cluster.cluster_name} {kind}")
    return found.last_transition_time
