"""Cleaning selected objects of everything that belongs to the hub alone.

contract: placement 3 (cleaning)
"""

from typing import Any, Final

from planning.resource_order import identify

Json = dict[str, Any]

_METADATA: Final = (
    "resourceVersion",
    "generation",
    "uid",
    "selfLink",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "ownerReferences",
    "creationTimestamp",
)
_ANNOTATIONS: Final = (
    "kubectl.kubernetes.io/last-applied-configuration",
    "deployment.kubernetes.io/revision",
)
_JOB_LABELS: Final = ("controller-uid", "batch.kubernetes.io/controller-uid")


def clean(resource: Json) -> Json:
    """Return a copy of the object that can be applied to any cluster."""
    cleaned = _without(resource, "status")
    cleaned["metadata"] = _metadata(resource["metadata"])
    identity = identify(resource)
    if (identity.group, identity.kind) == ("", "Service"):
        cleaned["spec"] = _service_spec(resource.get("spec") or {})
    elif (identity.group, identity.kind) == ("batch", "Job"):
        cleaned["spec"] = _job_spec(resource.get("spec") or {})
    return cleaned


def _without(mapping: Json, *names: str) -> Json:
    return {name: value for name, value in mapping.items() if name not in names}


def _metadata(metadata: Json) -> Json:
    cleaned = _without(metadata, "annotations", *_METADATA)
    annotations = _without(metadata.get("annotations") or {}, *_ANNOTATIONS)
    if annotations:
        cleaned["annotations"] = annotations
    return cleaned


def _service_spec(spec: Json) -> Json:
    # "None" makes a Service headless: it is the user's choice, not an address of the hub.
    if spec.get("clusterIP") != "None":
        spec = _without(spec, "clusterIP", "clusterIPs")
    spec = _without(spec, "healthCheckNodePort")
    if "ports" in spec:
        spec["ports"] = [_without(port, "nodePort") for port in spec["ports"]]
    return spec


def _job_spec(spec: Json) -> Json:
    if spec.get("manualSelector"):
        return spec
    spec = dict(spec)
    if "selector" in spec:
        spec["selector"] = _without_labels(spec["selector"], "matchLabels")
    if "template" in spec:
        metadata = _without(spec["template"].get("metadata") or {}, "creationTimestamp")
        spec["template"] = spec["template"] | {"metadata": _without_labels(metadata, "labels")}
    return spec


def _without_labels(holder: Json, field: str) -> Json:
    if field not in holder:
        return holder
    return holder | {field: _without(holder[field], *_JOB_LABELS)}
