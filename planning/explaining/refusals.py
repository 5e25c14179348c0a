"""Why objects do not come to be on a member, by the words of its API server or of the hub.

contract: placement 6 (override and synchronization failures), 8 (error texts)
"""

import re
from typing import Final

from planning.explaining.patterns import Meaning, Pattern, meaning

_MEMBER: Final = (
    Pattern.of(
        r'admission webhook "(?P<webhook>[^"]*)" denied the request',
        "The admission webhook {webhook} of the member refuses the object.",
        "Change the object so that the webhook lets it through and make a new run, or change the "
        "webhook's rules on the member.",
    ),
    Pattern.of(
        r"ValidatingAdmissionPolicy \'(?P<policy>[^\']*)\'",
        "The admission policy {policy} of the member refuses the object.",
        "Change the object so that the policy lets it through and make a new run, or change the "
        "policy on the member.",
    ),
    Pattern.of(
        r"failed calling webhook \"(?P<webhook>[^\"]*)\"",
        "The admission webhook {webhook} of the member does not answer, so the member takes no "
        "object that it would be asked about.",
        "Bring the webhook's service on the member back. The agent tries again by itself.",
    ),
    Pattern.of(
        r"exceeded quota: (?P<quota>[\w.-]+)",
        "The resource quota {quota} on the member is used up.",
        "Raise the quota on the member or ask for less. The agent tries again by itself.",
    ),
    Pattern.of(
        r"violates PodSecurity \"(?P<level>[^\"]*)\"",
        "The member's pod security level {level} refuses the pods.",
        "Correct the pods' security context and make a new run, or lower the namespace's level.",
    ),
    Pattern.of(
        r"field is immutable|may not be changed in an update|updates to \w+ spec for fields other",
        "The object is on the member already, with another value in a field that cannot be "
        "changed.",
        "Give the object a new name, or delete the one on the member; the agent makes it anew.",
    ),
    Pattern.of(
        r"User \"(?P<user>[^\"]*)\" cannot (?P<verb>\w+) resource \"(?P<resource>[^\"]*)\"",
        "The agent has no right on the member to {verb} {resource} (as {user}).",
        "Grant it on the member: deploy/rbac/member-agent-on-member.yaml has what an agent needs.",
    ),
    Pattern.of(
        r"is attempting to grant RBAC permissions not currently held",
        "The object grants rights that the agent does not have itself, which Kubernetes forbids.",
        "Grant the agent those rights on the member, or the verb escalate on roles.",
    ),
    Pattern.of(
        r"namespaces \"(?P<namespace>[^\"]*)\" not found",
        "The namespace {namespace} is not there.",
        "Let the placement select the namespace as well, or create it.",
    ),
    Pattern.of(
        r"no matches for kind \"(?P<kind>[^\"]*)\"|"
        r"failed to find (?:the )?(?:group|kind|GVR)|the server could not find the requested "
        r"resource",
        "The member does not serve the object's kind.",
        "Install the kind's definition (CRD) on the member, or place it together with the object.",
    ),
    Pattern.of(
        r"already owned by (?:another|some other)|co-owned by multiple objects",
        "Something else on the member owns the object, most often another placement.",
        "Let only one placement select the object, or set allowCoOwnership in the apply strategy.",
    ),
    Pattern.of(
        r"conflicts? with \"(?P<manager>[^\"]*)\"",
        "Another manager on the member ({manager}) owns fields of the object.",
        "Take the fields out of the object, let the other manager give them up, or set "
        "serverSideApplyConfig.force in the placement's apply strategy.",
    ),
    Pattern.of(
        r"is invalid: ",
        "The member's API server holds the object for invalid; the message names the field.",
        "Correct the object on the hub and make a new run.",
    ),
)

_HUB: Final = (
    Pattern.of(
        r"Work object \S+ has not yet completed",
        "The member's agent has not said anything of this version yet.",
        "If this lasts, see that the agent is alive and reaches the hub; its log says more.",
    ),
    Pattern.of(
        r'namespaces "fleet-member-(?P<cluster>[^"]*)" not found',
        "Cluster {cluster} has no namespace on the hub: it left the fleet, or is just joining.",
        "Register the cluster again, or let the placement drop it.",
    ),
    Pattern.of(
        r"the master resource snapshot is not found|of \d+ resource snapshots of",
        "The version that the cluster is to get is not on the hub any more.",
        "Make a new run, with the index of a version that is there or with none.",
    ),
    Pattern.of(
        r"(?P<kind>[cC]?\w*[oO]verrideSnapshot) (?P<name>\S+) is not found",
        "The override snapshot {name}, which the run's plan names, was deleted.",
        "Make a new run; it takes the overrides as they are now.",
    ),
    Pattern.of(
        r"label key (?P<key>\S+) not found on cluster (?P<cluster>\S+)",
        "An override asks for the label {key} of cluster {cluster}, which has none.",
        "Set the label on the MemberCluster, or correct the override and make a new run.",
    ),
    Pattern.of(
        r'Snapshot "(?P<name>[^"]*)" failed to apply on (?P<object>.*?): (?P<why>.*)',
        "The override behind {name} does not fit {object}.",
        "Correct the path or value in the override, then make a new run.",
    ),
    Pattern.of(
        r"has been wrapped in a (?:cluster )?resource envelope|failed to parse the wrapped",
        "An envelope holds an object that it may not hold.",
        "Correct the envelope on the hub, then make a new run.",
    ),
)

PATTERNS: Final = (*_HUB, *_MEMBER)
"""The narrower before the wider ones."""


_BOX: Final = re.compile(
    r"^(?:Failed to|An error)[^(]*\((?:.*?, )?error(?: =|:) (.*)\)$", re.DOTALL
)
_STEP: Final = re.compile(
    r"^(?:failed to (?:apply|patch|create|take over|validate|get)[\w -]*"
    r"|(?:an )?error (?:is )?returned by the API server"
    r"|Failed to [a-z ]*(?:override rules on the resources|work to the latest)): "
)


def bare(message: str) -> str:
    """What the one who refused said, without what others have put around it."""
    text = _BOX.sub(r"\1", message)
    while shorter := _STEP.sub("", text):
        if shorter == text:
            return text
        text = shorter
    return text


def explain(message: str) -> Meaning | None:
    """What is behind a refusal; None when its words are not known."""
    return meaning(message, PATTERNS)
