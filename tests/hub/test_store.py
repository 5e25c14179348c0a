"""Whatever happens to a watch, the store ends up in sync with the API server."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hub.objects import Json, Key
from hub.store import Change, Store
from hub.watching import EventType, WatchEvent

NAMES = st.sampled_from(["a", "b", "c"])


def thing(name: str, version: int, uid: str) -> Json:
    metadata = {"name": name, "namespace": "ns", "resourceVersion": str(version), "uid": uid}
    return {"metadata": metadata}


def event(kind: EventType, name: str, version: int, uid: str = "u") -> WatchEvent:
    return WatchEvent(kind, thing(name, version, uid))


def bookmark(version: int) -> WatchEvent:
    return WatchEvent("BOOKMARK", {"metadata": {"resourceVersion": str(version)}})


@dataclass
class World:
    """The objects of an API server, and the events that it would send."""

    objects: dict[Key, Json] = field(default_factory=dict)
    events: list[WatchEvent] = field(default_factory=list)
    version: int = 10

    def touch(self, name: str, *, delete: bool) -> None:
        self.version += 1
        key = ("ns", name)
        old = self.objects.get(key)
        if delete and old:
            del self.objects[key]
            uid = old["metadata"]["uid"]
            self.events.append(event("DELETED", name, self.version, uid))
        elif not delete:
            uid = old["metadata"]["uid"] if old else f"uid-{self.version}"
            self.objects[key] = thing(name, self.version, uid)
            self.events.append(event("MODIFIED" if old else "ADDED", name, self.version, uid))


@st.composite
def worlds(draw: st.DrawFn) -> World:
    world = World()
    for name, delete in draw(st.lists(st.tuples(NAMES, st.booleans()), max_size=12)):
        world.touch(name, delete=delete)
    return world


@st.composite
def disturbed(draw: st.DrawFn) -> tuple[World, list[WatchEvent]]:
    """Return a world and its events, with some of them lost, repeated or out of order."""
    world = draw(worlds())
    events = draw(st.lists(st.sampled_from(world.events), max_size=20)) if world.events else []
    return world, events


def told(changes: list[Change]) -> dict[Key, Json]:
    """Return the objects as seen by a subscriber that only follows the changes."""
    known: dict[Key, Json] = {}
    for change in changes:
        assert known.get(change.key) == change.old
        if change.new is None:
            del known[change.key]
        else:
            known[change.key] = change.new
    return known


def relist(store: Store, items: Iterable[Json], version: str, *, page: int = 2) -> list[Change]:
    """Replace the objects of a store with those of a list, page by page."""
    relisting, listed = store.relisting(), list(items)
    pages = [listed[start : start + page] for start in range(0, len(listed), page)]
    changes = [change for each in pages for change in relisting.take(each)]
    return changes + relisting.end(version)


def apply_all(store: Store, events: list[WatchEvent]) -> list[Change]:
    return [change for event in events if (change := store.apply(event))]


@given(disturbed())
def test_a_list_repairs_any_errors_of_the_watch(
    given_world: tuple[World, list[WatchEvent]],
) -> None:
    world, events = given_world
    store = Store()
    changes = relist(store, [], "10")
    changes += apply_all(store, events)
    changes += relist(store, world.objects.values(), str(world.version))

    assert store.objects == world.objects
    assert told(changes) == world.objects


@given(worlds(), st.data())
def test_repeated_and_late_events_change_nothing(world: World, data: st.DataObject) -> None:
    store = Store()
    changes = relist(store, [], "10")
    for number, one in enumerate(world.events):
        changes += apply_all(store, [one])
        again = data.draw(st.lists(st.sampled_from(world.events[: number + 1]), max_size=3))
        assert apply_all(store, again) == []

    assert store.objects == world.objects
    assert told(changes) == world.objects


@given(worlds(), st.data())
def test_a_watch_may_start_from_a_list_taken_at_any_moment(
    world: World, data: st.DataObject
) -> None:
    seen = data.draw(st.integers(0, len(world.events)))
    listed = Store()
    relist(listed, [], "10")
    apply_all(listed, world.events[:seen])
    store = Store()
    relist(store, listed.objects.values(), listed.version)
    # Events from before the list are repeated, as after a reconnect with an older version.
    apply_all(store, world.events[data.draw(st.integers(0, seen)) :])

    assert store.objects == world.objects


def test_a_bookmark_changes_only_the_version() -> None:
    store = Store()
    relist(store, [thing("a", 3, "u")], "5")

    assert store.apply(bookmark(9)) is None
    assert store.version == "9"
    assert list(store.objects) == [("ns", "a")]


def test_a_list_reports_only_differences() -> None:
    store = Store()
    relist(store, [thing("a", 3, "u"), thing("b", 4, "u"), thing("c", 5, "u")], "5")

    changes = relist(store, [thing("a", 3, "u"), thing("b", 7, "u"), thing("d", 8, "u")], "8")

    assert {change.key[1]: (bool(change.old), bool(change.new)) for change in changes} == {
        "b": (True, True),
        "c": (True, False),
        "d": (False, True),
    }


def test_an_object_recreated_between_two_lists_is_a_change() -> None:
    store = Store()
    relist(store, [thing("a", 3, "first")], "3")

    (change,) = relist(store, [thing("a", 9, "second")], "9")

    assert change.old is not None
    assert change.new is not None
    assert change.new["metadata"]["uid"] == "second"


def test_objects_restored_from_an_older_backup_are_accepted() -> None:
    store = Store()
    relist(store, [thing("a", 30, "u")], "30")
    relist(store, [thing("a", 10, "u")], "10")

    change = store.apply(event("MODIFIED", "a", 11))

    assert change is not None
    assert store.version == "11"


def test_versions_that_are_not_numbers_count_as_new_when_they_differ() -> None:
    store = Store()
    body: dict[str, Any] = {"metadata": {"name": "a", "resourceVersion": "x-1"}}
    relist(store, [], "x-0")

    assert store.apply(WatchEvent("ADDED", body)) is not None
    assert store.apply(WatchEvent("ADDED", body)) is None


def without_data(body: Json) -> Json:
    return {"metadata": body["metadata"]}


def test_a_store_may_keep_only_a_part_but_reports_objects_in_full() -> None:
    store = Store(without_data)
    listed = thing("a", 3, "u") | {"data": "1"}
    changed = thing("a", 6, "u") | {"data": "2"}

    assert [change.new for change in relist(store, [listed], "5")] == [listed]
    told = store.apply(WatchEvent("MODIFIED", changed))

    assert told == Change(("ns", "a"), without_data(listed), changed)
    assert store.objects == {("ns", "a"): without_data(changed)}
    assert relist(store, [changed], "7") == []
