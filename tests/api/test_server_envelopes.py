"""Envelopes on a real API server (contract: placement 10)."""

from typing import Any

import pytest

from api.kinds import CLUSTER_RESOURCE_ENVELOPE, RESOURCE_ENVELOPE, Kind
from hub import Hub, Json
from tests.api.samples import refusal, sample

QUOTA = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "small", "namespace": "default", "creationTimestamp": None},
    "spec": {"hard": {"pods": "0"}},
}
of_both_kinds = pytest.mark.parametrize(
    "kind", [CLUSTER_RESOURCE_ENVELOPE, RESOURCE_ENVELOPE], ids=str
)


async def envelop(hub: Hub, kind: Kind, data: dict[str, Any] | None) -> Json:
    """Let the API server validate and default an envelope without storing it."""
    body = sample(kind, "x", {})
    del body["spec"]
    return await hub.create(kind, body | {"data": data}, dry_run=True)


@of_both_kinds
async def test_an_envelope_keeps_objects_whole(hub: Hub, kind: Kind) -> None:
    assert (await envelop(hub, kind, {"quota.yaml": QUOTA}))["data"] == {"quota.yaml": QUOTA}


@of_both_kinds
async def test_objects_in_an_envelope_are_not_validated(hub: Hub, kind: Kind) -> None:
    assert (await envelop(hub, kind, {"x": {}}))["data"] == {"x": {}}


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (None, "data: Required value"),
        ({}, "data in body should have at least 1 properties"),
        (
            {f"object{each}": QUOTA for each in range(51)},
            "data: Too many: 51: must have at most 50",
        ),
        ({"x": "text"}, "data.x in body must be of type object"),
    ],
    ids=["nothing", "no objects", "too many objects", "not an object"],
)
@of_both_kinds
async def test_invalid_envelopes_are_refused(
    hub: Hub, kind: Kind, data: dict[str, Any] | None, complaint: str
) -> None:
    assert complaint in await refusal(envelop(hub, kind, data))
