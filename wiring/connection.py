"""The connection to Temporal, which is replaced when its credentials change on disk.

The SDK reads certificates and keys only once. Here they are read again from time to time; if they
have changed, a new connection replaces the old one for the worker's polls, for activities and for
the bridge. Requests that are still open on the old connection are answered there.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from google.protobuf.message import Message
from temporalio.client import Client
from temporalio.envconfig import ClientConnectConfig
from temporalio.service import ServiceClient, ServiceResponse
from temporalio.worker import Worker

from workflows import connecting
from workflows.connecting import UnreachableError, UnusableSettingsError
from workflows.encryption import Keys, PayloadCipher, keys_of

logger = logging.getLogger(__name__)

LOOK_EVERY: Final = timedelta(seconds=10)
"""Pause between two checks of the files. Old certificates stay valid for days after a renewal."""


class _Newest(ServiceClient):
    """A service client that uses the newest connection."""

    def __init__(self, first: ServiceClient) -> None:
        super().__init__(first.config)
        self.connection = first

    @property
    def worker_service_client(self) -> Any:  # noqa: ANN401 - the SDK does not name its type
        """The client with which workers poll."""
        return self.connection.worker_service_client

    def update_rpc_metadata(self, metadata: Mapping[str, str | bytes]) -> None:
        """Change the metadata sent with each request."""
        self.connection.update_rpc_metadata(metadata)

    def update_api_key(self, api_key: str | None) -> None:
        """Change the API key."""
        self.connection.update_api_key(api_key)

    async def _rpc_call(
        self,
        rpc: str,
        req: Message,
        resp_type: type[ServiceResponse],
        *,
        service: str,
        retry: bool,
        metadata: Mapping[str, str | bytes],
        timeout: timedelta | None,  # noqa: ASYNC109 - the SDK's own
    ) -> ServiceResponse:
        # Subclasses of ServiceClient must implement this method; all requests go through it.
        return await self.connection._rpc_call(  # noqa: SLF001
            rpc, req, resp_type, service=service, retry=retry, metadata=metadata, timeout=timeout
        )


class Connection:
    """A client of Temporal that switches to a new connection when its credentials change."""

    def __init__(
        self,
        client: Client,
        *,
        environ: Mapping[str, str],
        config: ClientConnectConfig,
        keys: Keys | None,
    ) -> None:
        """Wrap a client.

        Args:
            client: the client from `workflows.plugin.connect`.
            environ: variables that name the files to follow.
            config: the settings as read before the client was connected.
            keys: the payload keys as read before the client was connected.
        """
        self._environ = environ
        self._config = config
        self._keys = keys
        self._service = _Newest(client.service_client)
        self._worker: Worker | None = None
        self._complaint = ""
        like = client.config()
        like["service_client"] = self._service
        self.client = Client(**like)

    def serve(self, worker: Worker) -> None:
        """Have a worker that was created with `client` poll over each new connection too."""
        self._worker = worker

    async def run(self) -> None:
        """Follow the files until cancelled."""
        while True:
            await asyncio.sleep(LOOK_EVERY.total_seconds())
            try:
                await self._follow()
            except (UnusableSettingsError, UnreachableError) as error:
                self._complain(str(error))
            else:
                self._complaint = ""

    async def ready(self) -> None:
        """Return at once: the client is already connected."""

    async def _follow(self) -> None:
        config = connecting.read(self._environ)
        if (keys := keys_of(self._environ)) != self._keys:
            self._take_keys(keys)
        if _credentials(config) != _credentials(self._config):
            await self._reconnect(config)

    async def _reconnect(self, config: ClientConnectConfig) -> None:
        # Address and namespace stay: the runs and the task queue are there.
        wanted = self._config | _credentials(config)
        try:
            fresh = await ServiceClient.connect(
                replace(
                    self._service.connection.config,
                    tls=config.get("tls"),
                    api_key=config.get("api_key"),
                )
            )
        except (RuntimeError, ValueError) as error:
            raise await connecting.explained(error, wanted) from error
        self._service.connection = fresh
        if self._worker is not None:
            self._worker.client = self.client
        self._config = wanted
        logger.info("reconnected to Temporal: its credentials have changed")

    def _take_keys(self, keys: Keys | None) -> None:
        cipher = self.client.data_converter.payload_codec
        if keys is not None and isinstance(cipher, PayloadCipher):
            cipher.use(keys)
            logger.info("the payload keys have changed and the new ones are in use")
        self._keys = keys

    def _complain(self, complaint: str) -> None:
        if complaint != self._complaint:
            logger.warning("the changed credentials of Temporal cannot be used yet: %s", complaint)
        self._complaint = complaint


def _credentials(config: ClientConnectConfig) -> ClientConnectConfig:
    """Return the settings that identify us and define whom we trust."""
    found = ClientConnectConfig()
    if "tls" in config:
        found["tls"] = config["tls"]
    if "api_key" in config:
        found["api_key"] = config["api_key"]
    return found
