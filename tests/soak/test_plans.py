"""The same seed gives the same runs and the same faults."""

from itertools import islice, pairwise

from tests.soak.orders import End, orders
from tests.soak.strikes import NETWORK, Blow, strikes, weather

TARGETS = ["engine-1", "temporal"]


def test_the_same_seed_gives_the_same_plan_and_another_seed_another_plan() -> None:
    def plan(seed: int) -> list[object]:
        return [
            *islice(orders(seed, "lane1"), 20),
            *islice(strikes(seed, TARGETS), 20),
            *islice(weather(seed, TARGETS), 20),
        ]

    assert plan(1) == plan(1)
    assert plan(1) != plan(2)


def test_every_kind_of_run_and_fault_occurs() -> None:
    asked = list(islice(orders(1, "lane1"), 200))
    assert {each.end for each in asked} == set(End)
    assert any(each.stop_after is not None for each in asked)
    stages = [stage for each in asked for stage in each.stages]
    assert all(any(getattr(each, gate) for each in stages) for gate in ("before", "after", "wait"))
    struck = list(islice(strikes(1, TARGETS), 200))
    assert {(each.blow, each.target) for each in struck} == {
        (blow, target) for blow in Blow for target in TARGETS
    }
    assert {each.name for each in islice(weather(1, TARGETS), 200)} == set(NETWORK)


def test_a_run_that_overtakes_another_succeeds() -> None:
    asked = list(islice(orders(1, "lane1"), 200))
    overtaken = [pair for pair in pairwise(asked) if pair[0].end is End.OVERTAKEN]
    assert overtaken
    for one, following in overtaken:
        assert following.end is End.SUCCESS
        assert "bad" in one.image
        assert "bad" not in following.image
