"""A run at one moment: what was read about it, its clusters in flight, its situation. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from typing import Final

from api.approvals import BaseApprovalRequest
from api.bindings import Binding
from api.kinds import Kind, Scope
from api.members import MemberCluster
from api.reasons import RunReason, named_as_stuck
from api.runs import UpdateRun
from planning import signatures
from planning.events import REPORTER
from planning.placements.binding_steps import WorkReport
from planning.policies.reporting import Move
from planning.runs import steering
from planning.runs.phases import Progress
from planning.runs.views import ClusterRow, RunView
from planning.writers import Writer, last_writer
from starter import words


@dataclass(frozen=True, slots=True)
class ClusterEvidence:
    """The objects about one cluster."""

    binding: Binding | None = None
    works: tuple[WorkReport, ...] | None = None
    """The desired objects of the member, and what it reports; None if they could not be read."""
    member: MemberCluster | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that was read besides the run itself."""

    clusters: Mapping[str, ClusterEvidence] = field(default_factory=dict)
    """By name; only the few that are shown in detail."""
    steps: tuple[str, ...] = ()
    """Step of each other cluster by its binding, such as `Available is False`; empty if unknown."""
    approvals: Mapping[str, BaseApprovalRequest] = field(default_factory=dict)
    """By name; those that the run waits for."""
    moves: Mapping[str, Move] = field(default_factory=dict)
    """Clusters that left or joined the run, by name, from its report."""
    unread: tuple[str, ...] = ()
    """Plurals of the kinds that the user may not read."""

    def may_read(self, kind: Kind) -> bool:
        """Return whether the user may read objects of the kind."""
        return kind.plural not in self.unread


# -- a run at one moment -------------------------------------------------------------------


PATIENCE: Final = timedelta(seconds=10)
"""A live worker reacts to anything much sooner than this."""


class Attention(IntEnum):
    """Who has to act, most urgent first."""

    PERSON = 0
    WORKER = 1
    """A worker should have acted long ago, so someone has to check the worker."""
    NOBODY = 2

    @property
    def word(self) -> str:
        """The name in JSON and YAML output."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Situation:
    """What a run does or waits for, and who must act."""

    says: tuple[str, ...]
    """Where the run is, in whole sentences."""
    acts: str
    """Who must do what, as a sentence."""
    attention: Attention = Attention.NOBODY
    since: datetime | None = None
    until: datetime | None = None
    """When it continues by itself, if that is known."""
    cause: str = ""
    fix: str = ""
    message: str = ""
    """The text that the run ended with, from its status."""
    commands: tuple[str, ...] = ()


NOBODY_ACTS: Final = "No action is needed."


@dataclass(frozen=True, slots=True)
class Look:
    """A run at one moment, with what was read about it."""

    run: UpdateRun
    view: RunView
    scope: Scope
    evidence: Evidence
    now: datetime

    @property
    def flag(self) -> str:
        """` -n NAMESPACE` for a namespaced run, else empty."""
        return words.namespace_flag(self.view)

    @property
    def place(self) -> str:
        """The current or next stage, such as `stage prod (2 of 3)`."""
        stage = self.view.stage
        if stage is None or stage.deletes:
            return "the stage that removes clusters" if stage else "the last stage"
        number = self.view.stages.index(stage) + 1
        total = sum(not each.deletes for each in self.view.stages)
        return f"stage {stage.name} ({number} of {total})"

    @property
    def done(self) -> str:
        """The number of clusters that are done, as a sentence."""
        verb = "is" if self.view.total == 1 else "are"
        total = words.count(self.view.total, "cluster")
        return f"{self.view.done} of {total} {verb} done{words.set_back(self.view)}."

    @property
    def decided(self) -> datetime | None:
        """The time of the last transition of the deciding condition."""
        return self.view.deciding.last_transition_time if self.view.deciding else None

    @property
    def verdict(self) -> str:
        """The message of the deciding condition."""
        return self.view.deciding.message if self.view.deciding else ""

    @property
    def state_writer(self) -> Writer | None:
        """The field manager that wrote spec.state last."""
        return last_writer(self.run.metadata, "f:spec", "f:state")

    @property
    def by(self) -> str:
        """Who set spec.state, such as ` by jane (window is over)` or ` with kubectl`; or empty."""
        steered = steering.last(self.run.metadata)
        if steered.by:
            return signatures.clause(steered.by, steered.comment)
        writer = self.state_writer
        if writer is None:
            return ""
        # Which role of fleetgate it was does not matter to a person.
        return f" with {REPORTER if writer.name.startswith(REPORTER) else writer.name}"

    def ago(self, moment: datetime | None) -> str:
        """Return how long ago a moment was, or `some time` if it is unknown."""
        return words.age(self.now - moment) if moment else "some time"

    def is_overdue(self, moment: datetime | None) -> bool:
        """Return whether a worker should already have reacted to what happened at a moment."""
        return moment is not None and self.now - moment > PATIENCE


def last_step(run: UpdateRun) -> datetime | None:
    """Return when the run's status last changed, according to its conditions."""
    status = run.status
    found = [status.conditions]
    for stage in status.stages_status:
        tasks = [*stage.before_stage_task_status, *stage.after_stage_task_status]
        found += [stage.conditions, *(each.conditions for each in stage.clusters)]
        found += [each.conditions for each in tasks]
    return max((each.last_transition_time for group in found for each in group), default=None)


# -- clusters in flight, stuck or failed ---------------------------------------------------


_NEVER: Final = datetime.max.replace(tzinfo=UTC)


def stuck_clusters(view: RunView, *, now: datetime) -> list[ClusterRow]:
    """Return the clusters that have been in flight for longer than a cluster may, longest first.

    The run's message names only three of them. The worker's limit is not on the hub, but follows
    from how long the first of those three had been in flight when the run became stuck.
    """
    found = view.deciding
    if found is None or found.reason != RunReason.STUCK:
        return []
    rows, named = clusters_at_work(view), named_as_stuck(found.message)
    begun = [each.started for each in rows if each.name in named and each.started]
    if not begun:
        return [each for each in rows if each.name in named]
    limit = found.last_transition_time - min(begun)
    return [
        each
        for each in rows
        if each.name in named or (each.started and now - each.started >= limit)
    ]


def clusters_at_work(view: RunView) -> list[ClusterRow]:
    """Return the clusters that are being updated or removed, longest first."""
    rows = [
        each
        for stage in view.stages
        for each in stage.clusters
        if each.progress is Progress.UPDATING
    ]
    return sorted(rows, key=lambda each: each.started or _NEVER)


def failed_clusters(view: RunView) -> list[ClusterRow]:
    """Return the clusters that made the run fail."""
    return [
        each for stage in view.stages for each in stage.clusters if each.progress is Progress.FAILED
    ]
