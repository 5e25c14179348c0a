"""Which overrides apply to a run, and where (contract: update-runs 7.8, placement 9 and 10)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api import names
from api.overrides import ClusterResourceOverrideSnapshot, ResourceOverrideSnapshot
from planning.errors import InitializationError
from planning.overrides.matching import Overrides, OverrideSnapshot, namespace_identity, targets
from planning.resource_order import Identity

EVERYWHERE: dict[str, Any] = {"clusterSelectorTerms": []}
ROLE = Identity("rbac.authorization.k8s.io", "v1", "ClusterRole", "", "reader")
CONFIG = Identity("", "v1", "ConfigMap", "team", "web")


def labelled(*terms: dict[str, str]) -> dict[str, Any]:
    return {"clusterSelectorTerms": [{"labelSelector": {"matchLabels": term}} for term in terms]}


def selector(identity: Identity) -> dict[str, str]:
    return {
        "group": identity.group,
        "version": identity.version,
        "kind": identity.kind,
        "name": identity.name,
    }


def _spec(placement: Any, where: tuple[Any, ...]) -> dict[str, Any]:
    rules = [{"clusterSelector": each} if each else {} for each in where]
    spec: dict[str, Any] = {"policy": {"overrideRules": rules or [{"clusterSelector": EVERYWHERE}]}}
    return spec | ({"placement": placement} if placement else {})


def cro(
    name: str = "cro-0", *where: Any, about: Identity = ROLE, placement: Any = None
) -> ClusterResourceOverrideSnapshot:
    spec = _spec(placement, where) | {"clusterResourceSelectors": [selector(about)]}
    return ClusterResourceOverrideSnapshot.from_wire(
        {"metadata": {"name": name}, "spec": {"overrideSpec": spec, "overrideHash": "aA=="}}
    )


def ro(
    name: str = "ro-0",
    *where: Any,
    home: str = "team",
    about: Identity = CONFIG,
    placement: Any = None,
) -> ResourceOverrideSnapshot:
    spec = _spec(placement, where) | {"resourceSelectors": [selector(about)]}
    return ResourceOverrideSnapshot.from_wire(
        {
            "metadata": {"name": name, "namespace": home},
            "spec": {"overrideSpec": spec, "overrideHash": "aA=="},
        }
    )


def overrides(*snapshots: OverrideSnapshot) -> Overrides:
    return Overrides.of(
        [each for each in snapshots if isinstance(each, ClusterResourceOverrideSnapshot)],
        [each for each in snapshots if isinstance(each, ResourceOverrideSnapshot)],
    )


def applies(snapshot: OverrideSnapshot, **labels: str) -> bool:
    return bool(overrides(snapshot).by_cluster({"member1": labels}))


# -- for which placement -------------------------------------------------------------------

CLUSTER, NAMESPACED = {"name": "web"}, {"name": "web", "scope": "Namespaced"}


@pytest.mark.parametrize(
    ("snapshot", "of_cluster_placement", "of_namespaced_placement"),
    [
        (cro(), True, True),
        (cro(placement=CLUSTER), True, False),
        (cro(placement={"name": "other"}), False, False),
        (ro(), True, True),
        (ro(placement=CLUSTER), True, False),
        (ro(placement={"name": "other"}), False, False),
        (ro(placement=NAMESPACED), False, True),
        (ro(placement=NAMESPACED, home="another"), False, False),
        (ro(placement={"name": "other", "scope": "Namespaced"}), False, False),
    ],
    ids=[
        "a cluster override of every placement",
        "a cluster override of the cluster placement",
        "a cluster override of another placement",
        "a namespaced override of every placement",
        "a namespaced override of the cluster placement",
        "a namespaced override of another placement",
        "a namespaced override of the placement in its namespace",
        "a namespaced override of its namesake in another namespace",
        "a namespaced override of another placement in its namespace",
    ],
)
def test_an_override_names_its_placement_by_scope_and_name(
    snapshot: OverrideSnapshot, of_cluster_placement: bool, of_namespaced_placement: bool
) -> None:
    known = overrides(snapshot)
    assert bool(known.for_placement("/web")) is of_cluster_placement
    assert bool(known.for_placement("team/web")) is of_namespaced_placement


# -- about which objects -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("snapshot", "target", "selects"),
    [
        (cro(), ROLE, True),
        (cro(), Identity(ROLE.group, "v1", "ClusterRole", "", "writer"), False),
        (cro(), Identity(ROLE.group, "v1", "Role", "", "reader"), False),
        (cro(), Identity(ROLE.group, "v2", "ClusterRole", "", "reader"), False),
        (cro(), Identity("example.com", "v1", "ClusterRole", "", "reader"), False),
        (cro(about=namespace_identity("team")), namespace_identity("team"), True),
        (cro(about=namespace_identity("team")), namespace_identity("other"), False),
        (cro(about=CONFIG), CONFIG, False),
        (ro(), CONFIG, True),
        (ro(home="other"), CONFIG, False),
        (ro(), Identity("", "v1", "ConfigMap", "team", "db"), False),
        (ro(), Identity("", "v1", "Secret", "team", "web"), False),
        (ro(about=ROLE), ROLE, False),
        (ro(about=namespace_identity("team")), namespace_identity("team"), False),
    ],
)
def test_an_override_selects_by_kind_and_name(
    snapshot: OverrideSnapshot, target: Identity, selects: bool
) -> None:
    assert bool(overrides(snapshot).about(frozenset([target]))) is selects


def test_one_of_several_selectors_is_enough() -> None:
    snapshot = cro()
    spec = snapshot.spec.override_spec
    other = spec.cluster_resource_selectors[0].model_copy(update={"name": "other"})
    spec = spec.model_copy(
        update={"cluster_resource_selectors": [other, *spec.cluster_resource_selectors]}
    )
    snapshot.spec = snapshot.spec.model_copy(update={"override_spec": spec})
    assert overrides(snapshot).about([ROLE])


# -- on which clusters ---------------------------------------------------------------------


@pytest.mark.parametrize("make", [cro, ro], ids=["cluster", "namespaced"])
@pytest.mark.parametrize(
    ("where", "labels", "chosen"),
    [
        ([None], {}, False),
        ([EVERYWHERE], {}, True),
        ([labelled({"env": "prod"})], {"env": "prod"}, True),
        ([labelled({"env": "prod"})], {"env": "dev"}, False),
        ([labelled({"env": "prod"})], {}, False),
        ([labelled({"env": "prod"}, {"env": "dev"})], {"env": "dev"}, True),
        ([labelled({"env": "prod", "zone": "a"})], {"env": "prod"}, False),
        ([None, labelled({"env": "dev"}), EVERYWHERE], {"env": "prod"}, True),
        ([{"clusterSelectorTerms": [{}]}], {"env": "prod"}, False),
        ([{"clusterSelectorTerms": [{"labelSelector": {}}]}], {}, True),
        ([labelled({"kubernetes-fleet.io/member-name": "member1"})], {}, True),
        ([labelled({"kubernetes-fleet.io/member-name": "member2"})], {}, False),
    ],
    ids=[
        "a rule without a selector applies to no cluster",
        "a selector without terms applies to all clusters",
        "by label",
        "by label, another value",
        "by label, missing",
        "one term is enough",
        "all labels of a term",
        "one rule is enough",
        "a term without a label selector applies to no cluster",
        "an empty label selector applies to all clusters",
        "by the automatic label",
        "by the automatic label, another cluster",
    ],
)
def test_a_rule_picks_clusters(
    make: Any, where: list[Any], labels: dict[str, str], chosen: bool
) -> None:
    assert applies(make("name", *where), **labels) is chosen


def test_a_label_cannot_make_a_cluster_pass_for_another() -> None:
    lies = {"kubernetes-fleet.io/member-name": "member2"}
    assert not applies(cro("cro-0", labelled(lies)), **lies)


def test_each_cluster_has_its_own_overrides() -> None:
    known = overrides(
        ro("late-0", EVERYWHERE),
        ro("early-0", labelled({"env": "prod"})),
        ro("z-0", EVERYWHERE, home="a-team"),
        cro("b-0", labelled({"env": "prod"})),
        cro("a-1", labelled({"env": "prod"}, {"env": "dev"})),
    )
    clusters = {"member2": {"env": "dev"}, "member1": {"env": "prod"}, "member3": {"env": "x"}}
    found = {each.cluster: each for each in known.by_cluster(clusters)}
    assert list(found) == ["member2", "member1", "member3"]
    names = {
        cluster: [f"{each.namespace}/{each.name}" for each in on.resource]
        for cluster, on in found.items()
    }
    assert names == {
        "member1": ["a-team/z-0", "team/early-0", "team/late-0"],
        "member2": ["a-team/z-0", "team/late-0"],
        "member3": ["a-team/z-0", "team/late-0"],
    }
    assert found["member1"].cluster_resource == ["a-1", "b-0"]
    assert found["member2"].cluster_resource == ["a-1"]
    assert found["member3"].cluster_resource == []


def test_clusters_without_overrides_are_left_out() -> None:
    known = overrides(cro("cro-0", labelled({"env": "prod"})))
    found = known.by_cluster({"member1": {"env": "dev"}, "member2": {"env": "prod"}})
    assert [each.cluster for each in found] == ["member2"]


@given(order=st.permutations([("a", "x"), ("a", "y"), ("b", "x"), ("a-b", "a")]))
def test_the_order_does_not_depend_on_how_the_hub_lists_them(order: list[tuple[str, str]]) -> None:
    known = overrides(
        *(ro(name, home=home) for home, name in order),
        *(cro(f"{home}-{name}") for home, name in order),
    )
    (found,) = known.by_cluster({"member1": {}})
    listed = [(each.namespace, each.name) for each in found.resource]
    assert listed == sorted(order)
    assert found.cluster_resource == sorted(f"{home}-{name}" for home, name in order)


@pytest.mark.parametrize(
    ("snapshot", "reference"),
    [
        (cro("cro-0"), "ClusterResourceOverrideSnapshot `cro-0`"),
        (ro("ro-0"), "ResourceOverrideSnapshot `team/ro-0`"),
    ],
)
def test_an_invalid_selector_is_named(snapshot: OverrideSnapshot, reference: str) -> None:
    wrong = {"matchExpressions": [{"key": "env", "operator": "Like"}]}
    make = cro if isinstance(snapshot, ClusterResourceOverrideSnapshot) else ro
    broken = make(
        snapshot.metadata.name, {"clusterSelectorTerms": [{"labelSelector": wrong}]}, EVERYWHERE
    )
    with pytest.raises(InitializationError) as caught:
        applies(broken)
    assert str(caught.value) == (
        "cannot continue the updateRun: failed to validate the updateRun: "
        "unexpected behavior which cannot be handled by the controller: "
        f'invalid cluster label selector of {reference}: "Like" is not a valid label selector '
        "operator"
    )


def of(override: str, index: int) -> ClusterResourceOverrideSnapshot:
    """Return a snapshot with the labels that name its override."""
    snapshot = cro(f"{override}-{index}")
    labels = {names.PARENT_RESOURCE_OVERRIDE: override, names.OVERRIDE_INDEX: str(index)}
    metadata = snapshot.metadata.model_copy(update={"labels": labels})
    return snapshot.model_copy(update={"metadata": metadata})


def test_the_newer_of_two_latest_snapshots_of_an_override_counts() -> None:
    found = Overrides.latest([of("b", 10), of("b", 9), of("a", 0), cro("other")], [])
    assert [each.metadata.name for each in found.cluster_resource] == ["a-0", "b-10", "other"]


def test_overrides_with_the_same_name_in_two_namespaces_both_count() -> None:
    found = Overrides.latest([], [ro(home="team"), ro(home="app")])
    assert [each.metadata.namespace for each in found.resource] == ["app", "team"]


# -- the objects that an override can select ----------------------------------------------

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
        namespace_identity("team"),
    }


def test_a_namespace_alone_is_a_target() -> None:
    assert targets([resource("Namespace", "team")]) == {namespace_identity("team")}


def test_without_resources_there_are_no_targets() -> None:
    assert targets([]) == frozenset()


def test_objects_inside_a_namespaced_envelope_are_targets() -> None:
    found = targets([envelope("ResourceEnvelope", "team", quota=resource("Quota", "q", "team"))])
    assert Identity("", "v1", "Quota", "team", "q") in found
    assert namespace_identity("team") in found


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
