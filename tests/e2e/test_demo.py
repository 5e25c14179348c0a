"""`fleetgate demo`, the first command that a new user runs."""

from tests.e2e import steps
from tests.e2e.fleet import Fleet


def test_the_demo_verifies_every_step_and_leaves_the_fleet_up(fleet: Fleet) -> None:
    told = fleet.fleetgate("demo")
    assert "8. Roll back" in told
    assert "/namespaces/default/workflows/csur%2Fexample-run-v3%2F" in told
    assert max(len(line) for line in told.splitlines() if line.startswith("   ✓")) <= 100
    assert fleet.values() == steps.everywhere("value1")
