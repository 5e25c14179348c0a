"""The objects that store one snapshot of a placement's content (contract: update-runs 7.7)."""

from typing import Any

import pytest

from api.names import NUMBER_OF_RESOURCE_SNAPSHOTS, RESOURCE_HASH
from planning.errors import InitializationError
from planning.runs import snapshot_groups

VALID = "cannot continue the updateRun: failed to validate the updateRun: "
USER = "failed to process the request due to a client error: "
UNEXPECTED = "unexpected behavior which cannot be handled by the controller: "


def master(*content: str, count: str | None = "1", content_hash: str = "h") -> dict[str, Any]:
    annotations = {RESOURCE_HASH: content_hash}
    if count is not None:
        annotations[NUMBER_OF_RESOURCE_SNAPSHOTS] = count
    return _snapshot("web-3-snapshot", content, annotations)


def part(number: int, *content: str) -> dict[str, Any]:
    return _snapshot(f"web-3-{number}", content, {})


def _snapshot(name: str, content: tuple[str, ...], annotations: dict[str, str]) -> dict[str, Any]:
    resources = [{"kind": each} for each in content]
    metadata = {"name": name} | ({"annotations": annotations} if annotations else {})
    return {"metadata": metadata, "spec": {"selectedResources": resources}}


def find(*snapshots: dict[str, Any]) -> snapshot_groups.SnapshotGroup:
    return snapshot_groups.find(snapshots, index="3", placement="team/web")


def kinds(group: snapshot_groups.SnapshotGroup) -> list[str]:
    return [each["kind"] for each in group.resources()]


def test_one_object_can_be_the_whole_group() -> None:
    group = find(master("A", "B"))
    assert group.name == "web-3-snapshot"
    assert group.whole
    assert kinds(group) == ["A", "B"]


def test_the_master_is_found_among_its_parts() -> None:
    group = find(part(0, "B"), part(1, "C"), master("A", count="3"))
    assert group.name == "web-3-snapshot"
    assert sorted(kinds(group)) == ["A", "B", "C"]


def test_an_index_without_objects_is_a_user_error() -> None:
    with pytest.raises(InitializationError) as caught:
        find()
    assert str(caught.value) == (
        f"{VALID}{USER}no resourceSnapshots with index `3` found for placement `team/web`"
    )


@pytest.mark.parametrize(
    "snapshots", [[part(0)], [part(0), master(content_hash="")]], ids=["parts only", "no hash"]
)
def test_without_a_master_there_is_no_snapshot(snapshots: list[dict[str, Any]]) -> None:
    with pytest.raises(InitializationError) as caught:
        find(*snapshots)
    assert str(caught.value) == (
        f"{VALID}{UNEXPECTED}no master resourceSnapshot found for placement team/web"
    )


def test_an_incomplete_group_has_no_content() -> None:
    group = find(master("A", count="3"), part(0, "B"))
    assert not group.whole
    with pytest.raises(InitializationError) as caught:
        group.resources()
    assert str(caught.value) == (
        f"{VALID}not all resource snapshot in the same index group are created: "
        "resource snapshots are still being created for the masterResourceSnapshot "
        "web-3-snapshot, total snapshot in the index group = 3, num Of existing snapshot in the "
        "group= 2, placement = team/web"
    )


@pytest.mark.parametrize("count", ["", "0", "-1", "three", None])
def test_a_master_says_how_many_objects_there_are(count: str | None) -> None:
    group = find(master(count=count))
    with pytest.raises(InitializationError) as caught:
        group.resources()
    assert str(caught.value) == (
        f"{VALID}{UNEXPECTED}master resource snapshot `web-3-snapshot` has an invalid snapshot "
        f"count `{count or ''}` in annotation kubernetes-fleet.io/number-of-resource-snapshots"
    )
