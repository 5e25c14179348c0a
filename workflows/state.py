"""Parts of a rollout's state, each with the methods that may change it. No waiting here.

What outlives one execution of the workflow is `workflows.messages.Carried`.
"""

import asyncio
from collections.abc import Iterable
from datetime import datetime

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.requests import ClusterUpdated
    from api.rollout_policies import BudgetAction
    from api.rollout_reports import ClusterOutcome, QueuePosition
    from api.runs import RunState
    from planning.events import Event
    from planning.policies.attempts import Attempt
    from planning.policies.budgets import Exceeded, Failures
    from planning.policies.reporting import Move, Setback
    from planning.runs.adopting import Recalled
    from planning.runs.cluster_ends import ClusterEnd
    from planning.runs.gates import Side
    from planning.runs.membership import Leaver
    from planning.runs.run_events import EventState
    from planning.runs.spec_news import Spec, SpecNews
    from planning.runs.steering import Steered


class Intent:
    """What people want the run to do."""

    def __init__(self, state: RunState, asked: Steered, *, generation: int) -> None:
        self.state = state
        """The desired state."""
        self.asked = asked
        """Who asked for it, and why."""
        self.stop_observed = False
        """Whether the run acts on a stop: it starts nothing more."""
        self.specs = SpecNews(Spec(generation, state))
        """The run's spec on the hub, as far as is known."""

    @property
    def may_run(self) -> bool:
        """Whether the desired state is Run and no stop is in effect."""
        return self.state is RunState.RUN and not self.stop_observed

    def want(self, state: RunState, asked: Steered | None = None) -> None:
        """Set the desired state; without `asked`, who asked before remains."""
        self.state = state
        self.asked = asked or self.asked

    def observe_stop(self) -> None:
        """Start nothing more from now on."""
        self.stop_observed = True

    def end_stop(self) -> None:
        """Let new work start again."""
        self.stop_observed = False


class Rechecks:
    """Requests to check whether the run may continue, and what the last check found."""

    def __init__(self, *, requested: int, digest: str) -> None:
        self.requested = requested
        """Number of rechecks requested so far."""
        self.passed = 0
        """Number of the latest requested recheck that found nothing wrong."""
        self.digest = digest
        """Digest of the facts that passed the last check with nothing in flight; empty if a
        cluster has started since."""
        self.lost: list[str] = []
        """Clusters in flight that have to be handed out again if their bindings have changed: at
        the last check these showed no trace of the update, or had a newer policy snapshot."""

    @property
    def all_passed(self) -> bool:
        """True when every known change has been checked."""
        return self.requested == self.passed

    def request(self) -> None:
        """Have the guard check whether the run may still continue."""
        self.requested += 1

    def have_passed(self, number: int) -> None:
        """Record that nothing was wrong when this recheck, the latest by then, was made."""
        self.passed = number

    def note(self, *, digest: str, lost: list[str]) -> None:
        """Record what a check found, for the next one to compare with."""
        self.digest, self.lost = digest, lost

    def forget_facts(self) -> None:
        """Have the next check look at everything."""
        self.digest = ""


class Position:
    """Where the run is: its stage, the gates that are open, the clusters in flight."""

    def __init__(self, recalled: Recalled | None, *, now: datetime) -> None:
        self.recalled = recalled
        """Where an earlier workflow or execution was, whose activities are lost."""
        self.stage = recalled.stage if recalled else 0
        """Index of the current stage."""
        self.open_side: Side | None = None
        """Side of the current stage whose gates are open."""
        self.opened_at = now
        """When the gates of the current stage opened; kept across a stop (contract decision 5)."""
        self.in_flight: dict[str, datetime] = dict(recalled.in_flight if recalled else {})
        """Clusters being updated or removed, each with its start time."""
        self.updating: int | None = None
        """Index of the stage that updates its clusters, and so takes those handed out again."""
        self.stuck: list[str] = []
        """Clusters in flight that take too long, in the stage's order."""
        self.is_full = recalled is not None and recalled.waiting == "after"
        """Whether the current stage takes no more clusters: what follows is about those it has."""
        self.at_once = 0
        """How many clusters of the current stage may be in flight; 0 if that is not decided."""

    def resumes(self, stage: int) -> bool:
        """Return whether an earlier workflow or execution had already started this stage."""
        recalled = self.recalled
        return recalled is not None and recalled.begun and recalled.stage == stage

    def take_up(self, recalled: Recalled) -> None:
        """Continue where a lost workflow was."""
        self.recalled, self.stage = recalled, recalled.stage
        self.in_flight = dict(recalled.in_flight)
        self.is_full = recalled.waiting == "after"

    def enter(self, stage: int) -> None:
        """Make a stage the current one."""
        if stage != self.stage:
            self.is_full, self.at_once = False, 0
        self.stage = stage

    def begin_updates(self) -> None:
        """Record that the current stage updates its clusters."""
        self.updating = self.stage

    def end_updates(self) -> None:
        """Record that all clusters of the current stage are dealt with."""
        self.updating = None

    def limit(self, at_once: int) -> int:
        """Set how many clusters of the stage may be in flight, unless that is decided; return it.

        It stays as it was when the stage began, however many clusters join.
        """
        self.at_once = self.at_once or at_once
        return self.at_once

    def fill(self) -> None:
        """Let no more clusters join the current stage."""
        self.is_full = True

    def open_gates(self, side: Side) -> None:
        """Record that the gates on this side of the current stage are open."""
        self.open_side = side

    def gates_opened_at(self, moment: datetime) -> None:
        """Record when the gates of the current stage opened."""
        self.opened_at = moment

    def close_gates(self) -> None:
        """Record that all gates are passed."""
        self.open_side = None

    def begin(self, cluster: str, now: datetime) -> None:
        """Record that a cluster is being updated or removed."""
        self.in_flight.setdefault(cluster, now)

    def end(self, cluster: str) -> None:
        """Record that a cluster has ended."""
        del self.in_flight[cluster]

    def note_stuck(self, clusters: list[str]) -> None:
        """Record which clusters in flight take too long."""
        self.stuck = clusters


class Setbacks:
    """What happens to clusters that are not simply updated, where a rollout policy applies."""

    def __init__(
        self, attempts: dict[str, Attempt], noted: dict[str, Setback], to_apply: list[str]
    ) -> None:
        self.attempts = dict(attempts)
        """The current attempt at each cluster in flight, unless it is the first."""
        self._ends: dict[str, asyncio.Future[ClusterEnd]] = {}
        """Of each cluster in flight: completed once the run no longer waits for it."""
        self.to_retry: list[str] = []
        """Clusters that the stage which updates its clusters is to hand out once more."""
        self.to_apply = list(to_apply)
        """Clusters whose content is to be applied at once, because another attempt has begun."""
        self.noted = dict(noted)
        """What happened to clusters that were not simply updated, by name."""
        self.changes = 0
        """Number of changes of that so far, for others to notice new ones."""
        self.pending: dict[str, asyncio.Task[ClusterUpdated]] = {}
        """Activities of clusters that the run has given up, which may still end."""

    def attempt(self, cluster: str, *, began: datetime) -> Attempt:
        """Return the current attempt at a cluster that was first handed out then."""
        return self.attempts.get(cluster) or Attempt(began=began)

    def try_again(self, cluster: str, attempt: Attempt) -> None:
        """Record a further attempt at a cluster in flight."""
        self.attempts[cluster] = attempt
        if not attempt.is_ahead:
            self.apply_again(cluster)

    def apply_again(self, cluster: str) -> None:
        """Have the content of a cluster that was handed out before applied at once."""
        self.to_apply.append(cluster)

    def applied_again(self, cluster: str) -> None:
        """Record that the content of a cluster is being applied."""
        self.to_apply.remove(cluster)

    def note(self, cluster: str, setback: Setback) -> None:
        """Record what happened to a cluster, for the run's report."""
        self.noted[cluster] = setback
        self.changes += 1

    def recovered(self, cluster: str, now: datetime) -> None:
        """Record that a cluster is updated, if it had a setback before."""
        if found := self.noted.get(cluster):
            self.note(cluster, found.model_copy(update={"since": now}))

    def recall(self, noted: dict[str, Setback], *, in_flight: Iterable[str]) -> None:
        """Continue with what a lost workflow had noted of clusters, and with its attempts."""
        self.noted = dict(noted)
        self.attempts = {
            cluster: Attempt(number=found.attempts, began=found.since)
            for cluster in in_flight
            if (found := noted.get(cluster)) and found.attempts > 1
        }

    def end_of(self, cluster: str) -> "asyncio.Future[ClusterEnd]":
        """Return what completes once the run no longer waits for a cluster in flight."""
        return self._ends.setdefault(cluster, asyncio.Future())

    def is_given_up(self, cluster: str) -> bool:
        """Return whether the run no longer waits for a cluster in flight."""
        return cluster in self._ends and self._ends[cluster].done()

    def give_up(self, cluster: str, end: ClusterEnd) -> None:
        """Wait no longer for a cluster in flight."""
        if not self.is_given_up(cluster):
            self.end_of(cluster).set_result(end)

    def retry(self, cluster: str) -> None:
        """Have a cluster of the stage that updates its clusters handed out once more."""
        self.to_retry.append(cluster)

    def take_retries(self) -> list[str]:
        """Take the clusters that are to be handed out once more; the caller must do it."""
        taken, self.to_retry = self.to_retry, []
        return taken

    def ended(self, cluster: str) -> Attempt | None:
        """Forget a cluster that is no longer in flight; return its attempt unless the first."""
        self._ends.pop(cluster, None)
        return self.attempts.pop(cluster, None)


class Membership:
    """Clusters that left or joined the run since it was planned, where its policy allows that."""

    def __init__(self, moves: dict[str, Move]) -> None:
        self.moves = dict(moves)
        """What became of them, by name."""
        self.away: dict[str, Leaver] = {}
        """Clusters of the plan that were not clusters of their stage at the last check."""
        self.changes = 0
        """Number of changes of `moves` so far, for others to notice new ones."""

    def recall(self, moves: dict[str, Move]) -> None:
        """Take up what a lost workflow had recorded."""
        self.moves = dict(moves)

    def note(self, cluster: str, move: Move) -> None:
        """Record that a cluster left or joined."""
        self.moves[cluster] = move
        self.changes += 1

    def forget(self, cluster: str) -> None:
        """Drop a cluster that counts like any other again, or is not there any more."""
        if self.moves.pop(cluster, None):
            self.changes += 1

    def has_left(self, cluster: str) -> bool:
        """Return whether a cluster counts as left, even if it is there again."""
        move = self.moves.get(cluster)
        return move is not None and move.outcome is ClusterOutcome.LEFT

    def is_listed(self, cluster: str, *, stage: str) -> bool:
        """Return whether a joiner of this stage is known to be left to the next run."""
        move = self.moves.get(cluster)
        return move is not None and move.stage == stage


class Budget:
    """Whether a failure budget keeps the run from starting more clusters."""

    def __init__(self, accepted: Failures, exceeded: Exceeded | None, *, paused: bool) -> None:
        self.accepted = accepted
        """Failures that a person accepted by continuing the run."""
        self.exceeded = exceeded
        """The budget that is exceeded, or was when the run was paused; None if none is."""
        self.paused = paused
        """Whether a person has to continue the run, whatever becomes of the clusters."""

    @property
    def halts(self) -> bool:
        """Whether the run starts no more clusters."""
        return self.paused or self.exceeded is not None

    @property
    def may_be_accepted(self) -> bool:
        """Whether a person may let the run continue with the failures that there are."""
        exceeded = self.exceeded
        return self.paused or (exceeded is not None and exceeded.action is BudgetAction.PAUSE)

    def note(self, exceeded: Exceeded | None) -> None:
        """Record which budget is exceeded now; a paused run stays so."""
        if exceeded or not self.paused:
            self.exceeded = exceeded

    def recall(self, accepted: Failures, exceeded: Exceeded | None, *, paused: bool) -> None:
        """Continue where a lost workflow was."""
        self.accepted, self.exceeded, self.paused = accepted, exceeded, paused

    def pause(self) -> None:
        """Wait for a person to continue the run."""
        self.paused = True

    def accept_at_most(self, failures: Failures) -> None:
        """Take back what was accepted beyond these failures."""
        self.accepted = self.accepted.at_most(failures)

    def accept(self, failures: Failures) -> None:
        """Let the run continue with the failures that there are."""
        self.accepted, self.exceeded, self.paused = failures, None, False


class Turn:
    """Whether another run of the placement is ahead, or replaces this one."""

    def __init__(self, place: QueuePosition | None, *, superseded_by: str | None) -> None:
        self.place = place
        """Its place among runs that wait for each other; None if it waits for nobody."""
        self.superseded_by = superseded_by or ""
        """The newer run that replaces it; empty if its name is not known."""
        self.superseded = superseded_by is not None
        """Whether a newer run replaces it: it starts nothing more."""
        self.news = 0
        """Number of times that other runs were reported to have changed."""

    def stand_at(self, place: QueuePosition | None) -> None:
        """Record the run's place."""
        self.place = place

    def look_again(self) -> None:
        """Have the run look at the other runs of its placement again."""
        self.news += 1

    def supersede(self, *, by: str) -> None:
        """Record that a newer run replaces this one; the first one counts."""
        self.superseded_by = self.superseded_by or by
        self.superseded = True


class Notices:
    """What people are to read in events, besides what follows from the status."""

    def __init__(self) -> None:
        self.pending_events: list[Event] = []
        self.reported: EventState | None = None
        """The situation that an earlier workflow has already reported."""

    def note(self, event: Event) -> None:
        """Add an event."""
        self.pending_events.append(event)

    def take(self) -> list[Event]:
        """Take all events; the caller must write them."""
        taken, self.pending_events = self.pending_events, []
        return taken

    def reported_by_others(self, situation: EventState) -> None:
        """Record what an earlier workflow has already reported."""
        self.reported = situation

    def take_reported(self) -> EventState | None:
        """Take the situation that an earlier workflow has reported; None if there was none."""
        taken, self.reported = self.reported, None
        return taken
