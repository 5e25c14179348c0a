"""Parts of a rollout's state, each with the methods that may change it. No waiting here.

What outlives one execution of the workflow is `workflows.messages.Carried`.
"""

from datetime import datetime

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from api.runs import RunState
    from planning.events import Event
    from planning.runs.adopting import Recalled
    from planning.runs.gates import Side
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
        """Clusters in flight whose bindings showed no trace of the update at the last check."""

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
        self.stuck: list[str] = []
        """Clusters in flight that take too long, in the stage's order."""

    def resumes(self, stage: int) -> bool:
        """Return whether an earlier workflow or execution had already started this stage."""
        recalled = self.recalled
        return recalled is not None and recalled.begun and recalled.stage == stage

    def take_up(self, recalled: Recalled) -> None:
        """Continue where a lost workflow was."""
        self.recalled, self.stage = recalled, recalled.stage
        self.in_flight = dict(recalled.in_flight)

    def enter(self, stage: int) -> None:
        """Make a stage the current one."""
        self.stage = stage

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
