"""Simulated activities of a run, which use the simulated hub in one step, after some time."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final

from activities.following import REPAIR_EVERY, REPAIR_FIRST
from activities.requests import (
    AcceptApproval,
    AnswerDecision,
    ApplyAgain,
    ApprovalState,
    ClusterUpdated,
    DecisionRead,
    FindSnapshot,
    FollowBindings,
    OpenApproval,
    ReadDecision,
    ReadLine,
    RecordApproval,
    RecordEvents,
    RemoveCluster,
    RollBack,
    RolledBack,
    SetState,
    StateSet,
    StatusWritten,
    Survey,
    Surveyed,
    UpdateCluster,
    WriteReport,
    WriteStatus,
)
from planning import signatures
from planning.errors import RunError, TransientState
from planning.policies import queueing, reporting, rolling_back
from planning.runs import approval_events, approvals, initialization, lifecycle, phases
from planning.runs.facts import SnapshotFacts
from tests.workflows.simulated.activity_attempts import ActivityCode, Attempt
from tests.workflows.simulated.simulated_hub import PLACEMENT, SimulatedHub
from tests.workflows.simulated.timeline import Timeline

SECONDS: Final = 0.02
"""Duration of a request to the hub."""
REST: Final = 0.04
"""Duration of the rest after a status write that asks for one: twice that of the write."""


@dataclass(frozen=True)
class Write:
    """One write of the run's status."""

    paths: list[str]
    """Changed paths; `/status` is the whole status."""
    size: int
    """Approximate size in bytes of JSON."""
    local: bool
    rest: bool
    """Whether a rest was requested afterwards."""


@dataclass
class Fault:
    """An error with which the next attempts of an activity end."""

    attempts: int
    kind: str
    message: str
    final: bool


class SimulatedActivities:
    """All activities of a run, with a record of their calls."""

    def __init__(
        self, hub: SimulatedHub, timeline: Timeline, *, steered: Callable[[], None]
    ) -> None:
        """`steered` is called when the run's spec was changed on the hub."""
        self._hub = hub
        self._timeline = timeline
        self._steered = steered
        self.takes: dict[str, float] = {}
        """Duration in seconds of activities that are slower than the default."""
        self.faults: dict[str, Fault] = {}
        self.refuses_states = ""
        """Why the hub refuses new states of the run; empty if it does not."""
        self.attempts: Counter[str] = Counter()
        """Number of attempts of each activity."""
        self.handed_out: list[str] = []
        """Clusters in the order in which the workflow first handed them out."""
        self.removed: list[str] = []
        """Clusters in the order in which their bindings were first deleted."""
        self.written: dict[str, UpdateCluster] = {}
        """The last request for each cluster whose binding was written."""
        self.applied_again: list[str] = []
        """Clusters in the order in which their content was to be applied once more."""
        self.in_flight: set[str] = set()
        self.most_in_flight = 0
        """Maximum number of clusters that were in flight at once."""
        self.writes: list[Write] = []
        self.most_writes_at_once = 0
        self._open_writes: list[Attempt] = []
        self._clusters: dict[str, Attempt] = {}
        """Attempts that the followers complete, by cluster."""
        self._unwritten: dict[str, Attempt] = {}
        """Attempts that have not written their binding yet, by activity id."""
        self._followers: list[tuple[Attempt, FollowBindings]] = []
        self.begun: Callable[[str], None] = lambda _: None
        """Called with each cluster whose binding is written."""

    def code(self, activity_type: str) -> ActivityCode:
        """Return the code of an activity."""
        return partial(self._do, activity_type)

    def fail(
        self,
        activity_type: str,
        *,
        attempts: int = 1,
        kind: str = "Unavailable",
        message: str = "",
        final: bool = False,
    ) -> None:
        """Make the next attempts of an activity fail."""
        self.faults[activity_type] = Fault(attempts, kind, message, final)

    def forget(self) -> None:
        """Forget what is under way: Temporal no longer knows any activity."""
        self._clusters.clear()
        self._unwritten.clear()
        self._followers.clear()
        self._open_writes.clear()

    def _do(self, activity_type: str, attempt: Attempt) -> None:
        self.attempts[activity_type] += 1
        seconds = self.takes.get(activity_type, SECONDS)
        if activity_type == "write_status":
            self._open_writes = [each for each in self._open_writes if each.is_open] + [attempt]
            self.most_writes_at_once = max(self.most_writes_at_once, len(self._open_writes))
        if activity_type in ("update_cluster", "remove_cluster"):
            self._unwritten[attempt.call.id] = attempt
            if attempt.number == 1:
                self._hand_out(activity_type, attempt)
        fault = self.faults.get(activity_type)
        if fault and fault.attempts > 0:
            fault.attempts -= 1
            end = partial(attempt.fail, fault.kind, fault.message, final=fault.final)
            attempt.after(seconds, end)
        else:
            attempt.after(seconds, partial(getattr(self, f"_{activity_type}"), attempt))

    def _hand_out(self, activity_type: str, attempt: Attempt) -> None:
        if activity_type == "update_cluster":
            request = attempt.request(UpdateCluster)
            cluster = request.cluster
            if request.handed_out is None:
                self.handed_out.append(cluster)
        else:
            cluster = attempt.request(RemoveCluster).cluster
            if cluster not in self.removed:
                self.removed.append(cluster)
        self.in_flight.add(cluster)
        self.most_in_flight = max(self.most_in_flight, len(self.in_flight))

    # -- the plan --------------------------------------------------------------------------

    def _survey(self, attempt: Attempt) -> None:
        request, hub = attempt.request(Survey), self._hub
        if not hub.exists:
            attempt.complete(Surveyed())
            return
        facts = hub.facts
        try:
            if request.settled:
                initialization.check_settled(facts, run=request.run)
        except TransientState as error:
            attempt.fail("TransientState", str(error))
            return
        if facts.digest == request.known:
            attempt.complete(Surveyed(unchanged=True))
            return
        recorded = hub.status if request.recall and hub.body else None
        said = reporting.Remembered()
        if recorded and hub.reports:
            said = reporting.remembered(hub.reports[-1])
        attempt.complete(
            Surveyed(
                facts=facts,
                recorded=recorded,
                remembered=said.model_copy(update={"rules": hub.rules}),
                cluster_takes=hub.cluster_takes,
            )
        )

    def _find_snapshot(self, attempt: Attempt) -> None:
        request = attempt.request(FindSnapshot)
        if request.index not in self._hub.snapshots:
            missing = initialization.snapshot_missing
            error = missing(request.index, placement=request.run.key(PLACEMENT))
            _fail_for_good(attempt, error)
        else:
            name = f"{PLACEMENT}-{request.index}-snapshot"
            overrides = list(self._hub.overrides)
            attempt.complete(SnapshotFacts(index=request.index, name=name, overrides=overrides))

    # -- the run ---------------------------------------------------------------------------

    def _write_status(self, attempt: Attempt) -> None:
        request, hub = attempt.request(WriteStatus), self._hub
        if not hub.exists:
            attempt.complete(StatusWritten(gone=True))
        elif request.resource_version not in ("", str(hub.version)):
            attempt.complete(StatusWritten(generation=hub.generation))
        else:
            hub.patch_status(request.patch)
            paths = [operation["path"] for operation in request.patch]
            size = attempt.call.arguments[0].ByteSize()
            self.writes.append(Write(paths, size, attempt.call.local, request.rest))
            written = StatusWritten(resource_version=str(hub.version), generation=hub.generation)
            attempt.after(REST if request.rest else 0, lambda: attempt.complete(written))

    def _set_state(self, attempt: Attempt) -> None:
        request, hub = attempt.request(SetState), self._hub
        wanted, name = request.state, hub.run.name
        impossible = lifecycle.refusal(hub.spec.state, wanted, run=name, ended=False)
        refused = impossible or self.refuses_states
        if not refused and hub.set_state(wanted):
            self._steered()
        attempt.complete(StateSet(state=hub.spec.state, generation=hub.generation, refused=refused))

    def _record_events(self, attempt: Attempt) -> None:
        self._hub.events += attempt.request(RecordEvents).events
        attempt.complete()

    def _write_report(self, attempt: Attempt) -> None:
        self._hub.reports.append(attempt.request(WriteReport).report)
        attempt.complete()

    def _read_line(self, attempt: Attempt) -> None:
        uid = attempt.request(ReadLine).run.uid
        runs = [each for each in self._hub.runs() if not phases.has_ended(each.status)]
        attempt.complete(queueing.line(runs, uid=uid))

    def _read_decision(self, attempt: Attempt) -> None:
        request = attempt.request(ReadDecision)
        made = self._hub.decisions.get(request.name)
        attempt.complete(DecisionRead(made=made if request.uid == f"uid-{request.name}" else None))

    def _answer_decision(self, attempt: Attempt) -> None:
        request = attempt.request(AnswerDecision)
        self._hub.answers[request.name] = request
        attempt.complete()

    def _roll_back(self, attempt: Attempt) -> None:
        request, hub = attempt.request(RollBack), self._hub
        assert hub.status is not None
        plan = rolling_back.plan(hub.status, request.rules, stage=request.stage, before=hub.before)
        if plan is None:
            attempt.complete(RolledBack(why_not=rolling_back.NOTHING_EARLIER.fill()))
            return
        name = next(iter(rolling_back.names_for(request.run.name)))
        hub.rollbacks.setdefault(name, plan)
        attempt.complete(
            RolledBack(run=name, index=plan.index, clusters=len(plan.clusters), stay=plan.stay)
        )

    # -- approvals -------------------------------------------------------------------------

    def _open_approval(self, attempt: Attempt) -> None:
        request = attempt.request(OpenApproval)
        found = self._hub.open_approval(request.name, request.stage)
        try:
            approvals.check_target(found, run=request.run, name=request.name, stage=request.stage)
        except RunError as error:
            _fail_for_good(attempt, error)
            return
        attempt.complete(ApprovalState(approved=approvals.approved(found)))

    def _record_approval(self, attempt: Attempt) -> None:
        request = attempt.request(RecordApproval)
        found = self._hub.approvals.get(request.name)
        if found is None:
            attempt.complete(ApprovalState(exists=False))
            return
        if not approvals.approved(found):
            by, now = signatures.of_temporal(request.by), self._timeline.now
            given = approvals.approval(found, by=by, comment=request.comment, now=now)
            found.status.conditions.append(given)
        attempt.complete(ApprovalState(approved=True))

    def _accept_approval(self, attempt: Attempt) -> None:
        found = self._hub.approvals.get(attempt.request(AcceptApproval).name)
        if found is None:
            attempt.complete(ApprovalState(exists=False))
        elif not approvals.approved(found):
            attempt.complete(ApprovalState())
        else:
            accepted = approvals.acceptance(found, now=self._timeline.now)
            found.status.conditions.append(accepted)
            attempt.complete(ApprovalState(approved=True, given=approval_events.given(found)))

    # -- clusters --------------------------------------------------------------------------

    def _update_cluster(self, attempt: Attempt) -> None:
        request = attempt.request(UpdateCluster)
        cluster = request.cluster
        self.written[cluster] = request
        if cluster not in self._hub.bindings:
            del self._unwritten[attempt.call.id]
            attempt.complete(ClusterUpdated(gone=True))
            return
        if request.notes_before:
            self._hub.before.setdefault(cluster, self._hub.had.get(cluster, ""))
        self._leave_open(attempt, cluster)

    def _apply_again(self, attempt: Attempt) -> None:
        self.applied_again.append(attempt.request(ApplyAgain).cluster)
        attempt.complete()

    def _remove_cluster(self, attempt: Attempt) -> None:
        cluster = attempt.request(RemoveCluster).cluster
        self._hub.begin_removal(cluster)
        self._leave_open(attempt, cluster)

    def _leave_open(self, attempt: Attempt, cluster: str) -> None:
        """Leave the activity to be completed by the follower."""
        attempt.detach()
        del self._unwritten[attempt.call.id]
        self._clusters[cluster] = attempt
        self.begun(cluster)
        self.notice(cluster)

    def _follow_bindings(self, attempt: Attempt) -> None:
        request = attempt.request(FollowBindings)
        self._followers = [each for each in self._followers if each[0].is_open]
        self._followers.append((attempt, request))
        for cluster in list(self._clusters):
            self.notice(cluster)
        self._plan_repair(attempt, REPAIR_FIRST if attempt.number > 1 else REPAIR_EVERY)

    def _plan_repair(self, follower: Attempt, pause: timedelta) -> None:
        follower.after(pause.total_seconds(), partial(self._repair, follower))

    def _repair(self, follower: Attempt) -> None:
        """Fail attempts whose worker died before it wrote the binding, so that they are retried."""
        for attempt in list(self._unwritten.values()):
            attempt.fail_lost()
        if self._unwritten:
            self._plan_repair(follower, REPAIR_EVERY)

    def notice(self, cluster: str) -> None:
        """Have the followers of a cluster's binding check it."""
        found = self._news(cluster)
        if found is None:
            return
        self.in_flight.discard(cluster)
        followed = any(
            each.is_open and cluster in asked.clusters for each, asked in self._followers
        )
        attempt = self._clusters.pop(cluster, None) if followed else None
        if attempt:
            attempt.after(SECONDS, partial(attempt.complete, found))

    def _news(self, cluster: str) -> ClusterUpdated | None:
        hub, attempt = self._hub, self._clusters.get(cluster)
        if cluster in hub.taken and attempt:
            return ClusterUpdated(preempted=True)
        gone = cluster not in hub.bindings
        if cluster in hub.done or (gone and cluster in self.removed):
            return ClusterUpdated()
        return ClusterUpdated(gone=True) if gone else None


def _fail_for_good(attempt: Attempt, error: Exception) -> None:
    attempt.fail(type(error).__name__, str(error), final=True)
