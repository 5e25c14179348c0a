"""A client for any kind of object that an API server serves."""

from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypedDict, Unpack

from api.kinds import Kind
from hub import errors, watching
from hub.discovery import Discovery, Kinds
from hub.impersonation import NOT_IMPERSONATED, Impersonated
from hub.limits import Limits
from hub.objects import Json, JsonPatch, key_of, version_of
from hub.requests import ApiRequest, Lane, collection_path, item_path, resource_of
from hub.vitals import Answers, Watches
from hub.watching import WatchEvent

if TYPE_CHECKING:
    from hub.access import Access
    from hub.transport import Transport

APPLY = "application/apply-patch+yaml"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
WHOLE = "application/json"
METADATA_ONLY = f"{WHOLE};as=PartialObjectMetadata;v=v1;g=meta.k8s.io,{WHOLE}"
METADATA_LIST = f"{WHOLE};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,{WHOLE}"
"""To accept when only metadata is needed; a server that does not support it sends everything."""

Fence = Callable[[], None]
"""Raises Fenced when writes are no longer allowed."""

LIST_ATTEMPTS = 3
"""How often a list is tried if its pages expire while it is read."""


@dataclass(frozen=True, slots=True)
class Listing:
    """All objects of a list, and the version from which a watch continues."""

    items: list[Json]
    resource_version: str


class Selection(TypedDict, total=False):
    """Which objects of a kind, and how much of each; by default all of them, in full."""

    namespace: str
    """Only objects of this namespace; empty for all namespaces."""
    labels: str
    """A label selector."""
    fields: str
    """A field selector."""
    metadata_only: bool
    """Have the API server send only the metadata of each object."""


class Hub:
    """Talks to one API server.

    Every method raises the errors of `hub.errors`. Nothing is retried here: only the caller knows
    whether a failed request may be sent again. (One exception, below HTTP: a read that finds its
    kept-alive connection closed is sent once more on a new one.)
    """

    def __init__(self, transport: "Transport", *, manager: str, limits: Limits) -> None:
        self._transport = transport
        self._manager = manager
        self._discovery = Discovery(transport, max_age=limits.discovery_age)
        self.fence: Fence = _open
        """Called before each write."""
        self.lane = Lane.WORK
        """The lane whose connections its requests use."""
        self.limits = limits
        self.watches = Watches()
        """The watches that run through this client."""

    @classmethod
    async def connect(
        cls,
        kubeconfig: Path | None = None,
        *,
        context: str | None = None,
        manager: str = "fleetgate",
        limits: Limits | None = None,
        acting_as: Impersonated = NOT_IMPERSONATED,
    ) -> Self:
        """Read the kubeconfig and return a client; the first request opens a connection.

        `manager` owns the fields that this client writes; `acting_as` is a user to impersonate.
        Without a path, use KUBECONFIG, then the pod's service account, then `~/.kube/config`.
        Raises BadConfiguration.
        """
        from hub import kubeconfig as kubeconfigs  # here, as in `_connected`

        access = await kubeconfigs.load(kubeconfig, context=context, acting_as=acting_as)
        return cls._connected(access, manager=manager, limits=limits)

    @classmethod
    async def connect_as_told(
        cls, kubeconfig: str, *, manager: str = "fleetgate", limits: Limits | None = None
    ) -> Self:
        """Return a client for the text of a kubeconfig from someone else, such as a Secret.

        The kubeconfig must be self-contained; see `hub.handed_kubeconfig`. Raises BadConfiguration.
        """
        from hub import handed_kubeconfig  # here, as in `_connected`

        access = handed_kubeconfig.load(kubeconfig)
        return cls._connected(access, manager=manager, limits=limits)

    @classmethod
    def _connected(cls, access: "Access", *, manager: str, limits: Limits | None) -> Self:
        # Imported here because HTTP is slow to import, and even a mistyped command or one that
        # only shows its help imports the hub.
        from hub.transport import Transport

        limits = limits or Limits()
        transport = Transport(access, limits=limits, user_agent=manager)
        return cls(transport, manager=manager, limits=limits)

    def fenced(self, fence: Fence) -> Self:
        """Return a client over the same connections that calls `fence` before each write.

        Requests and watches of both clients are counted together; close only one of them.
        """
        other = copy(self)
        other.fence = fence
        return other

    def on(self, lane: Lane) -> Self:
        """Return a client of the same API server whose requests use the connections of a lane.

        Watches always use their own lane. Close only one of the two clients.
        """
        other = copy(self)
        other.lane = lane
        return other

    async def close(self) -> None:
        """Close all connections; running watches end."""
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def url(self) -> str:
        """Address of the API server."""
        return self._transport.url

    @property
    def requests(self) -> Counter[tuple[str, str]]:
        """Requests sent so far, by verb and resource: `("apply", "configmaps/status")`."""
        return self._transport.requests

    @property
    def answers(self) -> Answers:
        """Response times of requests."""
        return self._transport.answers

    async def _send(self, request: ApiRequest) -> Json:
        if request.verb not in _READS:
            self.fence()
        return await self._transport.send(replace(request, lane=self.lane))

    async def get(self, kind: Kind, name: str, *, namespace: str = "") -> Json:
        """Return one object. Raises NotFound."""
        path = item_path(kind, name, namespace=namespace)
        return await self._send(ApiRequest("get", resource_of(kind), "GET", path))

    async def find(self, kind: Kind, name: str, *, namespace: str = "") -> Json | None:
        """Return one object, or None if it does not exist."""
        try:
            return await self.get(kind, name, namespace=namespace)
        except errors.NotFound:
            return None

    async def list(self, kind: Kind, **selection: Unpack[Selection]) -> Listing:
        """Return all objects of a selection."""
        for _ in range(LIST_ATTEMPTS - 1):
            try:
                return await self._list(kind, selection)
            except errors.Gone:
                continue
        return await self._list(kind, selection)

    async def _list(self, kind: Kind, selection: Selection) -> Listing:
        items: list[Json] = []
        version = ""
        async for page in self.pages(kind, **selection):
            items += page.items
            version = page.resource_version
        return Listing(items, version)

    async def pages(
        self, kind: Kind, *, page_size: int = 0, **selection: Unpack[Selection]
    ) -> AsyncGenerator[Listing, None]:
        """Yield a list page by page, for callers that keep only a part of each object.

        `page_size` defaults to that of the limits. Raises Gone if the pages expire while they are
        read.
        """
        path = collection_path(kind, namespace=selection.get("namespace", ""))
        query = _selectors(selection) | {"limit": str(page_size or self.limits.page_size)}
        metadata_only = selection.get("metadata_only", False)
        accept = METADATA_LIST if metadata_only else WHOLE
        resource = resource_of(kind)
        while True:
            request = ApiRequest("list", resource, "GET", path, query, accept=accept)
            page = await self._send(request)
            shape = _only_metadata if metadata_only else _typed
            items = [shape(kind, item) for item in page.get("items") or []]
            yield Listing(items, version_of(page))
            token = page["metadata"].get("continue")
            if not token:
                return
            query["continue"] = token

    async def create(
        self,
        kind: Kind,
        body: Json,
        *,
        namespace: str = "",
        manager: str | None = None,
        dry_run: bool = False,
    ) -> Json:
        """Create an object and return it as stored. Raises AlreadyExists, Invalid."""
        namespace = namespace or body["metadata"].get("namespace", "")
        if kind.namespaced and not namespace:
            raise ValueError(f"a new {kind} needs a namespace")
        path = collection_path(kind, namespace=namespace)
        query = self._writing(manager, dry_run=dry_run)
        return await self._send(
            ApiRequest("create", resource_of(kind), "POST", path, query, _typed(kind, body))
        )

    async def replace(
        self, kind: Kind, body: Json, *, subresource: str = "", dry_run: bool = False
    ) -> Json:
        """Replace the version of an object that `body` names. Raises Conflict, NotFound."""
        namespace, name = key_of(body)
        path = item_path(kind, name, namespace=namespace, subresource=subresource)
        query = self._writing(dry_run=dry_run)
        return await self._send(
            ApiRequest("update", resource_of(kind, subresource), "PUT", path, query, body)
        )

    async def apply(
        self,
        kind: Kind,
        body: Json,
        *,
        subresource: str = "",
        manager: str | None = None,
        force: bool = True,
        dry_run: bool = False,
    ) -> Json:
        """Apply server-side: own exactly the fields in `body`, and create the object if needed.

        Without `force`, raises Conflict if another manager owns one of the fields.
        """
        namespace, name = key_of(body)
        path = item_path(kind, name, namespace=namespace, subresource=subresource)
        query = self._writing(manager, dry_run=dry_run) | {"force": str(force).lower()}
        resource = resource_of(kind, subresource)
        return await self._send(
            ApiRequest("apply", resource, "PATCH", path, query, _typed(kind, body), APPLY)
        )

    async def patch(
        self,
        kind: Kind,
        name: str,
        patch: Json | JsonPatch,
        *,
        namespace: str = "",
        subresource: str = "",
        manager: str | None = None,
        dry_run: bool = False,
        metadata_only: bool = False,
    ) -> Json:
        """Change an object: a list is a JSON patch, a dict a merge patch.

        With `metadata_only`, return only the object's metadata. Raises Conflict if a JSON patch
        does not match the object, for example because its `test` fails.
        """
        path = item_path(kind, name, namespace=namespace, subresource=subresource)
        query = self._writing(manager, dry_run=dry_run)
        content_type = JSON_PATCH if isinstance(patch, list) else MERGE_PATCH
        resource = resource_of(kind, subresource)
        accept = METADATA_ONLY if metadata_only else WHOLE
        request = ApiRequest("patch", resource, "PATCH", path, query, patch, content_type, accept)
        try:
            return await self._send(request)
        except errors.Invalid as error:
            if isinstance(patch, list) and not error.details.kind and not error.details.causes:
                # The API server does not say which operation failed.
                raise errors.Conflict(
                    f"{kind} {name!r} does not match what the patch expects", code=error.code
                ) from error
            raise

    async def delete(
        self,
        kind: Kind,
        name: str,
        *,
        namespace: str = "",
        uid: str = "",
        propagation: str = "",
    ) -> None:
        """Delete one object; with `uid`, raise Conflict if another one has the name.

        `propagation` is Foreground, Background or Orphan; empty for the kind's default.
        """
        body: Json = {"apiVersion": "v1", "kind": "DeleteOptions"}
        if uid:
            body["preconditions"] = {"uid": uid}
        if propagation:
            body["propagationPolicy"] = propagation
        path = item_path(kind, name, namespace=namespace)
        await self._send(ApiRequest("delete", resource_of(kind), "DELETE", path, body=body))

    async def delete_all(self, kind: Kind, *, namespace: str = "", labels: str) -> None:
        """Delete all objects with these labels in one namespace, or of a cluster-scoped kind."""
        if kind.namespaced and not namespace:
            raise ValueError(f"deleting every {kind} with labels {labels!r} needs a namespace")
        path = collection_path(kind, namespace=namespace)
        resource = resource_of(kind)
        await self._send(
            ApiRequest("deletecollection", resource, "DELETE", path, _selectors({"labels": labels}))
        )

    async def watch_until(self, kind: Kind, body: Json, holds: Callable[[Json], bool]) -> None:
        """Watch an object, from its version in `body`, until `holds` is true of it.

        Returns too when the API server ends the watch. Raises as `watch` does.
        """
        if holds(body):
            return
        namespace, name = key_of(body)
        changes = self.watch(
            kind,
            resource_version=version_of(body),
            namespace=namespace,
            fields=f"metadata.name={name}",
        )
        async with aclosing(changes):
            async for change in changes:
                if holds(change.object):
                    return

    async def watch(
        self, kind: Kind, *, resource_version: str, **selection: Unpack[Selection]
    ) -> AsyncGenerator[WatchEvent, None]:
        """Yield changes after a version until the API server ends it (`limits.watch_duration`).

        Raises Gone if the version is too old, and TimedOut after `limits.silence`. When leaving
        early, close it (`contextlib.aclosing`), or its connection stays in use.
        """
        query = _selectors(selection) | {
            "watch": "true",
            "resourceVersion": resource_version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(round(self.limits.watch_duration.total_seconds())),
        }
        path = collection_path(kind, namespace=selection.get("namespace", ""))
        metadata_only = selection.get("metadata_only", False)
        accept = METADATA_ONLY if metadata_only else WHOLE
        resource = resource_of(kind)
        request = ApiRequest(
            "watch", resource, "GET", path, query, accept=accept, lane=Lane.WATCHES
        )
        async with aclosing(self._transport.lines(request)) as lines:
            async for line in lines:
                event = watching.decode(line)
                if metadata_only:
                    event = replace(event, object=_only_metadata(kind, event.object))
                yield event

    async def kinds(self) -> Kinds:
        """Return every kind that can be listed, each in the server's preferred version."""
        return await self._discovery.kinds()

    async def kind_for(self, api_version: str, kind: str) -> Kind | None:
        """Return the kind of this name and version, or None if the server does not serve it."""
        return await self._discovery.kind_for(api_version, kind)

    def known_kind(self, api_version: str, kind: str) -> Kind | None:
        """Return the kind as of the last discovery, or None if it was not served."""
        return self._discovery.known_kind(api_version, kind)

    async def version(self) -> str:
        """Return the API server's version, such as `v1.34.4`."""
        answer = await self._send(ApiRequest("get", "version", "GET", "/version"))
        version: str = answer["gitVersion"]
        return version

    async def clock(self) -> datetime:
        """Return the time by the API server's own clock, truncated to whole seconds."""
        return await self._transport.date(ApiRequest("get", "version", "GET", "/version"))

    def _writing(self, manager: str | None = None, *, dry_run: bool) -> dict[str, str]:
        query = {"fieldManager": manager or self._manager}
        return query | {"dryRun": "All"} if dry_run else query


_READS = frozenset({"get", "list", "watch"})


def _open() -> None:
    """Allow every write: the fence of a client that takes part in no election."""


def _selectors(selection: Selection) -> dict[str, str]:
    query = {
        "labelSelector": selection.get("labels", ""),
        "fieldSelector": selection.get("fields", ""),
    }
    return {name: value for name, value in query.items() if value}


def _typed(kind: Kind, body: Json) -> Json:
    # Items of a list come without apiVersion and kind, and callers may leave them out.
    return {"apiVersion": kind.api_version, "kind": kind.kind} | body


def _only_metadata(kind: Kind, body: Json) -> Json:
    # The server calls it PartialObjectMetadata; an aggregated server may send the whole object.
    return _typed(kind, {"metadata": body["metadata"]})
