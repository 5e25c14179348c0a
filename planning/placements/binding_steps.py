"""Steps of a binding's content on the way to its member, judged by its Works.

contract: placement 6 (conditions), 12
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from api import names
from api.applying import ApplyType
from api.base import Condition
from api.bindings import BindingSpec
from api.outcomes import EnvelopeIdentifier, EnvelopeType
from api.reasons import (
    OVERRIDE_FAILED,
    SYNC_FAILED,
    WORK_NOT_APPLIED,
    WORK_NOT_AVAILABLE,
    WORK_NOT_CHECKED,
    WORK_NOT_DIFFED,
    WORK_NOT_TRACKABLE,
    WORK_STILL_APPLYING,
    WORK_STILL_DIFFING,
    BindingMessage,
    BindingReason,
    ConditionType,
    WorkReason,
)
from api.works import WorkStatus
from planning import conditions

Json = dict[str, Any]

IN_PROGRESS_FOR: Final = timedelta(seconds=5)
"""How long a member that has not reported counts as busy; after that it counts as late."""


@dataclass(frozen=True, slots=True)
class WorkReport:
    """Report of one Work on its current content."""

    name: str
    generation: int
    status: WorkStatus
    envelope: EnvelopeIdentifier | None = None
    """The envelope whose content the Work carries; None for objects outside envelopes."""

    @classmethod
    def read(cls, work: Json) -> "WorkReport":
        """Read a Work from its wire form."""
        metadata = work["metadata"]
        status = WorkStatus.from_wire(work.get("status") or {})
        envelope = _envelope(metadata.get("labels", {}))
        return cls(metadata["name"], metadata["generation"], status, envelope)

    def find(self, kind: ConditionType) -> Condition | None:
        """Return a condition if it observes the current content; None otherwise."""
        found = conditions.find(self.status.conditions, kind)
        return found if found and found.observed_generation == self.generation else None


def kept(work: Json) -> Json:
    """Return a Work without its objects and without the entries of objects that are fine.

    To save memory: a Work of 21 KB takes 120 KB as JSON in Python, and 3 KB like this. Its
    annotations still tell which content it carries.
    """
    spec = {name: value for name, value in work.get("spec", {}).items() if name != "workload"}
    status = dict(work.get("status") or {})
    status["manifestConditions"] = [
        each for each in status.get("manifestConditions") or [] if _says_more(each)
    ]
    return work | {"spec": spec, "status": status}


def _says_more(manifest: Json) -> bool:
    """Return whether a Work reports more about an object than that it is fine."""
    if any(manifest.get(name) for name in ("driftDetails", "diffDetails", "backReportedStatus")):
        return True
    return any(each.get("status") != "True" for each in manifest.get("conditions") or [])


_ENVELOPE_TYPES: Final = frozenset(EnvelopeType)


def _envelope(labels: dict[str, str]) -> EnvelopeIdentifier | None:
    kind, name = labels.get(names.ENVELOPE_WORK), labels.get(names.ENVELOPE_NAME)
    if kind not in _ENVELOPE_TYPES or not name:
        return None
    namespace = labels.get(names.ENVELOPE_NAMESPACE)
    placed = {"namespace": namespace} if namespace else {}
    return EnvelopeIdentifier(name=name, type=EnvelopeType(kind), **placed)


@dataclass(frozen=True, slots=True)
class DistributionOutcome:
    """Result of writing a binding's content to its member's namespace on the hub."""

    works: Sequence[WorkReport] = ()
    """Sorted by name."""
    override_error: str = ""
    sync_error: str = ""


@dataclass(frozen=True, slots=True)
class StepResult:
    """One condition to set; the chain continues only after a True one."""

    kind: ConditionType
    status: bool
    reason: BindingReason
    message: str
    waiting: bool = False


def verdicts(
    spec: BindingSpec, outcome: DistributionOutcome, *, waited: timedelta
) -> list[StepResult]:
    """Return the steps in order, up to the first that is not done.

    `waited` is how long the content has been waiting for the member.
    """
    chain = [_overridden(spec, outcome)]
    if chain[-1].status:
        chain.append(_synchronized(outcome))
    if not chain[-1].status:
        return chain
    strategy = spec.apply_strategy
    if strategy and strategy.type == ApplyType.REPORT_DIFF:
        return [*chain, _diff_reported(outcome.works, waited)]
    chain.append(_applied(outcome.works, waited))
    if chain[-1].status:
        chain.append(_available(outcome.works))
    return chain


def _overridden(spec: BindingSpec, outcome: DistributionOutcome) -> StepResult:
    kind = ConditionType.OVERRIDDEN
    if outcome.override_error:
        message = OVERRIDE_FAILED.fill(error=outcome.override_error)
        return StepResult(kind, False, BindingReason.OVERRIDE_FAILED, message)
    if spec.cluster_resource_override_snapshots or spec.resource_override_snapshots:
        return StepResult(kind, True, BindingReason.OVERRIDDEN, BindingMessage.OVERRIDDEN)
    return StepResult(kind, True, BindingReason.NO_OVERRIDE, BindingMessage.NO_OVERRIDE)


def _synchronized(outcome: DistributionOutcome) -> StepResult:
    kind = ConditionType.WORK_SYNCHRONIZED
    if outcome.sync_error:
        message = SYNC_FAILED.fill(error=outcome.sync_error)
        return StepResult(kind, False, BindingReason.SYNC_FAILED, message)
    return StepResult(kind, True, BindingReason.SYNCED, BindingMessage.SYNCED)


def _applied(works: Sequence[WorkReport], waited: timedelta) -> StepResult:
    kind = ConditionType.APPLIED
    negative = _first_not_true(works, kind)
    if negative is None:
        return StepResult(kind, True, BindingReason.APPLIED, BindingMessage.APPLIED)
    name, reported = negative
    if reported:
        return StepResult(
            kind, False, BindingReason.NOT_ALL_APPLIED, WORK_NOT_APPLIED.fill(work=name)
        )
    if waited < IN_PROGRESS_FOR:
        busy = BindingMessage.APPLYING
        return StepResult(kind, False, BindingReason.APPLYING, busy, waiting=True)
    late = WORK_STILL_APPLYING.fill(work=name)
    return StepResult(kind, False, BindingReason.NOT_ALL_APPLIED, late)


def _available(works: Sequence[WorkReport]) -> StepResult:
    kind = ConditionType.AVAILABLE
    negative = _first_not_true(works, kind)
    if negative is not None:
        name, reported = negative
        text = WORK_NOT_AVAILABLE if reported else WORK_NOT_CHECKED
        message = text.fill(work=name)
        return StepResult(kind, False, BindingReason.NOT_ALL_AVAILABLE, message)
    for work in works:
        found = work.find(kind)
        if found and found.reason == WorkReason.NOT_TRACKABLE:
            message = WORK_NOT_TRACKABLE.fill(work=work.name)
            return StepResult(kind, True, BindingReason.NOT_TRACKABLE, message)
    return StepResult(kind, True, BindingReason.AVAILABLE, BindingMessage.AVAILABLE)


def _diff_reported(works: Sequence[WorkReport], waited: timedelta) -> StepResult:
    kind = ConditionType.DIFF_REPORTED
    negative = _first_not_true(works, kind)
    if negative is None:
        return StepResult(kind, True, BindingReason.DIFFED, BindingMessage.DIFFED)
    name, reported = negative
    if reported:
        return StepResult(
            kind, False, BindingReason.NOT_ALL_DIFFED, WORK_NOT_DIFFED.fill(work=name)
        )
    if waited < IN_PROGRESS_FOR:
        busy = BindingMessage.REPORTING_DIFF
        return StepResult(kind, False, BindingReason.REPORTING_DIFF, busy, waiting=True)
    return StepResult(kind, False, BindingReason.NOT_ALL_DIFFED, WORK_STILL_DIFFING.fill(work=name))


def _first_not_true(works: Sequence[WorkReport], kind: ConditionType) -> tuple[str, bool] | None:
    """Return the first Work whose condition is not True, and whether it has reported it at all."""
    for work in works:
        found = work.find(kind)
        if found is None or found.status != "True":
            return work.name, found is not None
    return None
