"""Sample envelopes and the objects in them."""

from typing import Any

Json = dict[str, Any]


def envelope(home: str = "", **data: Any) -> Json:
    """Return an envelope: a ResourceEnvelope if it has a namespace, else a cluster-scoped one."""
    metadata = {"name": "box"} | ({"namespace": home} if home else {})
    return {
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": "ResourceEnvelope" if home else "ClusterResourceEnvelope",
        "metadata": metadata,
        "data": data,
    }


def wrapped(name: str, home: str = "") -> Json:
    metadata = {"name": name} | ({"namespace": home} if home else {})
    return {"apiVersion": "v1", "kind": "Thing", "metadata": metadata}
