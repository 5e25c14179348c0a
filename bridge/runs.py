"""Runs: each active one has a workflow that knows what its spec says; a deleted one leaves nothing.

contract: update-runs 6 and 12
"""

from collections.abc import Callable

from api.kinds import Scope
from api.names import RUN_FINALIZER, TARGET_UPDATE_RUN
from api.reasons import ConditionType
from api.runs import RunState, UpdateRun
from bridge.parsing import ParsedRun
from bridge.temporal import Signal, Workflows
from hub import Cache, Change, Hub, Json, Key, NotFound
from planning import conditions
from planning.identity import RunRef
from planning.runs import steering, tampering
from workflows.messages import ChangeState, Recheck

_SIGNALS = {RunState.RUN: "resume", RunState.STOP: "pause"}


class RunIndex:
    """The runs of one scope, as the hub has them."""

    def __init__(self, scope: Scope, cache: Cache) -> None:
        self.scope = scope
        self.cache = cache
        self._parsed: dict[Key, ParsedRun] = {}

    def get(self, key: Key) -> UpdateRun | None:
        """One run; several look at it for each change, and it may have a thousand clusters."""
        namespace, name = key
        found = self.cache.get(name, namespace)
        if found is None:
            self._parsed.pop(key, None)
            return None
        parsed = self._parsed.get(key)
        if parsed is None or not parsed.is_of(found):
            parsed = self._parsed[key] = ParsedRun(found, before=parsed)
        return parsed.run

    def told(self, change: Change) -> UpdateRun | None:
        """A run after a change, for whoever needs its stages: with them, if it has just ended."""
        before = self._parsed.get(change.key)
        run = self.get(change.key)
        if run and before and change.new and is_active(before.run) and not is_active(run):
            return ParsedRun(change.new, before=before).run
        return run

    def active(self) -> list[UpdateRun]:
        """All runs that may still do something."""
        runs = map(self.get, self.cache.keys())
        return [run for run in runs if run and is_active(run)]

    def ref(self, run: UpdateRun) -> RunRef:
        """How workflows name the run."""
        meta = run.metadata
        return RunRef(
            scope_name=self.scope.name, namespace=meta.namespace, name=meta.name, uid=meta.uid
        )


def kept(run: Json) -> Json:
    """What is read of a run once it is over: all but its stages, which are most of it."""
    status = run.get("status", {})
    said = {each["type"]: each["status"] for each in status.get("conditions", [])}
    is_over = ConditionType.SUCCEEDED in said or said.get(ConditionType.INITIALIZED) == "False"
    return run | {"status": {"conditions": status["conditions"]}} if is_over else run


def key_of(run: UpdateRun) -> Key:
    """By what caches and queues know a run."""
    return run.metadata.namespace, run.metadata.name


def is_active(run: UpdateRun) -> bool:
    """Whether the run is neither over nor on its way out."""
    found = run.status.conditions
    over = conditions.find(found, ConditionType.SUCCEEDED) is not None
    refused = conditions.has(found, ConditionType.INITIALIZED, "False")
    return not (over or refused or run.metadata.deletion_timestamp)


def is_planned(run: UpdateRun) -> bool:
    """Whether the run says that it has its plan, or can have none."""
    return conditions.find(run.status.conditions, ConditionType.INITIALIZED) is not None


def is_damaged(change: Change) -> bool:
    """Whether somebody has taken something out of a run's status."""
    before, after = change.old, change.new
    if before is None or after is None or before["metadata"]["uid"] != after["metadata"]["uid"]:
        return False
    return tampering.has_lost(before.get("status"), after.get("status"))


class RunReconciler:
    """Brings one run's workflow in step with its object."""

    def __init__(
        self, hub: Hub, runs: RunIndex, workflows: Workflows, *, told: Callable[[], None]
    ) -> None:
        """`told` is called whenever there is another run whose workflow is there."""
        self._hub = hub
        self._runs = runs
        self._workflows = workflows
        self._told: dict[Key, tuple[RunRef, int]] = {}
        """Which run of a name has a workflow, and the generation of the spec it was told of."""
        self._noted = told
        self._over: set[Key] = set()
        """Those of them whose workflow is over, though they are not."""
        self._doubted: set[Key] = set()
        """Runs whose workflow may be lost."""
        self._damaged: set[Key] = set()

    def note_damage(self, key: Key) -> None:
        """Have a run's status restored when the run is looked at next."""
        self._damaged.add(key)

    def note_doubt(self, key: Key) -> None:
        """Have a run's workflow started again when the run is looked at next, if it is lost."""
        self._doubted.add(key)

    def told(self) -> list[tuple[Key, RunRef, bool]]:
        """The active runs that have been looked at, with whether their workflow was over."""
        return [
            (key, ref, key in self._over)
            for key, (ref, _) in self._told.items()
            if key not in self._doubted and (run := self._runs.get(key)) and is_active(run)
        ]

    async def reconcile(self, key: Key) -> None:
        """Do what is missing; raises HubError when something does not answer."""
        run = self._runs.get(key)
        known, _ = self._told.get(key, (None, 0))
        if known and (run is None or run.metadata.uid != known.uid):
            # Removed by force, without a chance to clean up.
            await self._workflows.cancel(known)
            await self._remove_approvals(key)
            del self._told[key]
        if run is None:
            self._forget(key)
            return
        if run.metadata.deletion_timestamp:
            await self._clean_up(run)
            self._forget(key)
            return
        if is_active(run):
            await self._tell(key, run)
        else:
            self._doubted.discard(key)
        # Also one that is over, or said to be by somebody else.
        await self._restore(key, run)

    def _forget(self, key: Key) -> None:
        self._told.pop(key, None)
        for noted in (self._damaged, self._doubted, self._over):
            noted.discard(key)

    async def _tell(self, key: Key, run: UpdateRun) -> None:
        # With each look: a person may have taken it off.
        await self._ensure_finalizer(run)
        ref = self._runs.ref(run)
        told = (ref, run.metadata.generation)
        if self._told.get(key) != told or key in self._doubted:
            news = _news(run) or (None if key in self._told else _first_look(run))
            if await self._workflows.start(ref, run, signal=news):
                self._over.discard(key)
            else:
                await self._end(ref, run)
                self._over.add(key)
            self._doubted.discard(key)
            self._told[key] = told
            self._noted()

    async def _end(self, ref: RunRef, run: UpdateRun) -> None:
        """Have the hub told what becomes of a run whose workflow is over: it is not begun anew."""
        meta = run.metadata
        found = await self._hub.find(self._runs.scope.run, meta.name, namespace=meta.namespace)
        # A run that has only just ended is over on the hub too, where this cache lags behind.
        if found and found["metadata"]["uid"] == meta.uid and is_active(UpdateRun.from_wire(found)):
            await self._workflows.end(ref, run)

    async def _restore(self, key: Key, run: UpdateRun) -> None:
        if key not in self._damaged:
            return
        ref = self._runs.ref(run)
        # The hub may have been restored from a backup; then it matters what else is older.
        recheck = Signal("recheck", Recheck(reason="the status was edited, or is older"))
        there = await self._workflows.tell(ref, recheck)
        if there:
            restore = Signal("restore", Recheck(reason="the status was edited"))
            await self._workflows.tell(ref, restore)
        elif is_active(run):
            self._doubted.add(key)
            await self._tell(key, run)
        self._damaged.discard(key)

    async def _ensure_finalizer(self, run: UpdateRun) -> None:
        if RUN_FINALIZER not in run.metadata.finalizers:
            await self._set_finalizers(run, [*run.metadata.finalizers, RUN_FINALIZER])

    async def _clean_up(self, run: UpdateRun) -> None:
        """End the workflow, remove the approval requests, let the object go."""
        await self._workflows.cancel(self._runs.ref(run))
        await self._remove_approvals(key_of(run))
        if RUN_FINALIZER in run.metadata.finalizers:
            kept = [each for each in run.metadata.finalizers if each != RUN_FINALIZER]
            await self._set_finalizers(run, kept)

    async def _remove_approvals(self, key: Key) -> None:
        namespace, name = key
        await self._hub.delete_all(
            self._runs.scope.approval, namespace=namespace, labels=f"{TARGET_UPDATE_RUN}={name}"
        )

    async def _set_finalizers(self, run: UpdateRun, finalizers: list[str]) -> None:
        meta = run.metadata
        patch = {"metadata": {"finalizers": finalizers, "resourceVersion": meta.resource_version}}
        try:
            await self._hub.patch(self._runs.scope.run, meta.name, patch, namespace=meta.namespace)
        except NotFound:
            return


def _first_look(run: UpdateRun) -> Signal | None:
    """What a workflow that was there before the bridge shall do, unless there is nothing to it.

    While no bridge was there, the hub may have been restored from a backup.
    """
    if not is_planned(run):
        return None
    return Signal("recheck", Recheck(reason="the bridge has come"))


def _news(run: UpdateRun) -> Signal | None:
    """What the workflow may not know of the run's spec; a new one reads it for itself."""
    generation = run.metadata.generation
    initialized = conditions.find(run.status.conditions, ConditionType.INITIALIZED)
    known = initialized.observed_generation if initialized else 1
    name = _SIGNALS.get(run.spec.state)
    # A status that speaks of a generation to come was told wrongly, and knows nothing.
    if name is None or known == generation:
        return None
    steered = steering.last(run.metadata)
    return Signal(name, ChangeState(generation=generation, by=steered.by, comment=steered.comment))
