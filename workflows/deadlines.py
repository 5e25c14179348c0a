"""The time limits of a rollout policy for the clusters of a stage, with one timer for all of them.

A cluster that is not done in time is tried again, as often as the policy says, and then given up:
it counts as failed and frees its slot, but may still finish while its stage runs.

policies: 2.1 (clusters), 3
"""

from datetime import datetime, timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from planning.policies.attempts import Attempt, next_due
    from planning.policies.reporting import Setback
    from planning.runs.cluster_ends import ClusterEnd
    from planning.runs.rules import StageRules
    from workflows.rollout import Rollout


class Deadlines:
    """Tries clusters in flight again when their time is up, or gives them up."""

    def __init__(self, rollout: Rollout, rules: StageRules, *, stage: str) -> None:
        self._rollout = rollout
        self._rules = rules
        self._stage = stage

    async def run(self) -> None:
        """Enforce the limit until cancelled; without one, do nothing."""
        timeout = self._rules.timeout
        if timeout is None:
            return
        while True:
            await workflow.wait_condition(lambda: bool(self._running()))
            due = next_due(self._running().values(), timeout)
            assert due is not None, "a cluster is in flight"
            # Not ended early when clusters finish, for a new timer each would fill the history.
            remaining = max(due - workflow.now(), timedelta(0))
            await workflow.sleep(remaining, summary=f"{self._stage}: time limit of clusters")
            self._look(timeout, workflow.now())

    def _look(self, timeout: timedelta, now: datetime) -> None:
        setbacks = self._rollout.setbacks
        for cluster, attempt in self._running().items():
            if attempt.due(timeout) > now:
                continue
            if following := attempt.following(self._rules, now=now):
                setbacks.try_again(cluster, following)
                setbacks.note(cluster, Setback(attempts=following.number, since=now))
            else:
                setbacks.give_up(cluster, ClusterEnd.TIMED_OUT)

    def _running(self) -> dict[str, Attempt]:
        """Return the current attempt at each cluster in flight that is not given up."""
        setbacks, in_flight = self._rollout.setbacks, self._rollout.position.in_flight
        return {
            cluster: setbacks.attempt(cluster, began=began)
            for cluster, began in in_flight.items()
            if not setbacks.is_given_up(cluster)
        }
