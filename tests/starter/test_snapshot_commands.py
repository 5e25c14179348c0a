"""`fleetgate snapshot …` against a real hub: snapshots, their clusters, and what changed."""

from collections.abc import AsyncIterator

import pytest
import yaml

from api import names
from api.kinds import CLUSTER_SCOPE, CONFIG_MAP, NAMESPACED_SCOPE, Scope
from hub import Hub, Json
from tests.starter.typed import Fleetgate, Typed
from tests.support.hand_placement import HandPlacement


@pytest.fixture(params=[CLUSTER_SCOPE, NAMESPACED_SCOPE], ids=["cluster", "namespaced"])
def scope(request: pytest.FixtureRequest) -> Scope:
    found: Scope = request.param
    return found


def resource(kind: str, name: str, value: str) -> Json:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "data": {"key": value}}


class Stored:
    """A placement whose snapshots a test writes, and the commands for it."""

    def __init__(self, placement: HandPlacement, fleetgate: Fleetgate) -> None:
        self.placement = placement
        self._fleetgate = fleetgate

    async def type(self, verb: str, *words: str) -> Typed:
        """Run a snapshot command for the placement."""
        where = ["-n", self.placement.namespace] if self.placement.namespace else []
        return await self._fleetgate("snapshot", verb, self.placement.name, *words, *where)

    async def hold(self, index: int, *resources: Json) -> None:
        """Give a snapshot its content."""
        await self._patch(index, {"spec": {"selectedResources": list(resources)}})

    async def add_part(self, index: int, *resources: Json, of: int) -> None:
        """Write the second object of a snapshot that consists of `of` objects."""
        placement = self.placement
        annotations = {names.NUMBER_OF_RESOURCE_SNAPSHOTS: str(of)}
        await self._patch(index, {"metadata": {"annotations": annotations}})
        await placement.part(index, 0, *resources)

    async def give(self, cluster: str, index: int) -> None:
        """Give a snapshot to a cluster."""
        placement = self.placement
        spec = {"resourceSnapshotName": f"{placement.name}-{index}-snapshot", "state": "Bound"}
        name = placement.binding_name(f"{placement.name}-{cluster}")
        await placement.hub.patch(
            placement.scope.binding, name, {"spec": spec}, namespace=placement.namespace
        )

    async def _patch(self, index: int, change: Json) -> None:
        placement = self.placement
        name, kind = f"{placement.name}-{index}-snapshot", placement.scope.resource_snapshot
        await placement.hub.patch(kind, name, change, namespace=placement.namespace)


@pytest.fixture
async def stored(
    hub: Hub, scope: Scope, fleetgate: Fleetgate, unique: str
) -> AsyncIterator[Stored]:
    """Three snapshots; two of three clusters have snapshot 0, one has snapshot 1."""
    namespace = unique if scope is NAMESPACED_SCOPE else ""
    placement = HandPlacement(hub, scope, unique, namespace=namespace)
    await placement.create({f"{unique}-{short}": {} for short in "abc"}, versions=3)
    made = Stored(placement, fleetgate)
    await made.hold(0, resource("ConfigMap", "app", "old"))
    await made.hold(1, resource("ConfigMap", "app", "new"), resource("Secret", "tls", "czNjcmV0"))
    await made.hold(2, resource("ConfigMap", "app", "new"), resource("Secret", "tls", "bmV3"))
    for cluster, index in (("a", 0), ("b", 0), ("c", 1)):
        await made.give(cluster, index)
    yield made
    await hub.delete(scope.placement, unique, namespace=namespace)


def rows(typed: Typed) -> list[list[str]]:
    """Return the index and all columns after the age, as words."""
    assert typed.code == 0, typed.err
    table = [line.split() for line in typed.out.splitlines()[1:]]
    return [[index, *rest] for index, _, *rest in table]


async def test_snapshots_are_listed_with_their_changes_and_clusters(stored: Stored) -> None:
    assert rows(await stored.type("list")) == [
        ["0", "1", "2/3"],
        ["1", "2", "+1", "~1", "1/3"],
        ["2", "yes", "2", "~1", "0/3"],
    ]


async def test_the_wide_list_names_clusters_and_runs(stored: Stored) -> None:
    placement = stored.placement
    await placement.create_run(placement.name, "none", index="0", state="Initialize")
    status = {"status": {"resourceSnapshotIndexUsed": "0"}}
    await placement.hub.patch(
        placement.scope.run,
        placement.name,
        status,
        namespace=placement.namespace,
        subresource="status",
    )
    first, *_ = (await stored.type("list", "-o", "wide")).out.splitlines()[1:]
    assert f"2/3 ({placement.name}-a, {placement.name}-b)  {placement.name}" in first
    await placement.delete_run(placement.name)


async def test_a_snapshot_in_several_objects_is_listed_once(stored: Stored) -> None:
    await stored.add_part(0, resource("ConfigMap", "more", "x"), of=2)
    assert rows(await stored.type("list"))[0] == ["0", "2", "2/3"]
    shown = await stored.type("show", "0", "-o", "name")
    assert shown.out.splitlines() == ["configmap/app", "configmap/more"]


async def test_an_incomplete_snapshot_is_refused(stored: Stored) -> None:
    await stored.add_part(0, resource("ConfigMap", "more", "x"), of=3)
    assert "2 (1 part missing)" in (await stored.type("list")).out
    shown = await stored.type("show", "0")
    assert shown.code == 1
    assert "snapshot 0 is incomplete: 1 part missing" in shown.err


async def test_show_prints_what_a_snapshot_contains_and_where_it_is(stored: Stored) -> None:
    typed = await stored.type("show", "1")
    assert typed.code == 0, typed.err
    name = stored.placement.name
    assert f"placement {name}, snapshot 1\n" in typed.out
    assert f"1 of 3 bound clusters have it: {name}-c\n" in typed.out
    assert "no run has rolled it out" in typed.out
    table = [line.split() for line in typed.out.splitlines()[-3:]]
    assert table == [["KIND", "NAMESPACE", "NAME"], ["Secret", "tls"], ["ConfigMap", "app"]]


async def test_values_of_secrets_are_never_shown(stored: Stored) -> None:
    shown = await stored.type("show", "latest", "-o", "yaml")
    assert [each["kind"] for each in yaml.safe_load(shown.out)["items"]] == ["Secret", "ConfigMap"]
    listed = await stored.type("list", "-o", "json")
    changed = await stored.type("diff", "1", "2")
    for typed in (shown, listed, changed):
        assert typed.code == 0, typed.err
        assert "(hidden" in typed.out
        assert "czNjcmV0" not in typed.out
        assert "bmV3" not in typed.out


async def test_by_default_what_most_clusters_have_is_compared_with_the_latest(
    stored: Stored,
) -> None:
    typed = await stored.type("diff")
    assert typed.code == 0, typed.err
    head, *lines = typed.out.splitlines()
    assert head == (
        "from snapshot 0 (on 2 of 3 clusters) to snapshot 2 (latest, on 0 of 3 clusters)"
    )
    assert "--- snapshot 0 ConfigMap app" in lines
    assert "-  key: old" in lines
    assert "+  key: new" in lines
    same = await stored.type("diff", "2", "latest")
    assert same.out.splitlines()[1:] == ["no difference"]


async def test_a_snapshot_can_be_compared_with_the_hub_as_it_is(stored: Stored) -> None:
    placement = stored.placement
    if placement.namespace:
        metadata = {"name": "any", "namespace": placement.namespace}
        await placement.hub.create(CONFIG_MAP, {"metadata": metadata, "data": {"key": "live"}})
    typed = await stored.type("diff", "0", "now")
    assert typed.code == 0, typed.err
    assert typed.out.splitlines()[0].endswith("to the hub's content now")
    assert "- ConfigMap app" not in typed.out
    assert "-  key: old" in typed.out
    assert ("+  key: live" in typed.out) is bool(placement.namespace)


async def test_a_missing_snapshot_is_refused_with_a_list_of_the_existing_ones(
    stored: Stored,
) -> None:
    for words in (("show", "9"), ("diff", "0", "9"), ("diff", "9")):
        typed = await stored.type(*words)
        assert typed.code == 3
        assert f"placement {stored.placement.name} has no snapshot 9; it has 0, 1, 2" in typed.err


async def test_a_missing_placement_has_its_own_exit_code(fleetgate: Fleetgate) -> None:
    for words in (("list",), ("list", "-o", "json"), ("show",), ("diff",)):
        verb, *rest = words
        typed = await fleetgate("snapshot", verb, "no-such-placement", *rest)
        assert (words, typed.code) == (words, 3)
        assert '"no-such-placement" not found' in typed.err
