"""Hand-made resource snapshots, written one object after the other."""

from dataclasses import dataclass

from activities.requests import FindSnapshot
from api.kinds import NAMESPACE, Scope
from hub import Hub, Json
from planning.identity import RunRef
from tests.support.hand_placement import HandPlacement


@dataclass
class Content:
    """The content of one placement, with objects in a namespace of the same name."""

    hub: Hub
    scope: Scope
    name: str

    @property
    def home(self) -> str:
        """Namespace of the placement; empty for a cluster-scoped one."""
        return self.name if self.scope.placement.namespaced else ""

    @property
    def _hand(self) -> HandPlacement:
        return HandPlacement(self.hub, self.scope, self.name, self.home)

    @property
    def key(self) -> str:
        return f"{self.home}/{self.name}"

    async def prepare(self) -> None:
        """Create the namespace and two members, one of them for production."""
        await self.hub.create(NAMESPACE, {"metadata": {"name": self.name}})
        for cluster, env in (("a", "prod"), ("b", "dev")):
            await self._hand.member(f"{self.name}-{cluster}", {"env": env})

    def config_map(self, name: str) -> Json:
        metadata = {"name": name, "namespace": self.name}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}

    async def master(self, index: int, *resources: Json, size: int = 1) -> None:
        """Write the master snapshot of an index."""
        await self._hand.snapshot(index, latest=False, resources=resources, size=size)

    async def part(self, index: int, number: int, *resources: Json) -> None:
        """Write another snapshot object of an index."""
        await self._hand.part(index, number, *resources)

    def request(self, index: str = "", *, clusters: str = "ab") -> FindSnapshot:
        """Return the request of a run of the placement."""
        run = RunRef(scope_name=self.scope.name, namespace=self.home, name=self.name, uid="u")
        members = [f"{self.name}-{each}" for each in clusters]
        return FindSnapshot(run=run, placement=self.name, index=index, clusters=members)
