"""One HTTP exchange with an API server: credentials, time limits, counting, errors."""

from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlencode

import aiohttp
from kubernetes.aio.client import ApiClient, Configuration
from multidict import CIMultiDict

from hub import failures, impersonation
from hub.connections import Connections
from hub.errors import BadConfiguration, HubError
from hub.limits import Limits
from hub.objects import Json
from hub.proxies import proxy_for
from hub.vitals import Answers


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
        return f"{self.verb} {self.path}"


class Transport:
    """Sends requests over one pool of kept-alive connections. It never retries by itself."""

    def __init__(self, configuration: Configuration, *, limits: Limits, user_agent: str) -> None:
        configuration.proxy = configuration.proxy or proxy_for(configuration.host)
        self._api = _api_client(configuration)
        self._connections = Connections(
            limit=limits.connections, ssl=self._api.rest_client.ssl_context
        )
        configuration.client_session_kwargs = {
            "connector": self._connections,
            # It would read ~/.netrc for each request, and fail when that has a default entry.
            "trust_env": False,
        }
        self._user_agent = user_agent
        self._impersonation = impersonation.headers(configuration)
        self._limits = limits
        self.url: str = configuration.host
        self.requests: Counter[tuple[str, str]] = Counter()
        self.answers = Answers()

    async def close(self) -> None:
        """Close all connections."""
        await self._api.close()
        await self._connections.close()

    async def send(self, request: Request) -> Json:
        """Answer of one request, parsed. Raises what `hub.errors` draws."""
        async with self._exchange(request, self._limit()) as response:
            return failures.parse(await response.read(), asked=str(request), url=self.url)

    async def date(self, request: Request) -> datetime:
        """When the API server answered, by its own clock: whole seconds, cut off.

        Raises HubError when something on the way has removed what says so.
        """
        async with self._exchange(request, self._limit()) as response:
            said = response.headers.get("Date")
            if said is None:
                raise HubError(f"{self.url} does not say what time it is")
            return parsedate_to_datetime(said)

    def _limit(self) -> aiohttp.ClientTimeout:
        return aiohttp.ClientTimeout(
            total=self._limits.request_timeout.total_seconds(),
            connect=self._limits.connect_timeout.total_seconds(),
        )

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
        with failures.translated(asked=str(request), url=self.url):
            with self.answers.timed(request.verb) as timing:
                response = await self._open(request, limit)
                timing.answered(response.status)
            try:
                if not response.ok:
                    raise await failures.read(
                        response, asked=str(request), instead=_spoken_of(request)
                    )
                yield response
            finally:
                # Gives the connection back, or drops it when the answer was not read to its end.
                response.release()

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

    async def _headers(self, request: Request) -> CIMultiDict[str]:
        headers = CIMultiDict(
            [
                ("Accept", request.accept),
                ("Content-Type", request.content_type),
                ("User-Agent", self._user_agent),
                *self._impersonation,
            ]
        )
        await self._api.update_params_for_auth(
            headers, [], ["BearerToken"], request.path, request.method, None
        )
        return headers


def _api_client(configuration: Configuration) -> Any:  # noqa: ANN401 - its methods have no types
    try:
        return ApiClient(configuration)
    except OSError as error:
        raise BadConfiguration(
            f"the certificates for {configuration.host} cannot be used ({error}): check "
            "certificate-authority, client-certificate and client-key in the kubeconfig"
        ) from error


def _spoken_of(request: Request) -> str:
    """Words to use for a request on secrets, whose refusal may quote the values refused."""
    return str(request) if request.resource.partition("/")[0] == "secrets" else ""
