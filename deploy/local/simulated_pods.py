"""The status of pods on a simulated node. Pure: the clock is a parameter."""

from datetime import datetime
from typing import Any, Final

from hub import Json

_CONDITIONS: Final = ("PodScheduled", "Initialized", "ContainersReady", "Ready")
_BAD: Final = "bad"
"""An image whose tag starts with this cannot be pulled."""


def next_status(pod: Json, *, now: datetime) -> Json | None:
    """Return the status that the pod should have; None if it has it already."""
    if "deletionTimestamp" in pod["metadata"]:
        return None
    known = pod.get("status", {})
    images = [container["image"] for container in pod["spec"]["containers"]]
    phase = _phase(pod, images)
    shown = [one["image"] for one in known.get("containerStatuses", [])]
    if known.get("phase") == phase and shown == images:
        return None
    return {
        "phase": phase,
        "startTime": known.get("startTime") or _wire(now),
        "conditions": _conditions(phase, now),
        "containerStatuses": [
            _container(container, phase, now) for container in pod["spec"]["containers"]
        ],
    }


def condition(kind: str, *, now: datetime, true: bool = True, reason: str = "") -> Json:
    """Return a condition of a pod or a node."""
    status = {"type": kind, "status": "True" if true else "False", "lastTransitionTime": _wire(now)}
    return status | ({"reason": reason} if reason else {})


def cannot_be_pulled(image: str) -> bool:
    """Return whether the image's tag requests a failure."""
    _, colon, tag = image.rpartition("/")[2].partition(":")
    return bool(colon) and tag.startswith(_BAD)


def _phase(pod: Json, images: list[str]) -> str:
    if any(cannot_be_pulled(image) for image in images):
        return "Pending"
    owners = pod["metadata"].get("ownerReferences", [])
    return "Succeeded" if any(owner["kind"] == "Job" for owner in owners) else "Running"


def _conditions(phase: str, now: datetime) -> list[Json]:
    early = {"PodScheduled", "Initialized"}
    true = set(_CONDITIONS) if phase == "Running" else early
    reasons = {"Succeeded": "PodCompleted", "Pending": "ContainersNotReady"}
    return [
        condition(
            kind,
            now=now,
            true=kind in true,
            reason="" if kind in true else reasons.get(phase, ""),
        )
        for kind in _CONDITIONS
    ]


def _container(container: Json, phase: str, now: datetime) -> Json:
    bad = cannot_be_pulled(container["image"])
    return {
        "name": container["name"],
        "image": container["image"],
        "imageID": "",
        "restartCount": 0,
        "ready": phase == "Running",
        "started": phase == "Running",
        "state": _waiting(container["image"]) if bad else _state(phase, now),
    }


def _waiting(image: str) -> Json:
    message = f'Back-off pulling image "{image}"'
    return {"waiting": {"reason": "ImagePullBackOff", "message": message}}


def _state(phase: str, now: datetime) -> dict[str, Any]:
    if phase == "Succeeded":
        finished = {"exitCode": 0, "reason": "Completed", "startedAt": _wire(now)}
        return {"terminated": finished | {"finishedAt": _wire(now)}}
    if phase == "Pending":  # another container of the pod cannot be pulled
        return {"waiting": {"reason": "ContainerCreating"}}
    return {"running": {"startedAt": _wire(now)}}


def _wire(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
