"""Hashes are the same as KubeFleet's (contract: placement 4, 5, 8)."""

import base64
import hashlib

from api.scheduling import PlacementPolicy
from planning.hashing import names_hash, policy_hash, resources_hash

NAMESPACE = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {
        "labels": {"kubernetes.io/metadata.name": "test-namespace"},
        "name": "test-namespace",
    },
    "spec": {"finalizers": ["kubernetes"]},
}
CONFIG_MAP = {
    "apiVersion": "v1",
    "data": {"key": "value1"},
    "kind": "ConfigMap",
    "metadata": {"name": "test-cm", "namespace": "test-namespace"},
}


def test_content_has_the_same_hash_as_in_kubefleet() -> None:
    wanted = "0130c875defa5c7ebcfaa8e16ef8b3c3e10285f3a0e8cc6f39be8c802f03c479"
    assert resources_hash([NAMESPACE, CONFIG_MAP]) == wanted


def test_the_order_of_keys_does_not_matter_but_the_order_of_objects_does() -> None:
    turned = dict(reversed(CONFIG_MAP.items()))
    assert resources_hash([NAMESPACE, turned]) == resources_hash([NAMESPACE, CONFIG_MAP])
    assert resources_hash([CONFIG_MAP, NAMESPACE]) != resources_hash([NAMESPACE, CONFIG_MAP])


def test_a_policy_has_the_same_hash_as_in_kubefleet() -> None:
    policy = PlacementPolicy.from_wire({"placementType": "PickAll"})
    assert policy_hash(policy) == (
        "OGNjNTdkZWU1OTY4NGZmODg3NjZlMjY5MzZjOGZiMTI1ZjRiZGUyMzRhMmJlYjVjNTRhZGVkNDU2OWRiMGQ1YQ=="
    )


def test_the_number_of_clusters_is_not_part_of_a_policys_hash() -> None:
    two, three = (
        PlacementPolicy.from_wire({"placementType": "PickN", "numberOfClusters": number})
        for number in (2, 3)
    )
    assert policy_hash(two) == policy_hash(three)


def test_a_missing_policy_has_a_hash_too() -> None:
    assert base64.b64decode(policy_hash(None)).decode() == names_hash([])


def test_an_empty_list_of_overrides_has_the_hash_of_null() -> None:
    wanted = "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b"
    assert names_hash([]) == wanted


def test_html_is_escaped_as_in_go() -> None:
    body = {"data": "<a>&</a>\u2028", "kind": "Page"}
    written = (
        r'{"selectedResources":[{"data":"\u003ca\u003e\u0026\u003c/a\u003e\u2028","kind":"Page"}]}'
    )
    assert resources_hash([body]) == hashlib.sha256(written.encode()).hexdigest()
