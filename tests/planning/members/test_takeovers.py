from typing import Any

import pytest

from api.applying import ApplyStrategy
from planning.members.takeovers import is_owned, orphans, refusal, without

MINE = {
    "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
    "kind": "AppliedWork",
    "name": "mine",
    "uid": "1",
}
OTHER_WORK = MINE | {"name": "other", "uid": "2"}
FOREIGN = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "app", "uid": "3"}

NEVER = {"when_to_take_over": "Never"}
SHARED = {"allow_co_ownership": True}


def owned_by(*owners: dict[str, str]) -> dict[str, Any]:
    return {"metadata": {"ownerReferences": list(owners)}}


@pytest.mark.parametrize(
    ("owners", "strategy", "reason"),
    [
        ([MINE], {}, None),
        ([MINE], NEVER, None),
        ([MINE, FOREIGN], {}, "ManifestApplyFailed"),
        ([MINE, FOREIGN], SHARED, None),
        ([MINE, OTHER_WORK], SHARED, "ManifestApplyFailed"),
        ([], {}, None),
        ([], NEVER, "NotTakenOver"),
        ([FOREIGN], {}, "FailedToTakeOver"),
        ([FOREIGN], SHARED, None),
        ([FOREIGN], NEVER, "NotTakenOver"),
        ([OTHER_WORK], {}, "FailedToTakeOver"),
        ([OTHER_WORK], SHARED, "FailedToTakeOver"),
    ],
)
def test_an_objects_owners_decide_whether_it_may_be_written(
    owners: list[dict[str, str]], strategy: dict[str, Any], reason: str | None
) -> None:
    found = refusal(owned_by(*owners), uid="1", strategy=ApplyStrategy(**strategy))
    assert (found.reason if found else None) == reason


def test_a_missing_object_may_be_created() -> None:
    assert refusal(None, uid="1", strategy=ApplyStrategy(when_to_take_over="Never")) is None


@pytest.mark.parametrize(
    ("strategy", "words"),
    [
        ({}, "some other sources(s) and co-ownership is disallowed (existingOwnerRefs: [{"),
        (SHARED, "the object is already owned by another Fleet AppliedWork object"),
    ],
)
def test_the_other_owner_is_named(strategy: dict[str, Any], words: str) -> None:
    found = refusal(owned_by(OTHER_WORK), uid="1", strategy=ApplyStrategy(**strategy))
    assert found is not None
    assert found.error.startswith("failed to take over a pre-existing object: ")
    assert words in found.error


def test_a_work_owns_by_uid_and_not_by_name() -> None:
    assert is_owned(owned_by(MINE), uid="1")
    assert not is_owned(owned_by(MINE | {"uid": "9"}), uid="1")


def test_only_owners_whose_works_are_gone_are_orphans() -> None:
    live = owned_by(MINE, OTHER_WORK, FOREIGN)
    gone = orphans(live, is_orphan=lambda name: name != "mine")
    assert gone == {"other"}
    assert without(live, gone) == owned_by(MINE, FOREIGN)
