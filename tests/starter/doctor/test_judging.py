"""How doctor judges what it reads: cases without a server."""

from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from api.base import format_time
from api.crds import definition
from api.kinds import CLUSTER_SCOPE, Scope
from api.members import MemberCluster
from api.placements import Placement
from api.reasons import Ineligible, heartbeat_missing
from api.runs import ClusterStagedUpdateRun, UpdateRun
from hub import Forbidden
from starter.doctor import (
    installed,
    leases,
    members,
    placements,
    runs,
    server,
    temporal_server,
    workers,
)
from starter.doctor.checks import unmade
from starter.doctor.findings import Finding, Verdict
from starter.doctor.temporal_server import explained
from starter.doctor.workers import Polled
from tests.support import conditions

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
OK, WARNING, PROBLEM, UNKNOWN = Verdict.OK, Verdict.WARNING, Verdict.PROBLEM, Verdict.UNKNOWN
Json = dict[str, Any]


def plain(command: str) -> str:
    return command


def ago(**length: float) -> str:
    return format_time(NOW - timedelta(**length))


@pytest.mark.parametrize(
    ("version", "verdict", "says"),
    [
        ("v1.34.4", OK, "v1.34.4; served"),
        ("v1.30.0-eks-1", OK, "v1.30.0-eks-1; served"),
        ("v1.35.1", OK, "v1.35.1, newer than 1.34, which fleetgate is tested with; served"),
        ("v1.29.9", PROBLEM, "v1.29.9 is older than 1.30, the oldest that fleetgate supports"),
    ],
)
def test_an_api_server_that_is_too_old_is_a_problem(
    version: str, verdict: Verdict, says: str
) -> None:
    found = server.judged("hub", version, "served")
    assert (found.verdict, found.says) == (verdict, says)


@pytest.mark.parametrize(
    ("answered", "verdict", "says"),
    [
        (0, OK, "agree"),
        (-6, OK, "agree"),  # up to one second may have been truncated
        (6, OK, "agree"),  # the answer took a second
        (-8, WARNING, "the hub is 7s behind this machine"),
        (121, WARNING, "the hub is 2m ahead of this machine"),
    ],
)
def test_a_wrong_clock_is_reported_with_the_difference(
    answered: int, verdict: Verdict, says: str
) -> None:
    found = server.agreement(
        NOW + timedelta(seconds=answered), before=NOW, after=NOW + timedelta(seconds=1)
    )
    assert (found.verdict, found.says) == (verdict, says)


def edited(change: str) -> Json:
    """Return the CRD of runs as some hub might have it."""
    found: Json = deepcopy(definition(ClusterStagedUpdateRun))
    version = found["spec"]["versions"][-1]
    schema = version["schema"]["openAPIV3Schema"]["properties"]
    match change:
        case "refused":
            refused = {"type": "NamesAccepted", "status": "False", "message": "csur is taken"}
            found["status"] = {"conditions": [refused]}
        case "older":
            del schema["spec"]["properties"]["state"]
        case "newer":
            schema["spec"]["properties"]["budget"] = {"type": "integer"}
        case "stricter":
            schema["spec"]["properties"]["placementName"]["maxLength"] = 3
        case "described":
            schema["spec"]["description"] = "in other words"
        case "unserved":
            version["served"] = False
        case "renamed":
            version["name"] = "v2"
    return found


@pytest.mark.parametrize(
    ("change", "verdict", "says"),
    [
        ("refused", PROBLEM, "not served: csur is taken"),
        ("older", PROBLEM, "older, or edited: lacks spec.state"),
        ("newer", WARNING, "newer, or edited: also has spec.budget"),
        (
            "stricter",
            WARNING,
            "edited, or from another version: differs in spec.placementName",
        ),
        ("unserved", WARNING, "edited, or from another version: differs in v1beta1 served"),
        ("renamed", PROBLEM, "older, or edited: lacks version v1beta1"),
    ],
)
def test_a_crd_that_differs_is_reported(change: str, verdict: Verdict, says: str) -> None:
    found = installed.judge_definition(definition(ClusterStagedUpdateRun), edited(change), plain)
    assert found is not None
    assert (found.verdict, found.says) == (verdict, says)


def test_one_missing_crd_is_named() -> None:
    (found,) = installed.judge_missing([definition(ClusterStagedUpdateRun)], plain)
    assert found.verdict is PROBLEM
    assert found.about == "CRD clusterstagedupdateruns.placement.kubernetes-fleet.io"
    assert found.says == "not installed"


@pytest.mark.parametrize("change", ["none", "described"])
def test_different_descriptions_in_a_crd_are_ignored(change: str) -> None:
    assert (
        installed.judge_definition(definition(ClusterStagedUpdateRun), edited(change), plain)
        is None
    )


def member(**changes: Any) -> MemberCluster:
    """Return a member that was heard from ten seconds ago, with changes."""
    heard, written = changes.get("heard", 10), changes.get("written", changes.get("heard", 10))
    agent: Json = {
        "type": "MemberAgent",
        "conditions": [condition("Joined"), condition("Healthy", changes.get("healthy", "True"))],
        "lastReceivedHeartbeat": ago(seconds=heard),
    }
    books = {
        "manager": "fleetgate-agent",
        "time": ago(seconds=written),
        "fieldsV1": {"f:status": {"f:agentStatus": {}}},
    }
    status = {
        "agentStatus": [agent] if changes.get("online", True) else [],
        "conditions": [condition("Joined"), condition("Healthy", changes.get("healthy", "True"))],
    }
    return MemberCluster.from_wire(
        {
            "metadata": {"name": "west", "managedFields": [books], **changes.get("metadata", {})},
            "spec": {"identity": {"kind": "User", "name": "west"}, "heartbeatPeriodSeconds": 60},
            "status": status,
        }
    )


def condition(kind: str, status: str = "True", generation: int | None = None) -> Json:
    return conditions.condition(
        kind, status, generation, reason="Because", message="because", at=ago(minutes=1)
    )


@pytest.mark.parametrize(
    ("found", "verdict", "says"),
    [
        (member(), OK, "1 member: joined, healthy, heard from within the last 10s"),
        (member(heard=180), OK, "1 member: joined, healthy, heard from within the last 3m"),
        (member(heard=190), WARNING, "not heard from for 3m10s"),
        (
            member(heard=360),
            PROBLEM,
            f"nothing can be placed on it: {heartbeat_missing(6)}",
        ),
        (
            member(online=False),
            PROBLEM,
            f"nothing can be placed on it: {Ineligible.NEVER_ONLINE}",
        ),
        (member(healthy="False"), WARNING, "Healthy is False: because"),
        (member(heard=0, written=60), WARNING, "its clock is 60s ahead of the hub's"),
        (
            member(heard=-600, written=0),
            PROBLEM,
            "its clock is 10m ahead of the hub's; heartbeats do not show if it is alive",
        ),
        (member(heard=100, written=0), WARNING, "its clock is 100s behind the hub's"),
        (
            member(heard=60, written=0),
            OK,
            "1 member: joined, healthy, heard from within the last 60s",
        ),
        (
            member(metadata={"deletionTimestamp": ago(hours=3)}),
            WARNING,
            "has been leaving for 3h",
        ),
    ],
)
def test_a_member_must_be_alive_and_have_the_right_time(
    found: MemberCluster, verdict: Verdict, says: str
) -> None:
    (finding,) = members.judge([found], now=NOW, command=plain)
    assert (finding.verdict, finding.says) == (verdict, says)


def test_healthy_members_share_a_line() -> None:
    well, silent = member(), member(heard=200)
    silent.metadata.name = "east"
    found = members.judge([well, silent], now=NOW, command=plain)
    assert [(each.verdict, each.about) for each in found] == [
        (OK, "members"),
        (WARNING, "member east"),
    ]


def test_a_fleet_without_members_is_a_warning() -> None:
    (found,) = members.judge([], now=NOW, command=plain)
    assert found.verdict is WARNING


def lease(*, holder: str = "pod-1", renewed: float = 2, home: str = "default") -> Json:
    spec = {"holderIdentity": holder, "renewTime": ago(seconds=renewed), "leaseDurationSeconds": 15}
    return {"metadata": {"name": "fleetgate-bridge", "namespace": home}, "spec": spec}


@pytest.mark.parametrize(
    ("found", "verdict", "says"),
    [
        ([lease()], OK, "pod-1, renewed its Lease 2s ago"),
        ([lease(), lease(renewed=90, home="old")], OK, "pod-1, renewed its Lease 2s ago"),
        (
            [lease(renewed=30)],
            PROBLEM,
            "none: pod-1 was the last and renewed its Lease 30s ago",
        ),
        ([lease(holder="")], PROBLEM, "none: the last one stepped down"),
        (
            [lease(), lease(home="b")],
            WARNING,
            "there are several at the same time, in namespaces default, b",
        ),
        ([], UNKNOWN, "the hub has no Lease fleetgate-bridge: there has never been a leader"),
    ],
)  # fmt: skip
def test_a_role_must_have_one_leader(found: list[Json], verdict: Verdict, says: str) -> None:
    (finding,) = leases.judge("bridge", found, now=NOW, command=plain)
    assert (finding.verdict, finding.says) == (verdict, says)


def test_agents_need_no_leader_if_no_worker_runs_them() -> None:
    assert list(leases.judge("agents", [], now=NOW, command=plain)) == []


def polled(**changes: Any) -> Polled:
    usual: Json = {"alive": 2, "last": timedelta(seconds=1), "waiting": timedelta(0)}
    return Polled(what="workflows", queue="fleetgate", **(usual | changes))


@pytest.mark.parametrize(
    ("found", "verdict", "says"),
    [
        (polled(), OK, "2 workers polled a moment ago"),
        (polled(alive=0, last=None), PROBLEM, "none are polling"),
        (
            polled(alive=0, last=timedelta(minutes=3)),
            PROBLEM,
            "none are polling; the last poll was 3m ago",
        ),
        (polled(waiting=timedelta(minutes=2)), WARNING, "tasks have been waiting for 2m"),
        (
            polled(builds=frozenset({"b2"}), deployment="fleetgate", current="b2"),
            OK,
            "2 workers polled a moment ago, current version b2",
        ),
        (
            polled(builds=frozenset({"b2"}), deployment="fleetgate"),
            PROBLEM,
            "new tasks go to workers without a version, but the polling workers have b2",
        ),
        (
            polled(builds=frozenset({"b2"}), deployment="fleetgate", current="b1"),
            PROBLEM,
            "new tasks go to b1, but the polling workers have b2",
        ),
        (
            polled(current="b1"),
            PROBLEM,
            "new tasks go to version b1, but the polling workers have no version",
        ),
    ],
)
def test_workers_must_poll_and_keep_up_with_the_tasks(
    found: Polled, verdict: Verdict, says: str
) -> None:
    (finding,) = workers.judge_queue(found, plain)
    assert (finding.verdict, finding.says) == (verdict, says)


def test_a_version_that_is_not_current_comes_with_the_command_that_makes_it_so() -> None:
    found = polled(builds=frozenset({"b2"}), deployment="fleetgate")
    (finding,) = workers.judge_queue(found, plain)
    assert finding.commands == (
        "temporal worker deployment set-current-version --deployment-name fleetgate --build-id b2",
    )


@pytest.mark.parametrize(
    ("kept", "verdict"), [(timedelta(days=1), WARNING), (timedelta(days=7), OK)]
)
def test_a_retention_of_less_than_a_week_is_a_warning(kept: timedelta, verdict: Verdict) -> None:
    assert temporal_server.retention("namespace", kept).verdict is verdict


def placed(scope: Scope, *, seen: int = 1, changed: float = 60) -> Placement:
    """Return a placement of the second generation."""
    scheduled = condition(f"{scope.placement.kind}Scheduled", "True", seen)
    books = {"manager": "kubectl", "time": ago(seconds=changed), "fieldsV1": {"f:spec": {}}}
    return Placement.from_wire(
        {
            "apiVersion": scope.placement.api_version,
            "kind": scope.placement.kind,
            "metadata": {
                "name": "shop",
                "namespace": "web" if scope.placement.namespaced else "",
                "generation": 2,
                "creationTimestamp": ago(hours=1),
                "managedFields": [books],
            },
            "spec": {"resourceSelectors": [{"group": "", "version": "v1", "kind": "Namespace"}]},
            "status": {"conditions": [scheduled] if seen else []},
        }
    )


@pytest.mark.parametrize(
    ("seen", "changed", "verdict"),
    [(2, 60, OK), (1, 60, PROBLEM), (0, 60, PROBLEM), (1, 20, OK)],
)
def test_a_placement_that_is_not_processed_in_time_is_a_problem(
    scope: Scope, seen: int, changed: float, verdict: Verdict
) -> None:
    found = placements.judge(
        [placed(scope, seen=seen, changed=changed)], scope=scope, now=NOW, command=plain
    )
    assert found.verdict is verdict
    name = "web/shop" if scope.placement.namespaced else "shop"
    assert (name in found.says) is (verdict is PROBLEM)


def run(scope: Scope, *, created: timedelta, **status: Any) -> UpdateRun:
    return UpdateRun.from_wire(
        {
            "apiVersion": scope.run.api_version,
            "kind": scope.run.kind,
            "metadata": {
                "name": "release",
                "namespace": "web" if scope.run.namespaced else "",
                "generation": 1,
                "creationTimestamp": format_time(NOW - created),
            },
            "spec": {
                "placementName": "shop",
                "stagedRolloutStrategyName": "all",
                "state": "Initialize" if status else "Run",
            },
            "status": status,
        }
    )


def planned(since: timedelta) -> Json:
    """Return the status of a run that a person has to start."""
    return {"conditions": [conditions.condition("Initialized", at=NOW - since)]}


@pytest.mark.parametrize(
    ("created", "status", "verdict"),
    [
        (timedelta(seconds=2), {}, OK),
        (timedelta(minutes=2), {}, PROBLEM),
        (timedelta(days=1), planned(timedelta(days=1)), OK),
        (timedelta(days=9), planned(timedelta(days=8)), WARNING),
        (timedelta(days=9), planned(timedelta(days=1)), OK),
    ],
)
def test_stalled_and_forgotten_runs_are_reported(
    scope: Scope, created: timedelta, status: Json, verdict: Verdict
) -> None:
    found = runs.judge([run(scope, created=created, **status)], scope=scope, now=NOW, command=plain)
    assert [each.verdict for each in found] == [verdict]


def test_healthy_runs_show_how_far_behind_the_workers_are() -> None:
    late = run(CLUSTER_SCOPE, created=timedelta(seconds=4))
    (found,) = runs.judge([late], scope=CLUSTER_SCOPE, now=NOW, command=plain)
    assert found.says == "1 active, workers are 4s behind"


def sample(name: str, value: float, **labels: str) -> tuple[str, dict[str, str], float]:
    return name, labels, value


@pytest.mark.parametrize(
    ("samples", "verdict", "says"),
    [
        (
            [
                sample("fleetgate_ready", 1),
                sample("fleetgate_hub_watch_silence_seconds", 20, resource="works"),
            ],
            OK,
            "ready; watches 1 kind, the quietest silent for 20s",
        ),
        (
            [
                sample("fleetgate_ready", 1),
                sample("fleetgate_hub_watch_silence_seconds", 90, resource="works"),
            ],
            WARNING,
            "its watches have been silent: works for 90s",
        ),
        ([sample("fleetgate_ready", 0)], PROBLEM, "is not ready"),
        ([], PROBLEM, "is not ready"),
    ],
)
def test_a_worker_must_be_ready_and_its_watches_alive(
    samples: list[tuple[str, dict[str, str], float]], verdict: Verdict, says: str
) -> None:
    (found,) = workers.judge_metrics("worker", samples)
    assert (found.verdict, found.says) == (verdict, says)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Connection refused (os error 111)", "connection refused"),
        (
            "received fatal alert: CertificateRequired",
            "it requires a client certificate",
        ),
        ("error trying to connect: dns error", "its host name cannot be resolved"),
        ("something unknown", "something unknown"),
    ],
)  # fmt: skip
def test_reasons_why_temporal_is_unreachable_are_distinguished(text: str, says: str) -> None:
    assert explained(text, "temporal:7233").says == says


def test_a_missing_right_is_named() -> None:
    refusal = Forbidden(
        'works.placement.kubernetes-fleet.io is forbidden: User "jane" cannot list resource '
        '"works" in API group "placement.kubernetes-fleet.io" in the namespace "web"'
    )
    found = unmade("members", refusal)
    expected = "you lack the right to list works.placement.kubernetes-fleet.io in namespace web"
    assert (found.verdict, found.says) == (UNKNOWN, expected)


def test_every_finding_that_is_not_ok_says_what_to_do() -> None:
    found: list[Finding] = [
        *members.judge([], now=NOW, command=plain),
        *leases.judge("bridge", [], now=NOW, command=plain),
        *workers.judge_queue(polled(alive=0, last=None), plain),
    ]
    assert len(found) == 3
    assert all(each.advice for each in found if each.verdict is not OK)
    assert OK not in {each.verdict for each in found}
