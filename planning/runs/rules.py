"""The rules that apply to one run, after all policies have been combined.

They are copied into the run's report when it is planned and travel through workflow history, so
later changes of the policies have no effect on the run.

policies: 1.4, 2.1
"""

from datetime import timedelta
from typing import Final

from pydantic import Field

from api.rollout_policies import (
    BudgetAction,
    ConcurrentRuns,
    OnAdded,
    OnRemoved,
    OnUnassigned,
    RollbackGates,
    RollbackOrder,
)
from api.rollout_reports import PolicyField
from planning.runs.facts import Fact


class StageRules(Fact):
    """The rules of one stage."""

    timeout: timedelta | None = None
    """How long a cluster may take; None for as long as it takes."""
    retries: int = 0
    retry_after: timedelta = timedelta(0)
    most: int | str = 0
    """How many clusters of the stage may fail: a number or a percentage."""
    action: BudgetAction = BudgetAction.PAUSE
    order: RollbackOrder = RollbackOrder.REVERSE
    max_concurrency: int | str | None = None
    """How many clusters a rollback updates at once; None for what the strategy says."""
    gates: RollbackGates = RollbackGates.SKIP


class RunRules(Fact):
    """The rules of one run. Without any policy they are those of KubeFleet."""

    concurrent_runs: ConcurrentRuns = ConcurrentRuns.ALLOW
    unassigned: OnUnassigned = OnUnassigned.FAIL
    unassigned_most: int | str = "100%"
    removed: OnRemoved = OnRemoved.FAIL
    added: OnAdded = OnAdded.FAIL
    most_in_run: int | str | None = None
    """How many clusters of the run may fail: a number or a percentage; None for any number."""
    default: StageRules = StageRules()
    """Rules of all other stages, and of the deletion stage."""
    stages: dict[str, StageRules] = Field(default_factory=dict)
    """Rules of stages, by name, where they differ from `default`."""
    rolls_back: str = ""
    """Name of the run that this one rolls back; empty for a run that a person created."""
    fields: list[PolicyField] = Field(default_factory=list)
    """Where each rule comes from, for the run's report; empty without a policy."""

    def of_stage(self, name: str) -> StageRules:
        """Return the rules of a stage."""
        return self.stages.get(name, self.default)


NO_RULES: Final = RunRules()
"""The rules of a run to which no policy applies."""


def share(value: int | str, *, of: int) -> int:
    """Turn a number or a percentage of `of` clusters into a number, rounded down.

    The API server has checked its form: a number of at least 0, or a percentage up to 100%.
    """
    return value if isinstance(value, int) else int(value.removesuffix("%")) * of // 100
