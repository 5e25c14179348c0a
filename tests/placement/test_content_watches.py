"""As few watches as possible cover everything that placements read."""

from collections.abc import AsyncIterator

import pytest

from api.kinds import CONFIG_MAP, NAMESPACE, SECRET, ScopeName
from hub import Hub
from placement.content_watches import (
    WATCHES_AGAIN,
    WATCHES_PER_KIND,
    ContentWatches,
    Subject,
    concerns,
    merge,
)
from placement.selection import Read, ReadRecord
from tests.support.eventually import eventually


def test_the_same_read_of_two_placements_is_one_watch() -> None:
    assert merge([Read(SECRET, "a"), Read(SECRET, "a")]) == {Read(SECRET, "a")}


def test_a_wider_read_covers_a_narrower_one() -> None:
    assert merge([Read(SECRET, "a", "one"), Read(SECRET, "a")]) == {Read(SECRET, "a")}
    assert merge([Read(SECRET, "a"), Read(SECRET)]) == {Read(SECRET)}
    assert merge([Read(NAMESPACE, "", "a"), Read(NAMESPACE)]) == {Read(NAMESPACE)}


def test_many_places_of_one_kind_become_the_whole_hub() -> None:
    few = [Read(SECRET, f"ns{number}") for number in range(WATCHES_PER_KIND)]
    assert merge([*few, Read(CONFIG_MAP, "a")]) == {*few, Read(CONFIG_MAP, "a")}
    assert merge([*few, Read(SECRET, "one-more")]) == {Read(SECRET)}


def test_the_whole_hub_is_watched_until_few_places_are_left() -> None:
    places = [Read(SECRET, f"ns{number}") for number in range(WATCHES_AGAIN + 1)]
    assert merge(places, running={Read(SECRET)}) == {Read(SECRET)}
    assert merge(places[1:], running={Read(SECRET)}) == set(places[1:])
    assert merge(places, running={Read(CONFIG_MAP)}) == set(places)


def test_a_read_covers_exactly_the_objects_it_asked_for() -> None:
    assert concerns(Read(SECRET), ("a", "one"))
    assert concerns(Read(SECRET, "a"), ("a", "one"))
    assert not concerns(Read(SECRET, "a"), ("b", "one"))
    assert concerns(Read(SECRET, "a", "one"), ("a", "one"))
    assert not concerns(Read(SECRET, "a", "one"), ("a", "two"))


SUBJECT: Subject = (ScopeName.CLUSTER, ("", "placement"))


@pytest.fixture
async def told(hub: Hub) -> AsyncIterator[tuple[ContentWatches, list[Subject]]]:
    """Create watches, and collect the placements that they notify."""
    names: list[Subject] = []
    watches = ContentWatches(hub, names.append)
    yield watches, names
    await watches.close()


async def seen(hub: Hub, namespace: str) -> ReadRecord:
    """Read the ConfigMaps of a namespace."""
    sight = ReadRecord()
    listing = await hub.list(CONFIG_MAP, namespace=namespace)
    sight.note(Read(CONFIG_MAP, namespace), listing.items)
    return sight


async def change(hub: Hub, namespace: str, name: str, value: str) -> None:
    metadata = {"name": name, "namespace": namespace}
    await hub.apply(CONFIG_MAP, {"metadata": metadata, "data": {"key": value}}, manager="test")


@pytest.fixture
async def namespace(hub: Hub, unique: str) -> str:
    await hub.apply(NAMESPACE, {"metadata": {"name": unique}})
    for name in ("a", "b"):
        await change(hub, unique, name, "1")
    return unique


async def test_known_objects_cause_no_notification_when_the_watch_begins(
    hub: Hub, namespace: str, told: tuple[ContentWatches, list[Subject]]
) -> None:
    watches, names = told
    watches.want(SUBJECT, await seen(hub, namespace))
    other: Subject = (ScopeName.NAMESPACED, ("", "other"))
    watches.want(other, ReadRecord(reads={Read(CONFIG_MAP, namespace, "b")}))
    await change(hub, namespace, "b", "2")
    await eventually(lambda: {SUBJECT, other} <= set(names))
    assert names.count(SUBJECT) == 1


async def test_changes_before_the_watch_began_are_reported(
    hub: Hub, namespace: str, told: tuple[ContentWatches, list[Subject]]
) -> None:
    watches, names = told
    sight = await seen(hub, namespace)
    await change(hub, namespace, "a", "2")
    watches.want(SUBJECT, sight)
    await eventually(lambda: bool(names))


async def test_deletions_before_the_watch_began_are_reported(
    hub: Hub, namespace: str, told: tuple[ContentWatches, list[Subject]]
) -> None:
    watches, names = told
    sight = await seen(hub, namespace)
    await hub.delete(CONFIG_MAP, "a", namespace=namespace)
    watches.want(SUBJECT, sight)
    await eventually(lambda: bool(names))


async def watched(hub: Hub, namespace: str, watches: ContentWatches) -> None:
    """Watch the ConfigMaps of a namespace, and wait until the watch has caught up."""
    watches.want((ScopeName.CLUSTER, ("", "other")), await seen(hub, namespace))

    async def in_step() -> bool:
        return watches.objects(SUBJECT, Read(CONFIG_MAP, namespace)) is not None

    await eventually(in_step)


async def test_a_watch_that_lags_behind_returns_no_objects(
    hub: Hub, namespace: str, told: tuple[ContentWatches, list[Subject]]
) -> None:
    watches, _ = told
    await watched(hub, namespace, watches)
    read = Read(CONFIG_MAP, namespace)
    known = watches.objects(SUBJECT, read) or []
    newest = max(int(each["metadata"]["resourceVersion"]) for each in known)

    assert watches.objects(SUBJECT, read, since=newest) == known
    assert watches.objects(SUBJECT, read, since=newest + 10**9) is None
