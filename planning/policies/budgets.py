"""Failure budgets: how many clusters may fail before a run stops starting more.

policies: 2.1 (failures), 3
"""

from collections.abc import Callable

from pydantic import Field

from api.rollout_policies import BudgetAction
from api.runs import ClusterStatus, UpdateRunStatus
from planning.runs import phases
from planning.runs.facts import Fact
from planning.runs.ledger import stage_of
from planning.runs.rules import RunRules, share


class Failures(Fact):
    """Clusters that count as failed, of each stage and of the whole run."""

    stages: dict[str, int] = Field(default_factory=dict)
    """By the stage's name; stages without a failure are left out."""
    in_run: int = 0

    def at_most(self, other: "Failures") -> "Failures":
        """Return the smaller of both numbers, for each stage and for the run."""
        stages = {
            name: min(number, other.stages.get(name, 0)) for name, number in self.stages.items()
        }
        return Failures(stages=stages, in_run=min(self.in_run, other.in_run))


class Exceeded(Fact):
    """A budget that more clusters have failed than it allows."""

    field: str
    """Field of the policy that is the limit: failures.most or failures.mostInRun."""
    policy: str
    """Name of the policy that sets the limit; empty if none does, so that no cluster may fail."""
    failed: int
    clusters: int
    """Number of clusters of the stage or of the run, of which so many failed."""
    most: int
    action: BudgetAction


def failed(status: UpdateRunStatus) -> Failures:
    """Count the clusters that have failed, in each stage and in the whole run."""
    return _count(status, phases.has_failed)


def failed_or_retried(status: UpdateRunStatus) -> Failures:
    """Count those that were handed out again too: whether they fail again is not known yet."""
    return _count(status, lambda each: phases.has_failed(each) or phases.is_retried(each))


def _count(status: UpdateRunStatus, matches: Callable[[ClusterStatus], bool]) -> Failures:
    counts = {
        each.stage_name: number
        for each in phases.stages(status)
        if (number := sum(map(matches, each.clusters)))
    }
    return Failures(stages=counts, in_run=sum(counts.values()))


def exceeded(
    rules: RunRules, status: UpdateRunStatus, *, stage: int, accepted: Failures
) -> Exceeded | None:
    """Return the budget that is exceeded, the stage's before the run's; None if there is none.

    Failures that a person has accepted, by continuing the run, exceed nothing.
    """
    found, current = failed(status), stage_of(status, stage)
    name, size = current.stage_name, len(current.clusters)
    in_stage, most = found.stages.get(name, 0), share(rules.of_stage(name).most, of=size)
    if in_stage > max(most, accepted.stages.get(name, 0)):
        return _exceeded("failures.most", rules, name, in_stage, size, most)
    if rules.most_in_run is None:
        return None
    size = sum(len(each.clusters) for each in phases.stages(status))
    most = share(rules.most_in_run, of=size)
    if found.in_run > max(most, accepted.in_run):
        return _exceeded("failures.mostInRun", rules, name, found.in_run, size, most)
    return None


def _exceeded(
    field: str, rules: RunRules, stage: str, failures: int, clusters: int, most: int
) -> Exceeded:
    sources = (each for each in rules.fields if each.name == field and each.stage in ("", stage))
    return Exceeded(
        field=field,
        policy=next((each.policy for each in sources), ""),
        failed=failures,
        clusters=clusters,
        most=most,
        action=rules.of_stage(stage).action,
    )
