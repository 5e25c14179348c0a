"""The client knows which kinds its API server serves."""

from dataclasses import replace

from api.kinds import CONFIG_MAP, CUSTOM_RESOURCE_DEFINITION, NAMESPACE, Kind
from hub import Hub, Json
from tests.support.eventually import eventually


def definition(kind: Kind, *, versions: list[str]) -> Json:
    schema = {"openAPIV3Schema": {"type": "object"}}
    served = [
        {"name": version, "served": True, "storage": version == kind.version, "schema": schema}
        for version in versions
    ]
    names = {"kind": kind.kind, "plural": kind.plural, "singular": kind.plural.rstrip("s")}
    return {
        "metadata": {"name": f"{kind.plural}.{kind.group}"},
        "spec": {"group": kind.group, "names": names, "scope": "Cluster", "versions": served},
    }


async def test_all_listable_kinds_are_known_once_each(hub: Hub) -> None:
    kinds = await hub.kinds()

    assert {CONFIG_MAP, NAMESPACE, CUSTOM_RESOURCE_DEFINITION} <= set(kinds)
    assert len({(kind.group, kind.kind) for kind in kinds}) == len(kinds)
    assert "TokenReview" not in {kind.kind for kind in kinds}


async def test_a_kind_is_found_by_version_and_name(hub: Hub) -> None:
    deployment = Kind("apps", "v1", "Deployment", "deployments", namespaced=True)

    assert await hub.kind_for("apps/v1", "Deployment") == deployment
    assert await hub.kind_for("v1", "ConfigMap") == CONFIG_MAP
    assert await hub.kind_for("apps/v1", "Nothing") is None


async def test_known_kinds_are_not_requested_again(quick_hub: Hub) -> None:
    await quick_hub.kinds()
    await quick_hub.kind_for("v1", "ConfigMap")
    await quick_hub.kinds()

    assert quick_hub.requests["get", "discovery"] == 2


async def test_a_new_kind_is_found_in_all_its_versions(quick_hub: Hub, unique: str) -> None:
    await quick_hub.kinds()
    kind = Kind(f"{unique}.example.com", "v1", "Thing", "things", namespaced=False)
    await quick_hub.apply(CUSTOM_RESOURCE_DEFINITION, definition(kind, versions=["v1", "v2"]))

    assert await eventually(lambda: quick_hub.kind_for(kind.api_version, "Thing")) == kind
    assert await quick_hub.kind_for(f"{kind.group}/v2", "Thing") == replace(kind, version="v2")
    await quick_hub.delete(CUSTOM_RESOURCE_DEFINITION, f"things.{kind.group}")
