"""Snapshots of an override (contract: placement 9, snapshots)."""

import base64
from typing import Any

import pytest

from api import names
from api.base import OwnerReference
from planning.overrides import snapshotting
from planning.overrides.snapshotting import KEPT, SnapshotPlan

Json = dict[str, Any]
OWNER = OwnerReference(api_version="v1", kind="ResourceOverride", name="ro", uid="u")


def override(value: Any = "1", namespace: str = "app") -> Json:
    patch = {"op": "add", "path": "/data/a", "value": value}
    metadata = {"name": "ro"} | ({"namespace": namespace} if namespace else {})
    rules = [{"jsonPatchOverrides": [patch]}]
    return {"metadata": metadata, "spec": {"policy": {"overrideRules": rules}}}


def plan(now: Json, *known: Json) -> SnapshotPlan:
    return snapshotting.plan(now, known, owner=OWNER)


def snapshot(value: Any, index: int, *, latest: bool = False) -> Json:
    created = plan(override(value)).create
    assert created is not None
    created["metadata"]["name"] = f"ro-{index}"
    created["metadata"]["labels"] |= {
        names.OVERRIDE_INDEX: str(index),
        names.IS_LATEST_SNAPSHOT: str(latest).lower(),
    }
    return created


@pytest.mark.parametrize("namespace", ["", "app"])
def test_the_first_snapshot_is_a_copy_with_index_0(namespace: str) -> None:
    now = override(namespace=namespace)
    made = plan(now)
    assert made.create is not None
    assert made.create["metadata"] == now["metadata"] | {
        "name": "ro-0",
        "labels": {
            "kubernetes-fleet.io/parent-resource-override": "ro",
            "kubernetes-fleet.io/is-latest-snapshot": "true",
            "kubernetes-fleet.io/override-index": "0",
        },
        "ownerReferences": [OWNER.to_wire()],
    }
    assert made.create["spec"]["overrideSpec"] == now["spec"]
    digest = base64.b64decode(made.create["spec"]["overrideHash"]).decode()
    assert len(bytes.fromhex(digest)) == 32
    assert (made.superfluous, made.promote, made.demote) == ((), "", ())


def test_a_null_value_is_kept() -> None:
    created = plan(override(None)).create
    assert created is not None
    assert created["spec"]["overrideSpec"] == override(None)["spec"]


def test_the_same_content_keeps_its_snapshot() -> None:
    assert plan(override("1"), snapshot("1", 0, latest=True)) == SnapshotPlan(())


def test_other_content_becomes_the_next_snapshot() -> None:
    made = plan(override("2"), snapshot("1", 0, latest=True))
    assert made.create is not None
    assert made.create["metadata"]["name"] == "ro-1"
    assert made.demote == ("ro-0",)


def test_earlier_content_becomes_a_new_snapshot_again() -> None:
    made = plan(override("1"), snapshot("2", 1, latest=True), snapshot("1", 0))
    assert made.create is not None
    assert made.create["metadata"]["name"] == "ro-2"


def test_marks_left_by_a_writer_that_was_killed_halfway_are_fixed() -> None:
    both = plan(override("2"), snapshot("1", 0, latest=True), snapshot("2", 1, latest=True))
    assert both == SnapshotPlan((), demote=("ro-0",))
    none = plan(override("2"), snapshot("1", 0), snapshot("2", 1))
    assert none == SnapshotPlan((), promote="ro-1")


def test_the_oldest_are_superfluous() -> None:
    known = [snapshot(str(number), number) for number in range(KEPT + 1)]
    assert plan(override("new"), *known).superfluous == ("ro-0", "ro-1")
    assert plan(override(str(KEPT)), *known).superfluous == ("ro-0",)
