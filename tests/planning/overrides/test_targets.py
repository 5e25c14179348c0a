"""Objects of a placement's content that an override can select (contract: placement 9 and 10)."""

from typing import Any

import pytest

from planning.errors import InitializationError
from planning.overrides.targets import namespace, targets
from planning.resource_order import Identity

VALID = "cannot continue the updateRun: failed to validate the updateRun: "
UNEXPECTED = "unexpected behavior which cannot be handled by the controller: "


def resource(
    kind: str, name: str, home: str = "", *, api_version: str = "v1", **more: Any
) -> dict[str, Any]:
    metadata = {"name": name} | ({"namespace": home} if home else {})
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata} | more


def envelope(kind: str, home: str = "", **data: Any) -> dict[str, Any]:
    version = "placement.kubernetes-fleet.io/v1beta1"
    return resource(kind, "box", home, api_version=version, data=data)


def test_a_cluster_scoped_object_is_a_target() -> None:
    assert targets([resource("ClusterRole", "reader", api_version="rbac.example.com/v1")]) == {
        Identity("rbac.example.com", "v1", "ClusterRole", "", "reader")
    }


def test_the_namespace_of_an_object_is_a_target() -> None:
    assert targets([resource("ConfigMap", "web", "team")]) == {
        Identity("", "v1", "ConfigMap", "team", "web"),
        namespace("team"),
    }


def test_a_namespace_alone_is_a_target() -> None:
    assert targets([resource("Namespace", "team")]) == {namespace("team")}


def test_without_resources_there_are_no_targets() -> None:
    assert targets([]) == frozenset()


def test_objects_inside_a_namespaced_envelope_are_targets() -> None:
    found = targets([envelope("ResourceEnvelope", "team", quota=resource("Quota", "q", "team"))])
    assert Identity("", "v1", "Quota", "team", "q") in found
    assert namespace("team") in found


def test_objects_inside_a_cluster_scoped_envelope_are_targets() -> None:
    role = resource("ClusterRole", "reader")
    found = targets([envelope("ClusterResourceEnvelope", role=role)])
    assert Identity("", "v1", "ClusterRole", "", "reader") in found


def test_data_of_other_kinds_is_not_inspected() -> None:
    body = resource("ConfigMap", "web", "team", data={"key": "value"})
    assert len(targets([body])) == 2


def test_a_null_inside_an_envelope_means_unset() -> None:
    role = {"apiVersion": "v1", "kind": "R", "metadata": {"name": "r", "namespace": None}}
    quota = {"apiVersion": "v1", "kind": "Q", "metadata": None}
    found = targets([envelope("ClusterResourceEnvelope", role=role, quota=quota)])
    assert {Identity("", "v1", "R", "", "r"), Identity("", "v1", "Q", "", "")} < found


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ({"apiVersion": "v1"}, "data.secret.kind: Field required"),
        ({"kind": "Secret"}, "data.secret.apiVersion: Field required"),
        (
            {"apiVersion": "v1", "kind": ["hidden"]},
            "data.secret.kind: Input should be a valid string",
        ),
        (
            {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": {"hidden": 1}}},
            "data.secret.metadata.name: Input should be a valid string",
        ),
    ],
)
def test_an_invalid_entry_of_an_envelope_is_named_but_not_shown(
    content: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(InitializationError) as caught:
        targets([envelope("ResourceEnvelope", "team", secret=content)])
    assert str(caught.value) == (
        f"{VALID}{UNEXPECTED}ResourceEnvelope `team/box` holds an entry that is not an object: "
        f"{complaint}"
    )
    assert "hidden" not in f"{caught.value} {caught.value.__cause__}"
