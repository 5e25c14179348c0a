"""Names of a run and of its objects (contract: update-runs, conventions)."""

import pytest

from api.kinds import CLUSTER_SCOPE, NAMESPACED_SCOPE, Scope
from planning.identity import RunRef
from tests.planning.run_samples import CLUSTER_RUN, NAMESPACED_RUN


@pytest.mark.parametrize(
    ("run", "workflow", "key", "reference", "scope"),
    [
        (CLUSTER_RUN, "csur/v2/u-1", "/web", "web", CLUSTER_SCOPE),
        (NAMESPACED_RUN, "sur/team/v2/u-2", "team/web", "team/web", NAMESPACED_SCOPE),
    ],
    ids=["csur", "sur"],
)
def test_names_follow_the_scope(
    run: RunRef, workflow: str, key: str, reference: str, scope: Scope
) -> None:
    assert run.workflow_id == workflow
    assert run.key("web") == key
    assert run.reference("web") == reference
    assert run.scope is scope


def test_a_run_recreated_with_the_same_name_has_another_workflow() -> None:
    again = CLUSTER_RUN.model_copy(update={"uid": "u-9"})
    assert again.workflow_id == "csur/v2/u-9"


def test_runs_with_the_same_name_in_both_scopes_have_different_workflows() -> None:
    assert NAMESPACED_RUN.workflow_id != CLUSTER_RUN.workflow_id


def test_a_reference_survives_workflow_history() -> None:
    read = RunRef.model_validate_json(NAMESPACED_RUN.model_dump_json())
    assert read == NAMESPACED_RUN
