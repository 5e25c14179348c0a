"""A run as of one moment, and what a person has to know of it first. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Final

from api.kinds import Scope
from api.runs import UpdateRun
from planning import signatures
from planning.events import REPORTER
from planning.runs import steering
from planning.writers import Writer, last_writer
from starter import words
from starter.explain.evidence import Evidence
from starter.views import RunView

PATIENCE: Final = timedelta(seconds=10)
"""A worker that is alive takes note of anything much sooner."""


class Attention(IntEnum):
    """Who has to do something, the most urgent first."""

    PERSON = 0
    WORKER = 1
    """A worker should have done it long ago, and somebody has to see to the worker."""
    NOBODY = 2

    @property
    def word(self) -> str:
        """The same as data."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Situation:
    """What a run does or waits for, and who must act."""

    says: tuple[str, ...]
    """Where it is, in whole sentences."""
    acts: str
    """Who must do what, in a sentence."""
    attention: Attention = Attention.NOBODY
    since: datetime | None = None
    until: datetime | None = None
    """When it goes on by itself, if that is known."""
    cause: str = ""
    cure: str = ""
    message: str = ""
    """The text that the run ended with, as it stands in the object."""
    commands: tuple[str, ...] = ()


NOBODY_ACTS: Final = "Nobody has to act."


@dataclass(frozen=True, slots=True)
class Look:
    """A run as of one moment."""

    run: UpdateRun
    view: RunView
    scope: Scope
    evidence: Evidence
    now: datetime

    @property
    def flag(self) -> str:
        """` -n NAMESPACE`, or nothing."""
        return words.namespace_flag(self.view)

    @property
    def place(self) -> str:
        """`stage prod (2 of 3)`: the stage that is worked on or is next."""
        stage = self.view.stage
        if stage is None or stage.deletes:
            return "the stage that removes clusters" if stage else "the last stage"
        number = self.view.stages.index(stage) + 1
        total = sum(not each.deletes for each in self.view.stages)
        return f"stage {stage.name} ({number} of {total})"

    @property
    def done(self) -> str:
        """How many clusters are done, as a sentence."""
        verb = "is" if self.view.total == 1 else "are"
        return f"{self.view.done} of {words.count(self.view.total, 'cluster')} {verb} done."

    @property
    def decided(self) -> datetime | None:
        """When the condition that says most about the run came to be so."""
        return self.view.deciding.last_transition_time if self.view.deciding else None

    @property
    def verdict(self) -> str:
        """What the condition that says most about the run says."""
        return self.view.deciding.message if self.view.deciding else ""

    @property
    def state_writer(self) -> Writer | None:
        """What wrote spec.state last."""
        return last_writer(self.run.metadata, "f:spec", "f:state")

    @property
    def by(self) -> str:
        """` by jane (window is over)`, or with what tool: how spec.state was set, if known."""
        steered = steering.last(self.run.metadata)
        if steered.by:
            return signatures.clause(steered.by, steered.comment)
        writer = self.state_writer
        if writer is None:
            return ""
        # Which of fleetgate's parts it was says nothing to a person.
        return f" with {REPORTER if writer.name.startswith(REPORTER) else writer.name}"

    def ago(self, moment: datetime | None) -> str:
        """How long ago something was."""
        return words.age(self.now - moment) if moment else "some time"

    def is_overdue(self, moment: datetime | None) -> bool:
        """Whether a worker should have reacted to what happened then."""
        return moment is not None and self.now - moment > PATIENCE


def last_step(run: UpdateRun) -> datetime | None:
    """When the run's status changed last, as far as its conditions tell."""
    status = run.status
    found = [status.conditions]
    for stage in status.stages_status:
        tasks = [*stage.before_stage_task_status, *stage.after_stage_task_status]
        found += [stage.conditions, *(each.conditions for each in stage.clusters)]
        found += [each.conditions for each in tasks]
    return max((each.last_transition_time for group in found for each in group), default=None)
