"""A policy on the hub that refuses one change, as a person's webhook may."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from api.kinds import Kind
from hub import HubError, Json
from tests.conformance.world import World
from tests.support.conditions import condition
from tests.support.eventually import eventually

_GROUP = "admissionregistration.k8s.io"
POLICY = Kind(
    _GROUP, "v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies", namespaced=False
)
BINDING = Kind(
    _GROUP,
    "v1",
    "ValidatingAdmissionPolicyBinding",
    "validatingadmissionpolicybindings",
    namespaced=False,
)


@asynccontextmanager
async def acceptance_refused(world: World, request: str) -> AsyncIterator[None]:
    """Have the hub refuse that an approval request is marked as accepted."""
    meta = {"name": f"{world.name}-refuses"}
    binding = {"policyName": meta["name"], "validationActions": ["Deny"]}
    await world.hub.create(POLICY, {"metadata": meta, "spec": _policy(world, request)})
    await world.hub.create(BINDING, {"metadata": meta, "spec": binding})
    try:
        await eventually(lambda: _refuses(world, request), within=30)
        yield
    finally:
        await world.hub.delete(BINDING, meta["name"])
        await world.hub.delete(POLICY, meta["name"])


def _policy(world: World, request: str) -> Json:
    kind = world.scope.approval
    rule = {
        "apiGroups": [kind.group],
        "apiVersions": [kind.version],
        "operations": ["UPDATE"],
        "resources": [f"{kind.plural}/status"],
        "resourceNames": [request],
    }
    accepts = "object.status.conditions.exists(each, each.type == 'ApprovalAccepted')"
    return {
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": f"!has(object.status) || !{accepts}"}],
    }


async def _refuses(world: World, request: str) -> bool:
    """Whether the policy has come into force, which takes the API server a moment."""
    tried = condition("ApprovalAccepted", "False", reason="Trial")
    body = {"metadata": world.meta(request), "status": {"conditions": [tried]}}
    try:
        await world.hub.apply(
            world.scope.approval, body, subresource="status", manager="trial", dry_run=True
        )
    except HubError:
        return True
    return False
