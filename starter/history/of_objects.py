"""A run's history as the objects on the hub record it.

Pure: the run, its approval requests and Kubernetes events in, entries out. Timestamps in objects
are whole seconds; events are kept for about an hour.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from api.approvals import BaseApprovalRequest
from api.base import Condition, ObjectMeta
from api.names import CREATED_BY, ROLLBACK_OF
from api.reasons import SKIPPED, ClusterReason, ConditionType, RunReason
from api.rollout_decisions import BaseRolloutDecision
from api.runs import ClusterStatus, StageStatus, StageTaskStatus, UpdateRun
from planning import conditions, failures
from planning.events import Event
from planning.runs import approval_events
from planning.runs.approval_events import Given
from starter.history.entries import HistoryEntry, What, of_decision, of_event, pause

_WHAT: Final[Mapping[tuple[str, str], What]] = {
    (ConditionType.INITIALIZED, RunReason.INITIALIZED): What.PLANNED,
    (ConditionType.INITIALIZED, RunReason.INITIALIZE_FAILED): What.FAILED,
    (ConditionType.PROGRESSING, RunReason.STUCK): What.STUCK,
    (ConditionType.PROGRESSING, RunReason.PAUSED): What.PAUSED,
    (ConditionType.PROGRESSING, RunReason.STOPPED): What.STOPPED,
    (ConditionType.SUCCEEDED, RunReason.SUCCEEDED): What.SUCCEEDED,
    (ConditionType.SUCCEEDED, RunReason.FAILED): What.FAILED,
    (ConditionType.SUCCEEDED, RunReason.SUPERSEDED): What.FAILED,
}
"""The entry for a condition of the run, by its type and reason."""


@dataclass(frozen=True, slots=True)
class Objects:
    """The objects on the hub for one run."""

    run: UpdateRun
    requests: Mapping[str, BaseApprovalRequest] = field(default_factory=dict)
    """Its existing approval requests, by name."""
    events: tuple[Event, ...] = ()
    """Events on the run."""
    warnings: tuple[Event, ...] = ()
    """Events on its approval requests that say why an approval does not count."""
    decisions: tuple[BaseRolloutDecision, ...] = ()
    """Decisions about the run."""


def entries(objects: Objects) -> list[HistoryEntry]:
    """Return all entries that the objects give, in order of time."""
    from_events = [each for each in map(of_event, objects.events) if each]
    # The status outlives the event for the same change, but the event has the better text.
    in_words = {(each.what, each.stage): each for each in from_events}
    status, used = [], []
    for entry in _of_status(objects):
        event = in_words.get((entry.what, entry.stage))
        status.append(replace(entry, comment=event.comment) if event else entry)
        used += [event] if event else []
    rest = [each for each in from_events if each not in used]
    decided = list(_decided(objects))
    skipped = {each.cluster for each in decided if each.what is What.CLUSTER_SKIPPED}
    # The decision says more than the status that it led to.
    status = [
        each
        for each in status
        if each.what is not What.CLUSTER_SKIPPED or each.cluster not in skipped
    ]
    # Within a second, the status lists changes in the order in which they happened.
    return sorted(
        [*besides(objects), *status, *decided, *rest],
        key=lambda each: each.at.replace(microsecond=0),
    )


def beside(from_events: list[HistoryEntry], objects: Objects) -> list[HistoryEntry]:
    """Add to a workflow's entries what the workflow does not know.

    If Temporal lost an earlier workflow of the run, that includes everything before this one.
    """
    first = min(each.at for each in from_events)
    adopted = any(each.what is What.ADOPTED for each in from_events)
    earlier = [each for each in entries(objects) if adopted and each.at < first]
    # The bridge refuses what need not reach the workflow, such as a decision about an ended run.
    known = {replace(each, at=first, stage="") for each in from_events}
    refused = [
        each
        for each in _decided(objects)
        if each.what is What.DECISION_REFUSED and replace(each, at=first, stage="") not in known
    ]
    return sorted(
        dict.fromkeys([*besides(objects), *earlier, *refused, *from_events]),
        key=lambda entry: entry.at,
    )


def besides(objects: Objects) -> Iterator[HistoryEntry]:
    """Yield what only objects record: the creation, and approvals that do not count."""
    metadata = objects.run.metadata
    if metadata.creation_timestamp:
        of = metadata.annotations.get(ROLLBACK_OF, "")
        yield HistoryEntry(
            metadata.creation_timestamp,
            What.CREATED,
            who=_creator(metadata),
            comment=f"rolls back run {of}" if of else "",
        )
    for event in objects.warnings:
        # Without what to type, which is not history.
        found = approval_events.IGNORED.read(event.message)
        comment = found["why"] if found else event.message
        yield HistoryEntry(event.at, What.APPROVAL_IGNORED, comment=comment)


def _decided(objects: Objects) -> Iterator[HistoryEntry]:
    """Yield the decisions about the run that were answered."""
    stages = {
        cluster.cluster_name: stage.stage_name
        for stage in objects.run.status.stages_status
        for cluster in stage.clusters
    }
    for decision in objects.decisions:
        spec, status = decision.spec, decision.status
        if status.state is None or status.at is None:
            continue
        entry = of_decision(
            status.at,
            spec.decision,
            state=status.state,
            answer=status.message,
            cluster=spec.cluster,
            who=spec.by.username if spec.by else "",
            reason=spec.reason,
        )
        if entry:
            yield replace(entry, stage=stages.get(entry.cluster, ""))


def _creator(metadata: ObjectMeta) -> str:
    """Return the user who created the object, if known, and the tool.

    The tool is the first field manager of placementName, which cannot change after creation.
    """
    managed: list[dict[str, Any]] = (metadata.model_extra or {}).get("managedFields", [])
    owners = [
        (each.get("time", ""), each["manager"])
        for each in managed
        if "f:placementName" in each.get("fieldsV1", {}).get("f:spec", {})
    ]
    _, tool = min(owners, default=("", ""))
    user = metadata.annotations.get(CREATED_BY, "")
    return f"{user} with {tool}".lstrip() if tool else user


# -- the run's status ----------------------------------------------------------------------


def _of_status(objects: Objects) -> Iterator[HistoryEntry]:
    status = objects.run.status
    yield from _of_run(status.conditions, ConditionType.INITIALIZED)
    for stage in status.stages_status:
        yield from _of_stage(stage, objects.requests)
    if status.deletion_stage_status:
        yield from _of_removal(status.deletion_stage_status)
    yield from _of_run(status.conditions, ConditionType.PROGRESSING)
    yield from _of_run(status.conditions, ConditionType.SUCCEEDED)


def _of_run(found: Iterable[Condition], kind: ConditionType) -> Iterator[HistoryEntry]:
    condition = conditions.find(found, kind)
    what = _WHAT.get((kind, condition.reason)) if condition else None
    if condition and what:
        text = failures.reason(condition.message) if what is What.FAILED else ""
        text = pause(condition.message) if what is What.PAUSED else text
        if taken := failures.taken_back(condition.message):
            said = failures.TAKES_BACK.fill(**taken)
            yield HistoryEntry(condition.last_transition_time, What.ROLLED_BACK, comment=said)
        yield HistoryEntry(condition.last_transition_time, what, comment=text)


def _of_stage(
    stage: StageStatus, requests: Mapping[str, BaseApprovalRequest]
) -> Iterator[HistoryEntry]:
    name = stage.stage_name
    for task in stage.before_stage_task_status:
        yield from _of_gate(task, "before", name, requests.get(task.approval_request_name))
    if stage.clusters and stage.start_time:
        yield HistoryEntry(stage.start_time, What.STAGE_STARTED, stage=name)
    for cluster in stage.clusters:
        yield from _of_cluster(cluster, name, What.CLUSTER_STARTED, What.CLUSTER_DONE)
    for task in stage.after_stage_task_status:
        yield from _of_gate(task, "after", name, requests.get(task.approval_request_name))


def _of_removal(stage: StageStatus) -> Iterator[HistoryEntry]:
    if stage.clusters and stage.start_time:
        yield HistoryEntry(stage.start_time, What.STAGE_STARTED, stage=stage.stage_name)
    for cluster in stage.clusters:
        yield from _of_cluster(cluster, "", What.REMOVAL_STARTED, What.REMOVED)


def _of_gate(
    task: StageTaskStatus, side: str, stage: str, request: BaseApprovalRequest | None
) -> Iterator[HistoryEntry]:
    for condition in task.conditions:
        at = condition.last_transition_time
        match condition.type:
            case ConditionType.APPROVAL_REQUEST_CREATED:
                asked = task.approval_request_name
                yield HistoryEntry(at, What.APPROVAL_ASKED, side, stage, comment=asked)
            case ConditionType.APPROVAL_REQUEST_APPROVED:
                given = approval_events.given(request) if request else Given()
                yield HistoryEntry(
                    at, What.APPROVED, side, stage, who=given.who, comment=given.comment
                )
            case ConditionType.WAIT_TIME_ELAPSED:
                yield HistoryEntry(at, What.WAIT_OVER, side, stage)


def _of_cluster(
    cluster: ClusterStatus, stage: str, started: What, done: What
) -> Iterator[HistoryEntry]:
    name = cluster.cluster_name
    for condition in cluster.conditions:
        if condition.reason == ClusterReason.RETRIED:
            continue  # a decision, which has an entry of its own
        at = condition.last_transition_time
        if condition.type == ConditionType.STARTED:
            yield HistoryEntry(at, started, stage=stage, cluster=name)
        elif condition.status == "True":
            yield HistoryEntry(at, done, stage=stage, cluster=name)
        else:
            what = _ENDS.get(condition.reason, What.CLUSTER_LOST)
            said = SKIPPED.read(condition.message) if what is What.CLUSTER_SKIPPED else None
            yield HistoryEntry(
                at,
                what,
                stage=stage,
                cluster=name,
                who=said["by"] if said else "",
                comment=said["comment"] if said else failures.reason(condition.message),
            )


_ENDS: Final[Mapping[str, What]] = {
    ClusterReason.TIMED_OUT: What.CLUSTER_TIMED_OUT,
    ClusterReason.SKIPPED: What.CLUSTER_SKIPPED,
}
"""The entry for a cluster that the run continues without, by the reason of its condition."""
