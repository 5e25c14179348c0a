"""Errors of API servers, grouped by who can fix them.

    HubError                   any other error
    ├── BadConfiguration       kubeconfig or credentials: the operator has to fix it
    ├── Unavailable            no connection, 5xx: temporary, try again
    │   ├── TimedOut           no answer in time; the request may have been carried out
    │   └── Fenced             not sent: another process may have taken over
    ├── TooManyRequests        429: try again after `retry_after`
    ├── Conflict               409: the object is not what the request assumed: read it again
    ├── AlreadyExists          409: an object of this name exists
    ├── NotFound               404: no such object, or no such kind
    ├── Gone                   410: the version asked for is too old: list again
    ├── Invalid                400, 422: the object is invalid; `details.causes` names the fields
    ├── Unauthorized           401: the credentials are not accepted
    └── Forbidden              403: the credentials do not allow it

The text of an error has a maximum length and never contains what was sent.
"""

# ruff: noqa: N818 - the names are the words of the Kubernetes API, without "Error"

from dataclasses import dataclass, replace
from datetime import timedelta
from http import HTTPStatus
from typing import Final, Self

from hub.objects import Json

MAX_TEXT = 600
"""Maximum characters of an error's text: a few lines of a terminal; an answer may be megabytes."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason for a refusal, usually one per invalid field."""

    field: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Details:
    """Details that the API server gives about a refusal, besides its text."""

    kind: str = ""
    name: str = ""
    causes: tuple[Cause, ...] = ()

    @classmethod
    def parse(cls, details: Json | None) -> Self:
        """Parse the `details` of a Status."""
        details = details or {}
        causes = [
            Cause(
                field=cause.get("field", ""),
                reason=cause.get("reason", ""),
                message=bounded(cause.get("message", "")),
            )
            for cause in details.get("causes") or []
        ]
        return cls(details.get("kind", ""), details.get("name", ""), tuple(causes))

    @property
    def fields(self) -> str:
        """Names of the invalid fields, as a list for a message."""
        return ", ".join(cause.field for cause in self.causes if cause.field)

    def without_texts(self) -> Self:
        """Return a copy without the messages of the causes."""
        return replace(self, causes=tuple(replace(cause, message="") for cause in self.causes))


class HubError(Exception):
    """A request to an API server failed."""

    def __init__(
        self, message: str, *, code: int = 0, reason: str = "", details: Details | None = None
    ) -> None:
        super().__init__(bounded(message))
        self.code = code
        """HTTP status; 0 when there was no answer."""
        self.reason = reason
        """The API server's reason, such as `AlreadyExists`; may be empty."""
        self.details = details or Details()


class BadConfiguration(HubError):
    """The API server cannot be reached with this kubeconfig, certificate or plugin."""


class Unavailable(HubError):
    """The API server cannot be reached, or cannot serve requests now; temporary."""


class TimedOut(Unavailable):
    """No answer in time. The request may or may not have been carried out."""


class Fenced(Unavailable):
    """Not sent, because this process may no longer write: another one may be the leader."""


class TooManyRequests(HubError):
    """The API server asks for fewer requests."""

    retry_after = timedelta(seconds=1)
    """How long the API server asks clients to wait."""


class Conflict(HubError):
    """The object is not what the request assumed.

    Causes: a stale resource version, a field owned by another manager, another UID, or a failed
    `test` of a JSON patch.
    """


class AlreadyExists(HubError):
    """An object of this name exists."""


class NotFound(HubError):
    """The object does not exist, or the API server does not serve the kind."""


class Gone(HubError):
    """The requested resource version or page is no longer available."""


class Invalid(HubError):
    """The API server does not accept the object or the request."""


class Unauthorized(HubError):
    """The credentials are missing, wrong or expired."""


class Forbidden(HubError):
    """The credentials do not allow the request, or admission rejects it."""


_BY_CODE: dict[int, type[HubError]] = {
    HTTPStatus.BAD_REQUEST: Invalid,
    HTTPStatus.UNAUTHORIZED: Unauthorized,
    HTTPStatus.FORBIDDEN: Forbidden,
    HTTPStatus.NOT_FOUND: NotFound,
    HTTPStatus.REQUEST_TIMEOUT: Unavailable,
    HTTPStatus.CONFLICT: Conflict,
    HTTPStatus.GONE: Gone,
    HTTPStatus.UNPROCESSABLE_ENTITY: Invalid,
    HTTPStatus.TOO_MANY_REQUESTS: TooManyRequests,
}


PASSING: Final = (Unavailable, TooManyRequests, Conflict)
"""Temporary errors, which are worth a retry."""


def bounded(text: str, limit: int = MAX_TEXT) -> str:
    """Truncate a text that is too long, marking the cut with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def from_status(status: Json, *, code: int, instead: str = "") -> HubError:
    """Return the error for the API server's Status object.

    Its message may quote the rejected values; with `instead`, the error consists of that text, the
    reason and the names of the fields.
    """
    reason = status.get("reason") or ""
    message = status.get("message") or reason or f"HTTP status {code}"
    details = Details.parse(status.get("details"))
    meaning = _meaning(code, reason, message)
    if instead:
        details = details.without_texts()
        message = f"{instead}: {reason or meaning.__name__} {details.fields}".rstrip()
    error = meaning(message, code=code, reason=reason, details=details)
    if isinstance(error, TooManyRequests):
        seconds = (status.get("details") or {}).get("retryAfterSeconds") or 1
        error.retry_after = timedelta(seconds=seconds)
    return error


def _meaning(code: int, reason: str, message: str) -> type[HubError]:
    if reason == "AlreadyExists":
        return AlreadyExists
    if "typed patch object" in message:
        # An apply with a field of the wrong type is answered with 500, but a retry cannot fix it.
        return Invalid
    if code >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return Unavailable
    return _BY_CODE.get(code, HubError)
