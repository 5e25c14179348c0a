"""As few watches as possible cover what placements look at."""

from api.kinds import CONFIG_MAP, NAMESPACE, SECRET
from placement.content_watches import WATCHES_PER_KIND, concerns, merge
from placement.selection import Read


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


def test_a_read_concerns_what_it_has_looked_at() -> None:
    assert concerns(Read(SECRET), ("a", "one"))
    assert concerns(Read(SECRET, "a"), ("a", "one"))
    assert not concerns(Read(SECRET, "a"), ("b", "one"))
    assert concerns(Read(SECRET, "a", "one"), ("a", "one"))
    assert not concerns(Read(SECRET, "a", "one"), ("a", "two"))
