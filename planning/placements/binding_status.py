"""A binding's conditions and lists about its content on the member, derived from its Works.

contract: placement 6 (conditions, lists), 7 (entries), 12
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final

from api.base import Condition
from api.bindings import Binding
from api.outcomes import (
    DiffedResourcePlacement,
    DriftedResourcePlacement,
    FailedResourcePlacement,
    ResourceIdentifier,
)
from api.reasons import ConditionType
from api.works import ManifestCondition
from planning import conditions
from planning.placements.binding_steps import DistributionOutcome, StepResult, WorkReport, verdicts

Json = dict[str, Any]

MAX_LISTED: Final = 100
"""Entries that a binding can hold in each list."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Three lists of a binding's status."""

    failed: tuple[FailedResourcePlacement, ...] = ()
    drifted: tuple[DriftedResourcePlacement, ...] = ()
    diffed: tuple[DiffedResourcePlacement, ...] = ()

    def to_wire(self) -> dict[str, Any]:
        """Return the fields of the status, including empty ones."""
        return {
            "failedPlacements": [each.to_wire() for each in self.failed],
            "driftedPlacements": [each.to_wire() for each in self.drifted],
            "diffedPlacements": [each.to_wire() for each in self.diffed],
        }


@dataclass(frozen=True, slots=True)
class BindingReport:
    """Part of a binding's status that is derived from its Works."""

    conditions: tuple[Condition, ...]
    outcomes: Outcomes
    pending: bool
    """True while the member is working on it: the content is written but not available yet."""
    waiting: bool
    """True while the member has not reported, and the report would change if it stays silent."""

    def to_wire(self) -> Json:
        """Return the status to apply, without the parts that others own."""
        lists = {name: value for name, value in self.outcomes.to_wire().items() if value}
        return {"conditions": [each.to_wire() for each in self.conditions], **lists}

    def says(self, binding: Binding) -> bool:
        """Return whether the binding's status already says all of this."""
        status = binding.status
        own = {each.type: each for each in status.conditions if each.type in _OWN}
        listed = Outcomes(
            tuple(status.failed_placements),
            tuple(status.drifted_placements),
            tuple(status.diffed_placements),
        )
        return own == {each.type: each for each in self.conditions} and listed == self.outcomes


_BY_MEMBER: Final = frozenset(
    {ConditionType.APPLIED, ConditionType.AVAILABLE, ConditionType.DIFF_REPORTED}
)
_OWN: Final = _BY_MEMBER | {ConditionType.OVERRIDDEN, ConditionType.WORK_SYNCHRONIZED}


def report(binding: Binding, outcome: DistributionOutcome, *, now: datetime) -> BindingReport:
    """Judge a binding by its Works; the conditions observe the binding's current generation."""
    chain = verdicts(binding.spec, outcome, waited=_waited(binding, now))
    last = chain[-1]
    return BindingReport(
        conditions=tuple(_condition(binding, each, now) for each in chain),
        outcomes=_outcomes(last, outcome.works),
        pending=not last.status and last.kind in _BY_MEMBER,
        waiting=last.waiting,
    )


def is_announced(binding: Binding) -> bool:
    """Return whether a rollout has decided if the current content may be rolled out.

    contract: placement 6 (a Bound binding is processed once RolloutStarted is fresh)
    """
    found = _fresh(binding, ConditionType.ROLLOUT_STARTED)
    return found is not None and found.status in ("True", "False")


def is_reported(binding: Binding) -> bool:
    """Return whether the status already reports on the current content."""
    return _fresh(binding, ConditionType.OVERRIDDEN) is not None


def _fresh(binding: Binding, kind: ConditionType) -> Condition | None:
    found = conditions.find(binding.status.conditions, kind)
    generation = binding.metadata.generation
    return found if found and found.observed_generation == generation else None


def _waited(binding: Binding, now: datetime) -> timedelta:
    """Return for how long the content is known to be in the member's namespace."""
    synced = _fresh(binding, ConditionType.WORK_SYNCHRONIZED)
    return now - synced.last_transition_time if synced else timedelta(0)


def _condition(binding: Binding, verdict: StepResult, now: datetime) -> Condition:
    # Conditions of new content do not keep the times of those of the old content.
    old = _fresh(binding, verdict.kind)
    new = conditions.make(
        verdict.kind,
        "True" if verdict.status else "False",
        verdict.reason,
        verdict.message,
        generation=binding.metadata.generation,
        now=now,
    )
    if old is None or old.status != new.status:
        return new
    return new.model_copy(update={"last_transition_time": old.last_transition_time})


def _outcomes(last: StepResult, works: Sequence[WorkReport]) -> Outcomes:
    """Return the lists that go with the chain's last condition (contract: placement 6, lists)."""
    if last.kind in (ConditionType.OVERRIDDEN, ConditionType.WORK_SYNCHRONIZED):
        return Outcomes()
    if last.kind == ConditionType.DIFF_REPORTED:
        return Outcomes(diffed=diffed(works) if last.status else ())
    apply_failed = last.kind == ConditionType.APPLIED and not last.waiting
    return Outcomes(
        failed=() if last.status or last.waiting else failed(works),
        drifted=() if last.waiting else drifted(works),
        diffed=diffed(works) if apply_failed else (),
    )


# -- lists of objects that failed, drifted or differ --------------------------------------


def failed(works: Iterable[WorkReport]) -> tuple[FailedResourcePlacement, ...]:
    """Return objects that could not be applied or are not available, in the order of the Works."""
    entries = (
        FailedResourcePlacement(**_identifier(work, manifest), condition=condition)
        for work, manifest in _manifests(works)
        for condition in _failure(manifest)
    )
    return tuple(islice(entries, MAX_LISTED))


def drifted(works: Iterable[WorkReport]) -> tuple[DriftedResourcePlacement, ...]:
    """Return objects that were changed on the member, in KubeFleet's order."""
    entries = (
        DriftedResourcePlacement(
            **_identifier(work, manifest),
            observation_time=details.observation_time,
            target_cluster_observed_generation=details.observed_in_member_cluster_generation,
            first_drifted_observed_time=details.first_drifted_observed_time,
            observed_drifts=details.observed_drifts,
        )
        for work, manifest in _manifests(works)
        if (details := manifest.drift_details)
    )
    return tuple(sorted(entries, key=_position)[:MAX_LISTED])


def diffed(works: Iterable[WorkReport]) -> tuple[DiffedResourcePlacement, ...]:
    """Return objects that differ between hub and member, in KubeFleet's order."""
    entries = (
        DiffedResourcePlacement(
            **_identifier(work, manifest),
            observation_time=details.observation_time,
            target_cluster_observed_generation=details.observed_in_member_cluster_generation,
            first_diffed_observed_time=details.first_diffed_observed_time,
            observed_diffs=details.observed_diffs,
        )
        for work, manifest in _manifests(works)
        if (details := manifest.diff_details)
    )
    return tuple(sorted(entries, key=_position)[:MAX_LISTED])


def _manifests(works: Iterable[WorkReport]) -> Iterator[tuple[WorkReport, ManifestCondition]]:
    for work in works:
        for manifest in work.status.manifest_conditions:
            yield work, manifest


def _failure(manifest: ManifestCondition) -> list[Condition]:
    """Return the first condition that says what is wrong; at most one."""
    found = (
        conditions.find(manifest.conditions, kind)
        for kind in (ConditionType.APPLIED, ConditionType.AVAILABLE)
    )
    return [each for each in found if each and each.status == "False"][:1]


def _identifier(work: WorkReport, manifest: ManifestCondition) -> dict[str, Any]:
    """Return the fields that identify the object, without empty ones."""
    identifier = manifest.identifier
    fields = ("group", "version", "kind", "name", "namespace")
    values: dict[str, Any] = {field: getattr(identifier, field) for field in fields}
    values["envelope"] = work.envelope
    return {field: value for field, value in values.items() if value}


def _position(entry: ResourceIdentifier) -> str:
    place = f"{entry.group}/{entry.version}/{entry.kind}/{entry.namespace}/{entry.name}"
    box = entry.envelope
    return f"{place}/{box.type}/{box.namespace}/{box.name}" if box else place
