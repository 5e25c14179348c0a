"""Hashes of selected resources, policies and overrides, computed as KubeFleet does.

With the same hashes, a hub can move between KubeFleet and fleetgate without new snapshots.

contract: placement 4 (policyHash), 5 (resource-hash), 8 (override hashes), 9 (overrideHash)
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from typing import Any

from api.scheduling import PlacementPolicy

# Go's encoder escapes these so that JSON is safe inside HTML.
_ESCAPES = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


def resources_hash(resources: Sequence[dict[str, Any]]) -> str:
    """Return the hash of a resource snapshot's content: the hexadecimal SHA-256 of its spec."""
    return _sha256(_go_json({"selectedResources": list(resources)}, sort_keys=True))


def policy_hash(policy: PlacementPolicy | None) -> str:
    """Return the hash of a policy: base64 of a hexadecimal SHA-256, without numberOfClusters.

    The number is left out because changing it does not create a new policy snapshot.
    """
    wire = None
    if policy is not None:
        wire = policy.to_wire()
        wire.pop("numberOfClusters", None)
    # In the order of the model's fields, which is KubeFleet's.
    return base64.b64encode(_sha256(_go_json(wire)).encode()).decode()


def override_hash(spec: dict[str, Any]) -> str:
    """Return the hash of an override's spec in wire form: base64 of a hexadecimal SHA-256."""
    return base64.b64encode(_sha256(_go_json(spec, sort_keys=True)).encode()).decode()


def names_hash(names: Sequence[Any]) -> str:
    """Return the hash of a list of override snapshots; an empty list hashes as `null`."""
    return _sha256(_go_json(list(names) or None, sort_keys=True))


def raw_size(resource: dict[str, Any]) -> int:
    """Return the size of an object as raw JSON, in bytes."""
    return len(_go_json(resource, sort_keys=True).encode())


def _go_json(value: object, *, sort_keys: bool = False) -> str:
    text = json.dumps(value, separators=(",", ":"), sort_keys=sort_keys, ensure_ascii=False)
    return text.translate(_ESCAPES)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
