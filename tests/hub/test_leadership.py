"""One of several processes leads, on a real API server."""

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from api.kinds import CONFIG_MAP, LEASE
from hub import (
    Cache,
    Election,
    Fenced,
    Forbidden,
    Hub,
    Json,
    LeasePace,
    Limits,
    NotFound,
    Standing,
    Term,
)
from tests.agent.credentials import kubeconfig_of_nobody
from tests.hub.support import config_map, mirrored, until
from tests.support.eventually import eventually, patience
from tests.support.fault_proxy import FaultProxy, Faults, all_sprung, release
from tests.support.limits import PATIENT
from tests.support.servers import PrivateApiServer

ROOT = Path(__file__).parents[2]
HOME = "default"
PACE = LeasePace(
    lasting=timedelta(seconds=4),
    renew_every=timedelta(milliseconds=400),
    hold=timedelta(milliseconds=2500),
    attempt=timedelta(seconds=1),
    retry=timedelta(milliseconds=200),
    give_back=timedelta(minutes=1),
)
"""For tests in which a Lease expires. On a machine that stalls for seconds it may expire at any
time: then the leader stops, and may start again."""
SLOW = replace(
    PACE,
    lasting=timedelta(seconds=60),
    hold=timedelta(seconds=50),
    attempt=timedelta(seconds=30),
)
"""No test waits for such a Lease to expire."""
STEADY = replace(PACE, lasting=timedelta(seconds=15), hold=timedelta(seconds=14))
"""Renewed in time even if the machine stalls for ten seconds, but short enough for a test."""
BUSY = replace(
    PATIENT, connections=8, watch_duration=timedelta(minutes=9), silence=timedelta(minutes=10)
)
"""So few connections that watches and hung requests could use all of them."""


class Candidate:
    """A candidate in an election, whose work only records when it begins and ends."""

    def __init__(
        self, hub: Hub, name: str, identity: str, *, pace: LeasePace, story: list[str] | None = None
    ) -> None:
        self.identity = identity
        self.story = [] if story is None else story
        self.standings: list[Standing] = []
        self.term: Term | None = None
        self.leads = asyncio.Event()
        self.fail = asyncio.Event()
        self._hub = hub
        self._election = Election(
            hub,
            name=name,
            namespace=HOME,
            identity=identity,
            pace=pace,
            on_change=self.standings.append,
        )
        self.task = asyncio.create_task(self._election.run(self._lead))

    async def _lead(self, term: Term) -> None:
        self.term = term
        self.story.append(f"{self.identity} begins")
        self.leads.set()
        try:
            await self.fail.wait()
            raise RuntimeError("the work failed")
        finally:
            self.leads.clear()
            self.story.append(f"{self.identity} ends")

    async def leading(self) -> None:
        async with asyncio.timeout(patience()):
            await self.leads.wait()

    async def stopped(self) -> None:
        await eventually(lambda: not self.leads.is_set())

    async def standing_by(self, leader: str) -> None:
        await eventually(lambda: self.standings[-1:] == [Standing(leads=False, leader=leader)])

    async def seen_the_lease(self) -> None:
        await eventually(lambda: bool(self.standings))

    async def write(self, name: str) -> Json:
        """Write something, as the work of the last term would."""
        assert self.term is not None
        fenced = self._hub.fenced(self.term.check)
        return await fenced.apply(CONFIG_MAP, config_map(name, HOME))

    async def end(self) -> None:
        self.task.cancel()
        with suppress(asyncio.CancelledError, RuntimeError):
            await self.task


NewCandidate = Callable[..., Candidate]


@pytest.fixture
async def candidate(hub: Hub, unique: str) -> AsyncIterator[NewCandidate]:
    """Create candidates for one Lease, which are ended after the test."""
    made: list[Candidate] = []

    def new(identity: str, *, pace: LeasePace = PACE, of: Hub = hub, **others: Any) -> Candidate:
        made.append(Candidate(of, unique, identity, pace=pace, **others))
        return made[-1]

    yield new
    for each in made:
        await each.end()


@pytest.fixture
async def seen(hub: Hub, unique: str) -> AsyncIterator[Cache]:
    """Watch the Lease."""
    async with mirrored(
        Cache(hub, LEASE, namespace=HOME, fields=f"metadata.name={unique}")
    ) as cache:
        yield cache


async def one_behind_the_other(
    candidate: NewCandidate,
) -> tuple[list[str], Candidate, Candidate]:
    """Return the shared story of two candidates, the leader, and the one that stands by."""
    first = candidate("a", pace=SLOW)
    await first.leading()
    second = candidate("b", pace=SLOW, story=first.story)
    await second.standing_by("a")
    return first.story, first, second


def takes_turns(story: list[str]) -> bool:
    """Return whether each leader ended before the next one began."""
    begun, ended = story[::2], story[1::2]
    return begun == [f"{each.split()[0]} begins" for each in begun] and ended == [
        each.replace("begins", "ends") for each in begun[: len(ended)]
    ]


def spec(cache: Cache) -> Json:
    """Return the spec of the Lease; empty if it does not exist."""
    found: Json = cache.items()[0]["spec"] if cache.items() else {}
    return found


async def edit(hub: Hub, name: str, **changes: Any) -> None:
    """Change the Lease by hand."""
    await hub.patch(LEASE, name, {"spec": changes}, namespace=HOME, manager="kubectl-edit")


async def leave(hub: Hub, name: str, holder: str, **others: Any) -> None:
    """Create a Lease whose holder no longer renews it."""
    said = {"holderIdentity": holder, "leaseDurationSeconds": 60, "leaseTransitions": 2} | others
    await hub.create(LEASE, {"metadata": {"name": name, "namespace": HOME}, "spec": said})


# -- taking and renewing ---------------------------------------------------------------------------


async def test_the_first_candidate_leads_and_the_lease_shows_its_name_and_times(
    candidate: NewCandidate, seen: Cache
) -> None:
    await candidate("a", pace=SLOW).leading()
    await until(seen, lambda: bool(spec(seen)))
    assert spec(seen)["holderIdentity"] == "a"
    assert spec(seen)["leaseDurationSeconds"] == 60
    assert spec(seen)["leaseTransitions"] == 0
    acquired = spec(seen)["acquireTime"]

    await until(seen, lambda: spec(seen)["renewTime"] > acquired)
    assert spec(seen)["acquireTime"] == acquired


async def test_no_other_candidate_leads_while_the_lease_is_renewed(
    candidate: NewCandidate, seen: Cache
) -> None:
    first = candidate("a", pace=STEADY)
    await first.leading()
    second = candidate("b", pace=STEADY)
    await second.standing_by("a")

    over = datetime.now(UTC) + STEADY.lasting + timedelta(seconds=1)
    await until(seen, lambda: _renewed_at(seen) > over)
    assert first.story == ["a begins"]
    assert second.story == []


def _renewed_at(seen: Cache) -> datetime:
    """Return when the Lease was last renewed; long ago if it was not."""
    return datetime.fromisoformat(spec(seen).get("renewTime", "2000-01-01T00:00:00Z"))


async def _renewed(seen: Cache, *, times: int) -> None:
    moments: set[str] = set()

    def enough() -> bool:
        moments.add(spec(seen)["renewTime"])
        return len(moments) > times

    await until(seen, enough)


async def test_many_candidates_lead_one_at_a_time_and_each_gets_its_turn(
    candidate: NewCandidate,
) -> None:
    story: list[str] = []
    waiting = [candidate(name, pace=SLOW, story=story) for name in "abcde"]
    while waiting:
        await eventually(lambda: any(each.leads.is_set() for each in waiting))
        leader = next(each for each in waiting if each.leads.is_set())
        waiting.remove(leader)
        await leader.end()
    assert len(story) == 10
    assert [each.split()[1] for each in story] == ["begins", "ends"] * 5
    assert {each.split()[0] for each in story} == set("abcde")


# -- handing over ----------------------------------------------------------------------------------


async def test_a_leader_that_ends_releases_the_lease_and_the_next_one_leads_at_once(
    candidate: NewCandidate, seen: Cache
) -> None:
    story, first, second = await one_behind_the_other(candidate)
    await first.end()
    await second.leading()
    assert story == ["a begins", "a ends", "b begins"]
    await until(seen, lambda: spec(seen).get("holderIdentity") == "b")
    assert spec(seen)["leaseTransitions"] == 1


async def test_a_released_lease_is_free_for_a_later_candidate(
    candidate: NewCandidate, seen: Cache
) -> None:
    first = candidate("a", pace=SLOW)
    await first.leading()
    await first.end()
    await until(seen, lambda: spec(seen).get("holderIdentity") == "")
    await candidate("b", pace=SLOW).leading()


async def test_an_expired_lease_is_taken(
    hub: Hub, unique: str, candidate: NewCandidate, seen: Cache
) -> None:
    await leave(hub, unique, "somewhere-else", leaseDurationSeconds=2)
    begun = time.monotonic()
    await candidate("b", pace=SLOW).leading()
    assert time.monotonic() - begun >= 2
    await until(seen, lambda: spec(seen)["leaseTransitions"] == 3)


def ended_process() -> str:
    """Return the identity of a process that has run on this machine."""
    code = "from hub import process_identity; print(process_identity())"
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


async def test_the_lease_of_a_process_that_has_ended_on_this_machine_is_taken_at_once(
    hub: Hub, unique: str, candidate: NewCandidate
) -> None:
    await leave(hub, unique, ended_process())
    await candidate("b").leading()


async def test_a_candidate_with_the_same_name_as_the_holder_leads_at_once(
    hub: Hub, unique: str, candidate: NewCandidate
) -> None:
    await leave(hub, unique, "fleetgate-0")
    await candidate("fleetgate-0").leading()


async def test_failing_work_ends_the_candidate_and_releases_the_lease(
    candidate: NewCandidate, seen: Cache
) -> None:
    first = candidate("a", pace=SLOW)
    await first.leading()
    first.fail.set()
    with pytest.raises(RuntimeError, match="the work failed"):
        await first.task
    with pytest.raises(Fenced):
        await first.write("too-late")
    await until(seen, lambda: spec(seen).get("holderIdentity") == "")


# -- edits by hand ---------------------------------------------------------------------------------


async def test_a_leader_that_is_removed_from_the_lease_stops_at_once(
    hub: Hub, unique: str, candidate: NewCandidate
) -> None:
    first = candidate("a", pace=SLOW)
    await first.leading()
    await edit(hub, unique, holderIdentity="somebody")
    await first.stopped()
    with pytest.raises(Fenced):
        await first.write("too-late")
    await first.standing_by("somebody")


@pytest.mark.parametrize("named", ["", "b"])
async def test_a_lease_reassigned_by_hand_is_taken_after_its_holder_must_have_stopped(
    hub: Hub, unique: str, candidate: NewCandidate, named: str
) -> None:
    first = candidate("a")
    await first.leading()
    second = candidate("b", story=first.story)
    await second.seen_the_lease()
    await edit(hub, unique, holderIdentity=named)
    await eventually(lambda: len(first.story) >= 3)
    assert takes_turns(first.story)


async def test_a_deleted_lease_is_created_again(
    hub: Hub, unique: str, candidate: NewCandidate, seen: Cache
) -> None:
    story, _, _ = await one_behind_the_other(candidate)
    await hub.delete(LEASE, unique, namespace=HOME)
    await eventually(lambda: len(story) == 3)
    # The second candidate cannot know that the first has stopped.
    assert story == ["a begins", "a ends", "a begins"]
    await until(seen, lambda: spec(seen).get("holderIdentity") == "a")


async def test_other_edits_of_the_lease_have_no_effect_and_are_kept(
    hub: Hub, unique: str, candidate: NewCandidate, seen: Cache
) -> None:
    first = candidate("a", pace=SLOW)
    await first.leading()
    changes = {"renewTime": None, "leaseDurationSeconds": 77}
    await hub.patch(
        LEASE, unique, {"metadata": {"labels": {"team": "x"}}, "spec": changes}, namespace=HOME
    )
    await until(seen, lambda: seen.items()[0]["metadata"].get("labels") == {"team": "x"})
    await until(seen, lambda: spec(seen)["leaseDurationSeconds"] == 60)
    assert seen.items()[0]["metadata"]["labels"] == {"team": "x"}
    assert first.story == ["a begins"]


# -- faults ----------------------------------------------------------------------------------------


@asynccontextmanager
async def behind_proxy(
    server: PrivateApiServer, folder: Path, *, limits: Limits | None = None
) -> AsyncIterator[tuple[Hub, FaultProxy]]:
    kubeconfig = folder / "proxied.kubeconfig"
    async with (
        FaultProxy.between(server, kubeconfig=kubeconfig, seed=0) as proxy,
        await Hub.connect(kubeconfig, limits=limits) as hub,
    ):
        yield hub, proxy


@pytest.mark.parametrize(
    "faults",
    [
        pytest.param(Faults(refused=1.0, answers=(500, 503, 429)), id="refused"),
        pytest.param(Faults(longest_delay=timedelta(hours=10)), id="no answer"),
        pytest.param(Faults(refused=1.0, answers=(409,)), id="conflicts"),
    ],
)
async def test_a_leader_that_cannot_renew_stops_before_another_one_begins(
    faults: Faults, private_api_server: PrivateApiServer, tmp_path: Path, candidate: NewCandidate
) -> None:
    story: list[str] = []
    async with AsyncExitStack() as stack:
        direct = await stack.enter_async_context(await Hub.connect(private_api_server.kubeconfig))
        proxied, proxy = await stack.enter_async_context(behind_proxy(private_api_server, tmp_path))
        first = candidate("a", of=proxied, story=story)
        await first.leading()
        second = candidate("b", of=direct, pace=SLOW, story=story)
        await second.seen_the_lease()

        proxy.faults = faults
        await second.leading()
        assert takes_turns(story)
        assert story[-2:] == ["a ends", "b begins"]
        with pytest.raises(Fenced):
            await first.write("too-late")

        proxy.faults = Faults()
        await first.standing_by("b")
        await second.end()
        await first.leading()
        await first.end()


async def test_lost_answers_and_broken_watches_do_not_cost_the_leader_its_lease(
    private_api_server: PrivateApiServer, tmp_path: Path, candidate: NewCandidate, unique: str
) -> None:
    async with AsyncExitStack() as stack:
        direct = await stack.enter_async_context(await Hub.connect(private_api_server.kubeconfig))
        proxied, proxy = await stack.enter_async_context(behind_proxy(private_api_server, tmp_path))
        first = candidate("a", of=proxied, pace=SLOW)
        await first.leading()
        proxy.faults = Faults(lost=0.5, longest_watch=timedelta(seconds=1), copies=2)
        watched = Cache(direct, LEASE, namespace=HOME, fields=f"metadata.name={unique}")
        async with mirrored(watched) as seen:
            await _renewed(seen, times=10)
        assert proxy.done["lost"] > 0
        assert first.story == ["a begins"]
        proxy.faults = Faults()
        await first.end()


async def test_a_worker_with_200_watches_and_hung_requests_keeps_its_lease(
    private_api_server: PrivateApiServer, tmp_path: Path, candidate: NewCandidate, unique: str
) -> None:
    async with AsyncExitStack() as stack:
        direct = await stack.enter_async_context(await Hub.connect(private_api_server.kubeconfig))
        proxied, proxy = await stack.enter_async_context(
            behind_proxy(private_api_server, tmp_path, limits=BUSY)
        )
        for number in range(200):
            content = Cache(proxied, CONFIG_MAP, labels=f"placement=p{number}")
            await stack.enter_async_context(mirrored(content))
        hung = [
            proxy.trap(lambda request: request.path.endswith("/configmaps/hung"))
            for _ in range(BUSY.connections)
        ]
        asking = asyncio.gather(
            *(proxied.find(CONFIG_MAP, "hung", namespace=HOME) for _ in hung),
            return_exceptions=True,
        )
        await all_sprung(hung)

        first = candidate("a", of=proxied, pace=STEADY)
        await first.leading()
        watched = Cache(direct, LEASE, namespace=HOME, fields=f"metadata.name={unique}")
        async with mirrored(watched) as seen:
            await _renewed(seen, times=3)
        assert first.story == ["a begins"]
        await first.end()
        release(hung)
        await asking


async def test_the_leader_leads_again_after_an_outage_of_the_api_server(
    private_api_server: PrivateApiServer, candidate: NewCandidate
) -> None:
    async with await Hub.connect(private_api_server.kubeconfig) as direct:
        first = candidate("a", of=direct)
        await first.leading()
        await private_api_server.stop()
        await first.stopped()
        await private_api_server.start()

        async def write() -> Json | None:
            await first.leading()
            try:
                return await first.write("again")
            except Fenced:
                return None  # Its term ended again.

        assert (await eventually(write))["metadata"]["name"] == "again"
        await first.end()


async def test_the_leader_passes_its_own_fence(candidate: NewCandidate) -> None:
    first = candidate("a", pace=SLOW)
    await first.leading()
    assert (await first.write(first.identity))["metadata"]["name"] == first.identity


# -- what an operator has to fix -------------------------------------------------------------------


async def nothing(_: Term) -> None:
    raise AssertionError("the candidate leads")


async def test_the_error_of_missing_rights_says_what_to_grant_and_where(
    hub: Hub, hub_kubeconfig: Path, unique: str, tmp_path: Path
) -> None:
    nobody = await kubeconfig_of_nobody(hub, hub_kubeconfig, tmp_path, name=unique)
    async with await Hub.connect(nobody) as client:
        election = Election(client, name="fleetgate-x", namespace=HOME, identity="a")
        with pytest.raises(Forbidden) as refused:
            await election.run(nothing)
    for part in ("'fleetgate-x'", "'default'", "hub-side.yaml", "FLEETGATE_LEASE_NAMESPACE"):
        assert part in str(refused.value)


async def test_a_missing_namespace_is_named(hub: Hub) -> None:
    election = Election(hub, name="fleetgate-x", namespace="no-such", identity="a")
    with pytest.raises(NotFound) as refused:
        await election.run(nothing)
    for part in ("no namespace 'no-such'", "create it", "FLEETGATE_LEASE_NAMESPACE"):
        assert part in str(refused.value)
