"""The objects that people create on the hub: members, an application, a placement, a strategy."""

from typing import Final

from api.kinds import MEMBER_CLUSTER, NAMESPACE, Kind
from api.names import MEMBER_NAMESPACE_PREFIX
from hub import Hub, Json
from tests.soak.orders import Order, StageOrder
from tests.soak.people import create

STAGE_LABEL: Final = "soak-stage"
"""Label of a member with the stage that it belongs to."""
APP: Final = "app"
"""Name of the Deployment that is rolled out."""
IMAGE_PATH: Final = "/spec/template/spec/containers/0/image"
"""JSON pointer to the image of a Deployment."""
DEPLOYMENT: Final = Kind("apps", "v1", "Deployment", "deployments", namespaced=True)


async def register_members(hub: Hub, stages: dict[str, tuple[str, ...]]) -> None:
    """Register all members on the hub, each with its stage."""
    for stage, members in stages.items():
        for name in members:
            identity = {"kind": "User", "name": name, "apiGroup": "rbac.authorization.k8s.io"}
            metadata = {"name": name, "labels": {STAGE_LABEL: stage}}
            body = {"metadata": metadata, "spec": {"identity": identity}}
            await create(hub, NAMESPACE, {"metadata": {"name": MEMBER_NAMESPACE_PREFIX + name}})
            await create(hub, MEMBER_CLUSTER, body)


def deployment(namespace: str, *, image: str) -> Json:
    """Return the Deployment of the application."""
    labels = {"app": APP}
    container = {"name": APP, "image": image}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    return {
        "metadata": {"name": APP, "namespace": namespace},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template},
    }


def placement_spec(namespace: str, *, namespaced: bool) -> Json:
    """Return the spec of a placement of the application on all members."""
    selector = (
        {"group": "apps", "version": "v1", "kind": "Deployment", "name": APP}
        if namespaced
        else {"group": "", "version": "v1", "kind": "Namespace", "name": namespace}
    )
    return {
        "resourceSelectors": [selector],
        "policy": {"placementType": "PickAll"},
        "strategy": {"type": "External"},
    }


def strategy_spec(order: Order) -> Json:
    """Return the spec of a run's strategy."""
    return {"stages": [_stage(each) for each in order.stages]}


def _stage(order: StageOrder) -> Json:
    after: list[Json] = []
    if order.wait is not None:
        after.append({"type": "TimedWait", "waitTime": f"{order.wait.total_seconds():g}s"})
    if order.after:
        after.append({"type": "Approval"})
    stage: Json = {
        "name": order.name,
        "labelSelector": {"matchLabels": {STAGE_LABEL: order.name}},
        "maxConcurrency": order.at_once,
    }
    if order.before:
        stage["beforeStageTasks"] = [{"type": "Approval"}]
    return stage | ({"afterStageTasks": after} if after else {})
