"""The writes of one run, put in order: what befell its bindings, its gates and its status."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from hub import Json
from tests.soak.history import Write
from tests.soak.orders import Order
from tests.support.conditions import condition_of


@dataclass(frozen=True, kw_only=True)
class Case:
    """One run that is to be judged: what was asked for, what was written, how the world is."""

    order: Order
    stages: dict[str, tuple[str, ...]]
    """Clusters of each stage, in the order in which they are to be updated."""
    run: Sequence[Write]
    bindings: dict[str, Sequence[Write]]
    """By cluster, from before the run began."""
    approvals: dict[str, Sequence[Write]]
    """By the name of the request."""
    approved: frozenset[str] = frozenset()
    """Requests that a person approved, and was told that it is done."""
    images: dict[str, str] = field(default_factory=dict)
    """What each cluster was sent in the end."""

    @property
    def name(self) -> str:
        """Name of the run."""
        return self.order.run

    @cached_property
    def statuses(self) -> list[Write]:
        """The run after each write to it, while it was there."""
        return [each for each in self.run if each.body is not None]

    @cached_property
    def last(self) -> Json:
        """The run as it was at last; empty when nothing is known of it."""
        return self.statuses[-1].body or {} if self.statuses else {}

    @cached_property
    def snapshot(self) -> str:
        """Name of the snapshot that the run rolled out; empty before it chose one."""
        index = self.last.get("status", {}).get("resourceSnapshotIndexUsed")
        return f"{self.last['spec']['placementName']}-{index}-snapshot" if index else ""

    @cached_property
    def rollouts(self) -> dict[str, "Rollout"]:
        """What the run did to each cluster that it began."""
        found = {
            cluster: _rollout(self.name, self.snapshot, writes)
            for cluster, writes in self.bindings.items()
        }
        return {cluster: each for cluster, each in found.items() if each is not None}

    def request(self, stage: str, side: str) -> str:
        """Name of a gate's approval request."""
        return f"{self.name}-{side}-{stage}"

    def at(self, revision: int) -> Json:
        """The run as it was when that write was made; empty before it was created."""
        bodies = [each.body for each in self.statuses if each.revision < revision]
        return bodies[-1] or {} if bodies else {}


@dataclass(frozen=True, kw_only=True)
class Rollout:
    """One cluster's update by one run."""

    begun: Write
    """The first write by which the run touched the binding."""
    written: int
    """How often the binding's content became that of the run."""
    finished: Write | None
    """The write that said that the content is available."""


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
    """Whether a binding says that its present content is available."""
    found = condition_of(binding, "Available")
    return (
        found.get("status") == "True"
        and found["observedGeneration"] == binding["metadata"]["generation"]
    )


def approval_of(writes: Sequence[Write]) -> Write | None:
    """The write that approved a request."""
    return next((each for each in writes if each.body and _is_approved(each.body)), None)


def _is_approved(request: Json) -> bool:
    found = condition_of(request, "Approved")
    return (
        found.get("status") == "True"
        and found.get("observedGeneration") == request["metadata"]["generation"]
    )
