"""What a person sees who made a mistake: in kubectl and on the command line."""

import pytest

from tests.e2e import objects, steps
from tests.e2e.fleet import Fleet


@pytest.fixture
def published(fleet: Fleet) -> Fleet:
    """A fleet with content, placement and strategy."""
    steps.publish(fleet)
    fleet.kubectl("apply -f -", stdin=objects.GATED_STRATEGY)
    return fleet


def test_a_run_that_cannot_be_planned_says_why(published: Fleet) -> None:
    mistakes = {
        "no-placement": ("example-placement", "nosuch", "parent placement not found"),
        "no-strategy": (
            "example-strategy",
            "nosuch",
            "referenced updateStrategy not found: `/nosuch`",
        ),
        "no-index": (
            '"0"',
            '"7"',
            "no resourceSnapshots with index `7` found for placement `/example-placement`",
        ),
    }
    for name, (right, wrong, why) in mistakes.items():
        manifest = objects.run(name, index="0", state="Run").replace(right, wrong)
        published.kubectl("apply -f -", stdin=manifest)
        steps.wait_for_run(published, name, "Initialized=False")
        row = steps.run_row(published, name)
        assert (row["INITIALIZED"], row["PROGRESSING"], row["SUCCEEDED"]) == ("False", "", "")
        assert f"failed: {why}" in published.fleetgate(f"run show {name}")


def test_the_workflow_answers_what_it_cannot_do(published: Fleet) -> None:
    manifest = objects.run("example-run", index="0", state="Run")
    published.kubectl("apply -f -", stdin=manifest)
    steps.pending_approval(published, "example-run-before-all")
    refused = published.fleetgate("approve example-run staging", fails=True)
    assert refused.startswith("error: ")
    assert "staging" in refused
    assert "Traceback" not in refused
    assert published.values() == steps.NOWHERE
