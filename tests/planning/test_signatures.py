"""Names of users at the end of texts."""

import pytest

from planning import signatures


@pytest.mark.parametrize(
    ("text", "said", "who"),
    [
        ("ok (by jane)", "ok", "jane"),
        ("ok (by joe) (by jane)", "ok (by joe)", "jane"),
        ("ok\nreally (by jane on behalf of joe)", "ok\nreally", "jane on behalf of joe"),
        ("ok (by jane) or so", "ok (by jane) or so", ""),
        ("ok", "ok", ""),
        ("", "", ""),
    ],
)
def test_only_a_name_at_the_end_counts(text: str, said: str, who: str) -> None:
    assert signatures.split(text) == (said, who)


def test_a_signed_text_can_be_split_again() -> None:
    assert signatures.split(signatures.sign("fine (by far)", "jane")) == ("fine (by far)", "jane")
    assert signatures.sign("fine", "") == "fine"


def test_a_long_text_keeps_its_name() -> None:
    assert signatures.bounded("x" * 5000 + " (by jane)") == "x" * 200 + " (by jane)"


@pytest.mark.parametrize("says", ["jane", "x) (by jane", "(by jane)", "x" * 5000])
def test_a_name_from_temporal_never_passes_for_a_user(says: str) -> None:
    text = signatures.sign("ok", signatures.of_temporal(says))
    said, who = signatures.split(text)
    assert said == "ok"
    assert who.startswith("an unknown user of Temporal, who says: ")


@pytest.mark.parametrize(
    ("by", "comment", "clause"),
    [
        ("jane", "window is over", " by jane (window is over)"),
        ("jane", "", " by jane"),
        ("", "window is over", " (window is over)"),
        ("", "", ""),
    ],
)
def test_the_clause_names_user_and_comment_if_known(by: str, comment: str, clause: str) -> None:
    assert signatures.clause(by, comment) == clause
