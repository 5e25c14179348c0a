"""`fleetgate demo`, the first command that a new user runs."""

from tests.e2e import steps
from tests.e2e.fleet import Fleet


def test_the_demo_verifies_every_step_and_leaves_the_fleet_up(fleet: Fleet) -> None:
    told = fleet.fleetgate("demo")
    assert "8. Roll back" in told
    assert "/namespaces/default/workflows/csur%2Fexample-run-v3%2F" in told
    assert max(len(line) for line in told.splitlines() if line.startswith("   ✓")) <= 100
    assert "10. Continue without it" in told
    assert "11. Have a run rolled back" in told
    assert "run example-run-v5-rollback takes 2 clusters back to snapshot 3" in told
    assert "member3 and member2 went back, the last stage first" in told
    assert fleet.values() == steps.everywhere("value4")
