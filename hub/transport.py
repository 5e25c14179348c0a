"""One HTTP exchange with an API server: credentials, time limits, counting, errors."""

import json
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import aiohttp
from kubernetes.aio.client import ApiClient, Configuration

from hub import errors
from hub.limits import Limits
from hub.objects import Json


@dataclass(frozen=True, slots=True)
class Request:
    """What to ask of an API server."""

    verb: str
    """As in RBAC: get, list, watch, create, update, patch, delete, deletecollection; or apply."""
    resource: str
    """Plural, with the subresource: `deployments/status`. With the verb, what is counted."""
    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    content_type: str = "application/json"
    accept: str = "application/json"

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


class Transport:
    """Sends requests over one pool of kept-alive connections. It never retries by itself."""

    def __init__(self, configuration: Configuration, *, limits: Limits, user_agent: str) -> None:
        configuration.connection_pool_maxsize = limits.connections
        self._api: Any = ApiClient(configuration)  # its methods are not typed
        self._user_agent = user_agent
        self._limits = limits
        self.url: str = configuration.host
        self.requests: Counter[tuple[str, str]] = Counter()

    async def close(self) -> None:
        """Close all connections."""
        await self._api.close()

    async def send(self, request: Request) -> Json:
        """Answer of one request, parsed. Raises what `hub.errors` draws."""
        limit = aiohttp.ClientTimeout(
            total=self._limits.request_timeout.total_seconds(),
            connect=self._limits.connect_timeout.total_seconds(),
        )
        async with self._exchange(request, limit) as response:
            body: Json = json.loads(await response.read())
            return body

    async def lines(self, request: Request) -> AsyncGenerator[bytes, None]:
        """Lines of an answer that has no end, until the server ends it."""
        limit = aiohttp.ClientTimeout(
            total=None,
            connect=self._limits.connect_timeout.total_seconds(),
            sock_read=self._limits.silence.total_seconds(),
        )
        async with self._exchange(request, limit) as response:
            async for line in response.content:
                yield line

    @asynccontextmanager
    async def _exchange(
        self, request: Request, limit: aiohttp.ClientTimeout
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        self.requests[request.verb, request.resource] += 1
        try:
            response = await self._open(request, limit)
            try:
                await _raise_for_status(response)
                yield response
            finally:
                # Gives the connection back, or drops it when the answer was not read to its end.
                response.release()
        except TimeoutError as error:
            raise errors.TimedOut(f"{request} at {self.url}: no answer in time") from error
        except aiohttp.ClientConnectorCertificateError as error:
            raise errors.BadConfiguration(
                f"the certificate of {self.url} cannot be verified ({error.certificate_error}): "
                "check certificate-authority in the kubeconfig"
            ) from error
        except (aiohttp.ClientError, OSError) as error:
            raise errors.Unavailable(f"{request} at {self.url}: {error}") from error
        except ValueError as error:
            raise errors.Unavailable(f"{request} at {self.url}: the answer is not JSON") from error

    async def _open(self, request: Request, limit: aiohttp.ClientTimeout) -> aiohttp.ClientResponse:
        url = self.url + request.path
        if request.query:
            url += "?" + urlencode(request.query)
        response = await self._api.rest_client.request(
            request.method,
            url,
            headers=await self._headers(request),
            body=request.body,
            _request_timeout=limit,
        )
        opened: aiohttp.ClientResponse = response.response
        return opened

    async def _headers(self, request: Request) -> dict[str, str]:
        headers = {
            "Accept": request.accept,
            "Content-Type": request.content_type,
            "User-Agent": self._user_agent,
        }
        await self._api.update_params_for_auth(
            headers, [], ["BearerToken"], request.path, request.method, None
        )
        return headers


async def _raise_for_status(response: aiohttp.ClientResponse) -> None:
    if response.ok:
        return
    text = await response.text()
    try:
        status = json.loads(text)
    except ValueError:
        status = {"message": text}
    raise errors.from_status(status, code=response.status)
