"""Why objects cannot be applied on a member, by the error of its API server or of the hub.

contract: placement 6 (override and synchronization failures), 8 (error texts)
"""

import re
from typing import Final

from api.reasons import bindings, works
from api.texts import Text
from planning.errors import UNEXPECTED, USER_ERROR
from planning.failures import Meaning


def _known(shape: str, cause: str, fix: str) -> tuple[re.Pattern[str], Meaning]:
    return re.compile(shape), Meaning(cause, fix)


_MEMBER: Final = (
    # Narrower patterns come before wider ones.
    _known(
        r'admission webhook "(?P<webhook>[^"]*)" denied the request',
        "The member's admission webhook {webhook} rejects the object.",
        "Change the object so that the webhook admits it and create a new run, or change the "
        "webhook's rules on the member.",
    ),
    _known(
        r"ValidatingAdmissionPolicy \'(?P<policy>[^\']*)\'",
        "The member's admission policy {policy} rejects the object.",
        "Change the object so that the policy admits it and create a new run, or change the "
        "policy on the member.",
    ),
    _known(
        r"failed calling webhook \"(?P<webhook>[^\"]*)\"",
        "The member's admission webhook {webhook} does not answer, so the member accepts none of "
        "the objects that the webhook covers.",
        "Restore the webhook's service on the member. The agent retries automatically.",
    ),
    _known(
        r"exceeded quota: (?P<quota>[\w.-]+)",
        "The resource quota {quota} on the member is used up.",
        "Raise the quota on the member or request less. The agent retries automatically.",
    ),
    _known(
        r"violates PodSecurity \"(?P<level>[^\"]*)\"",
        "The member's pod security level {level} rejects the pods.",
        "Correct the pods' security context and create a new run, or lower the namespace's level.",
    ),
    _known(
        r"field is immutable|may not be changed in an update|updates to \w+ spec for fields other",
        "The object already exists on the member, with another value in a field that cannot be "
        "changed.",
        "Give the object a new name, or delete the one on the member; the agent creates it again.",
    ),
    _known(
        r"User \"(?P<user>[^\"]*)\" cannot (?P<verb>\w+) resource \"(?P<resource>[^\"]*)\"",
        "The agent has no right on the member to {verb} {resource} (as {user}).",
        "Grant it on the member: deploy/rbac/member-agent-on-member.yaml lists what an agent "
        "needs.",
    ),
    _known(
        r"is attempting to grant RBAC permissions not currently held",
        "The object grants rights that the agent does not have itself, which Kubernetes forbids.",
        "Grant the agent those rights on the member, or the verb escalate on roles.",
    ),
    _known(
        r"namespaces \"(?P<namespace>[^\"]*)\" not found",
        "The namespace {namespace} does not exist.",
        "Have the placement select the namespace as well, or create it.",
    ),
    _known(
        r"no matches for kind \"(?P<kind>[^\"]*)\"|"
        r"failed to find (?:the )?(?:group|kind|GVR)|the server could not find the requested "
        r"resource",
        "The member does not serve the object's kind.",
        "Install the CRD on the member, or place it together with the object.",
    ),
    _known(
        r"already owned by (?:another|some other)|co-owned by multiple objects",
        "The object has another owner on the member, most likely another placement.",
        "Let only one placement select the object, or set allowCoOwnership in the apply strategy.",
    ),
    _known(
        r"conflicts? with \"(?P<manager>[^\"]*)\"",
        "Another manager on the member ({manager}) owns fields of the object.",
        "Remove the fields from the object, have the other manager release them, or set "
        "serverSideApplyConfig.force in the placement's apply strategy.",
    ),
    _known(
        r"is invalid: ",
        "The member's API server rejects the object as invalid; the message names the field.",
        "Correct the object on the hub and create a new run.",
    ),
)
"""Answers of the API server on the member, by patterns that find them."""

_HUB: Final[tuple[tuple[tuple[Text, ...], Meaning], ...]] = (
    (
        (bindings.WORK_STILL_APPLYING, bindings.WORK_NOT_CHECKED, bindings.WORK_STILL_DIFFING),
        Meaning(
            "The member's agent has not reported on this snapshot yet.",
            "If this lasts, check that the agent is running and can reach the hub; see its log.",
        ),
    ),
    (
        (Text('namespaces "fleet-member-{cluster}" not found'),),
        Meaning(
            "Cluster {cluster} has no namespace on the hub: it left the fleet, or is still "
            "joining.",
            "Register the cluster again, or change the placement so that it no longer picks it.",
        ),
    ),
    (
        (Text(bindings.BindingMessage.NO_SNAPSHOT), bindings.SNAPSHOT_INCOMPLETE),
        Meaning(
            "The snapshot that the cluster should get is no longer on the hub.",
            "Create a new run, with the index of an existing snapshot or without one.",
        ),
    ),
    (
        (bindings.OVERRIDE_MISSING,),
        Meaning(
            "The override snapshot {name}, which the run's plan names, was deleted.",
            "Create a new run; it uses the current overrides.",
        ),
    ),
    (
        (bindings.LABEL_MISSING,),
        Meaning(
            "An override uses the label {key} of cluster {cluster}, which does not have it.",
            "Set the label on the MemberCluster, or correct the override and create a new run.",
        ),
    ),
    (
        (bindings.OVERRIDE_REFUSED,),
        Meaning(
            'The override behind {name} cannot be applied to {object_kind} "{object}" in '
            'namespace "{namespace}".',
            "Correct the path or value in the override, then create a new run.",
        ),
    ),
    (
        (
            bindings.WRAPPED_NOT_READABLE,
            bindings.NAMESPACED_IN_CLUSTER_ENVELOPE,
            bindings.CLUSTER_SCOPED_IN_ENVELOPE,
            bindings.OF_OTHER_NAMESPACE_IN_ENVELOPE,
        ),
        Meaning(
            "An envelope holds an object that it may not hold.",
            "Correct the envelope on the hub, then create a new run.",
        ),
    ),
)
"""Errors of the hub, by the texts that make them."""

_AROUND: Final = (
    bindings.OVERRIDE_FAILED,
    bindings.SYNC_FAILED,
    works.MANIFEST_APPLY_FAILED,
    works.MANIFEST_AVAILABILITY_FAILED,
    works.MANIFEST_DIFF_BLOCKED,
    works.MANIFEST_DIFF_FAILED,
    Text(f"{USER_ERROR}: {{error}}"),
    Text(f"{UNEXPECTED}: {{error}}"),
)
"""What the hub and the agent put around an error."""
_STEP: Final = re.compile(
    r"^(?:failed to (?:apply|patch|create|take over|validate|get)[\w -]*"
    r"|(?:an )?error (?:is )?returned by the API server): "
)
"""A step of applying a manifest; the agents of fleetgate and of KubeFleet name different ones."""


def bare(message: str) -> str:
    """Return the original error, without what the agent and the hub put around it."""
    for text in _AROUND:
        if found := text.read(message):
            return bare(found["error"])
    shorter = _STEP.sub("", message)
    return message if shorter == message else bare(shorter)


def explain(message: str) -> Meaning | None:
    """Explain a refusal; return None for unknown errors."""
    error = bare(message)
    for texts, known in _HUB:
        for text in texts:
            if (found := text.read(error)) is not None:
                return known.fill(found)
    for shape, known in _MEMBER:
        if match := shape.search(error):
            return known.fill(match.groupdict())
    return None
