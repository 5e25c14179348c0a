"""Overrides of objects in an envelope (contract: placement 9 and 10)."""

from typing import Any

import pytest

from planning.overrides.rendering import OverrideError
from tests.planning.overrides.snapshots import CONFIG_MAP, cro, patch, render, ro, rule

Json = dict[str, Any]
BOX: Json = {
    "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
    "kind": "ResourceEnvelope",
    "metadata": {"name": "box", "namespace": "app"},
    "data": {"cm": CONFIG_MAP, "other": CONFIG_MAP | {"metadata": {"name": "o"}}},
}
ROLE: Json = {"apiVersion": "v1", "kind": "Role", "metadata": {"name": "reader"}}
CLUSTER_BOX: Json = BOX | {
    "kind": "ClusterResourceEnvelope",
    "metadata": {"name": "box"},
    "data": {"role": ROLE},
}


def boxed(*snapshots: Any, box: Json = BOX) -> Json:
    """Return the content of the envelope on the cluster."""
    (found,) = render(*snapshots, resources=(box,))
    data: Json = found["data"]
    return data


def test_an_object_in_an_envelope_is_changed() -> None:
    found = boxed(ro(rule(patch("/data/a", "1"))))
    assert found["cm"]["data"] == {"secret": "s3cret", "a": "1"}
    assert found["other"] == BOX["data"]["other"]


def test_a_cluster_scoped_object_in_an_envelope_is_changed() -> None:
    note = {"note": "x"}
    changed = cro(rule(patch("/metadata/annotations", note)), about=ROLE)
    assert boxed(changed, box=CLUSTER_BOX)["role"]["metadata"]["annotations"] == note


def test_an_override_of_the_namespace_applies_to_the_content_not_the_envelope() -> None:
    change = cro(rule(patch("/metadata/annotations", {"note": "x"})))
    (found,) = render(change, resources=(BOX,))
    assert found["metadata"] == BOX["metadata"]
    assert found["data"]["cm"]["metadata"]["annotations"] == {"note": "x"}


def test_an_object_in_an_envelope_can_be_deleted() -> None:
    assert boxed(ro(rule())).keys() == {"other"}


def test_the_whole_envelope_can_be_deleted() -> None:
    gone = cro(rule(), about=CLUSTER_BOX)
    assert render(gone, resources=(CLUSTER_BOX, ROLE)) == [ROLE]


def test_an_error_names_the_object_as_if_it_were_not_in_an_envelope() -> None:
    with pytest.raises(OverrideError) as caught:
        boxed(ro(rule(patch("/data/x/y", "1"))))
    assert str(caught.value).startswith(
        'ResourceOverrideSnapshot "ro-0" failed to apply on ConfigMap "cm" in namespace "app": '
    )


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("/data/cm/kind", "Secret"),
        ("/data/cm/apiVersion", "rbac.authorization.k8s.io/v1"),
        ("/data/cm/metadata/namespace", "kube-system"),
        ("/data/cm/metadata/name", "another"),
        ("/data/cm/metadata", {"name": "cm"}),
        ("/data/cm", CLUSTER_BOX),
        ("/data/cm", "no object"),
        ("/data", {"cm": ROLE}),
    ],
)
def test_an_object_in_an_envelope_cannot_become_another_one(path: str, value: Any) -> None:
    change = ro(rule(patch(path, value)), about=BOX)
    with pytest.raises(OverrideError) as caught:
        boxed(change)
    assert str(caught.value).endswith(
        "cannot override apiVersion, kind, name or namespace of an object in an envelope: cm"
    )


def test_the_data_of_an_envelope_cannot_be_removed() -> None:
    with pytest.raises(OverrideError, match="cannot override field data of an envelope"):
        boxed(ro(rule(patch("/data", op="remove")), about=BOX))
