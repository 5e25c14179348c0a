"""Why objects cannot be applied on a member, by the error of its API server or of the hub.

contract: placement 6 (override and synchronization failures), 8 (error texts)
"""

import re
from typing import Final

from planning.explaining.patterns import Meaning, Pattern, meaning

_MEMBER: Final = (
    Pattern.of(
        r'admission webhook "(?P<webhook>[^"]*)" denied the request',
        "The member's admission webhook {webhook} rejects the object.",
        "Change the object so that the webhook admits it and create a new run, or change the "
        "webhook's rules on the member.",
    ),
    Pattern.of(
        r"ValidatingAdmissionPolicy \'(?P<policy>[^\']*)\'",
        "The member's admission policy {policy} rejects the object.",
        "Change the object so that the policy admits it and create a new run, or change the "
        "policy on the member.",
    ),
    Pattern.of(
        r"failed calling webhook \"(?P<webhook>[^\"]*)\"",
        "The member's admission webhook {webhook} does not answer, so the member accepts none of "
        "the objects that the webhook covers.",
        "Restore the webhook's service on the member. The agent retries automatically.",
    ),
    Pattern.of(
        r"exceeded quota: (?P<quota>[\w.-]+)",
        "The resource quota {quota} on the member is used up.",
        "Raise the quota on the member or request less. The agent retries automatically.",
    ),
    Pattern.of(
        r"violates PodSecurity \"(?P<level>[^\"]*)\"",
        "The member's pod security level {level} rejects the pods.",
        "Correct the pods' security context and create a new run, or lower the namespace's level.",
    ),
    Pattern.of(
        r"field is immutable|may not be changed in an update|updates to \w+ spec for fields other",
        "The object already exists on the member, with another value in a field that cannot be "
        "changed.",
        "Give the object a new name, or delete the one on the member; the agent creates it again.",
    ),
    Pattern.of(
        r"User \"(?P<user>[^\"]*)\" cannot (?P<verb>\w+) resource \"(?P<resource>[^\"]*)\"",
        "The agent has no right on the member to {verb} {resource} (as {user}).",
        "Grant it on the member: deploy/rbac/member-agent-on-member.yaml lists what an agent "
        "needs.",
    ),
    Pattern.of(
        r"is attempting to grant RBAC permissions not currently held",
        "The object grants rights that the agent does not have itself, which Kubernetes forbids.",
        "Grant the agent those rights on the member, or the verb escalate on roles.",
    ),
    Pattern.of(
        r"namespaces \"(?P<namespace>[^\"]*)\" not found",
        "The namespace {namespace} does not exist.",
        "Have the placement select the namespace as well, or create it.",
    ),
    Pattern.of(
        r"no matches for kind \"(?P<kind>[^\"]*)\"|"
        r"failed to find (?:the )?(?:group|kind|GVR)|the server could not find the requested "
        r"resource",
        "The member does not serve the object's kind.",
        "Install the CRD on the member, or place it together with the object.",
    ),
    Pattern.of(
        r"already owned by (?:another|some other)|co-owned by multiple objects",
        "The object has another owner on the member, most likely another placement.",
        "Let only one placement select the object, or set allowCoOwnership in the apply strategy.",
    ),
    Pattern.of(
        r"conflicts? with \"(?P<manager>[^\"]*)\"",
        "Another manager on the member ({manager}) owns fields of the object.",
        "Remove the fields from the object, have the other manager release them, or set "
        "serverSideApplyConfig.force in the placement's apply strategy.",
    ),
    Pattern.of(
        r"is invalid: ",
        "The member's API server rejects the object as invalid; the message names the field.",
        "Correct the object on the hub and create a new run.",
    ),
)

_HUB: Final = (
    Pattern.of(
        r"Work object \S+ has not yet completed",
        "The member's agent has not reported on this snapshot yet.",
        "If this lasts, check that the agent is running and can reach the hub; see its log.",
    ),
    Pattern.of(
        r'namespaces "fleet-member-(?P<cluster>[^"]*)" not found',
        "Cluster {cluster} has no namespace on the hub: it left the fleet, or is still joining.",
        "Register the cluster again, or change the placement so that it no longer picks it.",
    ),
    Pattern.of(
        r"the master resource snapshot is not found|of \d+ resource snapshots of",
        "The snapshot that the cluster should get is no longer on the hub.",
        "Create a new run, with the index of an existing snapshot or without one.",
    ),
    Pattern.of(
        r"(?P<kind>[cC]?\w*[oO]verrideSnapshot) (?P<name>\S+) is not found",
        "The override snapshot {name}, which the run's plan names, was deleted.",
        "Create a new run; it uses the current overrides.",
    ),
    Pattern.of(
        r"label key (?P<key>\S+) not found on cluster (?P<cluster>\S+)",
        "An override uses the label {key} of cluster {cluster}, which does not have it.",
        "Set the label on the MemberCluster, or correct the override and create a new run.",
    ),
    Pattern.of(
        r'Snapshot "(?P<name>[^"]*)" failed to apply on (?P<object>.*?): (?P<why>.*)',
        "The override behind {name} cannot be applied to {object}.",
        "Correct the path or value in the override, then create a new run.",
    ),
    Pattern.of(
        r"has been wrapped in a (?:cluster )?resource envelope|failed to parse the wrapped",
        "An envelope holds an object that it may not hold.",
        "Correct the envelope on the hub, then create a new run.",
    ),
)

PATTERNS: Final = (*_HUB, *_MEMBER)
"""Narrower patterns come before wider ones."""


_BOX: Final = re.compile(
    r"^(?:Failed to|An error)[^(]*\((?:.*?, )?error(?: =|:) (.*)\)$", re.DOTALL
)
_STEP: Final = re.compile(
    r"^(?:failed to (?:apply|patch|create|take over|validate|get)[\w -]*"
    r"|(?:an )?error (?:is )?returned by the API server"
    r"|Failed to [a-z ]*(?:override rules on the resources|work to the latest)): "
)


def bare(message: str) -> str:
    """Return the original error, without the prefixes that the agent and the hub put around it."""
    text = _BOX.sub(r"\1", message)
    while shorter := _STEP.sub("", text):
        if shorter == text:
            return text
        text = shorter
    return text


def explain(message: str) -> Meaning | None:
    """Explain a refusal; return None for unknown errors."""
    return meaning(message, PATTERNS)
