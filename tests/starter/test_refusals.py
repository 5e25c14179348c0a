"""Explanations of the errors with which a member or the hub rejects an object."""

import pytest

from api.reasons import (
    MANIFEST_APPLY_FAILED,
    MANIFEST_AVAILABILITY_FAILED,
    MANIFEST_DIFF_BLOCKED,
    MANIFEST_DIFF_FAILED,
    OVERRIDE_FAILED,
    SYNC_FAILED,
    WORK_NOT_CHECKED,
    WORK_STILL_APPLYING,
    WORK_STILL_DIFFING,
    ApplyError,
    BindingMessage,
)
from starter.explain import refusals

WORDS = {
    "no report": (WORK_STILL_APPLYING.fill(work="web-work"), "has not reported on this snapshot"),
    "no report on availability": (
        WORK_NOT_CHECKED.fill(work="web-work"),
        "has not reported on this snapshot",
    ),
    "no report on differences": (
        WORK_STILL_DIFFING.fill(work="web-work"),
        "has not reported on this snapshot",
    ),
    "webhook": (
        'admission webhook "policy.example.com" denied the request: no latest tags',
        "The member's admission webhook policy.example.com rejects",
    ),
    "webhook unreachable": (
        'Internal error occurred: failed calling webhook "x.example.com": connection refused',
        "webhook x.example.com does not answer",
    ),
    "admission policy": (
        "ValidatingAdmissionPolicy 'few' with binding 'few' denied request: failed expression",
        "The member's admission policy few rejects",
    ),
    "quota": (
        'pods "a" is forbidden: exceeded quota: small, requested: pods=1, used: pods=1',
        "The resource quota small",
    ),
    "pod security": (
        'pods "a" is forbidden: violates PodSecurity "restricted:latest": privileged',
        "security level restricted:latest",
    ),
    "immutable": (
        'PriorityClass "x" is invalid: value: Forbidden: may not be changed in an update.',
        "a field that cannot be changed",
    ),
    "immutable selector": (
        'Deployment.apps "web" is invalid: spec.selector: Invalid value: field is immutable',
        "a field that cannot be changed",
    ),
    "rights": (
        'configmaps is forbidden: User "agent" cannot create resource "configmaps" in API group ""',
        "no right on the member to create configmaps (as agent)",
    ),
    "escalation": (
        'user "agent" (groups=["a"]) is attempting to grant RBAC permissions not currently held:',
        "grants rights that the agent does not have",
    ),
    "namespace": ('namespaces "web" not found', "The namespace web does not exist"),
    "left": (
        'Failed to synchronize the work to the latest: namespaces "fleet-member-c1" not found',
        "Cluster c1 has no namespace on the hub",
    ),
    "kind": ('no matches for kind "Gateway" in version "x/v1"', "does not serve the object's kind"),
    "owned": (ApplyError.CLAIMED_BY_OTHER_WORK, "The object has another owner on the member"),
    "co-owned": (ApplyError.CO_OWNED, "The object has another owner on the member"),
    "conflict": (
        'Apply failed with 1 conflict: conflict with "python-requests" using v1: .data.k',
        "(python-requests)",
    ),
    "conflicts": (
        'Apply failed with 2 conflicts: conflicts with "kubectl":\n- .data.k\n- .data.l',
        "(kubectl)",
    ),
    "invalid": (
        'Deployment.apps "web" is invalid: spec.replicas: Invalid value: -1',
        "rejects the object as invalid",
    ),
    "no snapshot": (BindingMessage.NO_SNAPSHOT, "is no longer on the hub"),
    "override gone": (
        "clusterResourceOverrideSnapshot x-0 is not found",
        "The override snapshot x-0, which",
    ),
    "label": ("label key zone not found on cluster c1", "uses the label zone of cluster c1"),
    "override": (
        'ResourceOverrideSnapshot "x-ro-0" failed to apply on ConfigMap "cm" in namespace "x": no',
        'The override behind x-ro-0 cannot be applied to ConfigMap "cm" in namespace "x"',
    ),
    "envelope": (
        "a namespaced object x (a/b) has been wrapped in a cluster resource envelope e",
        "An envelope holds an object",
    ),
}


@pytest.mark.parametrize(("words", "cause"), WORDS.values(), ids=list(WORDS))
def test_a_refusal_is_explained_by_its_text(words: str, cause: str) -> None:
    found = refusals.explain(f"Failed to apply the manifest (error: {words})")
    assert found
    assert cause in found.cause
    assert found.fix.endswith(".")


def test_an_unknown_error_has_no_explanation() -> None:
    assert refusals.explain("etcdserver: request timed out") is None


API_SERVER = 'Deployment.apps "web" is invalid: spec.replicas (in body): no'


@pytest.mark.parametrize(
    "message",
    [
        MANIFEST_APPLY_FAILED.fill(error=API_SERVER),
        MANIFEST_APPLY_FAILED.fill(
            error="failed to apply the manifest: failed to patch the manifest object: "
            f"error returned by the API server: {API_SERVER}"
        ),
        MANIFEST_APPLY_FAILED.fill(
            error=f"failed to take over a pre-existing object: {API_SERVER}"
        ),
        MANIFEST_AVAILABILITY_FAILED.fill(error=API_SERVER),
        MANIFEST_DIFF_FAILED.fill(error=API_SERVER),
        MANIFEST_DIFF_BLOCKED.fill(reason="DecodingErred", error=API_SERVER),
        OVERRIDE_FAILED.fill(error=API_SERVER),
        SYNC_FAILED.fill(error=API_SERVER),
        API_SERVER,
    ],
)
def test_prefixes_around_a_refusal_are_removed(message: str) -> None:
    assert refusals.bare(message) == API_SERVER
