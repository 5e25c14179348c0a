"""Runs: every active run has a workflow that knows its spec; a deleted run leaves nothing behind.

contract: update-runs 6 and 12
"""

from collections.abc import Callable
from contextlib import AbstractContextManager

from api.kinds import Scope
from api.names import RUN_FINALIZER, TARGET_UPDATE_RUN
from api.reasons import ConditionType
from api.runs import ClusterStatus, RunState, StageStatus, UpdateRun
from bridge.temporal import Signal, Workflows
from hub import Cache, Change, Hub, Json, Key, NotFound
from planning import conditions
from planning.identity import RunRef
from planning.runs import phases, steering, tampering
from telemetry import logged_about
from workflows.messages import ChangeState, Recheck

_SIGNALS = {RunState.RUN: "resume", RunState.STOP: "pause"}


class RunIndex:
    """The runs of one scope, as they are on the hub."""

    def __init__(self, scope: Scope, cache: Cache) -> None:
        self.scope = scope
        self.cache = cache
        self._parsed: dict[Key, ParsedRun] = {}

    def get(self, key: Key) -> UpdateRun | None:
        """Return one run, parsed once per version: it may have a thousand clusters."""
        namespace, name = key
        found = self.cache.get(name, namespace)
        if found is None:
            self._parsed.pop(key, None)
            return None
        parsed = self._parsed.get(key)
        if parsed is None or not parsed.is_of(found):
            parsed = self._parsed[key] = ParsedRun(found, before=parsed)
        return parsed.run

    def update(self, change: Change) -> UpdateRun | None:
        """Return a run after a change, with its stages even if it has just ended."""
        before = self._parsed.get(change.key)
        run = self.get(change.key)
        if run and before and change.new and is_live(before.run) and not is_live(run):
            return ParsedRun(change.new, before=before).run
        return run

    def active(self) -> list[UpdateRun]:
        """Return all runs that have not ended and are not being deleted."""
        runs = map(self.get, self.cache.keys())
        return [run for run in runs if run and is_live(run)]

    def ref(self, run: UpdateRun) -> RunRef:
        """Return the reference by which workflows name the run."""
        meta = run.metadata
        return RunRef(
            scope_name=self.scope.name, namespace=meta.namespace, name=meta.name, uid=meta.uid
        )


def kept(run: Json) -> Json:
    """Return the part of a run to keep in memory: without its stages once it is over."""
    if not phases.body_has_ended(run):
        return run
    return run | {"status": {"conditions": run["status"]["conditions"]}}


def key_of(run: UpdateRun) -> Key:
    """Return the key of a run in caches and queues."""
    return run.metadata.namespace, run.metadata.name


def is_live(run: UpdateRun) -> bool:
    """Return whether the run may still change: it has not ended and is not being deleted."""
    return not (phases.has_ended(run.status) or run.metadata.deletion_timestamp)


def is_planned(run: UpdateRun) -> bool:
    """Return whether the run's status shows that it has been planned or cannot be."""
    return conditions.find(run.status.conditions, ConditionType.INITIALIZED) is not None


def is_damaged(change: Change) -> bool:
    """Return whether something was removed from a run's status."""
    before, after = change.old, change.new
    if before is None or after is None or before["metadata"]["uid"] != after["metadata"]["uid"]:
        return False
    return tampering.has_lost(before.get("status"), after.get("status"))


class RunReconciler:
    """Keeps a run's workflow in sync with its object."""

    def __init__(
        self, hub: Hub, runs: RunIndex, workflows: Workflows, *, notify: Callable[[], None]
    ) -> None:
        """`notify` is called whenever another run is known to have a workflow."""
        self._hub = hub
        self._runs = runs
        self._workflows = workflows
        self._signalled: dict[Key, tuple[RunRef, int]] = {}
        """The run of each name that has a workflow, and the spec's generation sent to it."""
        self._notify = notify
        self._over: set[Key] = set()
        """Those of them that are active although their workflow is over."""
        self._doubted: set[Key] = set()
        """Runs whose workflow may be lost."""
        self._damaged: set[Key] = set()
        """Runs whose status may have to be restored."""

    def note_damage(self, key: Key) -> None:
        """Have a run's status restored at its next reconciliation."""
        self._damaged.add(key)

    def note_doubt(self, key: Key) -> None:
        """Have a run's workflow started again at its next reconciliation, if it is lost."""
        self._doubted.add(key)

    def known_workflows(self) -> list[tuple[Key, RunRef, bool]]:
        """Return the active runs with a known workflow, each with whether that is over."""
        return [
            (key, ref, key in self._over)
            for key, (ref, _) in self._signalled.items()
            if key not in self._doubted and (run := self._runs.get(key)) and is_live(run)
        ]

    async def reconcile(self, key: Key) -> None:
        """Bring the run's workflow up to date.

        Raises HubError if the hub or Temporal does not answer.
        """
        run = self._runs.get(key)
        known, _ = self._signalled.get(key, (None, 0))
        if known and (run is None or run.metadata.uid != known.uid):
            # Removed by force, so its finalizer did not clean up.
            await self._workflows.cancel(known)
            await self._remove_approvals(key)
            del self._signalled[key]
        if run is None:
            self._forget(key)
            return
        if run.metadata.deletion_timestamp:
            await self._clean_up(run)
            self._forget(key)
            return
        if is_live(run):
            await self._signal(key, run)
        else:
            self._doubted.discard(key)
        # Even if the run is over, because someone may have edited its status to say so.
        await self._restore(key, run)

    def _forget(self, key: Key) -> None:
        self._signalled.pop(key, None)
        for noted in (self._damaged, self._doubted, self._over):
            noted.discard(key)

    async def _signal(self, key: Key, run: UpdateRun) -> None:
        # Each time, because a person may have removed it.
        await self._ensure_finalizer(run)
        ref = self._runs.ref(run)
        wanted = (ref, run.metadata.generation)
        if self._signalled.get(key) != wanted or key in self._doubted:
            news = _news(run) or (None if key in self._signalled else _first_look(run))
            if await self._workflows.start(ref, run, signal=news):
                self._over.discard(key)
            else:
                await self._end(ref, run)
                self._over.add(key)
            self._doubted.discard(key)
            self._signalled[key] = wanted
            self._notify()

    async def _end(self, ref: RunRef, run: UpdateRun) -> None:
        """End a run on the hub whose workflow is over, instead of starting it again."""
        meta = run.metadata
        found = await self._hub.find(self._runs.scope.run, meta.name, namespace=meta.namespace)
        # Read from the hub: if the run has just ended, the cache may not show it yet.
        if found and found["metadata"]["uid"] == meta.uid and is_live(UpdateRun.from_wire(found)):
            await self._workflows.end(ref, run)

    async def _restore(self, key: Key, run: UpdateRun) -> None:
        if key not in self._damaged:
            return
        ref = self._runs.ref(run)
        # The hub may have been restored from a backup; then other objects may be older too.
        recheck = Signal("recheck", Recheck(reason="the status was edited or restored"))
        there = await self._workflows.send(ref, recheck)
        if there:
            restore = Signal("restore", Recheck(reason="the status was edited"))
            await self._workflows.send(ref, restore)
        elif is_live(run):
            self._doubted.add(key)
            await self._signal(key, run)
        self._damaged.discard(key)

    async def _ensure_finalizer(self, run: UpdateRun) -> None:
        if RUN_FINALIZER not in run.metadata.finalizers:
            await self._set_finalizers(run, [*run.metadata.finalizers, RUN_FINALIZER])

    async def _clean_up(self, run: UpdateRun) -> None:
        """Cancel the workflow, delete the approval requests, remove the finalizer."""
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
    """Return the signal for a workflow that may be older than this bridge; None if not planned.

    While no bridge was running, the hub may have been restored from a backup.
    """
    if not is_planned(run):
        return None
    return Signal("recheck", Recheck(reason="the bridge started"))


def _news(run: UpdateRun) -> Signal | None:
    """Return the signal with a spec that the workflow may not know; a new one reads it itself."""
    generation = run.metadata.generation
    initialized = conditions.find(run.status.conditions, ConditionType.INITIALIZED)
    known = initialized.observed_generation if initialized else 1
    name = _SIGNALS.get(run.spec.state)
    # Not `known >= generation`: an observed generation that is too high is wrong, and so unknown.
    if name is None or known == generation:
        return None
    steered = steering.last(run.metadata)
    return Signal(name, ChangeState(generation=generation, by=steered.by, comment=steered.comment))


# -- parsing -------------------------------------------------------------------------------


class ParsedRun:
    """One version of a run, in wire format and as a model.

    A run's object holds every cluster of its stages, and each write of its status sends all of it:
    only the clusters that changed are parsed again.
    """

    def __init__(self, body: Json, *, before: "ParsedRun | None" = None) -> None:
        """Parse `body`; clusters that have not changed since `before` are shared with it."""
        self._body = body
        self.run = UpdateRun.from_wire(_prepared(body, before) if before else body)

    def is_of(self, body: Json) -> bool:
        """Return whether this is the parsed form of exactly this object."""
        return self._body is body

    def clusters(self, stage: int) -> tuple[list[Json], list[ClusterStatus]]:
        """Return a stage's clusters, in wire format and parsed; empty if it does not exist."""
        parsed: list[StageStatus] = self.run.status.stages_status
        if stage >= len(parsed):
            return [], []
        return self._body["status"]["stagesStatus"][stage]["clusters"], parsed[stage].clusters


def _prepared(body: Json, before: ParsedRun) -> Json:
    """Return the body with models in place of clusters that are already known."""
    stages = body.get("status", {}).get("stagesStatus", [])
    prepared = [
        stage | {"clusters": _shared(stage["clusters"], *before.clusters(index))}
        for index, stage in enumerate(stages)
    ]
    if not prepared:
        return body
    return body | {"status": body["status"] | {"stagesStatus": prepared}}


def _shared(
    clusters: list[Json], before: list[Json], parsed: list[ClusterStatus]
) -> list[Json | ClusterStatus]:
    known = list(zip(before, parsed, strict=True))
    shared: list[Json | ClusterStatus] = [
        model if cluster == wire else cluster
        for cluster, (wire, model) in zip(clusters, known, strict=False)
    ]
    return shared + clusters[len(known) :]


# -- the log -------------------------------------------------------------------------------


def logged_about_run(key: Key) -> AbstractContextManager[None]:
    """Add the run to all log lines inside the `with` block."""
    namespace, name = key
    return logged_about(namespace=namespace, run=name)
