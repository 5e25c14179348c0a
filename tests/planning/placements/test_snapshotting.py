"""Snapshots of a placement's content (contract: placement 5)."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from api import names
from api.base import OwnerReference
from planning.placements.snapshotting import (
    CHUNK_BYTES,
    bodies,
    current,
    is_master,
    next_index,
    revisions,
    superfluous,
)

Json = dict[str, Any]
OWNER = OwnerReference(api_version="v1", kind="P", name="p", uid="u")


def config_map(name: str, size: int = 1) -> Json:
    metadata = {"name": name, "namespace": "app"}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
        "data": {"k": "x" * size},
    }


def stored(resources: list[Json], index: int = 0, *, latest: bool = True) -> list[Json]:
    made = bodies(resources, placement="p", namespace="", owner=OWNER, index=index)
    made[0]["metadata"]["labels"] = made[0]["metadata"]["labels"] | {
        names.IS_LATEST_SNAPSHOT: str(latest).lower()
    }
    return made


def test_small_content_is_one_object() -> None:
    (master,) = stored([config_map("a")], index=3)

    assert master["metadata"]["name"] == "p-3-snapshot"
    assert master["metadata"]["labels"] == {
        names.PARENT_PLACEMENT: "p",
        names.RESOURCE_INDEX: "3",
        names.IS_LATEST_SNAPSHOT: "true",
    }
    assert master["metadata"]["annotations"][names.NUMBER_OF_RESOURCE_SNAPSHOTS] == "1"
    assert is_master(master)


def test_an_empty_selection_is_also_content() -> None:
    (master,) = stored([])
    assert master["spec"] == {"selectedResources": []}


def test_large_content_is_several_objects_with_one_master() -> None:
    half = CHUNK_BYTES * 5 // 8
    made = stored(
        [config_map("a", half), config_map("b", half), config_map("c"), config_map("d", half)]
    )

    assert [each["metadata"]["name"] for each in made] == ["p-0-snapshot", "p-0-0", "p-0-1"]
    assert [
        [each["metadata"]["name"] for each in part["spec"]["selectedResources"]] for part in made
    ] == [["a"], ["b", "c"], ["d"]]
    assert made[2]["metadata"]["annotations"] == {names.SUBINDEX: "1"}
    assert names.IS_LATEST_SNAPSHOT not in made[2]["metadata"]["labels"]
    (revision,) = revisions(made)
    assert (revision.size, len(revision.objects)) == (3, 3)


def test_an_object_larger_than_the_limit_gets_a_snapshot_object_of_its_own() -> None:
    made = stored([config_map("a"), config_map("b", CHUNK_BYTES * 2), config_map("c")])
    assert [len(each["spec"]["selectedResources"]) for each in made] == [1, 1, 1]


@given(st.lists(st.integers(1, CHUNK_BYTES * 2), max_size=8))
def test_no_object_is_lost_or_reordered(sizes: list[int]) -> None:
    resources = [config_map(f"cm{number}", size) for number, size in enumerate(sizes)]
    made = stored(resources)
    assert [each for part in made for each in part["spec"]["selectedResources"]] == resources


def test_the_marked_snapshot_is_the_current_one() -> None:
    known = revisions([*stored([], 0), *stored([], 1, latest=False)])
    found = current(known)
    assert found is not None
    assert found.index == 0


def test_without_a_mark_the_newest_snapshot_is_the_current_one() -> None:
    known = revisions([*stored([], 2, latest=False), *stored([], 10, latest=False)])
    found = current(known)
    assert found is not None
    assert found.index == 10
    assert next_index(known) == 11


def test_without_snapshots_there_is_no_current_one() -> None:
    assert current([]) is None
    assert next_index([]) == 0


def test_the_oldest_snapshots_are_superfluous() -> None:
    known = revisions([each for index in range(4) for each in stored([], index)])
    assert [each.index for each in superfluous(known, keep=2)] == [0, 1]
    assert superfluous(known, keep=4) == []
    assert [each.index for each in superfluous(known, keep=0)] == [0, 1, 2, 3]


def test_objects_without_an_index_are_ignored() -> None:
    assert revisions([{"metadata": {"name": "stray"}}]) == []
