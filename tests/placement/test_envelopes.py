"""The content of envelopes is placed, the envelopes are not (contract: placement 10)."""

import hashlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from api.kinds import CLUSTER_RESOURCE_ENVELOPE, EVENT, RESOURCE_ENVELOPE
from hub import NotFound
from tests.placement.overriding import Overrides, add
from tests.placement.world import World, cluster_scoped
from tests.support.conditions import condition, condition_of
from tests.support.eventually import eventually

Json = dict[str, Any]
GROUP = "placement.kubernetes-fleet.io"

pytestmark = pytest.mark.both_scopes


class Boxes:
    """Envelopes of a test, and the Works made from them."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.cluster_box = f"{world.unique}-box"

    async def put(self, **data: Json) -> None:
        """Write a ResourceEnvelope in the test's namespace."""
        metadata = {"name": "box", "namespace": self._world.unique}
        await self._world.hub.apply(
            RESOURCE_ENVELOPE, {"metadata": metadata, "data": data}, manager="kubectl"
        )

    async def put_cluster_scoped(self, **data: Json) -> Json:
        """Write a ClusterResourceEnvelope; return its selector."""
        body = {"metadata": {"name": self.cluster_box}, "data": data}
        await self._world.hub.apply(CLUSTER_RESOURCE_ENVELOPE, body, manager="kubectl")
        kind = CLUSTER_RESOURCE_ENVELOPE.kind
        return {"group": GROUP, "version": "v1beta1", "kind": kind, "name": self.cluster_box}

    def selectors(self) -> list[Json]:
        """Return selectors for everything in the namespace, including the envelope."""
        if not self._world.home:
            return self._world.selectors()
        kind = RESOURCE_ENVELOPE.kind
        own = {"group": GROUP, "version": "v1beta1", "kind": kind, "name": "box"}
        return [*self._world.selectors(), own]

    async def works(self, count: int) -> tuple[list[Json], list[Json]]:
        """Wait for `count` Works; return those of the content itself and those of envelopes."""

        async def look() -> list[Json] | None:
            found = await self._world.works()
            return found if len(found) == count else None

        works = await eventually(look)
        boxed = [each for each in works if "-envelope-" in each["metadata"]["name"]]
        return [each for each in works if each not in boxed], boxed

    async def clear(self) -> None:
        try:
            await self._world.hub.delete(CLUSTER_RESOURCE_ENVELOPE, self.cluster_box)
        except NotFound:
            return


@pytest.fixture
async def boxes(world: World) -> AsyncIterator[Boxes]:
    put = Boxes(world)
    yield put
    await put.clear()


def wrapped(name: str, home: str, value: str = "in") -> Json:
    metadata = {"name": name} | ({"namespace": home} if home else {})
    body: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    return body | {"data": {"key": value}}


def manifests(work: Json) -> list[Json]:
    found: list[Json] = work["spec"]["workload"]["manifests"]
    return found


async def test_the_content_of_an_envelope_gets_its_own_work(world: World, boxes: Boxes) -> None:
    await boxes.put(one=wrapped("wrapped", world.unique))
    member = await world.join("a")
    await world.place(resourceSelectors=boxes.selectors())
    snapshot = await world.snapshot(0)
    binding = await world.roll_out(member)

    (plain,), (boxed,) = await boxes.works(2)

    annotations = snapshot["metadata"]["annotations"]
    assert annotations["kubernetes-fleet.io/number-of-enveloped-object"] == "1"
    digest = hashlib.sha256(f"ResourceEnvelope/{world.unique}/box".encode()).hexdigest()[:16]
    assert boxed["metadata"]["name"] == f"{plain['metadata']['name']}-envelope-{digest}"
    assert boxed["metadata"]["labels"] == plain["metadata"]["labels"] | {
        "kubernetes-fleet.io/envelope-work": "ResourceEnvelope",
        "kubernetes-fleet.io/envelope-name": "box",
        "kubernetes-fleet.io/envelope-namespace": world.unique,
    }
    assert manifests(boxed) == [wrapped("wrapped", world.unique)]
    assert "ResourceEnvelope" not in [each["kind"] for each in manifests(plain)]
    assert (
        boxed["metadata"]["labels"]["kubernetes-fleet.io/parent-resource-binding"]
        == (binding["metadata"]["name"])
    )


async def test_the_placement_lists_the_envelope_and_attributes_failures_to_it(
    world: World, boxes: Boxes
) -> None:
    await boxes.put(one=wrapped("wrapped", world.unique))
    member = await world.join("a")
    await world.place(resourceSelectors=boxes.selectors())
    await world.snapshot(0)
    await world.roll_out(member)
    (plain,), (boxed,) = await boxes.works(2)

    await world.report_on(plain)
    failing = failure(world.unique)
    await world.report_on(
        boxed, available="False", reason="SomeManifestsAreNotAvailable", manifests=[failing]
    )

    body = await world.bound(member, "Available", status="False")
    said = condition_of(body, "Available")["message"]
    assert said == f"Work object {boxed['metadata']['name']} is not yet available"
    (entry,) = body["status"]["failedPlacements"]
    box = {"name": "box", "namespace": world.unique, "type": "ResourceEnvelope"}
    assert entry["envelope"] == box
    await world.told("Available", status="False")
    status = (await world.placement() or {})["status"]
    assert status["placementStatuses"][0]["failedPlacements"] == [entry]
    kinds = [each["kind"] for each in status["selectedResources"]]
    assert kinds == [*([] if world.home else ["Namespace"]), "ConfigMap", "ResourceEnvelope"]


def failure(namespace: str) -> Json:
    """Return an agent's report of a failure of the wrapped object."""
    said = condition(
        "Available", "False", None, reason="ManifestNotAvailableYet", message="not yet"
    )
    identifier = {"ordinal": 0, "version": "v1", "kind": "ConfigMap", "resource": "configmaps"}
    own = {"name": "wrapped", "namespace": namespace}
    return {"identifier": identifier | own, "conditions": [said]}


async def test_a_changed_envelope_is_new_content(world: World, boxes: Boxes) -> None:
    await boxes.put(one=wrapped("wrapped", world.unique))
    member = await world.join("a")
    await world.place(resourceSelectors=boxes.selectors())
    await world.snapshot(0)
    await world.roll_out(member)
    await boxes.works(2)

    await boxes.put(one=wrapped("wrapped", world.unique, "changed"))
    await world.snapshot(1)
    await world.roll_out(member, 1)

    async def changed() -> bool:
        _, (boxed,) = await boxes.works(2)
        return manifests(boxed) == [wrapped("wrapped", world.unique, "changed")]

    await eventually(changed)


async def test_overrides_change_the_content_of_an_envelope(world: World, boxes: Boxes) -> None:
    await boxes.put(one=wrapped("cm", world.unique), two=wrapped("other", world.unique))
    member = await world.join("a")
    selector = boxes.selectors()[-1:] if world.home else boxes.selectors()
    await world.place(resourceSelectors=selector)
    await world.snapshot(0)
    overrides = Overrides(world)
    await overrides.write_namespaced(add("/data/key", "${MEMBER-CLUSTER-NAME}"))

    await world.roll_out(member, resourceOverrideSnapshots=[overrides.namespaced])

    _, (boxed,) = await boxes.works(2)
    values = {each["metadata"]["name"]: each["data"]["key"] for each in manifests(boxed)}
    assert values == {"cm": member, "other": "in"}


@pytest.mark.parametrize(
    ("home", "text"),
    [
        ("", "a cluster scope object one (wrapped) has been wrapped in a resource envelope {box}"),
        (
            "elsewhere",
            (
                "a namespaced object one (elsewhere/wrapped) in has been wrapped in a resource"
                " envelope from another namespace ({box})"
            ),
        ),
    ],
)
async def test_forbidden_content_of_an_envelope_is_reported(
    world: World, boxes: Boxes, home: str, text: str
) -> None:
    await boxes.put(one=wrapped("wrapped", home))
    member = await world.join("a")
    await world.place(resourceSelectors=boxes.selectors())
    await world.snapshot(0)

    await world.roll_out(member)

    body = await world.bound(member, "WorkSynchronized", status="False", reason="SyncWorkFailed")
    assert condition_of(body, "WorkSynchronized")["message"] == (
        "Failed to synchronize the work to the latest: failed to process the request due to a"
        f" client error: {text.format(box=f'{world.unique}/box')}"
    )
    assert await world.works() == []


@cluster_scoped
async def test_a_cluster_scoped_envelope_is_placed_by_name(world: World, boxes: Boxes) -> None:
    role: Json = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"}
    role |= {"metadata": {"name": "reader"}}
    selector = await boxes.put_cluster_scoped(one=role)
    member = await world.join("a")
    await world.place(resourceSelectors=[selector])
    await world.snapshot(0)
    await world.roll_out(member)

    (plain,), (boxed,) = await boxes.works(2)

    assert manifests(plain) == []
    assert manifests(boxed) == [role]
    labels = boxed["metadata"]["labels"]
    assert labels["kubernetes-fleet.io/envelope-work"] == "ClusterResourceEnvelope"
    assert "kubernetes-fleet.io/envelope-namespace" not in labels


async def test_an_event_reports_a_rollout_on_hold_because_of_content_that_is_not_an_object(
    world: World, boxes: Boxes
) -> None:
    await boxes.put(one={"data": {"password": "s3cret"}})
    await Overrides(world).write_namespaced(add("/data/key", "x"), latest=True)
    member = await world.join("a")
    await world.place(resourceSelectors=boxes.selectors(), strategy={"type": "RollingUpdate"})

    async def told() -> list[Json]:
        fields = f"involvedObject.name={world.name},reason=RolloutHeldUp"
        return (await world.hub.list(EVENT, fields=fields)).items

    (event, *_) = await eventually(told)
    assert event["message"].startswith(
        "the rollout is on hold until this is fixed: unexpected behavior which cannot be"
        f" handled by the controller: ResourceEnvelope `{world.unique}/box` holds an entry that is"
        " not an object: data.one."
    )
    assert "s3cret" not in event["message"]
    assert await world.works() == []

    await boxes.put(one=wrapped("wrapped", world.unique))

    await eventually(lambda: world.work(member))
