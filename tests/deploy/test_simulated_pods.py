"""The status of pods on a simulated node."""

from datetime import UTC, datetime
from typing import Any

import pytest

from deploy.local.simulated_pods import cannot_be_pulled, next_status

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def pod(*images: str, owner: str = "ReplicaSet", **metadata: Any) -> dict[str, Any]:
    containers = [{"name": f"c{number}", "image": image} for number, image in enumerate(images)]
    owners = [{"kind": owner, "name": "owner"}]
    return {
        "metadata": {"name": "pod", "ownerReferences": owners, **metadata},
        "spec": {"containers": containers},
        "status": {"phase": "Pending"},
    }


def settled(given: dict[str, Any]) -> dict[str, Any]:
    status = next_status(given, now=NOW)
    assert status is not None
    return status


def conditions(status: dict[str, Any]) -> dict[str, str]:
    return {one["type"]: one["status"] for one in status["conditions"]}


def test_a_pod_runs_and_is_ready() -> None:
    status = settled(pod("nginx:1"))

    assert status["phase"] == "Running"
    assert set(conditions(status).values()) == {"True"}
    assert status["containerStatuses"][0]["ready"] is True


def test_a_pod_of_a_job_succeeds() -> None:
    status = settled(pod("nginx:1", owner="Job"))

    assert status["phase"] == "Succeeded"
    assert status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 0


def test_one_bad_image_keeps_the_pod_from_being_ready() -> None:
    status = settled(pod("nginx:1", "nginx:bad"))

    assert status["phase"] == "Pending"
    assert conditions(status)["Ready"] == "False"
    assert status["containerStatuses"][1]["state"]["waiting"]["reason"] == "ImagePullBackOff"


@pytest.mark.parametrize("images", [("nginx:1",), ("nginx:1", "nginx:bad")])
def test_a_pod_that_is_up_to_date_is_left_alone(images: tuple[str, ...]) -> None:
    given = pod(*images)
    given["status"] = settled(given)

    assert next_status(given, now=NOW) is None


def test_a_new_image_changes_the_status() -> None:
    given = pod("nginx:1")
    given["status"] = settled(given)
    given["spec"]["containers"][0]["image"] = "nginx:bad"

    assert settled(given)["phase"] == "Pending"


def test_a_pod_that_is_being_deleted_is_left_alone() -> None:
    assert next_status(pod("nginx:1", deletionTimestamp="2026-01-02T03:04:05Z"), now=NOW) is None


@pytest.mark.parametrize(
    ("image", "bad"),
    [
        ("nginx:bad", True),
        ("localhost:5000/nginx:bad-2", True),
        ("nginx", False),
        ("nginx:1.27", False),
        ("localhost:5000/nginx", False),
        ("badger:1", False),
    ],
)
def test_the_tag_decides_whether_an_image_can_be_pulled(image: str, bad: bool) -> None:
    assert cannot_be_pulled(image) is bad
