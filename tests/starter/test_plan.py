"""`fleetgate plan` against a real hub: it shows what a run would do, and writes nothing."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import yaml

from api.kinds import CLUSTER_SCOPE, CONFIG_MAP, NAMESPACED_SCOPE, Kind, Scope
from hub import Hub, Json
from tests.starter.typed import Fleetgate, Typed
from tests.support.hand_placement import HandPlacement

CLAIM = Kind("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", namespaced=True)
STAGES: list[Json] = [
    {
        "name": "staging",
        "labelSelector": {"matchLabels": {"stage": "staging"}},
        "afterStageTasks": [{"type": "TimedWait", "waitTime": "90s"}],
    },
    {
        "name": "prod",
        "labelSelector": {"matchLabels": {"stage": "prod"}},
        "maxConcurrency": 2,
        "beforeStageTasks": [{"type": "Approval"}],
    },
    {"name": "later", "labelSelector": {"matchLabels": {"stage": "later"}}},
]


@pytest.fixture(params=[CLUSTER_SCOPE, NAMESPACED_SCOPE], ids=["cluster", "namespaced"])
def scope(request: pytest.FixtureRequest) -> Scope:
    found: Scope = request.param
    return found


@pytest.fixture
async def placed(hub: Hub, scope: Scope, unique: str) -> AsyncIterator[HandPlacement]:
    """A placement on four clusters in two stages; one cluster already has snapshot 0."""
    made = HandPlacement(hub, scope, unique, namespace=unique if scope is NAMESPACED_SCOPE else "")
    labels = {"a": "staging", "b": "prod", "c": "prod", "d": "prod"}
    clusters = {f"{unique}-{short}": {"stage": stage} for short, stage in labels.items()}
    await made.create(clusters, versions=2)
    await made.strategy(unique, STAGES)
    spec = {"spec": {"resourceSnapshotName": f"{unique}-0-snapshot", "state": "Bound"}}
    binding = made.binding_name(f"{unique}-b")
    await hub.patch(scope.binding, binding, spec, namespace=made.namespace)
    yield made
    await hub.delete(scope.placement, unique, namespace=made.namespace)


class Planner:
    """Runs `fleetgate plan` for a placement."""

    def __init__(self, fleetgate: Fleetgate, placed: HandPlacement) -> None:
        self._fleetgate = fleetgate
        self._flags = ["-n", placed.namespace] if placed.namespace else []

    async def __call__(self, *words: str) -> Typed:
        return await self._fleetgate("plan", *words, *self._flags)


@pytest.fixture
def plan(fleetgate: Fleetgate, placed: HandPlacement) -> Planner:
    return Planner(fleetgate, placed)


async def content(
    placed: HandPlacement, index: int, value: str, *, kind: str = "ConfigMap"
) -> None:
    """Give a snapshot one object."""
    field = {"data": {"key": value}}
    resource = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "app"}} | field
    await placed.hub.patch(
        placed.scope.resource_snapshot,
        f"{placed.name}-{index}-snapshot",
        {"spec": {"selectedResources": [resource]}},
        namespace=placed.namespace,
    )


async def test_stages_waves_and_gates_are_shown_in_order(
    plan: Planner, placed: HandPlacement, unique: str
) -> None:
    typed = await plan(unique, unique, "--index", "1")
    assert typed.code == 0, typed.err
    lines = [" ".join(line.split()) for line in typed.out.splitlines()]
    start = lines.index("STAGE STEP CLUSTERS HAS NOW")
    assert lines[start + 1 : start + 7] == [
        f"staging wave 1 {unique}-a nothing",
        "wait 1m30s",
        "prod approval before",
        f"wave 1 {unique}-b, {unique}-c 0, nothing",
        f"wave 2 {unique}-d nothing",
        "later skipped no cluster matches its labels",
    ]
    assert "4 clusters, in 3 waves, 1 approval; waits of 1m30s" in typed.out
    assert (
        f"fleetgate run create NAME --placement {unique} --strategy {unique} --index 1" in typed.out
    )


async def test_changes_are_shown_for_each_snapshot_that_clusters_have(
    plan: Planner, placed: HandPlacement, unique: str
) -> None:
    await content(placed, 0, "old")
    await content(placed, 1, "new")
    short = await plan(unique, unique, "--index", "1")
    assert "1 of the bound clusters have snapshot 0:\n  ~ ConfigMap app\n" in short.out
    assert "3 of the bound clusters have nothing:\n  + ConfigMap app\n" in short.out
    whole = await plan(unique, unique, "--index", "1", "--diff")
    assert "-  key: old\n" in whole.out
    assert "+  key: new\n" in whole.out
    same = await plan(unique, unique, "--index", "0")
    assert "1 of the bound clusters have snapshot 0:\n  no change\n" in same.out


async def test_values_of_secrets_are_not_shown(
    plan: Planner, placed: HandPlacement, unique: str
) -> None:
    await content(placed, 0, "b2xk", kind="Secret")
    await content(placed, 1, "bmV3", kind="Secret")
    typed = await plan(unique, unique, "--index", "1", "--diff")
    assert "(hidden, changed)" in typed.out
    assert "bmV3" not in typed.out
    assert "b2xk" not in typed.out


async def test_without_an_index_a_new_snapshot_of_the_hub_is_planned(
    plan: Planner, placed: HandPlacement, unique: str
) -> None:
    if placed.namespace:
        body = {"metadata": {"name": "any", "namespace": placed.namespace}}
        await placed.hub.create(CONFIG_MAP, body)
    typed = await plan(unique, unique)
    assert typed.code == 0, typed.err
    assert "snapshot 2, new, from the hub's content as it is now" in typed.out
    assert ("+ ConfigMap" in typed.out) is bool(placed.namespace)
    found = await placed.hub.list(placed.scope.resource_snapshot, namespace=placed.namespace)
    assert f"{unique}-2-snapshot" not in {each["metadata"]["name"] for each in found.items}


async def test_content_that_may_not_be_placed_is_not_in_the_plan(
    fleetgate: Fleetgate, hub: Hub, unique: str
) -> None:
    made = HandPlacement(hub, NAMESPACED_SCOPE, unique, namespace=unique)
    await made.create({f"{unique}-a": {"stage": "staging"}})
    await made.strategy(unique, STAGES[:1])
    select = {"spec": {"resourceSelectors": [{"group": "", "version": "v1", "kind": CLAIM.kind}]}}
    await hub.patch(made.scope.placement, unique, select, namespace=unique)
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    await hub.create(CLAIM, {"metadata": {"name": "any", "namespace": unique}, "spec": claim})

    whole = await fleetgate("plan", unique, unique, "-n", unique)
    less = await fleetgate("plan", unique, unique, "-n", unique, "--hub-runs-workloads")

    assert "+ PersistentVolumeClaim " in whole.out
    assert less.code == 0, less.err
    assert "PersistentVolumeClaim" not in less.out
    await hub.delete(NAMESPACED_SCOPE.placement, unique, namespace=unique)


async def test_it_says_whom_the_run_would_wait_for(
    hub: Hub, plan: Planner, placed: HandPlacement, unique: str
) -> None:
    target = {"kind": placed.scope.placement.kind, "name": unique}
    spec = {"targetRefs": [target], "concurrentRuns": "Queue"}
    await placed.write(placed.scope.policy, unique, {"spec": spec})
    rule = "the run waits until the runs of the placement that are ahead have ended"
    alone = await plan(unique, unique, "--index", "1")
    assert f"{rule}; none is ahead now" in alone.out
    await placed.create_run(f"{unique}-v1", unique, index="1")
    second = await plan(unique, unique, "--index", "1")
    assert f"{rule}; ahead now: {unique}-v1" in second.out


async def test_a_run_that_could_not_be_initialized_is_an_error(
    plan: Planner, placed: HandPlacement, unique: str
) -> None:
    wrong = {
        ("nosuch", unique): "parent placement not found",
        (unique, "nosuch"): "referenced updateStrategy not found: `",
        (unique, unique, "--index", "7"): "no resourceSnapshots with index `7` found",
        (unique, unique, "--index", "one"): "invalid resource snapshot index `one`",
    }
    for words, why in wrong.items():
        typed = await plan(*words)
        assert typed.code == 1
        assert typed.err.startswith("error: the run could not be initialized: ")
        assert why in typed.err


async def test_clusters_in_no_stage_and_in_two_are_named(
    plan: Planner, placed: HandPlacement, unique: str
) -> None:
    everything = {"name": "all", "labelSelector": {}}
    await placed.strategy(f"{unique}-none", STAGES[:1])
    await placed.strategy(f"{unique}-two", [STAGES[0], everything])
    none = await plan(unique, f"{unique}-none")
    assert none.code == 1
    assert f"{unique}-b, {unique}-c, {unique}-d" in none.err
    two = await plan(unique, f"{unique}-two")
    assert two.code == 1
    assert f"cluster `{unique}-a` appears in more than one stages" in two.err


async def test_the_manifest_of_a_run_can_be_planned(
    fleetgate: Fleetgate, placed: HandPlacement, unique: str, tmp_path: Path
) -> None:
    kind = placed.scope.run
    spec = placed.run_spec(unique, index="1")
    manifest = {"apiVersion": kind.api_version, "kind": kind.kind} | placed.body({"spec": spec})
    file = tmp_path / "run.yaml"
    file.write_text(yaml.safe_dump(manifest))
    typed = await fleetgate("plan", "-f", str(file))
    assert typed.code == 0, typed.err
    assert "4 clusters, in 3 waves" in typed.out


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("kind: ConfigMap", "found ConfigMap"),
        ("[]", "found list"),
        ("a: b: c", "not valid YAML"),
        ("kind: StagedUpdateRun\nmetadata: {name: a}", "apiVersion: Field required"),
    ],
)
async def test_a_file_without_a_run_is_refused(
    fleetgate: Fleetgate, tmp_path: Path, text: str, why: str
) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(text)
    typed = await fleetgate("plan", "-f", str(file))
    assert typed.code == 2
    assert typed.err.startswith(f"error: {file}: ")
    assert why in typed.err


async def test_it_says_what_to_specify(fleetgate: Fleetgate, tmp_path: Path) -> None:
    for words in (["only-a-placement"], []):
        typed = await fleetgate("plan", *words)
        assert typed.code == 2
        assert "specify a placement and a strategy, or a file with -f" in typed.err
