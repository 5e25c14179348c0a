"""Bodies that an agent applies, and the notes by which it recognizes its objects."""

import json
from typing import Any

import pytest

from api.base import OwnerReference
from planning.members.applied_bodies import (
    cleaned,
    forgetting,
    noted_hash,
    owned,
    remembered,
    remembering,
    spec_hash,
)

Json = dict[str, Any]

LAST = "kubernetes-fleet.io/last-applied-configuration"
HASH = "kubernetes-fleet.io/spec-hash"
OWNER = OwnerReference(api_version="v1", kind="Owner", name="owner", uid="1")


def config_map(**annotations: str) -> Json:
    return {"metadata": {"name": "cm", "annotations": annotations}, "data": {"key": "value"}}


def test_an_envelope_may_hold_an_object_read_from_a_cluster() -> None:
    read = {
        "metadata": {
            "name": "cm",
            "uid": "1",
            "resourceVersion": "2",
            "managedFields": [],
            "ownerReferences": [{"uid": "9"}],
            "annotations": {HASH: "x", LAST: "y", "team": "z"},
            "labels": {"a": "b"},
        },
        "data": {},
        "status": {},
    }
    kept = {"name": "cm", "annotations": {"team": "z"}, "labels": {"a": "b"}}
    assert cleaned(read) == {"metadata": kept, "data": {}}


def test_no_empty_annotations_are_left_when_all_are_removed() -> None:
    assert cleaned(config_map(**{HASH: "x"}))["metadata"] == {"name": "cm"}


def test_an_owned_object_names_its_owner_and_its_manifest() -> None:
    manifest = config_map(team="z")
    body = owned(manifest, OWNER)
    assert body["metadata"]["ownerReferences"] == [OWNER.to_wire()]
    assert body["metadata"]["annotations"] == {"team": "z", HASH: spec_hash(manifest)}
    assert noted_hash(body) == spec_hash(manifest)
    assert manifest == config_map(team="z")


def test_the_applied_manifest_is_remembered_including_its_annotation() -> None:
    body = owned(config_map(), OWNER)
    noted = remembering(body)
    assert noted is not None
    assert json.loads(noted["metadata"]["annotations"][LAST]) == body
    assert remembered(noted) == forgetting(body)


@pytest.mark.parametrize("note", ["", "{", "[]", '"text"', "{}", '{"metadata": 1}'])
def test_an_empty_or_invalid_note_remembers_nothing(note: str) -> None:
    assert remembered(config_map(**{LAST: note})) == {}


@pytest.mark.parametrize(("size", "fits"), [(100 * 1024, True), (270 * 1024, False)])
def test_a_manifest_too_large_for_an_annotation_is_not_remembered(size: int, fits: bool) -> None:
    body = config_map() | {"data": {"key": "x" * size}}
    assert (remembering(body) is not None) is fits


def test_other_annotations_count_towards_the_limit() -> None:
    body = config_map(note="x" * 100 * 1024) | {"data": {"key": "y" * 100 * 1024}}
    assert remembering(body) is None
