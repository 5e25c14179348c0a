"""Whatever overrides, envelopes and snapshots contain, the result is content or an error."""

import copy
from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from api import names
from api.base import OwnerReference
from api.overrides import JsonPatchOverride
from planning import envelopes
from planning.envelopes import EnvelopeError
from planning.errors import InitializationError
from planning.overrides import rendering, validation
from planning.overrides.rendering import Member, PatchError
from planning.placements import snapshotting
from planning.runs import snapshot_groups
from tests.inputs.generated import TEXTS

Json = dict[str, Any]
MEMBER = Member("member-1", {"env": "prod", "zone": ""})
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), TEXTS)
KEYS = st.sampled_from(["metadata", "spec", "data", "labels", "a", "", "0", "a/b", "~", "-"])
VALUES = st.recursive(
    st.one_of(
        SCALARS, st.sampled_from(["${MEMBER-CLUSTER-NAME}", "${MEMBER-CLUSTER-LABEL-KEY-env}"])
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.builds(
    lambda rest, metadata: (
        rest | {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"} | metadata}
    ),
    st.dictionaries(st.sampled_from(["spec", "data", "status"]), VALUES, max_size=2),
    st.fixed_dictionaries({}, optional={"labels": st.dictionaries(TEXTS, TEXTS, max_size=2)}),
)
PATHS = (
    st.lists(
        st.sampled_from(
            [
                "metadata",
                "labels",
                "name",
                "spec",
                "data",
                "kind",
                "a",
                "0",
                "-1",
                "-",
                "~1",
                "~2",
                "",
            ]
        ),
        max_size=4,
    ).map(lambda parts: "/".join(["", *parts]))
    | TEXTS
)
OVERRIDES = st.builds(
    lambda op, path, value: JsonPatchOverride.from_wire({"op": op, "path": path, "value": value}),
    st.sampled_from(["add", "remove", "replace"]),
    PATHS,
    st.one_of(
        st.none(),
        VALUES,
        st.just("${MEMBER-CLUSTER-LABEL-KEY-"),
        st.just("${MEMBER-CLUSTER-LABEL-KEY-no}"),
    ),
)


@given(OBJECTS, st.lists(OVERRIDES, max_size=3))
def test_an_override_changes_the_object_or_fails_with_a_message(
    resource: Json, overrides: list[JsonPatchOverride]
) -> None:
    before = copy.deepcopy(resource)
    with suppress(PatchError):
        changed = rendering.patch(resource, overrides, MEMBER)
        assert (changed["kind"], changed["apiVersion"]) == (before["kind"], before["apiVersion"])
        assert changed["metadata"]["name"] == "a"
        assert changed.get("status") == before.get("status")
    assert resource == before


@given(OVERRIDES)
def test_a_forbidden_path_is_refused_whatever_the_operation(
    override: JsonPatchOverride,
) -> None:
    refused = validation.refusal(override)
    first = override.path.removeprefix("/").split("/")[0]
    if first in {"kind", "apiVersion", "status"} or not override.path.startswith("/"):
        assert refused


@given(
    st.sampled_from(["ResourceEnvelope", "ClusterResourceEnvelope"]),
    st.dictionaries(
        TEXTS, st.one_of(OBJECTS, st.dictionaries(KEYS, VALUES, max_size=3)), max_size=3
    ),
)
def test_an_envelope_gives_its_content_or_the_error_names_the_key(kind: str, data: Json) -> None:
    metadata = {"name": "e"} | ({"namespace": "app"} if kind == "ResourceEnvelope" else {})
    envelope = {
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": kind,
        "metadata": metadata,
        "data": data,
    }
    try:
        found = envelopes.content(envelope)
    except EnvelopeError as error:
        text = str(error)
        assert any(key in text for key in data), text
    else:
        assert len(found) == len(data)


OWNER = OwnerReference(api_version="v1", kind="P", name="p", uid="u")
MARKS = st.fixed_dictionaries(
    {},
    optional={
        names.RESOURCE_INDEX: TEXTS,
        names.IS_LATEST_SNAPSHOT: TEXTS,
    },
)
NOTES = st.fixed_dictionaries(
    {},
    optional={
        names.NUMBER_OF_RESOURCE_SNAPSHOTS: TEXTS,
        names.RESOURCE_HASH: TEXTS,
        names.SUBINDEX: TEXTS,
    },
)


@given(st.lists(st.tuples(MARKS, NOTES), min_size=1, max_size=4))
def test_snapshots_edited_by_hand_are_read_or_refused(edits: list[tuple[Json, Json]]) -> None:
    stored = []
    for number, (labels, annotations) in enumerate(edits):
        (made,) = snapshotting.bodies([], placement="p", namespace="", owner=OWNER, index=number)
        made["metadata"]["labels"] = made["metadata"]["labels"] | labels
        made["metadata"]["annotations"] = made["metadata"]["annotations"] | annotations
        stored.append(made)
    known = snapshotting.revisions(stored)
    assert snapshotting.next_index(known) == max((each.index for each in known), default=-1) + 1
    with suppress(InitializationError):
        group = snapshot_groups.find(stored, index="0", placement="/p")
        assert group.resources() == []
