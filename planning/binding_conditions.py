"""What a binding says of its content on the member, from what its Works say.

contract: placement 6 (conditions, lists), 12
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from api.applying import ApplyType
from api.base import Condition
from api.bindings import Binding
from api.reasons import (
    BindingMessage,
    BindingReason,
    ConditionType,
    WorkReason,
    override_failed,
    sync_failed,
    work_not_applied,
    work_not_available,
    work_not_checked,
    work_not_diffed,
    work_not_trackable,
    work_still_applying,
    work_still_diffing,
)
from api.works import WorkStatus
from planning import conditions
from planning.binding_outcomes import Outcomes, diffed, drifted, failed

Json = dict[str, Any]

IN_PROGRESS_FOR: Final = timedelta(seconds=5)
"""So long a member that says nothing counts as busy, then as one that has not done its part."""


@dataclass(frozen=True, slots=True)
class WorkReport:
    """What one Work says for its present content."""

    name: str
    generation: int
    status: WorkStatus

    @classmethod
    def read(cls, work: Json) -> "WorkReport":
        """Read a Work from its wire form."""
        metadata = work["metadata"]
        status = WorkStatus.from_wire(work.get("status") or {})
        return cls(metadata["name"], metadata["generation"], status)

    def find(self, kind: ConditionType) -> Condition | None:
        """A condition, if it speaks of the present content."""
        found = conditions.find(self.status.conditions, kind)
        return found if found and found.observed_generation == self.generation else None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of bringing a binding's content to its member's namespace on the hub."""

    works: Sequence[WorkReport] = ()
    """Sorted by name."""
    override_error: str = ""
    sync_error: str = ""


@dataclass(frozen=True, slots=True)
class BindingReport:
    """The part of a binding's status that follows from its Works."""

    conditions: tuple[Condition, ...]
    outcomes: Outcomes
    pending: bool
    """The member has its part still before it: the content is there, but not yet available."""
    waiting: bool
    """The member has said nothing yet, and that may still change what is said of it."""

    def to_wire(self) -> Json:
        """The status to apply, without what others own of it."""
        lists = {name: value for name, value in self.outcomes.to_wire().items() if value}
        return {"conditions": [each.to_wire() for each in self.conditions], **lists}

    def says(self, binding: Binding) -> bool:
        """Whether the binding's status says all this already."""
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


@dataclass(frozen=True, slots=True)
class _Verdict:
    """One condition to be; the chain goes on only after a True one."""

    kind: ConditionType
    status: bool
    reason: BindingReason
    message: str
    waiting: bool = False


def report(binding: Binding, outcome: Outcome, *, now: datetime) -> BindingReport:
    """Judge a binding by its Works; conditions speak of the binding's current generation."""
    chain = _chain(binding, outcome, waited=_waited(binding, now))
    last = chain[-1]
    return BindingReport(
        conditions=tuple(_condition(binding, each, now) for each in chain),
        outcomes=_outcomes(last, outcome.works),
        pending=not last.status and last.kind in _BY_MEMBER,
        waiting=last.waiting,
    )


def is_announced(binding: Binding) -> bool:
    """Whether a rollout says of the current content that it may, or may not, go out.

    contract: placement 6 (a Bound binding is processed once RolloutStarted is fresh)
    """
    found = _fresh(binding, ConditionType.ROLLOUT_STARTED)
    return found is not None and found.status in ("True", "False")


def is_reported(binding: Binding) -> bool:
    """Whether the status says something of the current content already."""
    return _fresh(binding, ConditionType.OVERRIDDEN) is not None


def _fresh(binding: Binding, kind: ConditionType) -> Condition | None:
    found = conditions.find(binding.status.conditions, kind)
    generation = binding.metadata.generation
    return found if found and found.observed_generation == generation else None


def _waited(binding: Binding, now: datetime) -> timedelta:
    """How long it is known that the content stands in the member's namespace."""
    synced = _fresh(binding, ConditionType.WORK_SYNCHRONIZED)
    return now - synced.last_transition_time if synced else timedelta(0)


def _condition(binding: Binding, verdict: _Verdict, now: datetime) -> Condition:
    # New content is a new beginning: its conditions do not keep the times of the old ones.
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


def _chain(binding: Binding, outcome: Outcome, *, waited: timedelta) -> list[_Verdict]:
    chain = [_overridden(binding, outcome)]
    if chain[-1].status:
        chain.append(_synchronized(outcome))
    if not chain[-1].status:
        return chain
    strategy = binding.spec.apply_strategy
    if strategy and strategy.type == ApplyType.REPORT_DIFF:
        return [*chain, _diff_reported(outcome.works, waited)]
    chain.append(_applied(outcome.works, waited))
    if chain[-1].status:
        chain.append(_available(outcome.works))
    return chain


def _overridden(binding: Binding, outcome: Outcome) -> _Verdict:
    kind = ConditionType.OVERRIDDEN
    if outcome.override_error:
        message = override_failed(outcome.override_error)
        return _Verdict(kind, False, BindingReason.OVERRIDE_FAILED, message)
    spec = binding.spec
    if spec.cluster_resource_override_snapshots or spec.resource_override_snapshots:
        return _Verdict(kind, True, BindingReason.OVERRIDDEN, BindingMessage.OVERRIDDEN)
    return _Verdict(kind, True, BindingReason.NO_OVERRIDE, BindingMessage.NO_OVERRIDE)


def _synchronized(outcome: Outcome) -> _Verdict:
    kind = ConditionType.WORK_SYNCHRONIZED
    if outcome.sync_error:
        return _Verdict(kind, False, BindingReason.SYNC_FAILED, sync_failed(outcome.sync_error))
    return _Verdict(kind, True, BindingReason.SYNCED, BindingMessage.SYNCED)


def _applied(works: Sequence[WorkReport], waited: timedelta) -> _Verdict:
    kind = ConditionType.APPLIED
    negative = _first_not_true(works, kind)
    if negative is None:
        return _Verdict(kind, True, BindingReason.APPLIED, BindingMessage.APPLIED)
    name, reported = negative
    if reported:
        return _Verdict(kind, False, BindingReason.NOT_ALL_APPLIED, work_not_applied(name))
    if waited < IN_PROGRESS_FOR:
        busy = BindingMessage.APPLYING
        return _Verdict(kind, False, BindingReason.APPLYING, busy, waiting=True)
    late = work_still_applying(name)
    return _Verdict(kind, False, BindingReason.NOT_ALL_APPLIED, late)


def _available(works: Sequence[WorkReport]) -> _Verdict:
    kind = ConditionType.AVAILABLE
    negative = _first_not_true(works, kind)
    if negative is not None:
        name, reported = negative
        message = work_not_available(name) if reported else work_not_checked(name)
        return _Verdict(kind, False, BindingReason.NOT_ALL_AVAILABLE, message)
    for work in works:
        found = work.find(kind)
        if found and found.reason == WorkReason.NOT_TRACKABLE:
            message = work_not_trackable(work.name)
            return _Verdict(kind, True, BindingReason.NOT_TRACKABLE, message)
    return _Verdict(kind, True, BindingReason.AVAILABLE, BindingMessage.AVAILABLE)


def _diff_reported(works: Sequence[WorkReport], waited: timedelta) -> _Verdict:
    kind = ConditionType.DIFF_REPORTED
    negative = _first_not_true(works, kind)
    if negative is None:
        return _Verdict(kind, True, BindingReason.DIFFED, BindingMessage.DIFFED)
    name, reported = negative
    if reported:
        return _Verdict(kind, False, BindingReason.NOT_ALL_DIFFED, work_not_diffed(name))
    if waited < IN_PROGRESS_FOR:
        busy = BindingMessage.REPORTING_DIFF
        return _Verdict(kind, False, BindingReason.REPORTING_DIFF, busy, waiting=True)
    return _Verdict(kind, False, BindingReason.NOT_ALL_DIFFED, work_still_diffing(name))


def _first_not_true(works: Sequence[WorkReport], kind: ConditionType) -> tuple[str, bool] | None:
    """Name of the first Work without the condition, and whether it says so itself."""
    for work in works:
        found = work.find(kind)
        if found is None or found.status != "True":
            return work.name, found is not None
    return None


def _outcomes(last: _Verdict, works: Sequence[WorkReport]) -> Outcomes:
    """The lists that go with the last condition of the chain (contract: placement 6, lists)."""
    if last.kind in (ConditionType.OVERRIDDEN, ConditionType.WORK_SYNCHRONIZED):
        return Outcomes()
    statuses = [work.status for work in works]
    if last.kind == ConditionType.DIFF_REPORTED:
        return Outcomes(diffed=diffed(statuses) if last.status else ())
    apply_failed = last.kind == ConditionType.APPLIED and not last.waiting
    return Outcomes(
        failed=() if last.status or last.waiting else failed(statuses),
        drifted=() if last.waiting else drifted(statuses),
        diffed=diffed(statuses) if apply_failed else (),
    )
