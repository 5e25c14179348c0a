"""Overrides and their snapshots on a real API server (contract: placement 9)."""

from typing import Any

import pytest

from api import kinds
from api.kinds import Kind
from hub import Hub
from tests.api.conftest import Make
from tests.api.samples import change, dry_create, refusal, sample

SELECTOR = {"group": "", "version": "v1", "kind": "ConfigMap", "name": "web"}
PATCH = {"op": "add", "path": "/data/tier", "value": "gold"}
RULE = {"clusterSelector": {"clusterSelectorTerms": []}, "jsonPatchOverrides": [PATCH]}
SELECTORS = {
    kinds.CLUSTER_RESOURCE_OVERRIDE: "clusterResourceSelectors",
    kinds.RESOURCE_OVERRIDE: "resourceSelectors",
}
SNAPSHOTS = {
    kinds.CLUSTER_RESOURCE_OVERRIDE: kinds.CLUSTER_RESOURCE_OVERRIDE_SNAPSHOT,
    kinds.RESOURCE_OVERRIDE: kinds.RESOURCE_OVERRIDE_SNAPSHOT,
}
of_both_kinds = pytest.mark.parametrize("kind", SELECTORS, ids=str)


def override_spec(kind: Kind, *rules: dict[str, Any], **changed: Any) -> dict[str, Any]:
    policy = {"overrideRules": list(rules) or [RULE]}
    return {SELECTORS[kind]: [SELECTOR], "policy": policy} | changed


def snapshot_spec(spec: dict[str, Any]) -> dict[str, Any]:
    return {"overrideSpec": spec, "overrideHash": "YWJj"}


@of_both_kinds
async def test_an_override_gets_its_defaults(hub: Hub, kind: Kind) -> None:
    spec = override_spec(kind, placement={"name": "p"})
    stored = (await dry_create(hub, kind, spec))["spec"]
    assert stored["placement"] == {"name": "p", "scope": "Cluster"}
    assert stored["policy"]["overrideRules"] == [RULE | {"overrideType": "JSONPatch"}]


@of_both_kinds
async def test_an_override_may_apply_to_every_placement(hub: Hub, kind: Kind) -> None:
    assert "placement" not in (await dry_create(hub, kind, override_spec(kind)))["spec"]


@pytest.mark.parametrize("value", ["gold", 3, True, ["a"], {"a": {"b": "c"}}], ids=str)
@of_both_kinds
async def test_a_patch_may_set_any_value(hub: Hub, kind: Kind, value: object) -> None:
    rule = RULE | {"jsonPatchOverrides": [PATCH | {"value": value}]}
    stored = await dry_create(hub, kind, override_spec(kind, rule))
    (patch,) = stored["spec"]["policy"]["overrideRules"][0]["jsonPatchOverrides"]
    assert patch["value"] == value


async def test_only_a_namespaced_override_may_apply_to_a_namespaced_placement(hub: Hub) -> None:
    namespaced = {"placement": {"name": "p", "scope": "Namespaced"}}
    kind = kinds.CLUSTER_RESOURCE_OVERRIDE
    text = await refusal(dry_create(hub, kind, override_spec(kind, **namespaced)))
    assert "clusterResourceOverride placement reference cannot be Namespaced scope" in text
    await dry_create(
        hub, kinds.RESOURCE_OVERRIDE, override_spec(kinds.RESOURCE_OVERRIDE, **namespaced)
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"name": "p"}, {"name": "q"}),
        ({"name": "p"}, {"scope": "Namespaced"}),
        ({"name": "p"}, None),
        (None, {"name": "p"}),
    ],
    ids=["renamed", "of another scope", "removed", "added"],
)
@of_both_kinds
async def test_the_placement_of_an_override_is_immutable(
    hub: Hub,
    make: Make,
    unique: str,
    kind: Kind,
    before: dict[str, str] | None,
    after: dict[str, str] | None,
) -> None:
    given = {"placement": before} if before else {}
    await make(kind, sample(kind, unique, override_spec(kind, **given)))
    text = await refusal(change(hub, kind, unique, {"spec": {"placement": after}}))
    assert "The placement field is immutable" in text


@of_both_kinds
async def test_the_rules_of_an_override_may_change(
    hub: Hub, make: Make, unique: str, kind: Kind
) -> None:
    await make(kind, sample(kind, unique, override_spec(kind, placement={"name": "p"})))
    policy = {"overrideRules": [{"overrideType": "Delete"}]}
    changed = await change(hub, kind, unique, {"spec": {"policy": policy}})
    assert changed["metadata"]["generation"] == 2


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"policy": {"overrideRules": []}}, "overrideRules in body should have at least 1 items"),
        ({"policy": {"overrideRules": [{}] * 21}}, "Too many: 21: must have at most 20 items"),
        ({"policy": {}}, "spec.policy.overrideRules: Required value"),
        (
            {"policy": {"overrideRules": [{"jsonPatchOverrides": []}]}},
            "jsonPatchOverrides in body should have at least 1 items",
        ),
        (
            {"policy": {"overrideRules": [{"jsonPatchOverrides": [PATCH] * 21}]}},
            "jsonPatchOverrides: Too many: 21: must have at most 20 items",
        ),
        (
            {"policy": {"overrideRules": [{"jsonPatchOverrides": [PATCH | {"op": "test"}]}]}},
            'supported values: "add", "remove", "replace"',
        ),
        (
            {"policy": {"overrideRules": [{"overrideType": "Merge"}]}},
            'supported values: "JSONPatch", "Delete"',
        ),
        (
            {"policy": {"overrideRules": [{"clusterSelector": {}}]}},
            "clusterSelector.clusterSelectorTerms: Required value",
        ),
        (
            {
                "policy": {
                    "overrideRules": [{"clusterSelector": {"clusterSelectorTerms": [{}] * 11}}]
                }
            },
            "clusterSelectorTerms: Too many: 11: must have at most 10 items",
        ),
        ({"placement": {}}, "spec.placement.name: Required value"),
        (
            {"placement": {"name": "p", "scope": "World"}},
            'supported values: "Cluster", "Namespaced"',
        ),
    ],
)
@of_both_kinds
async def test_invalid_overrides_are_refused(
    hub: Hub, kind: Kind, changed: dict[str, Any], complaint: str
) -> None:
    assert complaint in await refusal(dry_create(hub, kind, override_spec(kind, **changed)))


@of_both_kinds
async def test_an_override_selects_1_to_20_objects(hub: Hub, kind: Kind) -> None:
    field = SELECTORS[kind]
    text = await refusal(dry_create(hub, kind, override_spec(kind, **{field: []})))
    assert f"spec.{field} in body should have at least 1 items" in text
    text = await refusal(dry_create(hub, kind, override_spec(kind, **{field: [SELECTOR] * 21})))
    assert f"spec.{field}: Too many: 21: must have at most 20 items" in text


@pytest.mark.parametrize("missing", SELECTOR)
async def test_objects_of_a_namespace_are_selected_by_name(hub: Hub, missing: str) -> None:
    flawed = {name: value for name, value in SELECTOR.items() if name != missing}
    kind = kinds.RESOURCE_OVERRIDE
    text = await refusal(dry_create(hub, kind, override_spec(kind, resourceSelectors=[flawed])))
    assert f"spec.resourceSelectors[0].{missing}: Required value" in text


@of_both_kinds
async def test_a_snapshot_holds_a_copy_of_the_override(hub: Hub, kind: Kind) -> None:
    rule = RULE | {"overrideType": "JSONPatch"}
    spec = snapshot_spec(override_spec(kind, rule))
    stored = await dry_create(hub, SNAPSHOTS[kind], spec)
    assert stored["spec"]["overrideHash"] == "YWJj"
    overridden = stored["spec"]["overrideSpec"]
    assert overridden["policy"] == spec["overrideSpec"]["policy"]
    assert overridden[SELECTORS[kind]][0].items() >= SELECTOR.items()


@pytest.mark.parametrize("field", ["overrideSpec", "overrideHash"])
@of_both_kinds
async def test_a_snapshot_must_be_complete(hub: Hub, kind: Kind, field: str) -> None:
    spec = snapshot_spec(override_spec(kind))
    del spec[field]
    text = await refusal(dry_create(hub, SNAPSHOTS[kind], spec))
    assert f"spec.{field}: Required value" in text


@of_both_kinds
async def test_the_placement_of_a_snapshot_is_immutable(
    hub: Hub, make: Make, unique: str, kind: Kind
) -> None:
    snapshot = SNAPSHOTS[kind]
    spec = snapshot_spec(override_spec(kind, placement={"name": "p"}))
    await make(snapshot, sample(snapshot, unique, spec))
    patch = {"spec": {"overrideSpec": {"placement": {"name": "q"}}}}
    text = await refusal(change(hub, snapshot, unique, patch))
    assert "The placement field is immutable" in text
