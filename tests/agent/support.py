"""A member of a fleet for tests of its agent: real API servers, with the hub's part played here."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

from agent import Agent, AgentSettings
from api import names
from api.kinds import APPLIED_WORK, CONFIG_MAP, MEMBER_CLUSTER, NAMESPACE, WORK, Kind
from hub import Hub, Json, NotFound
from tests.support.conditions import conditions_of
from tests.support.eventually import eventually

PATIENT = AgentSettings(properties_patience=timedelta(minutes=1))
"""Settings of an agent that waits for a slow cluster to count its nodes and pods."""

RBAC = "rbac.authorization.k8s.io"
PASSIVE: dict[str, tuple[str, Json]] = {
    "ConfigMap": ("v1", {"data": {"key": "value"}}),
    "Secret": ("v1", {"stringData": {"key": "value"}}),
    "ServiceAccount": ("v1", {}),
    "LimitRange": ("v1", {"spec": {"limits": [{"type": "Pod", "max": {"cpu": "9"}}]}}),
    "PodTemplate": ("v1", {"template": {"spec": {"containers": [{"name": "a", "image": "b"}]}}}),
    "ControllerRevision": ("apps/v1", {"revision": 1, "data": {}}),
    "Lease": ("coordination.k8s.io/v1", {"spec": {"holderIdentity": "a"}}),
    "NetworkPolicy": ("networking.k8s.io/v1", {"spec": {"podSelector": {}}}),
    "Role": (f"{RBAC}/v1", {"rules": []}),
    "RoleBinding": (f"{RBAC}/v1", {"roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "a"}}),
}
"""Ten kinds that need no controller, with the API version and content of an object of each."""


@dataclass(frozen=True)
class Member:
    """One member: its name, the hub, its own cluster."""

    name: str
    hub: Hub
    cluster: Hub

    @classmethod
    @asynccontextmanager
    async def registered(cls, name: str, *, hub: Hub, kubeconfig: Path) -> AsyncIterator[Self]:
        """A member with an API server of the test's own, registered while the context lasts."""
        async with await Hub.connect(kubeconfig, manager="test") as cluster:
            member = cls(name=name, hub=hub, cluster=cluster)
            await member.register(heartbeat_seconds=1)
            yield member
            await member.unregister()

    @property
    def namespace(self) -> str:
        return names.member_namespace(self.name)

    def agent(self, settings: AgentSettings | None = None) -> Agent:
        return Agent(member=self.name, hub=self.hub, cluster=self.cluster, settings=settings)

    async def register(self, *, heartbeat_seconds: int = 60) -> None:
        """Do what the placement does for a new member."""
        identity = {"kind": "User", "name": self.name}
        spec = {"identity": identity, "heartbeatPeriodSeconds": heartbeat_seconds}
        await self.hub.create(MEMBER_CLUSTER, {"metadata": {"name": self.name}, "spec": spec})
        await self.hub.apply(NAMESPACE, {"metadata": {"name": self.namespace}})

    async def unregister(self) -> None:
        # Its namespace stays: Works without an agent to release them would block its deletion.
        with suppress(NotFound):
            await self.hub.delete(MEMBER_CLUSTER, self.name)

    async def put(
        self,
        name: str,
        *manifests: Json,
        strategy: dict[str, Any] | None = None,
        labels: dict[str, str] | None = None,
        **spec: Any,
    ) -> Json:
        """Create a Work or change its content."""
        spec["workload"] = {"manifests": list(manifests)}
        if strategy:
            spec["applyStrategy"] = strategy
        metadata = {"name": name, "namespace": self.namespace, "labels": labels or {}}
        body = {"metadata": metadata, "spec": spec}
        return await self.hub.apply(WORK, body, manager="test")

    async def work(self, name: str) -> Json:
        return await self.hub.get(WORK, name, namespace=self.namespace)

    async def reported(self, name: str, *, available: str | None = "True") -> Json:
        """Wait until the agent has reported on the current content of a Work."""

        wanted = {"Applied": "True", "Available": available}
        if available is None:
            wanted = {"Applied": "False"}

        def is_so(work: Json) -> bool:
            said = conditions_of(work)
            generation = work["metadata"]["generation"]
            shown = {kind: each["status"] for kind, each in said.items()}
            return shown == wanted and all(
                each["observedGeneration"] == generation for each in said.values()
            )

        return await eventually(lambda: self.work(name), is_so)

    async def gone(self, name: str) -> None:
        """Wait until a Work is gone."""
        await eventually(
            lambda: self.hub.find(WORK, name, namespace=self.namespace), lambda found: found is None
        )

    async def own(self, name: str) -> Json:
        """Create the AppliedWork of a Work, like an earlier agent; return its owner reference."""
        spec = {"workName": name, "workNamespace": self.namespace}
        body = {"metadata": {"name": name}, "spec": spec}
        record = await self.cluster.create(APPLIED_WORK, body)
        return {
            "apiVersion": APPLIED_WORK.api_version,
            "kind": APPLIED_WORK.kind,
            "name": name,
            "uid": record["metadata"]["uid"],
        }

    async def data(self, name: str, namespace: str) -> dict[str, str] | None:
        """The data of a ConfigMap on the member."""
        found = await self.cluster.find(CONFIG_MAP, name, namespace=namespace)
        return None if found is None else found.get("data", {})


def entry(work: Json, ordinal: int = 0) -> Json:
    """The status of one manifest of a Work."""
    found: Json = work["status"]["manifestConditions"][ordinal]
    assert found["identifier"]["ordinal"] == ordinal
    return found


def details(work: Json, kind: str, ordinal: int = 0) -> Json:
    """The drifts or diffs of a manifest, without their times, which must be set."""
    found = dict(entry(work, ordinal)[f"{kind}Details"])
    first = {"drift": "firstDriftedObservedTime", "diff": "firstDiffedObservedTime"}[kind]
    assert found.pop(first) <= found.pop("observationTime")
    return found


async def live(member: Member, ns: str, name: str = "cm", kind: Kind = CONFIG_MAP) -> Json:
    """An object on the member."""
    return await member.cluster.get(kind, name, namespace=ns)


def namespace(name: str) -> Json:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def one_of_each_kind(namespace: str) -> list[Json]:
    """One object of each `PASSIVE` kind."""
    metadata = {"name": "a", "namespace": namespace}
    return [
        {"apiVersion": version, "kind": kind, "metadata": metadata, **rest}
        for kind, (version, rest) in PASSIVE.items()
    ]


def twenty_kilobytes(namespace: str) -> list[Json]:
    """Objects of about this size in total, nested as deeply as workloads."""
    variables = [
        {"name": f"VARIABLE_{each:03}", "value": f"a value for {namespace}, number {each:04}"}
        for each in range(70)
    ]
    container = {"name": "main", "image": "example.com/app:1", "env": variables}
    return [
        {
            "apiVersion": "v1",
            "kind": "PodTemplate",
            "metadata": {"name": f"template-{each}", "namespace": namespace},
            "template": {"spec": {"containers": [container]}},
        }
        for each in range(4)
    ]


def config_map(name: str, namespace: str, **data: str) -> Json:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def deployment(name: str, namespace: str, *, replicas: int = 1, tag: str = "1") -> Json:
    labels = {"app": name}
    container = {"name": "main", "image": f"example.com/app:{tag}"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }
