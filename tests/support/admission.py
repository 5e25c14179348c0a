"""An admission policy on the hub that refuses one kind of change, as an operator's might."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from api.kinds import Kind
from hub import Hub, HubError
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
async def status_refused(
    hub: Hub, kind: Kind, name: str, *, unless: str, trial: Callable[[], Awaitable[object]]
) -> AsyncIterator[None]:
    """Have the hub refuse status updates of one object while the context is open.

    Args:
        hub: where to install the policy.
        kind: kind of the object.
        name: name of the object, and of the policy.
        unless: CEL expression that is true for a status that is still allowed.
        trial: a dry run of a status update that the policy refuses once it is in force.
    """
    rule = {
        "apiGroups": [kind.group],
        "apiVersions": [kind.version],
        "operations": ["UPDATE"],
        "resources": [f"{kind.plural}/status"],
        "resourceNames": [name],
    }
    spec = {
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": unless}],
    }
    meta = {"name": f"{name}-refuses"}
    binding = {"policyName": meta["name"], "validationActions": ["Deny"]}
    await hub.create(POLICY, {"metadata": meta, "spec": spec})
    await hub.create(BINDING, {"metadata": meta, "spec": binding})

    async def in_force() -> bool:
        try:
            await trial()
        except HubError:
            return True
        return False

    try:
        await eventually(in_force)
        yield
    finally:
        await hub.delete(BINDING, meta["name"])
        await hub.delete(POLICY, meta["name"])
