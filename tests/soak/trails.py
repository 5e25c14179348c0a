"""The writes of one run in order: to its bindings, its gates and its status."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from hub import Json
from tests.soak.history import Write
from tests.soak.orders import Order
from tests.support.conditions import condition_of


@dataclass(frozen=True, kw_only=True)
class Case:
    """One run to be judged: what was requested, what was written, and the final state."""

    order: Order
    stages: dict[str, tuple[str, ...]]
    """Clusters of each stage, in the order in which they are to be updated."""
    run: Sequence[Write]
    bindings: dict[str, Sequence[Write]]
    """Writes to bindings by cluster, from before the run started."""
    approvals: dict[str, Sequence[Write]]
    """Writes to approval requests by name."""
    approved: frozenset[str] = frozenset()
    """Requests that a person approved successfully."""
    images: dict[str, str] = field(default_factory=dict)
    """The image that each cluster has at the end."""

    @property
    def name(self) -> str:
        """Name of the run."""
        return self.order.run

    @cached_property
    def statuses(self) -> list[Write]:
        """The writes to the run while it existed."""
        return [each for each in self.run if each.body is not None]

    @cached_property
    def last(self) -> Json:
        """The last known state of the run; empty if none is known."""
        return self.statuses[-1].body or {} if self.statuses else {}

    @cached_property
    def snapshot(self) -> str:
        """Name of the snapshot that the run rolled out; empty before it chose one."""
        index = self.last.get("status", {}).get("resourceSnapshotIndexUsed")
        return f"{self.last['spec']['placementName']}-{index}-snapshot" if index else ""

    @cached_property
    def rollouts(self) -> dict[str, "Rollout"]:
        """What the run did to each cluster that it started."""
        found = {
            cluster: _rollout(self.name, self.snapshot, writes)
            for cluster, writes in self.bindings.items()
        }
        return {cluster: each for cluster, each in found.items() if each is not None}

    def request(self, stage: str, side: str) -> str:
        """Return the name of a gate's approval request."""
        return f"{self.name}-{side}-{stage}"

    def at(self, revision: int) -> Json:
        """Return the run as it was before a write; empty if it did not exist."""
        bodies = [each.body for each in self.statuses if each.revision < revision]
        return bodies[-1] or {} if bodies else {}


@dataclass(frozen=True, kw_only=True)
class Rollout:
    """One cluster's update by one run."""

    begun: Write
    """The first write by which the run touched the binding."""
    written: int
    """Number of times that the binding's content became that of the run."""
    finished: Write | None
    """The write that reported the content as available."""


def _rollout(run: str, snapshot: str, writes: Sequence[Write]) -> Rollout | None:
    begun = finished = None
    written, before = 0, ""
    for write in writes:
        body = write.body or {}
        content = body.get("spec", {}).get("resourceSnapshotName", "")
        written += bool(snapshot) and content == snapshot != before
        before = content
        if begun is None and (_announces(body, run) or (snapshot and content == snapshot)):
            begun = write
        if begun and finished is None and content == snapshot and is_available(body):
            finished = write
    return Rollout(begun=begun, written=written, finished=finished) if begun else None


def _announces(binding: Json, run: str) -> bool:
    message: str = condition_of(binding, "RolloutStarted").get("message", "")
    return message.endswith(f", updateRun: {run}")


def is_available(binding: Json) -> bool:
    """Return whether a binding reports its present content as available."""
    found = condition_of(binding, "Available")
    return (
        found.get("status") == "True"
        and found["observedGeneration"] == binding["metadata"]["generation"]
    )


def approval_of(writes: Sequence[Write]) -> Write | None:
    """Return the write that approved a request."""
    return next((each for each in writes if each.body and _is_approved(each.body)), None)


def _is_approved(request: Json) -> bool:
    found = condition_of(request, "Approved")
    return (
        found.get("status") == "True"
        and found.get("observedGeneration") == request["metadata"]["generation"]
    )
