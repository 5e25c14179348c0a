"""Errors have the prefixes of the contract, which say who can fix them (update-runs 5)."""

import pytest

from planning import errors


def test_a_user_error_is_called_a_client_error() -> None:
    text = errors.user("parent placement not found")
    assert text == (
        "failed to process the request due to a client error: parent placement not found"
    )


def test_an_error_that_should_not_occur_is_called_unexpected() -> None:
    text = errors.unexpected("x")
    assert text == "unexpected behavior which cannot be handled by the controller: x"


def aborted(text: str) -> errors.RunAborted:
    return errors.RunAborted(f"{errors.ABORTED}: {text}")


@pytest.mark.parametrize(
    "kind", [errors.InitializationError, errors.RunAborted, errors.TransientState]
)
def test_all_of_them_are_run_errors(kind: type[Exception]) -> None:
    assert issubclass(kind, errors.RunError)


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        (["a"], "cannot continue the updateRun: a"),
        (["a", "a"], "cannot continue the updateRun: a"),
        (["b", "a", "b"], "[cannot continue the updateRun: b, cannot continue the updateRun: a]"),
    ],
)
def test_errors_of_one_round_are_listed_without_duplicates(texts: list[str], shown: str) -> None:
    error = errors.joined([aborted(text) for text in texts])
    assert type(error) is errors.RunAborted
    assert str(error) == shown


def test_a_bug_takes_precedence_over_all_run_errors() -> None:
    bug = ZeroDivisionError()
    assert errors.joined([aborted("a"), bug]) is bug


def test_ten_of_many_errors_are_named() -> None:
    many = [aborted(f"cluster-{number}") for number in range(1_500)]
    text = str(errors.joined(many))
    assert text.startswith("[cannot continue the updateRun: cluster-0, cannot continue")
    assert text.endswith("the updateRun: cluster-9, and 1,490 more]")
