"""What placements select, and errors in their selectors (contract: placement 2.1, 3)."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from api.kinds import CONFIG_MAP, CUSTOM_RESOURCE_DEFINITION, NAMESPACE, Kind
from hub import NotFound
from placement.selection import SelectionError
from tests.placement.world import World, cluster_scoped, namespaced, taken
from tests.support.eventually import eventually

Json = dict[str, Any]
PREFIX = "The resource selectors are invalid: failed to process the request due to a client error: "

pytestmark = pytest.mark.both_scopes


class Widgets:
    """Objects of a kind that does not exist at first."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.group = f"{world.unique}.example.com"
        self._kind = Kind(self.group, "v1", "Widget", "widgets", namespaced=True)

    @property
    def selector(self) -> Json:
        return {"group": self.group, "version": "v1", "kind": "Widget"}

    async def define(self) -> None:
        """Make the hub serve the kind."""
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        version = {"name": "v1", "served": True, "storage": True}
        spec = {
            "group": self.group,
            "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [version | {"schema": {"openAPIV3Schema": schema}}],
        }
        body = {"metadata": {"name": f"widgets.{self.group}"}, "spec": spec}
        await self._world.hub.create(CUSTOM_RESOURCE_DEFINITION, body)
        await eventually(lambda: self._world.hub.kind_for(self._kind.api_version, "Widget"))

    async def put(self, size: int) -> None:
        """Write a widget with this size."""
        body = {"metadata": {"name": "one", "namespace": self._world.unique}}
        await self._world.hub.apply(self._kind, body | {"spec": {"size": size}})

    def sizes(self, snapshot: Json) -> list[int]:
        """Return the sizes of the widgets in a snapshot."""
        selected = snapshot["spec"]["selectedResources"]
        return [each["spec"]["size"] for each in selected if each["kind"] == "Widget"]

    async def remove(self) -> None:
        try:
            await self._world.hub.delete(CUSTOM_RESOURCE_DEFINITION, f"widgets.{self.group}")
        except NotFound:
            return


@pytest.fixture
async def widgets(world: World) -> AsyncIterator[Widgets]:
    """Prepare a kind of the test's own that the hub can serve later."""
    kind = Widgets(world)
    yield kind
    await kind.remove()


async def test_a_kind_that_the_hub_does_not_serve_is_reported(world: World) -> None:
    await world.place(
        resourceSelectors=[{"group": "", "version": "v1", "kind": "Nonsense", "name": "x"}]
    )

    said = await world.told("Scheduled", status="False", reason="InvalidResourceSelectors")

    error = (
        "failed to process the request due to a client error: invalid placement "
        f"{world.home}/{world.name}, failed to get GVR of the selector: "
        'no matches for kind "Nonsense" in version "v1"'
    )
    assert said["message"] == f"The resource selectors are invalid: {error}"
    with pytest.raises(SelectionError) as caught:
        await taken(world)
    assert str(caught.value) == error

    await world.change(resourceSelectors=world.selectors())
    await world.told("Scheduled", status="True")


async def test_a_kind_of_the_other_scope_is_refused(world: World) -> None:
    if world.home:
        kind = {"group": "rbac.authorization.k8s.io", "version": "v1", "kind": "ClusterRole"}
        text = (
            "cannot select cluster-scoped resource "
            "rbac.authorization.k8s.io/v1, Resource=clusterroles in a resourcePlacement"
        )
    else:
        kind = {"group": "", "version": "v1", "kind": "ConfigMap"}
        text = (
            "cannot select namespace-scoped resource /v1, Resource=configmaps "
            "in a clusterResourcePlacement"
        )
    await world.place(resourceSelectors=[kind | {"name": "x"}])

    said = await world.told("Scheduled", status="False", reason="InvalidResourceSelectors")

    assert said["message"].endswith(f"invalid placement {world.home}/{world.name}: {text}")


async def test_custom_resources_are_placed_and_followed(world: World, widgets: Widgets) -> None:
    await widgets.define()
    await widgets.put(1)
    await world.place(resourceSelectors=[widgets.selector] if world.home else world.selectors())
    first = await world.snapshot(0)

    await widgets.put(2)
    second = await world.snapshot(1)

    assert (widgets.sizes(first), widgets.sizes(second)) == ([1], [2])


@cluster_scoped
async def test_a_kind_that_is_installed_later_is_picked_up(world: World, widgets: Widgets) -> None:
    await world.place()
    await world.snapshot(0)

    await widgets.define()
    await widgets.put(1)

    async def picked_up() -> bool:
        return widgets.sizes((await world.snapshots())[-1]) == [1]

    await eventually(picked_up)


@namespaced
async def test_a_selector_may_name_a_kind_that_is_defined_later(
    world: World, widgets: Widgets
) -> None:
    await world.place(resourceSelectors=[widgets.selector])
    await world.told("Scheduled", status="False", reason="InvalidResourceSelectors")

    await widgets.define()
    await world.told("Scheduled", status="True")
    await widgets.put(1)

    async def picked_up() -> bool:
        return widgets.sizes((await world.snapshots())[-1]) == [1]

    await eventually(picked_up)


async def test_a_missing_object_is_not_an_error(world: World) -> None:
    if world.home:
        missing = {"group": "", "version": "v1", "kind": "ConfigMap", "name": "later"}
    else:
        missing = world.selectors()[0] | {"name": f"{world.unique}-later"}
    await world.place(resourceSelectors=[missing])

    await world.told("Scheduled", status="True")
    assert (await world.snapshot(0))["spec"]["selectedResources"] == []

    if world.home:
        await world.content("x", name="later")
    else:
        await world.hub.create(NAMESPACE, {"metadata": {"name": missing["name"]}})
    (found,) = (await world.snapshot(1))["spec"]["selectedResources"]
    assert found["metadata"]["name"] == missing["name"]
    if not world.home:
        await world.hub.delete(NAMESPACE, missing["name"])


@namespaced
async def test_a_namespaced_placement_cannot_place_a_namespace(world: World) -> None:
    term = {"group": "", "version": "v1", "kind": "Namespace", "name": world.unique}
    await world.place(resourceSelectors=[term])

    said = await world.told("Scheduled", status="False", reason="InvalidResourceSelectors")

    assert said["message"] == (
        f"{PREFIX}invalid placement {world.home}/{world.name}: cannot select cluster-scoped"
        " resource Namespace in a resourcePlacement"
    )


@pytest.mark.parametrize(
    "kind",
    [
        {"group": "", "version": "v1", "kind": "Pod"},
        {"group": "coordination.k8s.io", "version": "v1", "kind": "Lease"},
        {"group": "placement.kubernetes-fleet.io", "version": "v1beta1", "kind": "Work"},
    ],
    ids=lambda kind: kind["kind"],
)
async def test_kinds_that_are_never_placed_are_left_out_silently(world: World, kind: Json) -> None:
    await world.place(resourceSelectors=[*world.selectors(), kind])

    await world.told("Scheduled", status="True")
    kinds = {each["kind"] for each in (await world.snapshot(0))["spec"]["selectedResources"]}
    assert kinds == {"ConfigMap"} if world.home else {"Namespace", "ConfigMap"}


@cluster_scoped
async def test_namespaces_are_selected_by_label_together_with_their_content(world: World) -> None:
    other = f"{world.unique}-other"
    patch = {"metadata": {"labels": {"team": world.unique}}}
    await world.hub.patch(NAMESPACE, world.unique, patch)
    await world.hub.create(NAMESPACE, {"metadata": {"name": other} | patch["metadata"]})
    term = {"group": "", "version": "v1", "kind": "Namespace"}
    await world.place(
        resourceSelectors=[term | {"labelSelector": {"matchLabels": {"team": world.unique}}}]
    )

    selected = (await world.snapshot(0))["spec"]["selectedResources"]

    assert [each["metadata"]["name"] for each in selected] == [world.unique, other, "cm"]
    await world.hub.delete(NAMESPACE, other)


@cluster_scoped
async def test_cluster_scoped_objects_can_be_selected_next_to_a_namespace(world: World) -> None:
    role = Kind("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", namespaced=False)
    await world.hub.create(role, {"metadata": {"name": world.unique}, "rules": []})
    namespace = world.selectors()[0] | {"selectionScope": "NamespaceWithResourceSelectors"}
    term = {"group": role.group, "version": "v1", "kind": role.kind, "name": world.unique}
    await world.place(resourceSelectors=[term, namespace])

    selected = (await world.snapshot(0))["spec"]["selectedResources"]

    assert [each["kind"] for each in selected] == ["Namespace", "ClusterRole"]
    await world.hub.delete(role, world.unique)


@namespaced
async def test_objects_are_selected_by_label(world: World) -> None:
    for name, tier in (("one", "front"), ("two", "back")):
        metadata = {"name": name, "namespace": world.unique, "labels": {"tier": tier}}
        await world.hub.create(CONFIG_MAP, {"metadata": metadata})
    chosen = {"matchExpressions": [{"key": "tier", "operator": "In", "values": ["back"]}]}
    term = {"group": "", "version": "v1", "kind": "ConfigMap", "labelSelector": chosen}

    await world.place(resourceSelectors=[term])

    selected = (await world.snapshot(0))["spec"]["selectedResources"]
    assert [each["metadata"]["name"] for each in selected] == ["two"]


@cluster_scoped
async def test_a_namespace_of_the_fleet_itself_is_refused(world: World) -> None:
    term = {"group": "", "version": "v1", "kind": "Namespace", "name": "kube-system"}

    await world.place(resourceSelectors=[term])

    said = await world.told("Scheduled", status="False", reason="InvalidResourceSelectors")
    assert said["message"].endswith(
        f"invalid clusterRresourcePlacement {world.name}: "
        "namespace kube-system is not allowed to propagate"
    )


@cluster_scoped
async def test_a_namespace_may_be_placed_alone(world: World) -> None:
    await world.place(
        resourceSelectors=[each | {"selectionScope": "NamespaceOnly"} for each in world.selectors()]
    )

    selected = (await world.snapshot(0))["spec"]["selectedResources"]

    assert [each["kind"] for each in selected] == ["Namespace"]


@cluster_scoped
async def test_further_selectors_pick_from_a_namespace(world: World) -> None:
    await world.content("other", name="another")
    namespace = world.selectors()[0] | {"selectionScope": "NamespaceWithResourceSelectors"}
    config_map = {"group": "", "version": "v1", "kind": "ConfigMap", "name": "another"}
    await world.place(resourceSelectors=[namespace, config_map])

    selected = (await world.snapshot(0))["spec"]["selectedResources"]

    assert [each["metadata"]["name"] for each in selected] == [world.unique, "another"]


@cluster_scoped
async def test_a_namespace_to_pick_from_must_exist(world: World) -> None:
    missing = world.selectors()[0] | {"selectionScope": "NamespaceWithResourceSelectors"}
    await world.place(resourceSelectors=[missing | {"name": f"{world.unique}-missing"}])

    said = await world.told("Scheduled", status="False", reason="InvalidResourceSelectors")

    assert said["message"].endswith("but no namespaces were selected")


async def test_an_object_matched_by_two_selectors_is_reported(world: World) -> None:
    await world.place(resourceSelectors=world.selectors() * 2)

    said = await world.told("Scheduled", status="False", reason="InvalidResourceSelectors")

    first = ("ConfigMap", "cm", world.home) if world.home else ("Namespace", world.unique, "")
    kind, name, namespace = first
    assert said["message"] == (
        f"{PREFIX}found duplicate resource {{Group: Version:v1 Kind:{kind} Name:{name}"
        f" Namespace:{namespace} Envelope:<nil>}}"
    )
