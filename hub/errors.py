"""What can go wrong with an API server, by who can do something about it.

    HubError                   anything that is not below
    ├── BadConfiguration       kubeconfig or credentials: the operator mends it
    ├── Unavailable            no connection, 5xx: passes, try again
    │   ├── TimedOut           no answer in time; the request may have been done
    │   └── Fenced             not sent: another process may have taken over
    ├── TooManyRequests        429: try again after `retry_after`
    ├── Conflict               409: the object is not as the request assumed: read, decide again
    ├── AlreadyExists          409: the name is taken
    ├── NotFound               404: no such object, or no such kind
    ├── Gone                   410: the version asked for is too old: list again
    ├── Invalid                400, 422: the object is wrong; `details.causes` names the fields
    ├── Unauthorized           401: the credentials are not accepted
    └── Forbidden              403: the credentials are not enough

The text of an error is bounded and never holds what was sent.
"""

# ruff: noqa: N818 - the names are the words of the Kubernetes API, without "Error"

from dataclasses import dataclass, replace
from datetime import timedelta
from http import HTTPStatus
from typing import Final, Self

from hub.objects import Json

MAX_TEXT = 600
"""Characters of an error's text: some lines of a terminal; an answer may be megabytes."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason for a refusal, mostly one for each wrong field."""

    field: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Details:
    """What the API server says about a refusal besides its text."""

    kind: str = ""
    name: str = ""
    causes: tuple[Cause, ...] = ()

    @classmethod
    def parse(cls, details: Json | None) -> Self:
        """Read the `details` of a Status."""
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
        """Names of the fields that are to blame, for a text."""
        return ", ".join(cause.field for cause in self.causes if cause.field)

    def without_texts(self) -> Self:
        """Leave out the words of the causes."""
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
        """The API server's word for it, such as `AlreadyExists`; may be empty."""
        self.details = details or Details()


class BadConfiguration(HubError):
    """The way to the API server is not usable: kubeconfig, certificates, plugin."""


class Unavailable(HubError):
    """The API server cannot be reached or cannot serve now; passes."""


class TimedOut(Unavailable):
    """No answer in time. Whether the request was carried out is not known."""


class Fenced(Unavailable):
    """Not sent, because this process may no longer write: whoever leads now does it."""


class TooManyRequests(HubError):
    """The API server sheds load."""

    retry_after = timedelta(seconds=1)
    """How long the API server wants to be left alone."""


class Conflict(HubError):
    """The object is not as the request assumed.

    A stale resource version, a field owned by another manager, another UID, or a `test` of a
    JSON patch that failed.
    """


class AlreadyExists(HubError):
    """An object of this name exists."""


class NotFound(HubError):
    """No such object, or the API server does not serve the kind."""


class Gone(HubError):
    """The resource version or page asked for is no longer kept."""


class Invalid(HubError):
    """The API server does not accept the object or the request."""


class Unauthorized(HubError):
    """The credentials are missing, wrong or expired."""


class Forbidden(HubError):
    """The credentials do not allow it, or admission refuses it."""


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
"""What is over soon, and is mended by trying again."""


def bounded(text: str, limit: int = MAX_TEXT) -> str:
    """Cut a text that is too long, and show that it was cut."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def from_status(status: Json, *, code: int, instead: str = "") -> HubError:
    """Turn the API server's Status object into the error of its meaning.

    Its words may quote what was refused; with `instead`, the error says this, the reason and
    the names of the fields.
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
        # An apply with a field of the wrong type comes as a 500, but no retry will mend it.
        return Invalid
    if code >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return Unavailable
    return _BY_CODE.get(code, HubError)
