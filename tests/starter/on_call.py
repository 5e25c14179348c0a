"""A run on the hub that a person on call asks about, and the state of its clusters."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import yaml

from api import names
from api.base import format_time
from api.kinds import MEMBER_CLUSTER, NAMESPACE, NAMESPACED_SCOPE, WORK, Kind, Scope
from api.reasons import STARTED_BY_RUN
from hub import Hub, Json
from tests.starter.runs import recorded
from tests.starter.typed import Fleetgate, Typed
from tests.support import conditions
from tests.support.hand_placement import HandPlacement


@dataclass(frozen=True)
class Incident:
    """One run of one placement, with unique names."""

    hub: Hub
    scope: Scope
    name: str
    fleetgate: Fleetgate
    home: str = ""
    """Namespace of a namespaced run; by default the run's name."""

    @property
    def namespace(self) -> str:
        """Namespace of the run; empty in the cluster scope."""
        return (self.home or self.name) if self.scope is NAMESPACED_SCOPE else ""

    @property
    def flags(self) -> list[str]:
        """The namespace flags for the run."""
        return ["-n", self.namespace] if self.namespace else []

    @property
    def flag(self) -> str:
        """The same flags as they appear in a printed command."""
        return "".join(f" {each}" for each in self.flags)

    @property
    def placement(self) -> HandPlacement:
        """The run's placement, which has the same name."""
        return HandPlacement(self.hub, self.scope, self.name, self.namespace)

    def cluster(self, number: int) -> str:
        """Return the name of a member."""
        return f"{self.name}-{number}"

    async def type(self, *words: str) -> Typed:
        """Run a command with the run's namespace flags."""
        return await self.fleetgate(*words, *self.flags)

    async def explain(self, *words: str) -> Typed:
        """Run `fleetgate run explain` for the run."""
        return await self.type("run", "explain", self.name, *words)

    async def settle(self) -> None:
        """Create the namespace, if the run needs one."""
        if self.namespace:
            await self.hub.apply(NAMESPACE, {"metadata": {"name": self.namespace}})

    async def happen(self, moment: str, *, ago: timedelta = timedelta(seconds=7)) -> None:
        """Write the run as it was recorded, with its last change `ago`."""
        await self.write(self._renamed(recorded(moment)), ago=ago)

    async def write(self, run: Json, *, ago: timedelta = timedelta(seconds=7)) -> None:
        """Write a run of the placement with a status, with its last change `ago`."""
        await self.settle()
        found = _shifted(run, ago)
        spec = found["spec"] | {"placementName": self.name}
        await self.placement.write(self.scope.run, self.name, {"spec": spec})
        await self.say(self.scope.run, self.name, found["status"], self.namespace)

    def _renamed(self, run: Json) -> Json:
        """Return the run with the test's own names of members, approvals and bindings."""
        text = yaml.safe_dump(run)
        for old, new in (("member", f"{self.name}-"), (run["metadata"]["name"], self.name)):
            text = text.replace(old, new)
        found: Json = yaml.safe_load(text)
        return found

    async def bind(self, number: int, *conditions: Json, run: str = "", **status: Any) -> Json:
        """Write a member and its binding, rolled out by the run or another, with a status."""
        cluster = self.cluster(number)
        await self.placement.member(cluster, {})
        await self.say(MEMBER_CLUSTER, cluster, _alive(), "")
        await self.placement.binding(cluster, state="Bound")
        started = condition(
            "RolloutStarted",
            "True",
            "RolloutStarted",
            STARTED_BY_RUN.fill(index=1, run=run or self.name),
        )
        name = self.placement.binding_name(cluster)
        said = {"conditions": [started, *conditions], **status}
        return await self.say(self.scope.binding, name, said, self.namespace)

    async def work(self, number: int, binding: Json, status: Json) -> None:
        """Write the Work of a binding and the status that the member reports."""
        namespace = names.member_namespace(self.cluster(number))
        await self.hub.apply(NAMESPACE, {"metadata": {"name": namespace}})
        labels = {names.PARENT_BINDING: binding["metadata"]["name"]}
        name = f"{self.name}-work"
        metadata = {"name": name, "namespace": namespace, "labels": labels}
        await self.hub.create(WORK, {"metadata": metadata, "spec": {"workload": {}}})
        await self.say(WORK, name, status, namespace)

    async def ask(self, stage: str = "canary") -> str:
        """Write the approval request before a stage."""
        request = f"{self.name}-before-{stage}"
        await self.placement.ask(request, run=self.name, stage=stage)
        return request

    async def say(self, kind: Kind, name: str, status: Json, namespace: str) -> Json:
        """Write the status of an object."""
        return await self.hub.patch(
            kind, name, {"status": status}, namespace=namespace, subresource="status"
        )


def condition(kind: str, status: str, reason: str, message: str = "") -> Json:
    """Return a condition for the first generation of an object, long ago."""
    return conditions.condition(kind, status, reason=reason, message=message, at=conditions.AT)


def _alive() -> Json:
    """Return the status of a member whose agent was heard from just now."""
    agent = {
        "type": "MemberAgent",
        "conditions": [
            condition("Joined", "True", "InternalMemberClusterJoined"),
            condition("Healthy", "True", "InternalMemberClusterHealthy"),
        ],
        "lastReceivedHeartbeat": format_time(datetime.now(UTC)),
    }
    return {"agentStatus": [agent]}


def _shifted(run: Json, ago: timedelta) -> Json:
    """Return the run with all its times moved so that the last one is `ago`."""
    last = max(_parse(each["lastTransitionTime"]) for each in run["status"]["conditions"])
    ahead = datetime.now(UTC) - ago - last

    def moved(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: (_parse(each) + ahead).isoformat(timespec="seconds")
                if key.endswith("Time") and key != "waitTime"
                else moved(each)
                for key, each in value.items()
            }
        return [moved(each) for each in value] if isinstance(value, list) else value

    shifted: Json = moved(run)
    return shifted


def _parse(text: str) -> datetime:
    return datetime.fromisoformat(text)
