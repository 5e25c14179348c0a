"""Resource snapshots written by hand, one object after the other."""

from dataclasses import dataclass

from activities.requests import FindSnapshot
from api import names
from api.kinds import MEMBER_CLUSTER, NAMESPACE, Scope
from hub import Hub, Json
from planning.identity import RunRef


@dataclass
class Content:
    """The content of one placement, whose objects are in a namespace of its name."""

    hub: Hub
    scope: Scope
    name: str

    @property
    def home(self) -> str:
        """Namespace of the placement; empty for a cluster-scoped one."""
        return self.name if self.scope.placement.namespaced else ""

    @property
    def key(self) -> str:
        return f"{self.home}/{self.name}"

    async def prepare(self) -> None:
        """Make the namespace, and two members of which one is for production."""
        await self.hub.create(NAMESPACE, {"metadata": {"name": self.name}})
        for cluster, env in (("a", "prod"), ("b", "dev")):
            await self._join(f"{self.name}-{cluster}", {"env": env})

    async def _join(self, cluster: str, labels: dict[str, str]) -> None:
        identity = {"kind": "User", "name": cluster}
        body = {"metadata": {"name": cluster, "labels": labels}, "spec": {"identity": identity}}
        await self.hub.create(MEMBER_CLUSTER, body)

    def config_map(self, name: str) -> Json:
        metadata = {"name": name, "namespace": self.name}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}

    async def master(self, index: int, *resources: Json, size: int = 1) -> None:
        """Write the object that describes an index."""
        annotations = {
            names.RESOURCE_HASH: "hash",
            names.NUMBER_OF_RESOURCE_SNAPSHOTS: str(size),
        }
        await self._write(f"{self.name}-{index}-snapshot", index, resources, annotations)

    async def part(self, index: int, number: int, *resources: Json) -> None:
        """Write one of the further objects of an index."""
        annotations = {names.SUBINDEX: str(number)}
        await self._write(f"{self.name}-{index}-{number}", index, resources, annotations)

    async def _write(
        self, name: str, index: int, resources: tuple[Json, ...], annotations: dict[str, str]
    ) -> None:
        labels = {names.PARENT_PLACEMENT: self.name, names.RESOURCE_INDEX: str(index)}
        metadata: Json = {"name": name, "labels": labels, "annotations": annotations}
        if self.home:
            metadata["namespace"] = self.home
        body = {"metadata": metadata, "spec": {"selectedResources": list(resources)}}
        await self.hub.create(self.scope.resource_snapshot, body)

    def request(self, index: str = "", *, clusters: str = "ab") -> FindSnapshot:
        """What a run of the placement asks."""
        run = RunRef(scope_name=self.scope.name, namespace=self.home, name=self.name, uid="u")
        members = [f"{self.name}-{each}" for each in clusters]
        return FindSnapshot(run=run, placement=self.name, index=index, clusters=members)
