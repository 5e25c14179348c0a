"""Writing the workflow's decisions to the run object: its status, and its spec.state.

contract: update-runs 2
"""

import asyncio
import contextlib
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Final

from temporalio import activity

from activities import stubs
from activities.errors import told_to_temporal
from activities.events import write
from activities.heartbeats import heartbeating
from activities.requests import SetState, StateSet, StatusWritten, WriteStatus
from api.runs import RunState, UpdateRun
from hub import Conflict, Hub, Invalid, Json, NotFound
from planning import signatures
from planning.events import EventSubject
from planning.identity import RunRef
from planning.runs import run_events, steering

REST: Final = 2
"""Pause before the next status write, as a multiple of the time that the last one took. For any
change, the API server reads, validates and stores the whole object, which for a thousand clusters
is half a second of work: this way one run keeps it busy for at most a third of the time."""
LONGEST_REST: Final = timedelta(milliseconds=500)
"""The longest pause: the most that it can delay what people see of a run."""
AT_ONCE: Final = 4
"""How often a write of the state is retried at once after a conflict with a status write."""


class StatusActivities:
    """Writes to one object of one run; every call may be repeated."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    @activity.defn(name=stubs.WRITE_STATUS.name)
    async def write_status(self, request: WriteStatus) -> StatusWritten:
        """Apply a patch to the run's status, if the object is still at the expected version.

        A patch without an expected version is applied to the version read now, because a delayed
        request must not undo later writes.

        If the request asks for a rest, return only after it; meanwhile the workflow collects
        changes for the next write. Raises (retried): the hub is unreachable, or refuses the status,
        which an event reports.
        """
        async with heartbeating():
            started = monotonic()
            written = await self._write_status(request)
            if request.rest and written.resource_version:
                rest = min(REST * (monotonic() - started), LONGEST_REST.total_seconds())
                await asyncio.sleep(rest)
        return written

    async def _write_status(self, request: WriteStatus) -> StatusWritten:
        with told_to_temporal():
            version = request.resource_version or await self._version(request.run)
            if not version:
                return StatusWritten(gone=True)
            tests: list[Json] = [
                _test("/metadata/uid", request.run.uid),
                _test("/metadata/resourceVersion", version),
            ]
            try:
                return await self._patch_status(request.run, tests + request.patch)
            except NotFound:
                return StatusWritten(gone=True)
            except Conflict:
                return _changed(await self._find(request.run))
            except Invalid as refusal:
                # A failed test in the patch and a policy that refuses the status look the same.
                found = await self._find(request.run)
                if found and found.metadata.resource_version == version:
                    await self._tell_refused(request.run, version, refusal)
                    raise
                return _changed(found)

    async def _patch_status(self, run: RunRef, patch: list[Json]) -> StatusWritten:
        written = await self._hub.patch(
            run.scope.run,
            run.name,
            patch,
            namespace=run.namespace,
            subresource="status",
            metadata_only=True,
        )
        meta = written["metadata"]
        return StatusWritten(
            resource_version=meta["resourceVersion"], generation=meta["generation"]
        )

    async def _version(self, run: RunRef) -> str:
        found = await self._find(run)
        return found.metadata.resource_version if found else ""

    async def _tell_refused(self, run: RunRef, version: str, refusal: Invalid) -> None:
        event = run_events.status_refused(str(refusal), now=datetime.now(UTC))
        await write(self._hub, event, EventSubject.of(run), key=f"status-refused {version}")

    @activity.defn(name=stubs.SET_STATE.name)
    async def set_state(self, request: SetState) -> StateSet:
        """Write the desired state to the run's spec, unless it is already there.

        Like a status, it is applied to the version read now.

        Raises (retried): the hub is unreachable. A refusal by the API server is returned.
        """
        with told_to_temporal():
            for _ in range(AT_ONCE):
                with contextlib.suppress(Conflict):
                    return await self._set_state(request)
            return await self._set_state(request)

    async def _set_state(self, request: SetState) -> StateSet:
        run = request.run
        found = await self._find(run)
        if found is None or found.spec.state == request.state:
            return _state_of(found, request.state)
        try:
            written = await self._hub.patch(
                run.scope.run, run.name, _change(found, request), namespace=run.namespace
            )
        except Invalid as error:
            return _state_of(found, request.state, refused=str(error))
        return _state_of(UpdateRun.from_wire(written), request.state)

    async def _find(self, run: RunRef) -> UpdateRun | None:
        found = await self._hub.find(run.scope.run, run.name, namespace=run.namespace)
        if found is None or found["metadata"]["uid"] != run.uid:
            return None
        return UpdateRun.from_wire(found)


def _changed(found: UpdateRun | None) -> StatusWritten:
    """Report that someone else changed the object before the write, or that it is gone."""
    if found is None:
        return StatusWritten(gone=True)
    return StatusWritten(generation=found.metadata.generation)


def _test(path: str, value: str) -> Json:
    return {"op": "test", "path": path, "value": value}


def _change(found: UpdateRun, request: SetState) -> Json:
    meta = found.metadata
    by = signatures.of_temporal(request.by)
    patch = steering.change(meta, request.state, by=by, comment=request.comment)
    patch["metadata"]["resourceVersion"] = meta.resource_version
    return patch


def _state_of(run: UpdateRun | None, wanted: RunState, *, refused: str = "") -> StateSet:
    if run is None:
        return StateSet(state=wanted, generation=0, refused="the run no longer exists")
    return StateSet(state=run.spec.state, generation=run.metadata.generation, refused=refused)
