"""Bindings from a run's point of view: the content wanted, the writes needed and the progress.

contract: update-runs 8.4 to 8.6
"""

from datetime import datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from api import reasons
from api.applying import ApplyStrategy
from api.base import Condition, NamespacedName
from api.bindings import Binding, BindingState
from api.names import BEFORE_RUN
from api.reasons import BindingReason, ConditionType
from planning import conditions

TOLERATED: Final = frozenset(
    {"OverriddenPending", "WorkNotSynchronizedYet", "ApplyPending", "ResourceNotAvailableYet"}
)
"""Reasons of a False condition that mean no more than "not yet"."""

_STEPS: Final = ("Overridden", "WorkSynchronized", "Applied", "Available")
ROLLOUT_STARTED: Final = ConditionType.ROLLOUT_STARTED


class Desired(BaseModel):
    """Content that a run wants a cluster's binding to have."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    snapshot: str
    """Name of the master resource snapshot."""
    apply_strategy: ApplyStrategy
    cluster_resource_overrides: list[str] = []
    resource_overrides: list[NamespacedName] = []

    def synced(self, binding: Binding) -> bool:
        """Return whether the binding already has the content, whatever its state."""
        return all(getattr(binding.spec, name) == value for name, value in self._content.items())

    def patch(self, binding: Binding) -> list[dict[str, Any]]:
        """Return the JSON patch that gives the binding's spec the content; empty if it has it."""
        spec = binding.spec
        wanted = {"state": BindingState.BOUND} | self._content
        wire = spec.model_copy(update=wanted).to_wire()
        # Compared as models: a default that is written out equals one that is left out.
        fields = [to_camel(name) for name, value in wanted.items() if getattr(spec, name) != value]
        return [{"op": "add", "path": f"/spec/{field}", "value": wire[field]} for field in fields]

    @property
    def _content(self) -> dict[str, Any]:
        """Values for the fields of a binding's spec, by their names in the model."""
        return {
            "resource_snapshot_name": self.snapshot,
            "apply_strategy": self.apply_strategy,
            "cluster_resource_override_snapshots": self.cluster_resource_overrides,
            "resource_override_snapshots": self.resource_overrides,
        }


class Before(NamedTuple):
    """What a binding had before a run changed it."""

    run: str
    """UID of the run."""
    snapshot: str
    """Name of the master resource snapshot; empty if it had none."""

    @classmethod
    def of(cls, binding: Binding) -> "Before | None":
        """Read it from a binding; None if no run with a rollout policy has changed it."""
        run, _, snapshot = binding.metadata.annotations.get(BEFORE_RUN, "").partition("/")
        return cls(run, snapshot) if run else None


def note_before(binding: Binding, *, run: str) -> list[dict[str, Any]]:
    """Return the JSON patch that notes what a binding has before the run with this UID changes it.

    Empty if that is noted already: the run may hand a cluster out several times.
    """
    before = Before.of(binding)
    if before and before.run == run:
        return []
    meta, noted = binding.metadata, f"{run}/{binding.spec.resource_snapshot_name}"
    if meta.annotations:
        path = BEFORE_RUN.replace("/", "~1")
        return [{"op": "add", "path": f"/metadata/annotations/{path}", "value": noted}]
    # Annotations that someone adds meanwhile must not be lost.
    unchanged = {"op": "test", "path": "/metadata/resourceVersion", "value": meta.resource_version}
    add = {"op": "add", "path": "/metadata/annotations", "value": {BEFORE_RUN: noted}}
    return [unchanged, add]


def rollout_started(*, index: str, run: str, generation: int, now: datetime) -> Condition:
    """Return the condition that announces a binding's new content.

    contract: update-runs 5 (message), decisions 9 (the index used) and 17 (written first)
    """
    return conditions.make(
        ROLLOUT_STARTED,
        "True",
        BindingReason.ROLLOUT_STARTED,
        reasons.STARTED_BY_RUN.fill(index=index, run=run),
        generation=generation,
        now=now,
    )


def announced(binding: Binding) -> bool:
    """Return whether RolloutStarted is True for the binding's current generation."""
    return conditions.has(
        binding.status.conditions, ROLLOUT_STARTED, generation=binding.metadata.generation
    )


def announcer(binding: Binding) -> str:
    """Return the run that announced the binding's content; empty if no run did."""
    found = conditions.find(binding.status.conditions, ROLLOUT_STARTED)
    named = reasons.STARTED_BY_RUN.read(found.message) if found else None
    return named["run"] if named else ""


def announced_by_other(binding: Binding, run: str, *, since: datetime) -> bool:
    """Return whether a run of another name announced its content after `since`."""
    found = conditions.find(binding.status.conditions, ROLLOUT_STARTED)
    return found is not None and announcer(binding) != run and found.last_transition_time > since


def overtaken(binding: Binding, run: str, *, since: datetime) -> bool:
    """Return whether the content was changed after the run of this name announced its own.

    An announcement from before `since` belongs to an earlier run of the same name. Between its
    own two writes a run may look overtaken for a moment.
    """
    found = conditions.find(binding.status.conditions, ROLLOUT_STARTED)
    return (
        found is not None
        and announcer(binding) == run
        and found.observed_generation < binding.metadata.generation
        and found.last_transition_time >= since.replace(microsecond=0)
    )


def held(binding: Binding, desired: Desired) -> bool:
    """Return whether the binding is still as the run left it; if not, another writer changed it."""
    return (
        desired.synced(binding) and binding.spec.state == BindingState.BOUND and announced(binding)
    )


class BindingProgress(StrEnum):
    """Progress of the rollout of a binding's current content."""

    FINISHED = "finished"
    FAILING = "failing"
    UNDER_WAY = "under way"


def progress(binding: Binding) -> BindingProgress:
    """Judge a binding by its conditions for its current generation (contract: 8.6b)."""
    fresh = {
        each.type: each
        for each in binding.status.conditions
        if each.observed_generation == binding.metadata.generation
    }
    if any(
        kind in fresh and fresh[kind].status == "True" for kind in ("Available", "DiffReported")
    ):
        return BindingProgress.FINISHED
    return BindingProgress.FAILING if failure(binding) else BindingProgress.UNDER_WAY


def failure(binding: Binding) -> str | None:
    """Return the first step that failed, as `<type> <reason>: <message>`, or None."""
    for kind in (*_STEPS, "DiffReported"):
        found = conditions.find(binding.status.conditions, kind)
        if (
            found is not None
            and found.status == "False"
            and found.observed_generation == binding.metadata.generation
            and (found.reason not in TOLERATED or kind == "DiffReported")
        ):
            return f"{kind} {found.reason}: {found.message}"
    return None
