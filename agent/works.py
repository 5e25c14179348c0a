"""The Works of one member: reconciles each one when something about it changes, and reports.

contract: placement 8
"""

import logging
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from time import monotonic

from agent.membership import Membership
from agent.metrics import MemberMetrics
from agent.object_watches import ObjectWatches, ObservedChange
from agent.packing import pack, unpack, unpacked_work
from agent.processing import Processor
from agent.progress import WorkProgress, asked_again
from agent.settings import AgentSettings
from agent.sources import Source
from api import names
from api.kinds import APPLIED_WORK, WORK
from api.works import Work, WorkStatus
from hub import (
    BadConfiguration,
    Cache,
    Change,
    Controller,
    Efforts,
    Hub,
    HubError,
    Json,
    Key,
    NotFound,
    Unauthorized,
    Unavailable,
)
from planning.members import work_status

logger = logging.getLogger(__name__)


class Works:
    """Applies every Work of a member's namespace to the member and reports the result in it."""

    def __init__(
        self,
        *,
        member: str,
        hub: Hub,
        cluster: Hub,
        membership: Membership,
        settings: AgentSettings,
        cache: Source,
        efforts: Efforts,
        metrics: MemberMetrics,
    ) -> None:
        self._namespace = names.member_namespace(member)
        self._hub = hub
        self._membership = membership
        self._settings = settings
        self._metrics = metrics
        self._progress: dict[str, WorkProgress] = {}
        self.watches = ObjectWatches(cluster, notify=self._on_observed_change)
        self._processor = Processor(
            cluster, watches=self.watches, settings=settings, is_orphan=self._is_orphan
        )
        self.cache = cache
        self.records = Cache(cluster, APPLIED_WORK, keep=_whose)
        self.controller = Controller(
            f"works of {member}",
            self._reconcile,
            workers=settings.works_at_once,
            around=lambda key: efforts.under_way(f"Work {key[1]}"),
        )
        self.cache.subscribe(self._on_change)
        self.records.subscribe(self._on_record)
        membership.subscribe(self._on_membership)

    def _on_change(self, change: Change) -> None:
        # The agent's own status updates come back as changes too; they require no action.
        if _asked(change.old) != _asked(change.new):
            self.controller.queue.add(change.key)

    def _on_record(self, change: Change) -> None:
        if change.new is None:
            self._progress.pop(change.key[1], None)
            self._add(change.key[1])

    def _on_observed_change(self, sighting: ObservedChange) -> None:
        progress = self._progress.get(sighting.work)
        if progress is not None:
            progress.take_in(sighting)
            self._add(sighting.work)

    def _on_membership(self) -> None:
        for work in self.cache.items():
            self._add(work["metadata"]["name"])

    def _is_orphan(self, name: str) -> bool:
        """Return whether an AppliedWork has lost its Work, as when a member left and rejoined."""
        record = self.records.get(name)
        if record is None or record["spec"]["workNamespace"] != self._namespace:
            # Another fleet's, or not seen yet: its objects must not be taken away from it.
            return False
        return self.cache.get(name, self._namespace) is None

    def _add(self, name: str) -> None:
        self.controller.queue.add((self._namespace, name))

    async def _reconcile(self, key: Key) -> timedelta | None:
        try:
            return await self._look_at(key)
        except (Unavailable, Unauthorized, BadConfiguration) as error:
            # The queue would back off, but a member that is back should be served at once.
            logger.debug("Work %s is waiting: %s", key[1], error)
            return self._settings.away_recheck

    async def _look_at(self, key: Key) -> timedelta | None:
        name = key[1]
        body = self.cache.get(name, self._namespace)
        if body is None or not self._membership.is_member:
            self._forget(name)
        if body is None:
            return None
        if "deletionTimestamp" in body["metadata"]:
            return await self._remove(body)
        return await self._keep(body) if self._membership.is_member else None

    async def _keep(self, body: Json) -> timedelta:
        """Bring the member in line with the Work, and report the result."""
        name = body["metadata"]["name"]
        progress = self._progress.get(name)
        if progress is not None:
            progress.look(self.watches)
        if progress is None or not progress.is_about(body) or progress.due() <= monotonic():
            progress = await self._process(body, progress)
        if progress is None:
            return self._settings.removal_recheck
        await self._report(body, progress)
        return timedelta(seconds=max(progress.due() - monotonic(), 0))

    async def _process(self, body: Json, before: WorkProgress | None) -> WorkProgress | None:
        work = Work.from_wire(unpacked_work(body))
        try:
            await self._hold(work)
        except NotFound:
            # The Work is gone already; objects applied now would never be removed.
            return None
        began = monotonic()
        try:
            progress = await self._processor.process(work)
        except HubError:
            self._metrics.interrupted()
            raise
        if progress is not None:
            taken = timedelta(seconds=monotonic() - began)
            self._metrics.processed(progress.outcomes, taken=taken)
            progress.follow(before)
            self._progress[work.metadata.name] = progress
            # Changes seen while objects were being applied came before this progress existed.
            progress.look(self.watches)
        return progress

    async def _hold(self, work: Work) -> None:
        """Set the finalizer that keeps a Work until its objects are gone from the member."""
        finalizers = work.metadata.finalizers
        if names.WORK_FINALIZER not in finalizers:
            await self._write_finalizers(work, [*finalizers, names.WORK_FINALIZER])

    async def _remove(self, body: Json) -> timedelta | None:
        """Remove the objects of a deleted Work from the member, then release the Work."""
        work = Work.from_wire(unpacked_work(body))
        if names.WORK_FINALIZER not in work.metadata.finalizers:
            return None
        # A member that leaves keeps its objects.
        if await self._membership.confirm() and not await self._processor.remove(work):
            return self._settings.removal_recheck
        rest = [each for each in work.metadata.finalizers if each != names.WORK_FINALIZER]
        with suppress(NotFound):
            await self._write_finalizers(work, rest)
        self._forget(work.metadata.name)
        return None

    async def _write_finalizers(self, work: Work, finalizers: list[str]) -> None:
        metadata = work.metadata
        change = {"resourceVersion": metadata.resource_version, "finalizers": finalizers}
        await self._hub.patch(
            WORK, metadata.name, {"metadata": change}, namespace=metadata.namespace
        )

    async def _report(self, body: Json, progress: WorkProgress) -> None:
        """Write the Work's status if it has changed."""
        known = unpack(progress.status) if progress.status else unpacked_work(body).get("status")
        before = WorkStatus.from_wire(known or {})
        status = work_status.report(
            progress.outcomes,
            generation=progress.generation,
            before=before,
            now=datetime.now(UTC),
            diff_only=progress.diff_only,
            mirrored=progress.mirrored,
        )
        wire = status.to_wire()
        if wire != before.to_wire():
            await self._write_status(body, wire)
        progress.status = pack(wire)

    async def _write_status(self, body: Json, status: Json) -> None:
        metadata = body["metadata"]
        patch: list[Json] = [
            {"op": "test", "path": "/metadata/uid", "value": metadata["uid"]},
            {"op": "add", "path": "/status", "value": status},
        ]
        # A Work that is gone needs no status.
        with suppress(NotFound):
            await self._hub.patch(
                WORK,
                metadata["name"],
                patch,
                namespace=self._namespace,
                subresource="status",
            )

    def _forget(self, name: str) -> None:
        self._progress.pop(name, None)
        self.watches.forget(name)


def _whose(record: Json) -> Json:
    """Return the part of an AppliedWork that the agent keeps: which Work it stands for."""
    metadata = record["metadata"]
    who = {field: metadata[field] for field in ("name", "uid", "resourceVersion")}
    return {"metadata": who, "spec": record["spec"]}


def _asked(body: Json | None) -> tuple[str, int, bool, str] | None:
    """Return what the agent reacts to in a Work: its content, and what to do with it."""
    if body is None:
        return None
    metadata = body["metadata"]
    going, again = "deletionTimestamp" in metadata, asked_again(metadata)
    return metadata["uid"], metadata["generation"], going, again
