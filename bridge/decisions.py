"""Rollout decisions: each is passed on to its run's workflow once, or refused in words.

policies: 2.3
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

from activities.policies import write_owned
from api.rollout_decisions import BaseRolloutDecision, DecisionState, RolloutDecisionStatus
from api.runs import UpdateRun
from bridge.runs import RunIndex, is_live, key_of
from bridge.temporal import Signal, Workflows
from hub import Cache, Hub, Key, NotFound
from planning.policies import decisions
from telemetry import log_about
from workflows.messages import Decided

MANAGER = "fleetgate-bridge"


class DecisionReconciler:
    """Passes decisions on to workflows."""

    def __init__(
        self,
        hub: Hub,
        cache: Cache,
        runs: RunIndex,
        workflows: Workflows,
        *,
        lost: Callable[[Key], None],
    ) -> None:
        """`lost` is called for active runs whose workflow is missing."""
        self._hub = hub
        self._cache = cache
        self._runs = runs
        self._workflows = workflows
        self._run_lost = lost

    async def reconcile(self, key: Key) -> None:
        """Pass a decision on, unless it is answered already.

        Raises HubError if the hub or Temporal does not answer.
        """
        namespace, name = key
        found = self._cache.get(name, namespace)
        if found is None:
            return
        decision = BaseRolloutDecision.from_wire(found)
        if decision.status.state is not None:
            return
        log_about(run=decision.spec.run)
        run = self._runs.get((namespace, decision.spec.run)) or await self._read(decision)
        if refusal := _refusal(decision, run):
            is_meant = run and decision.spec.run_uid in ("", run.metadata.uid)
            await self._refuse(decision, refusal, run if is_meant else None)
        elif run and not await self._workflows.send(self._runs.ref(run), _signal(decision)):
            self._run_lost(key_of(run))

    async def _read(self, decision: BaseRolloutDecision) -> UpdateRun | None:
        """Read the run of a decision, which may be too new for the cache."""
        kind, namespace = self._runs.scope.run, decision.metadata.namespace
        found = await self._hub.find(kind, decision.spec.run, namespace=namespace)
        return UpdateRun.from_wire(found) if found else None

    async def _refuse(self, decision: BaseRolloutDecision, why: str, run: UpdateRun | None) -> None:
        kind, meta = self._runs.scope.decision, decision.metadata
        placed = {"namespace": meta.namespace} if meta.namespace else {}
        named = {"name": meta.name, "uid": meta.uid} | placed
        answer = RolloutDecisionStatus(
            state=DecisionState.REFUSED, message=why, at=datetime.now(UTC)
        )
        owner = self._runs.ref(run) if run else None
        with suppress(NotFound):
            await write_owned(
                self._hub, kind, named, answer.to_wire(), owner=owner, manager=MANAGER
            )


def _refusal(decision: BaseRolloutDecision, run: UpdateRun | None) -> str | None:
    """Return why a decision cannot reach a run's workflow; None if it can."""
    spec = decision.spec
    if run is None:
        return decisions.NO_RUN.fill(run=spec.run)
    if spec.run_uid and spec.run_uid != run.metadata.uid:
        return decisions.ANOTHER_RUN.fill(run=spec.run, uid=run.metadata.uid)
    return None if is_live(run) else decisions.over(spec.decision, spec.run)


def _signal(decision: BaseRolloutDecision) -> Signal:
    message = Decided(name=decision.metadata.name, uid=decision.metadata.uid)
    return Signal("decided", message)
