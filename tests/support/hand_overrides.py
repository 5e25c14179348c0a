"""Hand-made snapshots of overrides, in place of those of a controller."""

from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from api import names
from api.kinds import CLUSTER_RESOURCE_OVERRIDE_SNAPSHOT, RESOURCE_OVERRIDE_SNAPSHOT, Kind
from hub import Hub, Json, NotFound

OVERRIDES_OF_ALL = [
    pytest.mark.xdist_group("overrides of all placements"),
    pytest.mark.alone("an override that names no placement applies to all"),
]
"""Marks for tests that write overrides without a placement, and for tests that these disturb."""
EVERYWHERE: Json = {"clusterSelectorTerms": []}


def by_labels(**labels: str) -> Json:
    """Return a cluster selector with one label selector."""
    return {"clusterSelectorTerms": [{"labelSelector": {"matchLabels": labels}}]}


def by_name(cluster: str) -> Json:
    """Return a cluster selector for one cluster, by the label that every cluster has."""
    return {
        "clusterSelectorTerms": [{"labelSelector": {"matchLabels": {names.MEMBER_NAME: cluster}}}]
    }


def selector(kind: str, name: str, *, group: str = "", version: str = "v1") -> Json:
    """Return a selector for one object."""
    return {"group": group, "version": version, "kind": kind, "name": name}


@dataclass
class HandOverrides:
    """Override snapshots written by hand; `clear` deletes them."""

    hub: Hub
    _written: list[tuple[Kind, str, str]] = field(default_factory=list)

    async def cluster(
        self,
        override: str,
        about: Json,
        where: Json,
        *,
        index: int = 0,
        placement: Json | None = None,
    ) -> str:
        """Write the latest snapshot of a ClusterResourceOverride and return its name."""
        spec = _spec("clusterResourceSelectors", about, where, placement)
        return await self._write(CLUSTER_RESOURCE_OVERRIDE_SNAPSHOT, override, "", spec, index)

    async def namespaced(
        self,
        override: str,
        namespace: str,
        about: Json,
        where: Json,
        *,
        index: int = 0,
        placement: Json | None = None,
    ) -> str:
        """Write the latest snapshot of a ResourceOverride and return its name."""
        spec = _spec("resourceSelectors", about, where, placement)
        return await self._write(RESOURCE_OVERRIDE_SNAPSHOT, override, namespace, spec, index)

    async def retire(self, snapshot: str) -> None:
        """Mark a snapshot as no longer the latest of its override."""
        (found,) = [each for each in self._written if each[2] == snapshot]
        kind, namespace, name = found
        patch = {"metadata": {"labels": {names.IS_LATEST_SNAPSHOT: "false"}}}
        await self.hub.patch(kind, name, patch, namespace=namespace)

    async def clear(self) -> None:
        """Delete everything that was written."""
        for kind, namespace, name in self._written:
            with suppress(NotFound):
                await self.hub.delete(kind, name, namespace=namespace)

    async def _write(
        self, kind: Kind, override: str, namespace: str, spec: Json, index: int
    ) -> str:
        name = f"{override}-{index}"
        labels = {
            names.PARENT_RESOURCE_OVERRIDE: override,
            names.IS_LATEST_SNAPSHOT: "true",
            names.OVERRIDE_INDEX: str(index),
        }
        placed = {"namespace": namespace} if namespace else {}
        body = {
            "metadata": {"name": name, "labels": labels} | placed,
            "spec": {"overrideSpec": spec, "overrideHash": "aGFzaA=="},
        }
        await self.hub.create(kind, body)
        self._written.append((kind, namespace, name))
        return name


def _spec(selectors: str, about: Json, where: Json, placement: Json | None) -> Json:
    patch = {"op": "add", "path": "/metadata/annotations/note", "value": "by hand"}
    rule = {"clusterSelector": where, "jsonPatchOverrides": [patch]}
    spec: Json = {selectors: [about], "policy": {"overrideRules": [rule]}}
    return spec | ({"placement": placement} if placement else {})
