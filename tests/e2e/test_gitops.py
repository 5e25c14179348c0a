"""Runs, strategies and placements that a GitOps controller repeatedly applies from Git.

One generator writes the schemas of both scopes, so each way of applying is tested with one scope.
"""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from api.kinds import CLUSTER_SCOPE, NAMESPACED_SCOPE, Kind, Scope
from tests.e2e.fleet import Fleet
from tests.e2e.team import NAME, NAMESPACE, PATIENCE, Team

Json = dict[str, Any]
RUN = "from-git"
SERVER_SIDE = "--server-side --field-manager=argocd-controller"
FORCED = f"{SERVER_SIDE} --force-conflicts"
"""How Flux, and Argo CD with ServerSideApply, apply everything."""
CLIENT_SIDE = ""
"""How Argo CD applies by default: a three-way merge with what was last applied."""
GATED = {"name": "all", "labelSelector": {}, "beforeStageTasks": [{"type": "Approval"}]}


@dataclass(frozen=True)
class Repository:
    """Objects in Git, and the controller that applies them."""

    team: Team

    def apply(self, *objects: Json, how: str, fails: bool = False) -> str:
        """Apply objects, as the controller does whenever it syncs."""
        return self.team.fleet.kubectl(f"apply -f - {how}", stdin=_listed(objects), fails=fails)

    def difference(self, *objects: Json, how: str) -> str:
        """Return what the controller would change now."""
        return self.team.fleet.kubectl(f"diff -f - {how}", stdin=_listed(objects))

    def run(self, **more: str) -> Json:
        """Return the run as it is in Git."""
        spec = {"placementName": NAME, "stagedRolloutStrategyName": NAME, **more}
        return an_object(self.team.scope.run, RUN, spec)

    def until(self, condition: str) -> None:
        """Wait for a condition of the run."""
        kind = self.team.scope.run.plural
        self.team.fleet.kubectl(
            f"wait {kind} {RUN} {self.team.here} --for=condition={condition} {PATIENCE}"
        )

    def steer(self, command: str, *, to: str) -> None:
        """Run `fleetgate run …` and wait until the object has the state."""
        self.team.fleet.fleetgate(f"run {command} {RUN} {self.team.here}")
        self.team.fleet.until(lambda: self.state() == to, f"the state is {to}")

    def state(self) -> str:
        """Return spec.state of the run on the hub."""
        run = self.team.find(self.team.scope.run, RUN)
        state: str = run["spec"]["state"]
        return state


def an_object(kind: Kind, name: str, spec: Json) -> Json:
    meta = {"name": name} | ({"namespace": NAMESPACE} if kind.namespaced else {})
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, "spec": spec}


def _listed(objects: tuple[Json, ...]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})


@pytest.fixture
def repository(fleet: Fleet, request: pytest.FixtureRequest) -> Repository:
    """A repository for a hub with the placement and a strategy with a gate."""
    scope: Scope = request.param
    team = Team(fleet, scope)
    team.prepare()
    team.place({"placementType": "PickAll"})
    team.apply(scope.strategy, NAME, {"stages": [GATED]})
    return Repository(team)


@pytest.mark.parametrize(
    ("repository", "how", "selector_has", "stage_has"),
    [
        pytest.param(NAMESPACED_SCOPE, FORCED, {}, {}, id="server-side"),
        # Lists are compared as a whole, so they must include what the API server would default.
        pytest.param(
            CLUSTER_SCOPE,
            CLIENT_SIDE,
            {"selectionScope": "NamespaceWithResources"},
            {"maxConcurrency": 1},
            id="client-side",
        ),
    ],
    indirect=["repository"],
)
def test_defaults_and_changes_of_state_are_no_difference(
    repository: Repository, how: str, selector_has: Json, stage_has: Json
) -> None:
    scope = repository.team.scope
    kind = "Namespace" if scope is CLUSTER_SCOPE else "ConfigMap"
    selector = {"group": "", "version": "v1", "kind": kind, "name": NAMESPACE} | selector_has
    placement = {"resourceSelectors": [selector], "strategy": {"type": "External"}}
    in_git = (
        an_object(scope.placement, "web", placement),
        an_object(scope.strategy, "web", {"stages": [GATED | stage_has]}),
        repository.run(),
    )
    repository.apply(*in_git, how=how)
    repository.until("Initialized")
    repository.steer("start", to="Run")
    repository.steer("stop", to="Stop")

    assert repository.difference(*in_git, how=how) == ""
    assert "configured" not in repository.apply(*in_git, how=how)
    assert repository.state() == "Stop"


@pytest.mark.parametrize("repository", [NAMESPACED_SCOPE], indirect=True, ids=["namespaced"])
def test_a_state_in_git_conflicts_once_people_change_it(
    repository: Repository,
) -> None:
    run = repository.run(state="Run")
    repository.apply(run, how=SERVER_SIDE)
    repository.until("Progressing=False")
    repository.steer("stop", to="Stop")

    refused = repository.apply(run, how=SERVER_SIDE, fails=True)

    assert 'conflict with "fleetgate-cli"' in refused
    assert ".spec.state" in refused
    assert repository.state() == "Stop"
    repository.apply(run, how=FORCED)
    assert repository.state() == "Run", "forcing conflicts restarts the stopped run"
