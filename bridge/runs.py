"""Runs: each active one has a workflow that knows what its spec says; a deleted one leaves nothing.

contract: update-runs 6 and 12
"""

from api.kinds import Scope
from api.names import RUN_FINALIZER, TARGET_UPDATE_RUN
from api.reasons import ConditionType
from api.runs import RunState, UpdateRun
from bridge.temporal import Signal, Workflows
from hub import Cache, Hub, Key, NotFound
from planning import conditions
from planning.identity import RunRef
from workflows.messages import ChangeState

_SIGNALS = {RunState.RUN: "resume", RunState.STOP: "pause"}


class RunIndex:
    """The runs of one scope, as the hub has them."""

    def __init__(self, scope: Scope, cache: Cache) -> None:
        self.scope = scope
        self.cache = cache

    def get(self, key: Key) -> UpdateRun | None:
        """One run."""
        namespace, name = key
        found = self.cache.get(name, namespace)
        return UpdateRun.from_wire(found) if found else None

    def active(self) -> list[UpdateRun]:
        """All runs that may still do something."""
        runs = map(UpdateRun.from_wire, self.cache.items())
        return [run for run in runs if is_active(run)]

    def ref(self, run: UpdateRun) -> RunRef:
        """How workflows name the run."""
        meta = run.metadata
        return RunRef(
            scope_name=self.scope.name, namespace=meta.namespace, name=meta.name, uid=meta.uid
        )


def is_active(run: UpdateRun) -> bool:
    """Whether the run is neither over nor on its way out."""
    found = run.status.conditions
    over = conditions.find(found, ConditionType.SUCCEEDED) is not None
    refused = conditions.has(found, ConditionType.INITIALIZED, "False")
    return not (over or refused or run.metadata.deletion_timestamp)


class RunReconciler:
    """Brings one run's workflow in step with its object."""

    def __init__(self, hub: Hub, runs: RunIndex, workflows: Workflows) -> None:
        self._hub = hub
        self._runs = runs
        self._workflows = workflows
        self._told: dict[str, int] = {}
        """Uid of a run to the generation of its spec that its workflow was told of."""

    async def reconcile(self, key: Key) -> None:
        """Do what is missing; raises HubError when something does not answer."""
        run = self._runs.get(key)
        if run is None:
            return
        if run.metadata.deletion_timestamp:
            await self._clean_up(run)
        elif is_active(run) and self._told.get(run.metadata.uid) != run.metadata.generation:
            await self._start(run)

    async def _start(self, run: UpdateRun) -> None:
        await self._ensure_finalizer(run)
        await self._workflows.start(self._runs.ref(run), run, signal=_news(run))
        self._told[run.metadata.uid] = run.metadata.generation

    async def _ensure_finalizer(self, run: UpdateRun) -> None:
        if RUN_FINALIZER not in run.metadata.finalizers:
            await self._set_finalizers(run, [*run.metadata.finalizers, RUN_FINALIZER])

    async def _clean_up(self, run: UpdateRun) -> None:
        """End the workflow, remove the approval requests, let the object go."""
        await self._workflows.cancel(self._runs.ref(run))
        await self._hub.delete_all(
            self._runs.scope.approval,
            namespace=run.metadata.namespace,
            labels=f"{TARGET_UPDATE_RUN}={run.metadata.name}",
        )
        self._told.pop(run.metadata.uid, None)
        if RUN_FINALIZER in run.metadata.finalizers:
            kept = [each for each in run.metadata.finalizers if each != RUN_FINALIZER]
            await self._set_finalizers(run, kept)

    async def _set_finalizers(self, run: UpdateRun, finalizers: list[str]) -> None:
        meta = run.metadata
        patch = {"metadata": {"finalizers": finalizers, "resourceVersion": meta.resource_version}}
        try:
            await self._hub.patch(self._runs.scope.run, meta.name, patch, namespace=meta.namespace)
        except NotFound:
            return


def _news(run: UpdateRun) -> Signal | None:
    """What the workflow may not know of the run's spec; a new one reads it for itself."""
    generation = run.metadata.generation
    initialized = conditions.find(run.status.conditions, ConditionType.INITIALIZED)
    known = initialized.observed_generation if initialized else 1
    name = _SIGNALS.get(run.spec.state)
    if name is None or known >= generation:
        return None
    return Signal(name, ChangeState(generation=generation))
