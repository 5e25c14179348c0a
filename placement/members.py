"""Creates each member cluster's namespace on the hub, and deletes it when the member has left.

contract: placement 11
"""

import logging
from datetime import UTC, datetime, timedelta

from api import names
from api.kinds import MEMBER_CLUSTER, NAMESPACE, WORK
from api.members import MemberCluster
from hub import AlreadyExists, Change, Controller, Hub, Json, Key
from placement import member_rights
from placement.metadata import drop_finalizers, is_going, with_finalizers
from placement.parallel import all_of
from placement.settings import AGENT_MANAGER, PlacementSettings
from placement.stores import Stores
from planning.members import member_conditions
from planning.placements.eligibility import disconnected

logger = logging.getLogger(__name__)

FINALIZERS = (names.MEMBER_FINALIZER,)


class Members:
    """Manages the hub side of each member cluster."""

    def __init__(self, hub: Hub, stores: Stores, *, settings: PlacementSettings) -> None:
        self._hub = hub
        self._stores = stores
        self._settings = settings
        self.controller = Controller("member clusters", self._reconcile, workers=4)
        stores.members.subscribe(self._on_member)
        stores.member_namespaces.subscribe(self._on_namespace)

    def _on_member(self, change: Change) -> None:
        # While a member leaves, its status matters; before that, its heartbeats do not.
        leaving = change.new is not None and is_going(change.new)
        if leaving or change.old is None or _asked(change.old) != _asked(change.new):
            self.controller.queue.add(change.key)

    def _on_namespace(self, change: Change) -> None:
        name = change.key[1].removeprefix(names.MEMBER_NAMESPACE_PREFIX)
        self.controller.queue.add(("", name))

    async def _reconcile(self, key: Key) -> timedelta | None:
        body = self._stores.members.get(key)
        if body is None:
            return None
        if is_going(body):
            return await self._let_go(key, body)
        await self._mark(key, body)
        await self._settle(names.member_namespace(key[1]), key[1])
        await self._grant(body)
        await self._welcome(key)
        return None

    async def _mark(self, key: Key, body: Json) -> None:
        """Set the finalizer, and the label by which overrides can select a single cluster."""
        labels = {names.MEMBER_NAME: key[1]}
        finalizers = with_finalizers(body, FINALIZERS)["metadata"]
        present = body["metadata"]
        if (
            finalizers["finalizers"] == present.get("finalizers")
            and labels.items() <= present.get("labels", {}).items()
        ):
            return
        patch = {"metadata": finalizers | {"labels": labels}}
        self._stores.members.wrote(await self._hub.patch(MEMBER_CLUSTER, key[1], patch))

    async def _settle(self, namespace: str, cluster: str) -> None:
        """Create the namespace; if it is still being deleted, create it again once it is gone."""
        if self._stores.member_namespaces.get(("", namespace)) is not None:
            return
        metadata = {"name": namespace, "labels": {names.MEMBER_NAME: cluster}}
        try:
            body = await self._hub.create(NAMESPACE, {"metadata": metadata})
        except AlreadyExists:
            # It was created by someone else: add the label, by which it is watched.
            patch = {"metadata": {"labels": metadata["labels"]}}
            body = await self._hub.patch(NAMESPACE, namespace, patch)
        self._stores.member_namespaces.wrote(body)

    async def _welcome(self, key: Key) -> None:
        """Report what the member is waiting for, until its agent reports for it."""
        body = self._stores.members.get(key)
        if body is None:
            return
        member = MemberCluster.from_wire(body)
        waiting = member_conditions.awaiting(member, now=datetime.now(UTC))
        if not waiting:
            return
        metadata = {
            "name": key[1],
            "uid": member.metadata.uid,
            # Do not overwrite what the agent has reported in the meantime.
            "resourceVersion": member.metadata.resource_version,
        }
        status = {"conditions": [each.to_wire() for each in waiting]}
        patch = {"metadata": metadata, "status": status}
        await self._hub.apply(MEMBER_CLUSTER, patch, subresource="status", manager=AGENT_MANAGER)

    async def _grant(self, body: Json) -> None:
        """Grant the agent the rights that it needs, and no others."""
        name = names.member_namespace(body["metadata"]["name"])
        namespace = self._stores.member_namespaces.get(("", name))
        if namespace is None or is_going(namespace):
            return
        granted = await member_rights.grant(self._hub, body, namespace=namespace)
        if granted is not None:
            self._stores.member_namespaces.wrote(granted)

    async def _let_go(self, key: Key, body: Json) -> timedelta | None:
        """Delete the namespace, then release the member; objects on the member stay."""
        wait = self._patience_left(body)
        if wait > timedelta(0):
            return wait
        namespace = names.member_namespace(key[1])
        known = await self._hub.find(NAMESPACE, namespace)
        if known is None:
            await drop_finalizers(self._hub, MEMBER_CLUSTER, body, FINALIZERS)
            logger.info("member %s has left", key[1], extra={"cluster": key[1]})
            return None
        await self._release_works(namespace)
        if not is_going(known):
            await self._hub.delete(NAMESPACE, namespace)
        return None

    def _patience_left(self, body: Json) -> timedelta:
        """Return how long to wait until the agent reports that it has stopped."""
        member = MemberCluster.from_wire(body)
        now = datetime.now(UTC)
        since = member.metadata.deletion_timestamp
        if since is None or member_conditions.has_left(member) or disconnected(member, now=now):
            return timedelta(0)  # A disconnected agent does nothing either.
        return since + self._settings.leave_patience - now

    async def _release_works(self, namespace: str) -> None:
        """Remove the Works' finalizers, because the agent that would do so has left."""
        works = await self._hub.list(WORK, namespace=namespace, metadata_only=True)
        await all_of(
            drop_finalizers(self._hub, WORK, each, (names.WORK_FINALIZER,)) for each in works.items
        )


def _asked(body: Json | None) -> tuple[object, ...] | None:
    if body is None:
        return None
    metadata = body["metadata"]
    identity = body["spec"].get("identity")
    return metadata["uid"], metadata.get("labels"), metadata.get("finalizers"), identity
