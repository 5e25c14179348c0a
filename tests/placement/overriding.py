"""Override snapshots for a test's content, as a controller would write them."""

from typing import Any

from api.kinds import CLUSTER_RESOURCE_OVERRIDE_SNAPSHOT, RESOURCE_OVERRIDE_SNAPSHOT
from hub import NotFound
from tests.placement.world import World

Json = dict[str, Any]


def add(path: str, value: Any) -> Json:
    """Return one JSON patch operation."""
    return {"op": "add", "path": path, "value": value}


class Overrides:
    """Writes override snapshots, as the controller does."""

    def __init__(self, world: World) -> None:
        self._world = world

    @property
    def cluster(self) -> str:
        return f"{self._world.unique}-cro-0"

    @property
    def namespaced(self) -> Json:
        return {"name": "ro-0", "namespace": self._world.unique}

    async def write_cluster(self, *patches: Json) -> None:
        """Override everything in the test's namespace."""
        selector = {"group": "", "version": "v1", "kind": "Namespace", "name": self._world.unique}
        spec = {"clusterResourceSelectors": [selector], "policy": self._policy(patches)}
        await self._write(CLUSTER_RESOURCE_OVERRIDE_SNAPSHOT, {"name": self.cluster}, spec)

    async def write_namespaced(self, *patches: Json, latest: bool = False) -> None:
        """Override the ConfigMap; without patches, delete it."""
        selector = {"group": "", "version": "v1", "kind": "ConfigMap", "name": "cm"}
        spec = {"resourceSelectors": [selector], "policy": self._policy(patches)}
        labels = {"kubernetes-fleet.io/is-latest-snapshot": str(latest).lower()}
        await self._write(RESOURCE_OVERRIDE_SNAPSHOT, self.namespaced | {"labels": labels}, spec)

    def _policy(self, patches: tuple[Json, ...]) -> Json:
        how = {"jsonPatchOverrides": list(patches)} if patches else {"overrideType": "Delete"}
        return {"overrideRules": [{"clusterSelector": {"clusterSelectorTerms": []}} | how]}

    async def _write(self, kind: Any, metadata: Json, spec: Json) -> None:
        body = {"metadata": metadata, "spec": {"overrideSpec": spec, "overrideHash": "aGFzaA=="}}
        await self._world.hub.create(kind, body)

    async def clear(self) -> None:
        try:
            await self._world.hub.delete(CLUSTER_RESOURCE_OVERRIDE_SNAPSHOT, self.cluster)
        except NotFound:
            return
