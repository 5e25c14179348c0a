"""A run's history as its workflow records it.

Pure: Temporal's events in, entries out. The Kubernetes events of the run are inputs of the activity
that writes them, and each cluster is one activity; the rest are messages and gates.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final, TypeVar

from pydantic import BaseModel
from temporalio.api.common.v1 import Payloads
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.converter import PayloadConverter

from activities import stubs
from activities.requests import (
    AcceptApproval,
    ActivityMessage,
    AnswerDecision,
    ApprovalState,
    ClusterUpdated,
    OpenApproval,
    RecordApproval,
    RecordEvents,
    StateSet,
    WriteReport,
)
from api.rollout_decisions import DecisionState
from api.rollout_reports import ClusterOutcome, ClusterReport
from planning import failures, signatures
from planning.runs.approval_events import Given
from planning.runs.gates import WAIT_TIMER
from starter.history.entries import HistoryEntry, What, of_decision, of_event, of_report
from workflows.messages import Approve, ChangeState, Decide, RunOutcome
from workflows.update_run import DELETED

ModelT = TypeVar("ModelT", bound=BaseModel)

ON_THE_OBJECT: Final = "spec.state was set on the object"
GONE: Final = "Gone"
"""Outcome reason of a run whose object turned out to be deleted."""
_ASKED: Final[Mapping[str, What]] = {"resume": What.ASKED_TO_RUN, "pause": What.ASKED_TO_STOP}


class Place(ActivityMessage):
    """The part of a cluster activity's input that says where it works."""

    cluster: str
    stage: str = ""
    """Empty for a removal."""


def entries(events: Iterable[HistoryEvent], converter: PayloadConverter) -> list[HistoryEntry]:
    """Return what happened, in order of time.

    `events` are those of all executions of a workflow, oldest first.
    """
    reader = _Reader(converter)
    for event in events:
        reader.read(event)
    return reader.entries()


class _Reader:
    """Reads one event after the other, and remembers what later events refer to."""

    def __init__(self, converter: PayloadConverter) -> None:
        self._converter = converter
        self._found: list[HistoryEntry] = []
        self._scheduled: dict[int, tuple[str, Payloads]] = {}
        """Type and input of scheduled activities, by the id of the event that later ones name."""
        self._now = datetime.min.replace(tzinfo=UTC)
        """The workflow's current time: when its last workflow task started."""
        self._waits: dict[int, HistoryEntry] = {}
        self._gates = RequestedApprovals()
        self._observed: dict[int, HistoryEntry] = {}
        """Requests found in the object's spec, by its generation."""
        self._carried: set[tuple[str, ...]] = set()
        """Entries that earlier executions of the workflow have given."""
        self._answered: set[str] = set()
        """Decisions that were answered, by uid."""
        self._set_back: dict[str, ClusterReport] = {}
        """What the run's report last said about clusters, by name."""
        self._stages: dict[str, str] = {}
        """Stages of clusters, by name."""
        self._decisions: dict[int, HistoryEntry] = {}
        """Decisions made in Temporal alone that are being carried out, by the id of the event that
        later ones name."""
        self._own: set[int] = set()
        """Generations that the workflow wrote itself after a message."""

    def entries(self) -> list[HistoryEntry]:
        """Return all entries, in order of time.

        A request by message that the workflow then wrote to the object is reported once.
        """
        observed = [each for number, each in self._observed.items() if number not in self._own]
        found = sorted([*self._found, *observed], key=lambda entry: entry.at)
        if any(each.what is What.ROLLED_BACK for each in found):
            # The last look at a failed cluster may find that its rollback has it already.
            found = [each for each in found if each.what is not What.CLUSTER_LOST]
        # A decision does not name the stage of its cluster.
        return [replace(each, stage=self._stage_of(each)) for each in found]

    def read(self, event: HistoryEvent) -> None:
        """Read one event; most do not matter to a person."""
        reading = _READINGS.get(event.event_type)
        if reading:
            reading(self, event, event.event_time.ToDatetime(tzinfo=UTC))

    # -- from start to end -----------------------------------------------------------------

    def workflow_started(self, event: HistoryEvent, at: datetime) -> None:
        if event.workflow_execution_started_event_attributes.continued_execution_run_id:
            # Continued as new: what was in progress is started again, and reported only once.
            self._scheduled, self._waits = {}, {}
            self._carried = {_once(each) for each in self._found}
            return
        self._add(at, What.TAKEN_UP, comment=self._summary(event))

    def cancel_requested(self, event: HistoryEvent, at: datetime) -> None:
        found = event.workflow_execution_cancel_requested_event_attributes
        if found.cause == DELETED:
            self._add(at, What.DELETED)
        else:
            self._add(at, What.CANCELLED, who=found.identity, comment=found.cause)

    def terminated(self, event: HistoryEvent, at: datetime) -> None:
        found = event.workflow_execution_terminated_event_attributes
        self._add(at, What.TERMINATED, who=found.identity, comment=found.reason)

    def workflow_failed(self, event: HistoryEvent, at: datetime) -> None:
        found = event.workflow_execution_failed_event_attributes
        self._add(at, What.FAILED, comment=found.failure.message)

    def workflow_completed(self, event: HistoryEvent, at: datetime) -> None:
        found = event.workflow_execution_completed_event_attributes
        outcome = self._decode(found.result, RunOutcome)
        # Any other outcome is reported by a Kubernetes event.
        if outcome and outcome.reason == GONE:
            self._add(at, What.DELETED, comment=outcome.message)

    # -- messages --------------------------------------------------------------------------

    def signaled(self, event: HistoryEvent, at: datetime) -> None:
        found = event.workflow_execution_signaled_event_attributes
        self._message(found.signal_name, found.input, found.identity, at)

    def task_started(self, _: HistoryEvent, at: datetime) -> None:
        self._now = at

    def update_accepted(self, event: HistoryEvent, _: datetime) -> None:
        # Not the event's own time: it may be later than that of what the workflow did in response.
        asked = event.workflow_execution_update_accepted_event_attributes.accepted_request
        if asked.input.name == "decide":
            self._decide(event.event_id, asked.input.args, asked.meta.identity)
        else:
            self._message(asked.input.name, asked.input.args, asked.meta.identity, self._now)

    def update_completed(self, event: HistoryEvent, _: datetime) -> None:
        found = event.workflow_execution_update_completed_event_attributes
        entry = self._decisions.pop(found.accepted_event_id, None)
        if entry and found.outcome.HasField("success"):
            self._found.append(entry)

    def _decide(self, accepted: int, payloads: Payloads, identity: str) -> None:
        """Note a decision that was made in Temporal alone; it may still be refused."""
        made = self._decode(payloads, Decide) or Decide()
        entry = of_decision(
            self._now,
            made.decision,
            state=DecisionState.COUNTED,
            answer="",
            cluster=made.cluster,
            who=signatures.of_temporal(made.by) if made.by else identity,
            reason=made.reason,
        )
        if entry:
            self._decisions[accepted] = entry

    def _message(self, name: str, payloads: Payloads, identity: str, at: datetime) -> None:
        if name == "approve":
            approval = self._decode(payloads, Approve) or Approve()
            if approval.on_object:
                self._gates.notice(approval, at)
        elif what := _ASKED.get(name):
            wish = self._decode(payloads, ChangeState) or ChangeState()
            self._wish(wish, what, identity, at)

    def _wish(self, wish: ChangeState, what: What, identity: str, at: datetime) -> None:
        if wish.generation is None:
            who = signatures.of_temporal(wish.by) if wish.by else identity
            self._add(at, what, who=who, comment=wish.comment)
        else:
            noted = HistoryEntry(at, what, who=wish.by, comment=wish.comment or ON_THE_OBJECT)
            self._observed.setdefault(wish.generation, noted)

    # -- activities and timers -------------------------------------------------------------

    def activity_scheduled(self, event: HistoryEvent, at: datetime) -> None:
        found = event.activity_task_scheduled_event_attributes
        name, given = found.activity_type.name, found.input
        self._scheduled[event.event_id] = (name, given)
        match name:
            case stubs.UPDATE_CLUSTER.name:
                self._cluster(What.CLUSTER_STARTED, given, at)
            case stubs.REMOVE_CLUSTER.name:
                self._cluster(What.REMOVAL_STARTED, given, at)
            case stubs.OPEN_APPROVAL.name if request := self._decode(given, OpenApproval):
                self._append(self._gates.ask(request, at))
            case stubs.RECORD_APPROVAL.name if message := self._decode(given, RecordApproval):
                self._gates.record(message, at)
            case stubs.ANSWER_DECISION.name if answer := self._decode(given, AnswerDecision):
                self._answer(answer)
            case stubs.WRITE_REPORT.name if written := self._decode(given, WriteReport):
                self._report(written)
            case stubs.RECORD_EVENTS.name if noted := self._decode(given, RecordEvents):
                self._events(noted)

    def activity_completed(self, event: HistoryEvent, at: datetime) -> None:
        found = event.activity_task_completed_event_attributes
        name, given = self._scheduled.pop(found.scheduled_event_id, ("", Payloads()))
        match name:
            case stubs.UPDATE_CLUSTER.name:
                self._updated(found.result, given, at)
            case stubs.REMOVE_CLUSTER.name:
                self._cluster(What.REMOVED, given, at)
            case stubs.SET_STATE.name if written := self._decode(found.result, StateSet):
                self._own.add(written.generation)
            case stubs.ACCEPT_APPROVAL.name:
                self._accepted(given, found.result, at)

    def activity_failed(self, event: HistoryEvent, at: datetime) -> None:
        found = event.activity_task_failed_event_attributes
        name, given = self._scheduled.pop(found.scheduled_event_id, ("", Payloads()))
        if name in {stubs.UPDATE_CLUSTER.name, stubs.REMOVE_CLUSTER.name}:
            text = failures.reason(found.failure.message)
            self._cluster(What.CLUSTER_FAILED, given, at, comment=text)

    def timer_started(self, event: HistoryEvent, at: datetime) -> None:
        if wait := WAIT_TIMER.read(self._summary(event)):
            entry = HistoryEntry(
                at, What.WAIT_STARTED, "after", wait["stage"], comment=wait["length"]
            )
            self._waits[event.event_id] = entry
            self._append(entry)

    def timer_fired(self, event: HistoryEvent, at: datetime) -> None:
        started = event.timer_fired_event_attributes.started_event_id
        if wait := self._waits.pop(started, None):
            self._found.append(replace(wait, at=at, what=What.WAIT_OVER))

    def _cluster(self, what: What, given: Payloads, at: datetime, *, comment: str = "") -> None:
        if place := self._decode(given, Place):
            self._stages[place.cluster] = place.stage
            self._append(HistoryEntry(at, what, "", place.stage, place.cluster, comment=comment))

    def _updated(self, result: Payloads, given: Payloads, at: datetime) -> None:
        updated = self._decode(result, ClusterUpdated) or ClusterUpdated()
        if updated.done:
            place = self._decode(given, Place)
            before = self._set_back.get(place.cluster) if place else None
            failed = before is not None and before.outcome is ClusterOutcome.FAILED
            what = What.CLUSTER_RECOVERED if failed else What.CLUSTER_DONE
            self._cluster(what, given, at)
        else:
            how = "changed by someone else" if updated.preempted else "replaced"
            self._cluster(What.CLUSTER_LOST, given, at, comment=f"its binding was {how}")

    def _accepted(self, given: Payloads, result: Payloads, at: datetime) -> None:
        request = self._decode(given, AcceptApproval)
        answer = self._decode(result, ApprovalState)
        if request and answer and answer.approved:
            entry = self._gates.accept(request.name, answer.given, at)
            self._found += [entry] if entry else []

    def _answer(self, answer: AnswerDecision) -> None:
        if answer.uid in self._answered:
            return
        self._answered.add(answer.uid)
        entry = of_decision(
            self._now,
            answer.made.decision,
            state=answer.state,
            answer=answer.message,
            cluster=answer.made.cluster,
            who=answer.made.by,
            reason=answer.made.reason,
        )
        self._found += [entry] if entry else []

    def _report(self, written: WriteReport) -> None:
        """Add what the policy did to clusters; decisions and updates have entries of their own."""
        for cluster in written.report.clusters:
            before, self._set_back[cluster.name] = self._set_back.get(cluster.name), cluster
            self._stages.setdefault(cluster.name, cluster.stage)
            known = (before.outcome, before.attempt) if before else None
            if known == (cluster.outcome, cluster.attempt):
                continue
            entry = of_report(cluster, self._now)
            self._found += [entry] if entry else []

    def _stage_of(self, entry: HistoryEntry) -> str:
        return entry.stage or self._stages.get(entry.cluster, "")

    def _events(self, noted: RecordEvents) -> None:
        # A resume is reported by the message that asked for it.
        found = map(of_event, noted.events)
        self._found += [each for each in found if each and each.what is not What.RESUMED]

    # -- small steps -----------------------------------------------------------------------

    def _append(self, entry: HistoryEntry) -> None:
        """Add an entry unless an earlier execution of the workflow has given it already."""
        if _once(entry) not in self._carried:
            self._found.append(entry)

    def _add(self, at: datetime, what: What, *, who: str = "", comment: str = "") -> None:
        self._found.append(HistoryEntry(at, what, who=who, comment=comment))

    def _decode(self, payloads: Payloads, model: type[ModelT]) -> ModelT | None:
        """Decode the only argument or result; None if it is missing or of another version."""
        if not payloads.payloads:
            return None
        try:
            decoded: ModelT = self._converter.from_payload(payloads.payloads[0], model)
        except ValueError:
            return None
        return decoded

    def _summary(self, event: HistoryEvent) -> str:
        if not event.user_metadata.HasField("summary"):
            return ""
        summary: str = self._converter.from_payload(event.user_metadata.summary, str)
        return summary


def _once(entry: HistoryEntry) -> tuple[str, ...]:
    return (entry.what, entry.side, entry.stage, entry.cluster)


_Reading = Callable[[_Reader, HistoryEvent, datetime], None]
_READINGS: Final[Mapping[int, _Reading]] = {
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED: _Reader.workflow_started,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED: _Reader.signaled,
    EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED: _Reader.task_started,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED: _Reader.update_accepted,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED: _Reader.update_completed,
    EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED: _Reader.activity_scheduled,
    EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED: _Reader.activity_completed,
    EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED: _Reader.activity_failed,
    EventType.EVENT_TYPE_TIMER_STARTED: _Reader.timer_started,
    EventType.EVENT_TYPE_TIMER_FIRED: _Reader.timer_fired,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED: _Reader.cancel_requested,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED: _Reader.terminated,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED: _Reader.workflow_failed,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED: _Reader.workflow_completed,
}


# -- who opened a gate ---------------------------------------------------------------------


_SIDES = {"beforeStage": "before", "afterStage": "after"}


@dataclass(slots=True)
class RequestedApproval:
    """An approval that was requested."""

    stage: str
    side: str
    first: datetime | None = None
    """When it was first given."""
    message: RecordApproval | None = None
    """The message that gave it; None if it was written to the approval request."""

    def give(self, at: datetime, message: RecordApproval | None = None) -> None:
        """Note an approval; only the first one counts."""
        if self.first is None:
            self.first, self.message = at, message


class RequestedApprovals:
    """The approval gates of a run, by the name of the approval request.

    The first person to approve after the approval was requested opened the gate. An approval
    arrives as a message that the workflow records on the approval request, or as a signal that the
    request already has one.
    """

    def __init__(self) -> None:
        self._gates: dict[str, RequestedApproval] = {}

    def ask(self, request: OpenApproval, at: datetime) -> HistoryEntry:
        """Note a request for an approval; it comes again if the request object was deleted."""
        gate = RequestedApproval(stage=request.stage, side=_SIDES.get(request.task_type, ""))
        self._gates[request.name] = gate
        return HistoryEntry(at, What.APPROVAL_ASKED, gate.side, gate.stage, comment=request.name)

    def record(self, message: RecordApproval, at: datetime) -> None:
        """Note an approval that was sent to the workflow as a message."""
        if gate := self._gates.get(message.name):
            gate.give(at, message)

    def notice(self, message: Approve, at: datetime) -> None:
        """Note that an approval request carries an approval, perhaps from an earlier message."""
        for gate in self._gates.values():
            if gate.stage == message.stage and message.side in (None, gate.side):
                gate.give(at)

    def accept(self, request: str, given: Given, at: datetime) -> HistoryEntry | None:
        """Return the entry for an approval that the run accepted; None for an unknown request."""
        gate = self._gates.get(request)
        if gate is None:
            return None
        who, comment = given.who, given.comment
        if gate.message and not given.message:
            who, comment = signatures.of_temporal(gate.message.by), gate.message.comment
        when = gate.first or at
        return HistoryEntry(when, What.APPROVED, gate.side, gate.stage, who=who, comment=comment)
