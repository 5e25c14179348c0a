"""Runs on a fleet that changes: clusters join, leave and are picked differently.

Each test uses one scope: `tests/placement` tests what placement does in both.
"""

import json

import pytest

from api.kinds import CLUSTER_SCOPE, NAMESPACED_SCOPE
from tests.e2e.fleet import Fleet
from tests.e2e.team import Team

pytestmark = pytest.mark.long("placement and agents are tested on such changes one by one")
ALL = {"placementType": "PickAll"}
cluster_scoped = pytest.mark.parametrize("team", [CLUSTER_SCOPE], indirect=True, ids=["cluster"])
namespaced = pytest.mark.parametrize("team", [NAMESPACED_SCOPE], indirect=True, ids=["namespaced"])


@pytest.fixture
def team(fleet: Fleet, request: pytest.FixtureRequest) -> Team:
    """A team with content and a strategy of one stage."""
    made = Team(fleet, request.param)
    made.prepare()
    return made


def fixed(*clusters: str) -> dict[str, object]:
    return {"placementType": "PickFixed", "clusterNames": list(clusters)}


def number(clusters: int) -> dict[str, object]:
    return {"placementType": "PickN", "numberOfClusters": clusters}


@cluster_scoped
def test_a_member_that_leaves_keeps_its_content_and_is_updated_once_it_rejoins(team: Team) -> None:
    team.place(ALL)
    team.wait_until_on("member1", "member2", "member3")
    team.roll_out("first")
    team.has(member1="value1", member2="value1", member3="value1")

    member = json.loads(team.fleet.kubectl("get membercluster member2 -o json"))
    team.fleet.kubectl("delete membercluster member2 --timeout=60s")
    team.wait_until_on("member1", "member3")
    team.content("value2")
    team.roll_out("without")
    team.has(member1="value2", member2="value1", member3="value2")

    kept = {key: member["metadata"][key] for key in ("name", "labels")}
    again = {key: member[key] for key in ("apiVersion", "kind", "spec")} | {"metadata": kept}
    team.fleet.kubectl("apply -f -", stdin=json.dumps(again))
    team.wait_until_on("member1", "member2", "member3")
    team.roll_out("again")
    team.has(member1="value2", member2="value2", member3="value2")


@namespaced
def test_a_fixed_list_of_clusters_is_extended_and_reduced(team: Team) -> None:
    team.place(fixed("member1"))
    team.wait_until_on("member1")
    team.roll_out("one")
    team.has(member1="value1")

    team.place(fixed("member1", "member3"))
    team.wait_until_on("member1", "member3")
    team.has(member1="value1")
    team.roll_out("two")
    team.has(member1="value1", member3="value1")

    team.place(fixed("member3"))
    team.wait_until_on("member3")
    team.has(member1="value1", member3="value1")
    team.roll_out("other")
    team.has(member3="value1")


@cluster_scoped
def test_a_number_of_clusters_grows_and_shrinks(team: Team) -> None:
    team.place(number(1))
    team.wait_until_on("member3")
    team.roll_out("one")
    team.has(member3="value1")

    team.place(number(3))
    team.wait_until_on("member1", "member2", "member3")
    team.roll_out("three")
    team.has(member1="value1", member2="value1", member3="value1")

    team.place(number(2))
    team.wait_until_on("member2", "member3")
    team.roll_out("two")
    team.has(member2="value1", member3="value1")


@namespaced
def test_a_rolling_update_is_handed_over_to_runs(team: Team) -> None:
    team.place(ALL, strategy="RollingUpdate")
    team.has(member1="value1", member2="value1", member3="value1")
    team.content("value2")
    team.has(member1="value2", member2="value2", member3="value2")

    team.place(ALL)
    team.content("value3")
    team.wait_for_snapshot("2")
    team.has(member1="value2", member2="value2", member3="value2")
    team.roll_out("by-hand")
    team.has(member1="value3", member2="value3", member3="value3")


@cluster_scoped
def test_a_run_that_only_reports_differences_touches_nothing(team: Team) -> None:
    team.place(ALL, type="ReportDiff")
    team.wait_until_on("member1", "member2", "member3")
    team.roll_out("report")
    team.has()
    paths = team.read("{.status.placementStatuses[*].diffedPlacements[*].observedDiffs[*].path}")
    assert paths.split() == ["/"] * 6, "the namespace and the ConfigMap, on three members"
