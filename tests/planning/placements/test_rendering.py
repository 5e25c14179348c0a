"""Rendering a binding's content as Works (contract: placement 8)."""

import pytest

from api import names
from api.applying import ReportBackStrategy
from planning.placements.rendering import BindingOwner, MissingSnapshotError, WorkChanges
from planning.placements.snapshotting import CHUNK_BYTES
from tests.planning.placements.works import (
    NAMESPACED,
    STRATEGY,
    Json,
    binding,
    changes,
    config_map,
    snapshots,
)


def test_a_cluster_scoped_placement_has_a_work_named_after_it() -> None:
    (work,) = changes(binding(), snapshots(config_map("a"))).writes

    assert work == {
        "metadata": {
            "name": "p-work",
            "namespace": "fleet-member-a",
            "labels": {
                names.PARENT_BINDING: "p-a-0",
                names.PARENT_PLACEMENT: "p",
                names.PARENT_RESOURCE_SNAPSHOT_INDEX: "0",
            },
            "annotations": work["metadata"]["annotations"],
        },
        "spec": {"workload": {"manifests": [config_map("a")]}, "applyStrategy": STRATEGY},
    }


def test_a_namespaced_placement_is_named_with_its_namespace() -> None:
    (work,) = changes(binding(), snapshots(config_map("a")), source=NAMESPACED).writes
    assert work["metadata"]["name"] == "app.p-work"
    assert work["metadata"]["labels"][names.PARENT_PLACEMENT_NAMESPACE] == "app"


def test_each_part_of_a_large_snapshot_is_a_work() -> None:
    size = CHUNK_BYTES * 3 // 4
    stored = snapshots(*(config_map(name, size) for name in "abc"))
    made = changes(binding(), list(reversed(stored)))
    assert [each["metadata"]["name"] for each in made.writes] == ["p-work", "p-0", "p-1"]
    assert made.names == ("p-0", "p-1", "p-work")


def test_works_that_carry_the_content_are_left_alone() -> None:
    stored = snapshots(config_map("a"))
    works = list(changes(binding(), stored).writes)
    assert changes(binding(), stored, works) == WorkChanges((), (), ("p-work",))


def test_works_are_left_alone_after_their_snapshot_was_pruned() -> None:
    works = list(changes(binding(), snapshots(config_map("a"))).writes)
    assert changes(binding(), [], works) == WorkChanges((), (), ("p-work",))


def test_a_request_to_apply_again_is_passed_on_without_writing_the_content_again() -> None:
    stored = snapshots(config_map("a"))
    works = list(changes(binding(), stored).writes)
    asked = binding()
    asked.metadata.annotations[names.APPLY_AGAIN] = "now"
    found = changes(asked, stored, works)
    assert found.writes == ()
    assert found.marks == {"p-work": {names.APPLY_AGAIN: "now"}}
    works[0]["metadata"]["annotations"][names.APPLY_AGAIN] = "now"
    assert changes(asked, stored, works).marks == {}
    (new,) = changes(asked, stored).writes
    assert new["metadata"]["annotations"][names.APPLY_AGAIN] == "now"


@pytest.mark.parametrize(
    "spec",
    [
        {"applyStrategy": {"type": "ClientSideApply"}},
        {"clusterResourceOverrideSnapshots": ["o-0"]},
        {"resourceOverrideSnapshots": [{"name": "o-0", "namespace": "app"}]},
    ],
)
def test_a_work_is_rewritten_when_the_binding_changes(spec: Json) -> None:
    stored = snapshots(config_map("a"))
    works = list(changes(binding(), stored).writes)
    assert len(changes(binding(**spec), stored, works).writes) == 1


def test_a_work_is_rewritten_for_another_snapshot() -> None:
    stored = snapshots(config_map("a")) + snapshots(config_map("b"), index=1)
    works = list(changes(binding(), stored).writes)

    (work,) = changes(binding(1), stored, works).writes

    assert work["spec"]["workload"]["manifests"] == [config_map("b")]
    assert work["metadata"]["labels"][names.PARENT_RESOURCE_SNAPSHOT_INDEX] == "1"


def test_a_work_of_an_earlier_binding_is_rewritten() -> None:
    stored = snapshots(config_map("a"))
    (work,) = changes(binding(), stored).writes
    work["metadata"]["labels"][names.PARENT_BINDING] = "former"
    assert len(changes(binding(), stored, [work]).writes) == 1


def test_works_that_are_no_longer_needed_are_deleted() -> None:
    size = CHUNK_BYTES * 3 // 4
    large = snapshots(config_map("a", size), config_map("b", size))
    works = list(changes(binding(), large).writes)

    made = changes(binding(1), snapshots(config_map("a"), index=1), works)

    assert made.deletions == ("p-0",)
    assert made.names == ("p-work",)


def test_empty_content_is_an_empty_work() -> None:
    (work,) = changes(binding(), snapshots()).writes
    assert work["spec"]["workload"] == {"manifests": []}


def test_the_report_back_strategy_comes_from_the_placement() -> None:
    report_back = ReportBackStrategy.from_wire({"type": "Mirror", "destination": "WorkAPI"})
    source = BindingOwner("p", "", report_back)
    stored = snapshots(config_map("a"))
    (work,) = changes(binding(), stored, source=source).writes
    assert work["spec"]["reportBackStrategy"] == {"type": "Mirror", "destination": "WorkAPI"}
    assert changes(binding(), stored, [work], source=source).writes == ()
    assert len(changes(binding(), stored, [work]).writes) == 1


def test_a_missing_snapshot_is_reported_with_the_contracts_message() -> None:
    with pytest.raises(MissingSnapshotError) as caught:
        changes(binding(3), snapshots(config_map("a")))
    assert str(caught.value) == "the master resource snapshot is not found"


def test_an_incomplete_snapshot_is_not_distributed() -> None:
    size = CHUNK_BYTES * 3 // 4
    stored = snapshots(config_map("a", size), config_map("b", size))
    with pytest.raises(MissingSnapshotError) as caught:
        changes(binding(), stored[:1])
    assert str(caught.value) == "only 1 of 2 resource snapshots of p-0-snapshot exist"


@pytest.mark.parametrize("count", [None, "", "two", "0", "-1"])
def test_a_snapshot_with_an_invalid_object_count_is_not_distributed(count: str | None) -> None:
    (master,) = snapshots(config_map("a"))
    annotations = dict(master["metadata"]["annotations"])
    del annotations[names.NUMBER_OF_RESOURCE_SNAPSHOTS]
    if count is not None:
        annotations[names.NUMBER_OF_RESOURCE_SNAPSHOTS] = count
    master["metadata"]["annotations"] = annotations
    with pytest.raises(MissingSnapshotError) as caught:
        changes(binding(), [master])
    assert str(caught.value) == (
        "resource snapshot p-0-snapshot does not say how many objects it consists of: its "
        f"annotation kubernetes-fleet.io/number-of-resource-snapshots is `{count or ''}`"
    )
