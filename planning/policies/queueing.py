"""Which run of a placement may begin, where a rollout policy lets runs wait for each other.

A run announces itself, then looks. It claims: it writes the condition Admitted with status Unknown.
Once the API server has that, it reads all runs of the placement from the API server in one list,
and begins only if the list shows its own claim and no other run that claims or has begun. Beginning
turns Admitted to True in one write, and nothing is started before the hub has that write.

Two runs can never both begin:

- Of two claims, one is written second. Its run looks after that, and the first run's condition is
  then Unknown or True, unless that run is over or has taken its claim back and has to claim again.
- Age only decides who takes a claim back, so that one of them continues: the older one stays.
- After kill -9, Temporal repeats the look or the write, of which neither is wrong twice.
- After Temporal lost the workflow, the claim is still on the hub, and the run looks again. Without
  Admitted True it has started nothing.
- A workflow that continues as new has written everything before, and carries the claim.

policies: 2.1 (concurrentRuns), 3
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

from pydantic import Field

from api.base import Condition, ConditionStatus
from api.names import ROLLBACK_OF, RUN_FINALIZER
from api.reasons import ConditionType, RunReason, StageReason
from api.rollout_policies import ConcurrentRuns
from api.rollout_reports import QueuePosition
from api.runs import RunState, StageStatus, UpdateRun, UpdateRunStatus
from planning import conditions
from planning.runs import phases
from planning.runs.facts import Fact
from planning.runs.ledger import all_stages
from planning.runs.rules import RunRules

_NOT_BEGUN: Final = frozenset({RunReason.STOPPING, RunReason.STOPPED, RunReason.QUEUED})
"""Reasons of Progressing that a run may have before it has begun."""
_STAGE_HALTS: Final = frozenset({StageReason.STOPPING, StageReason.STOPPED})
_FIRST: Final = datetime.min.replace(tzinfo=UTC)
"""Creation time of objects without one, which only tests have."""


# -- what a run's status says --------------------------------------------------------------


def admission(status: UpdateRunStatus) -> Condition | None:
    """Return the condition that says whether a run may begin; None if it never asked."""
    return conditions.find(status.conditions, ConditionType.ADMITTED)


def claims(status: UpdateRunStatus) -> bool:
    """Return whether a run is about to begin unless another one is ahead."""
    found = admission(status)
    return found is not None and found.status == ConditionStatus.UNKNOWN


def has_begun(status: UpdateRunStatus) -> bool:
    """Return whether a run has begun, even if it is stopped now.

    A stop before that leaves its mark on the run and on the first stage, which does not count.
    """
    if found := admission(status):
        return found.status == ConditionStatus.TRUE
    progressing = conditions.find(status.conditions, ConditionType.PROGRESSING)
    runs = progressing is not None and progressing.reason not in _NOT_BEGUN
    return runs or any(map(_is_begun, all_stages(status)))


def _is_begun(stage: StageStatus) -> bool:
    tasks = stage.before_stage_task_status + stage.after_stage_task_status
    return bool(
        stage.start_time
        or any(each.reason not in _STAGE_HALTS for each in stage.conditions)
        or any(each.conditions for each in stage.clusters)
        or any(each.conditions for each in tasks)
    )


def has_to_ask(rules: RunRules, status: UpdateRunStatus) -> bool:
    """Return whether a run has to ask before it begins.

    A run that has asked before has to even if its report, and with it the rules, was lost.
    """
    asks = rules.concurrent_runs is not ConcurrentRuns.ALLOW or admission(status) is not None
    return asks and not has_begun(status)


# -- what a run sees -----------------------------------------------------------------------


class Rival(Fact):
    """Another run of the placement, not over, that has begun or is to be executed."""

    name: str
    uid: str
    is_older: bool
    begun: bool = False
    claims: bool = False
    is_stopped: bool = False
    """Whether its desired state is Stop."""

    @property
    def is_ahead(self) -> bool:
        """Whether a run has to wait for it."""
        return self.begun or (self.is_older and (self.claims or not self.is_stopped))


class Line(Fact):
    """The runs of a placement, as one of them sees them at one moment."""

    is_there: bool = True
    """Whether the run itself still exists."""
    claims: bool = False
    """Whether its own claim is on the hub."""
    rivals: list[Rival] = Field(default_factory=list)
    """All others that matter, the oldest first."""

    def ahead(self, mode: ConcurrentRuns) -> list[Rival]:
        """Return the runs that it has to wait for, the oldest first.

        A run that replaces older ones waits until all of them are over, also those that were
        stopped before they began.
        """
        replaces = mode is ConcurrentRuns.SUPERSEDE
        return [each for each in self.rivals if each.is_ahead or (replaces and each.is_older)]


def line(runs: Iterable[UpdateRun], *, uid: str) -> Line:
    """Return what the run with this UID sees; `runs` are those of its placement, with itself."""
    found = sorted(runs, key=_age)
    me = next((each for each in found if each.metadata.uid == uid), None)
    if me is None or me.metadata.deletion_timestamp:
        return Line(is_there=False)
    seen = [(each, standing(each)) for each in found if each is not me]
    return Line(
        claims=claims(me.status),
        rivals=[
            Rival(
                name=each.metadata.name,
                uid=each.metadata.uid,
                is_older=_age(each) < _age(me),
                begun=there.begun,
                claims=there.claims,
                is_stopped=there.state is RunState.STOP,
            )
            for each, there in seen
            if there.is_live and (there.begun or there.state is not RunState.INITIALIZE)
        ],
    )


def ahead_of_new(runs: Iterable[UpdateRun]) -> list[str]:
    """Return the names of the runs that a new run of their placement would wait for."""
    found = [(each.metadata.name, standing(each)) for each in sorted(runs, key=_age)]
    return [
        name
        for name, there in found
        if there.is_live and (there.begun or there.claims or there.state is RunState.RUN)
    ]


def _age(run: UpdateRun) -> tuple[bool, datetime, str]:
    """Return what runs are ordered by: a rollback takes the place of the run that it rolls back.

    That one had begun, so every run that has not begun is behind it, however old.
    """
    meta = run.metadata
    is_rollback = ROLLBACK_OF in meta.annotations
    return not is_rollback, meta.creation_timestamp or _FIRST, meta.name


# -- what it does then ---------------------------------------------------------------------


class Step(StrEnum):
    """What a run that has not begun does, by what it sees."""

    CLAIM = "claim"
    """Claim, then look again."""
    BEGIN = "begin"
    HOLD = "hold"
    """Keep the claim, and wait until a newer run has taken its own back or has begun."""
    WAIT = "wait"
    """Take the claim back, and wait."""
    REFUSE = "refuse"
    """Fail."""


def step(seen: Line, mode: ConcurrentRuns) -> Step:
    """Return what a run does that has not begun."""
    if seen.ahead(mode):
        return Step.REFUSE if mode is ConcurrentRuns.REFUSE else Step.WAIT
    if not seen.claims:
        return Step.CLAIM
    return Step.HOLD if any(each.claims for each in seen.rivals) else Step.BEGIN


def place(seen: Line, mode: ConcurrentRuns) -> QueuePosition | None:
    """Return a run's place in the line; None if it waits for nobody."""
    ahead = seen.ahead(mode)
    begun = [each.name for each in ahead if each.begun]
    waiting = [each.name for each in ahead if not each.begun]
    if begun:
        return QueuePosition(position=len(waiting) + 1, behind=begun[0])
    if waiting:
        return QueuePosition(position=len(waiting), behind=waiting[0])
    newer = [each.name for each in seen.rivals if each.claims]
    return QueuePosition(position=1, behind=newer[0]) if newer else None


# -- when it has to look again -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Standing:
    """What the other runs of a placement need to know of a run."""

    uid: str
    placement: str
    state: RunState
    is_live: bool
    """Whether it is neither over nor being deleted.

    A run that has begun, or is about to, is not out of the way before the bridge has ended its
    workflow, after which it removes the finalizer.
    """
    begun: bool
    claims: bool
    waits: bool
    """Whether it has asked to begin and was not admitted yet."""


def standing(run: UpdateRun) -> Standing:
    """Return what the others need to know of a run."""
    status = run.status
    is_live = not phases.has_ended(status)
    if run.metadata.deletion_timestamp:
        driven = RUN_FINALIZER in run.metadata.finalizers
        is_live = is_live and driven and (has_begun(status) or claims(status))
    begun = is_live and has_begun(status)
    asked = is_live and admission(status) is not None
    return Standing(
        uid=run.metadata.uid,
        placement=run.spec.placement_name,
        state=run.spec.state,
        is_live=is_live,
        begun=begun,
        claims=is_live and claims(status),
        waits=asked and not begun and run.spec.state is RunState.RUN,
    )


def concerns(waiting: Standing, *, before: Standing, after: Standing | None) -> bool:
    """Return whether a run that waits has to look again after another run has changed."""
    if not waiting.waits or waiting.placement != before.placement:
        return False
    if after is None or after.uid != before.uid:
        return before.is_live
    if (before.is_live, before.state, before.begun) != (after.is_live, after.state, after.begun):
        return True
    # A claim that is taken back matters only to a run that keeps its own meanwhile.
    return before.claims and not after.claims and waiting.claims
