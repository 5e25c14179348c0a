"""Wrong clocks of members and people do not matter: what they report counts, not its timestamp."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.robustness.rollouts import Rollout, Rollouts

HOUR = timedelta(hours=1)


@pytest.mark.usefixtures("one_engine")
@pytest.mark.parametrize("ahead", [HOUR, -HOUR])
async def test_clocks_of_members_and_people_do_not_matter(pair: Rollouts, ahead: timedelta) -> None:
    begun = datetime.now(UTC) - timedelta(seconds=1)
    for each in pair:
        each.placement.ahead = ahead
    await pair.each(Rollout.from_begin_to_end)
    await pair.each(lambda each: each.told_times_since(begun))


@pytest.mark.usefixtures("one_engine")
async def test_clocks_that_jump_between_stages_do_not_matter(pair: Rollouts) -> None:
    async def jump(rollout: Rollout) -> None:
        await rollout.begin(gate=True)
        rollout.placement.ahead = HOUR
        request = await rollout.at_gate()
        rollout.placement.ahead = -HOUR
        await rollout.approved(request)
        rollout.placement.ahead = HOUR
        await rollout.update("two")
        rollout.placement.ahead = -HOUR
        await rollout.succeeded()

    await pair.each(jump)
