"""How doctor reads the shipped files, and how it shows findings: cases without a server."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from starter.doctor import checks, installed, showing
from starter.doctor.checks import Check, Report
from starter.doctor.findings import Finding, Setup, Verdict, ok, problem, unknown, warning
from starter.doctor.rights import Account, Grant, Right, shipped
from starter.targets import Output, Target

Json = dict[str, Any]


@pytest.mark.parametrize(
    ("wanted", "found", "holds"),
    [
        ({"a": 1}, {"a": 1, "filled": "in"}, True),
        ({"a": {"b": [1, {"c": 2}]}}, {"a": {"b": [1, {"c": 2, "d": 3}]}}, True),
        ({"a": 1}, {"a": 2}, False),
        ({"a": 1}, {}, False),
        ({"a": [1]}, {"a": [1, 2]}, False),
        ({"a": [1]}, {"a": None}, False),
        ({"a": {"b": 1}}, {"a": 1}, False),
    ],
)
def test_what_the_hub_fills_in_is_no_difference_to_a_policy(
    wanted: Json, found: Json, holds: bool
) -> None:
    assert installed.holds(wanted, found) is holds


@pytest.mark.parametrize(
    ("found", "verdict", "says"),
    [
        ({"spec": {"a": 1, "b": 2}}, Verdict.OK, "matches this version of fleetgate"),
        ({"spec": {"a": 2}}, Verdict.WARNING, "differs from the one that ships"),
        (
            {
                "spec": {"a": 1},
                "status": {
                    "typeChecking": {
                        "expressionWarnings": [{"fieldRef": "spec.x", "warning": "no such field"}]
                    }
                },
            },
            Verdict.WARNING,
            "the hub warns about spec.x: no such field",
        ),
    ],
)
def test_an_edited_policy_is_reported(found: Json, verdict: Verdict, says: str) -> None:
    finding = installed.judge_policy("policy", {"spec": {"a": 1}}, found, [])
    assert finding.verdict is verdict
    assert finding.says.startswith(says)


SHIPPED = [
    {
        "kind": "ClusterRole",
        "metadata": {"name": "runs"},
        "rules": [
            {"apiGroups": ["a"], "resources": ["x", "x/status"], "verbs": ["get", "patch"]},
            {"apiGroups": [""], "resources": ["pods"], "resourceNames": ["p"], "verbs": ["get"]},
            {"apiGroups": ["*"], "resources": ["*"], "verbs": ["list"]},
        ],
    },
    {
        "kind": "RoleBinding",
        "metadata": {"name": "runs", "namespace": "fleetgate"},
        "roleRef": {"kind": "ClusterRole", "name": "runs"},
        "subjects": [{"kind": "ServiceAccount", "name": "engine", "namespace": "fleetgate"}],
    },
    {
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "another"},
        "roleRef": {"kind": "ClusterRole", "name": "of-the-hub"},
        "subjects": [{"kind": "ServiceAccount", "name": "engine", "namespace": "fleetgate"}],
    },
]


@pytest.mark.parametrize("home", ["fleetgate", "rollouts"])
def test_each_right_that_a_file_grants_is_checked(home: str) -> None:
    rights = tuple(
        Right(verb, "a", resource, home) for resource in ("x", "x/status") for verb in _VERBS
    )
    named = Right("get", "", "pods", home, "p")
    expected = {Account(home, "engine"): [Grant("runs", (*rights, named))]}
    assert shipped(SHIPPED, home=home) == expected


_VERBS = ("get", "patch")


@pytest.mark.parametrize(
    ("right", "text", "attributes"),
    [
        (
            Right("patch", "a.io", "runs/status"),
            "patch runs/status.a.io",
            {"verb": "patch", "group": "a.io", "resource": "runs", "subresource": "status"},
        ),
        (
            Right("get", "", "pods", "web", "one"),
            "get pods one in namespace web",
            {"verb": "get", "resource": "pods", "namespace": "web", "name": "one"},
        ),
    ],
)
def test_a_right_is_shown_and_reviewed_in_the_same_way(
    right: Right, text: str, attributes: Json
) -> None:
    assert (str(right), right.attributes) == (text, attributes)


@pytest.mark.parametrize(
    ("kubeconfig", "context", "typed"),
    [
        (None, None, "fleetgate crds --apply"),
        (Path("my hub"), None, "fleetgate crds --apply --kubeconfig 'my hub'"),
        (Path("hub"), "prod", "fleetgate crds --apply --kubeconfig hub --context prod"),
    ],
)
def test_a_suggested_command_goes_to_the_checked_hub(
    kubeconfig: Path | None, context: str | None, typed: str
) -> None:
    target = Target(kubeconfig, context, "", Output.TABLE)
    setup = Setup(None, target)  # type: ignore[arg-type]  # no request is made
    assert setup.command("fleetgate crds --apply") == typed


async def _nothing(_: Setup) -> list[Finding]:
    return []


def reports(*findings: Finding) -> list[Report]:
    return [Report(Check("hub", "a check", _nothing), findings)]


WELL = ok("CRDs", "all there")
WORTH_A_WORD = warning("namespace", "keeps little", advice="keep more", commands=["temporal x"])
BROKEN = problem("workers", "none are polling", advice="start one", commands=["fleetgate worker"])
NOT_SEEN = unknown("members", "Temporal cannot be reached")


def shown(*findings: Finding, wide: bool = False) -> list[str]:
    page = io.StringIO()
    showing.show(Console(file=page, width=60), reports(*findings), wide=wide)
    return page.getvalue().splitlines()


def test_advice_for_problems_comes_before_that_for_warnings() -> None:
    assert shown(WELL, WORTH_A_WORD, BROKEN, NOT_SEEN) == [
        "AREA           FOUND",
        "hub   ok       CRDs: all there",
        "      warning  namespace: keeps little",
        "      problem  workers: none are polling",
        "      unknown  members: Temporal cannot be reached",
        "",
        "problem workers",
        "  Start one.",
        "    fleetgate worker",
        "",
        "warning namespace",
        "  Keep more.",
        "    temporal x",
        "",
        "1 problem, 1 warning, 1 unknown, 1 ok",
    ]


@pytest.mark.parametrize(
    ("findings", "verdict"),
    [
        ([WELL], "ok"),
        ([WELL, NOT_SEEN], "unknown"),
        ([WELL, NOT_SEEN, WORTH_A_WORD], "warning"),
        ([BROKEN, WELL, NOT_SEEN, WORTH_A_WORD], "problem"),
        ([], "ok"),
    ],
)
def test_the_worst_finding_is_the_verdict(findings: list[Finding], verdict: str) -> None:
    found = reports(*findings)
    assert showing.document(found)["verdict"] == verdict == str(checks.worst(found))
