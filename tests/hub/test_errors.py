"""An error says what went wrong and with what, without leaking secrets."""

from datetime import timedelta
from typing import Any

import pytest

from api.kinds import SECRET
from hub import (
    AlreadyExists,
    Conflict,
    Forbidden,
    Gone,
    Hub,
    HubError,
    Invalid,
    NotFound,
    TooManyRequests,
    Unauthorized,
    Unavailable,
    errors,
)


@pytest.mark.parametrize(
    ("code", "reason", "meaning"),
    [
        (400, "BadRequest", Invalid),
        (401, "Unauthorized", Unauthorized),
        (403, "Forbidden", Forbidden),
        (404, "NotFound", NotFound),
        (405, "MethodNotAllowed", HubError),
        (409, "AlreadyExists", AlreadyExists),
        (409, "Conflict", Conflict),
        (410, "Expired", Gone),
        (422, "Invalid", Invalid),
        (429, "TooManyRequests", TooManyRequests),
        (500, "InternalError", Unavailable),
        (503, "ServiceUnavailable", Unavailable),
        (504, "Timeout", Unavailable),
    ],
)
def test_each_refusal_becomes_the_matching_error(
    code: int, reason: str, meaning: type[HubError]
) -> None:
    error = errors.from_status({"reason": reason, "message": "why"}, code=code)

    assert type(error) is meaning
    assert (str(error), error.code, error.reason) == ("why", code, reason)


def test_a_refusal_without_text_still_has_a_message() -> None:
    assert str(errors.from_status({}, code=502)) == "HTTP status 502"


def test_a_long_text_is_truncated_visibly() -> None:
    causes = [{"field": "spec", "message": "x" * 10_000}]
    error = errors.from_status({"message": "y" * 10_000, "details": {"causes": causes}}, code=422)

    assert len(str(error)) == errors.MAX_TEXT
    assert str(error).endswith("…")
    assert len(error.details.causes[0].message) == errors.MAX_TEXT


def test_a_busy_server_says_how_long_to_wait() -> None:
    error = errors.from_status({"details": {"retryAfterSeconds": 7}}, code=429)

    assert isinstance(error, TooManyRequests)
    assert error.retry_after == timedelta(seconds=7)


@pytest.mark.parametrize("data", [{"password": 4711}, {"bad key": "czRjcjN0"}])
async def test_a_refused_secret_does_not_show_its_values(
    hub: Hub, unique: str, data: dict[str, Any]
) -> None:
    body = {"metadata": {"name": unique, "namespace": "default"}, "data": data}
    with pytest.raises(Invalid) as refused:
        await hub.apply(SECRET, body)

    assert unique in str(refused.value)
    assert "4711" not in repr((refused.value, refused.value.details))
    assert "s4cr3t" not in repr((refused.value, refused.value.details))
