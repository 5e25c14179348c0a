"""Sample override snapshots, and rendering with them."""

from typing import Any

import pytest

from api.overrides import ClusterResourceOverrideSnapshot, ResourceOverrideSnapshot
from planning.overrides.matching import Overrides
from planning.overrides.rendering import OverrideError, overridden

Json = dict[str, Any]
NAMESPACE: Json = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "app"}}
CONFIG_MAP: Json = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "cm", "namespace": "app", "labels": {"tier": "web"}},
    "data": {"secret": "s3cret"},
}
EVERYWHERE: Json = {"clusterSelectorTerms": []}
LABELS = {"region": "eu"}


def patch(path: str, value: Any = None, op: str = "add") -> Json:
    return {"op": op, "path": path} | ({} if op == "remove" else {"value": value})


def rule(*patches: Json, where: Json | None = EVERYWHERE) -> Json:
    said: Json = {"jsonPatchOverrides": list(patches)} if patches else {"overrideType": "Delete"}
    return said | ({"clusterSelector": where} if where else {})


def _selector(about: Json) -> Json:
    group, _, version = about["apiVersion"].rpartition("/")
    name = about["metadata"]["name"]
    return {"group": group, "version": version, "kind": about["kind"], "name": name}


def cro(*rules: Json, name: str = "cro-0", about: Json = NAMESPACE) -> Any:
    selectors = [_selector(about)]
    spec = {"clusterResourceSelectors": selectors, "policy": {"overrideRules": list(rules)}}
    body = {"metadata": {"name": name}, "spec": {"overrideSpec": spec, "overrideHash": ""}}
    return ClusterResourceOverrideSnapshot.from_wire(body)


def ro(*rules: Json, name: str = "ro-0", namespace: str = "app", about: Json = CONFIG_MAP) -> Any:
    spec = {"resourceSelectors": [_selector(about)], "policy": {"overrideRules": list(rules)}}
    metadata = {"name": name, "namespace": namespace}
    body = {"metadata": metadata, "spec": {"overrideSpec": spec, "overrideHash": ""}}
    return ResourceOverrideSnapshot.from_wire(body)


def render(*snapshots: Any, resources: tuple[Json, ...] = (NAMESPACE, CONFIG_MAP)) -> list[Json]:
    overrides = Overrides.of(
        [each for each in snapshots if isinstance(each, ClusterResourceOverrideSnapshot)],
        [each for each in snapshots if isinstance(each, ResourceOverrideSnapshot)],
    )
    return overridden(resources, overrides, cluster="a", labels=LABELS)


REMOVED_NOTHING = (
    "error in remove for path: '/data/x': unable to remove nonexistent key: x: missing value"
)


def failure(*patches: Json) -> str:
    with pytest.raises(OverrideError) as caught:
        render(ro(rule(*patches)))
    return str(caught.value).removeprefix(
        'ResourceOverrideSnapshot "ro-0" failed to apply on ConfigMap "cm" in namespace "app": '
    )
