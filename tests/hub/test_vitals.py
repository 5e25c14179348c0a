"""Statistics of a client, for metrics."""

import asyncio
from datetime import timedelta

import pytest

from api.kinds import CONFIG_MAP
from hub import Cache, Hub, NotFound, Unavailable
from hub.vitals import BOUNDS, UNANSWERED, Answers, Efforts, Watches
from tests.hub.support import QUICK, fill, mirrored
from tests.support.eventually import eventually
from tests.support.servers import PrivateApiServer


async def test_answers_are_timed_by_verb_and_class_of_code(quick_hub: Hub, unique: str) -> None:
    await fill(quick_hub, unique, ["a"])
    with pytest.raises(NotFound):
        await quick_hub.get(CONFIG_MAP, "none", namespace=unique)
    await quick_hub.get(CONFIG_MAP, "a", namespace=unique)

    durations = quick_hub.answers.durations
    for code in ("2xx", "4xx"):
        (counted, seconds) = durations["get", code].counts, durations["get", code].seconds
        assert sum(counted) == 1
        assert len(counted) == len(BOUNDS) + 1
        assert 0 < seconds < QUICK.request_timeout.total_seconds()


async def test_a_request_without_answer_is_timed_too(private_api_server: PrivateApiServer) -> None:
    async with await Hub.connect(private_api_server.kubeconfig, limits=QUICK) as hub:
        await private_api_server.kill()
        with pytest.raises(Unavailable):
            await hub.get(CONFIG_MAP, "any", namespace="default")
        assert sum(hub.answers.durations["get", UNANSWERED].counts) == 1


def test_a_cancelled_request_is_not_counted() -> None:
    answers = Answers()
    with pytest.raises(asyncio.CancelledError), answers.timed("get"):
        raise asyncio.CancelledError
    assert not answers.durations


async def test_a_watch_shows_signs_of_life_until_its_server_is_gone(
    private_api_server: PrivateApiServer,
) -> None:
    async with await Hub.connect(private_api_server.kubeconfig, limits=QUICK) as hub:
        async with mirrored(Cache(hub, CONFIG_MAP)):
            assert hub.watches.running() == {"configmaps": 1}
            assert hub.watches.restarts["configmaps"] == 0
            # Longer than the server keeps a watch open: its end is a sign of life, too.
            await eventually(lambda: hub.requests["watch", "configmaps"] > 1)
            await eventually(lambda: hub.watches.silence()["configmaps"] < 1)
            await private_api_server.kill()
            await eventually(lambda: hub.watches.restarts["configmaps"] > 1)
            await eventually(lambda: hub.watches.silence()["configmaps"] > 1)
        assert hub.watches.running() == {"configmaps": 0}
        assert hub.watches.silence() == {}


def test_the_most_silent_watch_of_a_kind_counts() -> None:
    watches = Watches()
    with watches.followed("works") as first, watches.followed("works") as second:
        first.heard_at -= 60
        second.beat()
        assert watches.silence()["works"] >= 60
        first.beat()
        assert watches.silence()["works"] < 60
        assert watches.running() == {"works": 2}
    assert watches.running() == {"works": 0}


async def test_work_hangs_until_one_of_its_own_or_its_tasks_requests_ends(
    quick_hub: Hub, unique: str
) -> None:
    efforts, at_once = Efforts(), timedelta(0)

    async def ask() -> None:
        await quick_hub.find(CONFIG_MAP, "none", namespace=unique)

    with efforts.under_way("one"), efforts.under_way("other"):
        assert efforts.hung(at_once) == ["one", "other"]
        assert efforts.hung(timedelta(hours=1)) == []
        before = {name: pulse.heard_at for name, pulse in efforts._under_way}
        await asyncio.gather(asyncio.create_task(ask()))
        after = {name: pulse.heard_at for name, pulse in efforts._under_way}
        assert after["one"] == before["one"]
        assert after["other"] > before["other"]
    assert efforts.hung(at_once) == []
