"""Policies that only KubeFleet's webhook rejects, not the API server (contract: placement 2.2)."""

import pytest

from api.placements import Placement
from api.scheduling import PlacementPolicy
from planning.placements.scheduling.validation import problems
from tests.planning.placements.fleets import (
    Json,
    labelled,
    pick,
    preferred,
    required,
    sorted_by,
    spread_over,
    with_property,
)

PREFERRED = "spec.policy.affinity.clusterAffinity.preferredDuringSchedulingIgnoredDuringExecution"
REQUIRED = (
    "spec.policy.affinity.clusterAffinity.requiredDuringSchedulingIgnoredDuringExecution"
    ".clusterSelectorTerms"
)
NODES = "kubernetes-fleet.io/node-count"
PICK_ALL: Json = {"placementType": "PickAll"}
GPU: Json = {"key": "gpu", "operator": "Exists"}
DISK: Json = {"key": "disk", "value": "slow"}
ONLY_ADDED = (
    "spec.policy.tolerations: tolerations have been updated/deleted,"
    " only additions to tolerations are allowed"
)


def found(policy: Json | None, *, before: Json | None = None, name: str = "p") -> list[str]:
    spec: Json = {"resourceSelectors": []} | ({} if policy is None else {"policy": policy})
    body = {"apiVersion": "v1", "kind": "P", "metadata": {"name": name}, "spec": spec}
    in_force = None if before is None else PlacementPolicy.from_wire(before)
    return problems(Placement.from_wire(body), in_force=in_force)


@pytest.mark.parametrize(
    "policy",
    [
        None,
        PICK_ALL,
        PICK_ALL | {"affinity": required(labelled(a="b"), with_property(NODES, "Ge", "3"))},
        PICK_ALL | {"affinity": {}},
        PICK_ALL | {"tolerations": [GPU, DISK]},
        pick(3, affinity=preferred((5, labelled(a="b")), (-5, sorted_by(NODES, a="b")))),
        pick(3, topologySpreadConstraints=[spread_over("zone")], tolerations=[GPU]),
        {"placementType": "PickFixed", "clusterNames": ["a"]},
    ],
)
def test_valid_policies_have_no_problems(policy: Json | None) -> None:
    assert found(policy) == []


@pytest.mark.parametrize(
    ("policy", "problem"),
    [
        (
            PICK_ALL | {"affinity": preferred((5, labelled(a="b")))},
            (
                f"{PREFERRED}: PreferredDuringSchedulingIgnoredDuringExecution will be ignored"
                " for placement policy type PickAll"
            ),
        ),
        (
            pick(1, affinity=required(labelled(a="b"), sorted_by(NODES))),
            (
                f"{REQUIRED}[1].propertySorter: PropertySorter is not allowed for"
                " RequiredDuringSchedulingIgnoredDuringExecution affinity"
            ),
        ),
        (
            pick(1, affinity=preferred((5, with_property(NODES, "Ge", "3")))),
            (
                f"{PREFERRED}[0].preference.propertySelector: PropertySelector is not allowed for"
                " PreferredDuringSchedulingIgnoredDuringExecution affinity"
            ),
        ),
        (
            PICK_ALL | {"affinity": required(with_property(NODES, "In", "3"))},
            (
                f"{REQUIRED}[0].propertySelector.matchExpressions[0]:"
                f" invalid requirement on property {NODES}: unsupported operator In"
            ),
        ),
        (
            PICK_ALL | {"affinity": required(with_property(NODES, "Ge", "three"))},
            (
                f"{REQUIRED}[0].propertySelector.matchExpressions[0]:"
                f" invalid requirement on property {NODES}:"
                ' value "three" is not a valid resource.Quantity,'
                " such as 2, 500m or 16Gi"
            ),
        ),
        (
            PICK_ALL | {"affinity": required(labelled(**{"not valid": "b"}))},
            (
                f'{REQUIRED}[0].labelSelector: key: Invalid value: "not valid":'
                " must be a qualified name such as example.com/name"
            ),
        ),
        (
            pick(1, affinity=preferred((5, labelled(a="not valid")))),
            (
                f"{PREFERRED}[0].preference.labelSelector: values[0][a]:"
                ' Invalid value: "not valid": must be a valid label value'
            ),
        ),
        (
            PICK_ALL | {"tolerations": [GPU, DISK, GPU]},
            (
                "spec.policy.tolerations[2]: toleration"
                " {Key:gpu Operator:Exists Value: Effect:} already exists,"
                " tolerations must be unique"
            ),
        ),
    ],
)
def test_invalid_policies_are_explained(policy: Json, problem: str) -> None:
    assert found(policy) == [problem]


def test_a_property_without_a_value_to_compare_with_is_a_problem() -> None:
    wanted = {"name": NODES, "operator": "Ge", "values": []}
    term: Json = {"propertySelector": {"matchExpressions": [wanted]}}
    (problem,) = found(PICK_ALL | {"affinity": required(term)})
    assert problem.endswith("operator Ge requires exactly one value, got 0")


@pytest.mark.parametrize(
    ("before", "after", "refused"),
    [
        ([], [GPU], False),
        ([GPU], [GPU, DISK], False),
        ([GPU], [DISK, GPU], False),
        ([GPU, DISK], [GPU], True),
        ([GPU], [], True),
        ([DISK], [DISK | {"value": "fast"}], True),
    ],
)
def test_tolerations_may_only_be_added(
    before: list[Json], after: list[Json], refused: bool
) -> None:
    said = found(PICK_ALL | {"tolerations": after}, before=PICK_ALL | {"tolerations": before})
    assert said == ([ONLY_ADDED] if refused else [])


def test_a_placements_name_must_fit_into_a_label() -> None:
    assert found(None, name="p" * 63) == []
    assert found(None, name="p" * 64) == [
        "metadata.name: the name field cannot have length exceeding 63"
    ]


def test_all_problems_are_reported_at_once() -> None:
    assert len(found(PICK_ALL | {"affinity": preferred((5, {})), "tolerations": [GPU, GPU]})) == 2
