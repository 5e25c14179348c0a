"""Translation of errors below Kubernetes (HTTP, TLS, sockets) to those of `hub.errors`."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import aiohttp

from hub import errors, objects
from hub.objects import Json


@contextmanager
def translated(*, asked: str, url: str) -> Iterator[None]:
    """Raise errors of the HTTP library as errors of the hub."""
    try:
        yield
    except aiohttp.ConnectionTimeoutError as error:
        raise errors.TimedOut(f"{url} took too long to connect ({asked})") from error
    except TimeoutError as error:
        raise errors.TimedOut(f"{url} did not answer in time ({asked})") from error
    except aiohttp.ClientConnectorCertificateError as error:
        raise errors.BadConfiguration(
            f"the certificate of {url} cannot be verified ({error.certificate_error}): "
            "check certificate-authority in the kubeconfig"
        ) from error
    except aiohttp.ClientConnectorError as error:
        reason = error.os_error.strerror or error.os_error
        raise errors.Unavailable(f"no API server answers at {url} ({reason})") from error
    except (aiohttp.ClientError, OSError) as error:
        raise errors.Unavailable(f"the connection to {url} was lost ({asked}): {error}") from error


def parse(body: bytes, *, asked: str, url: str) -> Json:
    """Parse an answer. Raises Unavailable if it is not from an API server."""
    try:
        answer = objects.decode(body)
    except ValueError as error:
        raise errors.Unavailable(f"{url} did not answer with JSON ({asked})") from error
    if not isinstance(answer, dict):
        raise errors.Unavailable(f"{url} did not answer with a JSON object ({asked})")
    return answer


async def read(
    response: aiohttp.ClientResponse, *, asked: str, instead: str = ""
) -> errors.HubError:
    """Return the error for a refusal; `instead` as in `errors.from_status`."""
    text = await response.text(errors="replace")
    try:
        status = objects.decode(text)
    except ValueError:
        status = None
    if not isinstance(status, dict):
        # Some refusals, such as those of proxies, are plain text.
        status = {"message": f"{asked}: {text.strip() or response.reason}"}
    error = errors.from_status(status, code=response.status, instead=instead)
    if isinstance(error, errors.TooManyRequests):
        error.retry_after = _retry_after(response) or error.retry_after
    return error


def _retry_after(response: aiohttp.ClientResponse) -> timedelta | None:
    seconds = response.headers.get("Retry-After", "")
    return timedelta(seconds=int(seconds)) if seconds.isdecimal() else None
