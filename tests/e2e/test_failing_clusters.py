"""Members that cannot be updated, and a person who decides about them with kubectl alone."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.kinds import CLUSTER_SCOPE, NAMESPACED_SCOPE, Scope
from tests.e2e.fleet import Fleet, rows
from tests.e2e.team import NAME, NAMESPACE, PATIENCE, Team

RUN = "v2"
ROLES = Path(__file__).parents[2] / "deploy" / "rbac" / "people.yaml"
JANE = "--as jane --as-group system:authenticated"
BROKEN = ("member1", "member2")


class OnCall:
    """Jane, who is on call: all that she may do is what the shipped role allows."""

    def __init__(self, team: Team) -> None:
        self._fleet, self._team = team.fleet, team
        bound = f"--clusterrole=fleetgate-on-call --user=jane {team.here}"
        kind = "rolebinding" if team.here else "clusterrolebinding"
        self._binding = f"{kind} on-call {team.here}"
        self._fleet.kubectl(f"create {kind} on-call {bound}")

    def leave(self) -> None:
        """Take the role away again."""
        self._fleet.kubectl(f"delete {self._binding} --ignore-not-found")

    def kubectl(self, command: str, *, stdin: str = "", fails: bool = False) -> str:
        """Run `kubectl …` as Jane, in the team's scope."""
        typed = f"{command} {self._team.here} {JANE}"
        return self._fleet.kubectl(typed, stdin=stdin, fails=fails)

    def decide(self, name: str, **spec: Any) -> dict[str, str]:
        """Apply a decision; return its row once it is answered."""
        kind = self._team.scope.decision
        body = {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "metadata": {"name": name},
            "spec": {"run": RUN, "reason": "INC-7", **spec},
        }
        self.kubectl("apply -f -", stdin=json.dumps(body))
        answered = f"--for=jsonpath='{{.status.state}}' {PATIENCE}"
        self.kubectl(f"wait {kind.plural} {name} {answered}")
        (row,) = rows(self.kubectl(f"get {kind.plural} {name} -o wide"))
        return row


@pytest.fixture
def team(fleet: Fleet, request: pytest.FixtureRequest) -> Team:
    """A team whose first version is on all members, two of which then refuse the second."""
    scope: Scope = request.param
    made = Team(fleet, scope)
    made.prepare()
    made.place({"placementType": "PickAll"})
    stage = {"name": "all", "labelSelector": {}, "maxConcurrency": 2}
    made.apply(scope.strategy, NAME, {"stages": [stage]})
    made.roll_out("v1")
    frozen = """--type=merge -p '{"immutable": true}'"""
    for member in BROKEN:
        fleet.kubectl(f"patch configmap test-cm -n {NAMESPACE} {frozen}", on=member)
    target = {"kind": scope.strategy.kind, "name": NAME}
    made.apply(
        scope.policy,
        "guard",
        {"targetRefs": [target], "clusters": {"timeout": "5s"}, "failures": {"most": 1}},
    )
    made.content("value2")
    made.wait_for_snapshot("1")
    return made


@pytest.fixture
def jane(team: Team) -> Iterator[OnCall]:
    team.fleet.kubectl(f"apply -f {ROLES}")
    person = OnCall(team)
    yield person
    person.leave()


@pytest.mark.parametrize(
    "team", [CLUSTER_SCOPE, NAMESPACED_SCOPE], indirect=True, ids=["cluster", "namespaced"]
)
def test_kubectl_alone_is_enough_to_see_and_decide(team: Team, jane: OnCall) -> None:
    fleet, scope = team.fleet, team.scope
    run, report = scope.run.plural, scope.report.plural
    spec = {"placementName": NAME, "stagedRolloutStrategyName": NAME, "state": "Run"}
    team.apply(scope.run, RUN, spec)
    path = '{.status.conditions[?(@.type=="Progressing")].reason}'
    jane.kubectl(f"wait {run} {RUN} --for=jsonpath='{path}'=UpdateRunPaused {PATIENCE}")
    assert fleet.values() == {"member1": "value1", "member2": "value1", "member3": "value1"}

    described = " ".join(jane.kubectl(f"describe {run} {RUN}").split())
    assert "2 of the 3 clusters of stage all failed and rollout policy guard allows 1" in described
    assert "Cluster member1 of stage all has failed: The cluster was not updated" in described
    (row,) = rows(jane.kubectl(f"get {report} {RUN}"))
    assert (row["RUN"], row["FAILED"], row["SKIPPED"]) == (RUN, "2", "0")
    assert row["WAITING-FOR"] == "someone to skip or retry clusters, or to continue it"
    described = " ".join(jane.kubectl(f"describe {report} {RUN}").split())
    listed = "Name: member1 Outcome: Failed Previous Index: 0 Reason: ClusterUpdatingTimedOut"
    assert listed in described

    row = jane.decide("skip-1", decision="SkipCluster", cluster="member1")
    assert (row["DECISION"], row["CLUSTER"], row["BY"]) == ("SkipCluster", "member1", "jane")
    assert (row["STATE"], row["MESSAGE"]) == (
        "Counted",
        f"run {RUN} continues without cluster member1",
    )
    assert jane.decide("skip-2", decision="SkipCluster", cluster="member2")["STATE"] == "Counted"
    # The fix: the agent then applies the new version, but the run does not look any more.
    fleet.kubectl(f"delete configmap test-cm -n {NAMESPACE}", on="member2")
    row = jane.decide("retry-2", decision="RetryCluster", cluster="member2")
    assert row["STATE"] == "Counted"
    team_has = {"member1": "value1", "member2": "value2", "member3": "value1"}
    fleet.until(lambda: fleet.values() == team_has, f"members have {team_has}")
    assert jane.decide("go-on", decision="Continue")["STATE"] == "Counted"

    jane.kubectl(f"wait {run} {RUN} --for=condition=Succeeded {PATIENCE}")
    assert fleet.values() == {"member1": "value1", "member2": "value2", "member3": "value2"}
    text = "{.status.conditions[?(@.type=='Succeeded')].message}"
    assert jane.kubectl(f'get {run} {RUN} -o jsonpath="{text}"') == (
        f"All stages are completed; 1 cluster was skipped, see {scope.report.kind} {RUN}"
    )
    (row,) = rows(jane.kubectl(f"get {report} {RUN}"))
    assert (row["FAILED"], row["SKIPPED"], row["WAITING-FOR"]) == ("0", "1", "")


@pytest.mark.parametrize("team", [CLUSTER_SCOPE], indirect=True, ids=["cluster"])
def test_the_role_for_people_on_call_allows_decisions_only(team: Team, jane: OnCall) -> None:
    run, policy = team.scope.run.plural, team.scope.policy.plural
    for command in (
        f'patch {run} v1 --type=merge -p \'{{"spec":{{"state":"Stop"}}}}\'',
        f"delete {run} v1",
        f"delete {policy} guard",
        f"delete {team.scope.report.plural} v1",
    ):
        assert "forbidden" in jane.kubectl(command, fails=True).lower(), command
