"""Writing one object to the member: by create, client-side apply, or server-side apply.

contract: placement 8 (client-side apply, server-side apply) and 12
"""

from collections.abc import Collection
from typing import Final

from agent.settings import OBJECT_MANAGER
from api.applying import ApplyStrategy, ApplyType, WhenToApply
from api.kinds import Kind
from hub import Conflict, Hub, Json
from planning.members import applied_bodies, takeovers, three_way

_OWN_MANAGERS: Final = (OBJECT_MANAGER, "before-first-apply")
"""Names under which Kubernetes records fields that the agent wrote with another kind of apply."""


class ObjectWriter:
    """Writes objects of one kind to the member."""

    def __init__(self, cluster: Hub, kind: Kind, strategy: ApplyStrategy) -> None:
        self._cluster = cluster
        self._kind = kind
        self._strategy = strategy

    async def write(self, body: Json, *, live: Json | None, orphans: Collection[str] = ()) -> Json:
        """Write the object to the member and return it as it is afterwards.

        Args:
            body: the manifest with the agent's own annotations and owner reference.
            live: the object on the member; None if it does not exist.
            orphans: names of AppliedWorks that no longer count as its owners.

        Raises:
            Conflict: the object changed meanwhile, or others own fields that the manifest sets.
            HubError: the member refuses the object or cannot be reached.
        """
        if live is not None and orphans:
            live = await self._patch(live, takeovers.without(live, orphans))
        config = self._strategy.server_side_apply_config
        if self._strategy.type is ApplyType.SERVER_SIDE_APPLY:
            return await self._server_side(body, live, force=bool(config and config.force))
        noted = applied_bodies.remembering(body)
        if noted is None:
            return await self._server_side(applied_bodies.forgetting(body), live, force=False)
        if live is None:
            return await self._cluster.create(self._kind, noted, manager=OBJECT_MANAGER)
        return await self._client_side(noted, live)

    async def _client_side(self, noted: Json, live: Json) -> Json:
        last = applied_bodies.remembered(live)
        if not last and _is_applied_by_server(live):
            # Only the server knows what was applied before, and it removes what is left out now.
            return await self._apply(noted, force=True)
        desired = three_way.merged(live, last=last, wanted=noted, group=self._kind.group)
        return await self._patch(live, desired)

    async def _server_side(self, body: Json, live: Json | None, *, force: bool) -> Json:
        applied = await self._apply_mine(self._locked(body, live), force=force)
        last = applied_bodies.remembered(live) if live else {}
        if not last:
            return applied
        # It was last applied client-side: one final client-side merge removes what is left out
        # now.
        desired = three_way.merged(applied, last=last, wanted=body, group=self._kind.group)
        return await self._patch(applied, desired)

    def _locked(self, body: Json, live: Json | None) -> Json:
        """Return the body with the version that was compared, if drift must not be overwritten."""
        if live is None or self._strategy.when_to_apply is WhenToApply.ALWAYS:
            return body
        version = {"resourceVersion": live["metadata"]["resourceVersion"]}
        return {**body, "metadata": {**body["metadata"], **version}}

    async def _apply_mine(self, body: Json, *, force: bool) -> Json:
        try:
            return await self._apply(body, force=force)
        except Conflict as error:
            if not _is_with_itself(error):
                raise
            return await self._apply(body, force=True)

    async def _apply(self, body: Json, *, force: bool) -> Json:
        return await self._cluster.apply(self._kind, body, manager=OBJECT_MANAGER, force=force)

    async def _patch(self, live: Json, desired: Json) -> Json:
        change = three_way.patch(live, desired)
        if not change:
            return live
        metadata = live["metadata"]
        # Lists are replaced as a whole, so the object must not have changed since it was read.
        version = {"resourceVersion": metadata["resourceVersion"]}
        return await self._cluster.patch(
            self._kind,
            metadata["name"],
            {**change, "metadata": {**change.get("metadata", {}), **version}},
            namespace=metadata.get("namespace", ""),
            manager=OBJECT_MANAGER,
        )


def _is_applied_by_server(live: Json) -> bool:
    entries = live["metadata"].get("managedFields") or []
    return any(
        (each.get("manager"), each.get("operation")) == (OBJECT_MANAGER, "Apply")
        for each in entries
    )


def _is_with_itself(error: Conflict) -> bool:
    """Return whether only the agent itself owns the fields, from an earlier strategy."""
    own = tuple(f'conflict with "{manager}"' for manager in _OWN_MANAGERS)
    causes = error.details.causes
    return bool(causes) and all(cause.message.startswith(own) for cause in causes)
