"""Members whose kubeconfig is in a Secret on the hub, because no agent can run next to them.

A Secret names its member in the label `fleetgate.dev/member` and holds the kubeconfig under the key
`kubeconfig`. A changed Secret restarts the agent; a deleted one stops it and leaves the member as
it is.
"""

import asyncio
import hashlib
import logging
from base64 import b64decode
from functools import partial
from typing import Final

from agent.pool import AgentPool
from api import names
from api.kinds import SECRET
from hub import BadConfiguration, Cache, Change, Controller, Hub, Json, Key

logger = logging.getLogger(__name__)

_KUBECONFIG: Final = "kubeconfig"
"""Key of a Secret that holds the kubeconfig."""


class MemberSecrets:
    """Runs an agent in a pool for each member that has a Secret in one namespace of the hub."""

    def __init__(self, hub: Hub, pool: AgentPool, *, namespace: str) -> None:
        self._pool = pool
        self._cache = Cache(hub, SECRET, namespace=namespace, labels=names.MEMBER_KUBECONFIG)
        self._served: dict[str, str] = {}
        """Fingerprint of the Secret in use, by member."""
        self._controller = Controller("members from Secrets", self._reconcile)
        self._cache.subscribe(self._on_change)

    async def run(self) -> None:
        """Follow the Secrets until cancelled."""
        await asyncio.gather(self._cache.run(), self._controller.run())

    async def ready(self) -> None:
        """Wait until the Secrets have been read."""
        await self._cache.ready()

    def _on_change(self, change: Change) -> None:
        for body in (change.old, change.new):
            if body is not None:
                self._controller.queue.add(("", _member(body)))

    async def _reconcile(self, key: Key) -> None:
        member = key[1]
        secret = self._secret(member)
        wanted = _fingerprint(secret) if secret else ""
        if self._served.get(member, "") == wanted:
            return
        await self._pool.stop(member)
        self._served[member] = wanted
        if secret is not None:
            self._pool.start(member, partial(_connect, secret))

    def _secret(self, member: str) -> Json | None:
        """Return the Secret of a member; the first by name if there are several."""
        found = [each for each in self._cache.items() if _member(each) == member]
        if len(found) > 1:
            listed = [each["metadata"]["name"] for each in found]
            logger.warning("member %s has Secrets %s: only the first is used", member, listed)
        return found[0] if found else None


async def _connect(secret: Json) -> Hub:
    try:
        return await Hub.connect_as_told(_kubeconfig(secret), manager="fleetgate-agent")
    except BadConfiguration as error:
        name = secret["metadata"]["name"]
        raise BadConfiguration(f"Secret {name} cannot be used: {error}") from error


def _member(secret: Json) -> str:
    member: str = secret["metadata"]["labels"][names.MEMBER_KUBECONFIG]
    return member


def _fingerprint(secret: Json) -> str:
    content = (secret.get("data") or {}).get(_KUBECONFIG, "")
    return hashlib.sha256(f"{secret['metadata']['name']} {content}".encode()).hexdigest()


def _kubeconfig(secret: Json) -> str:
    content = (secret.get("data") or {}).get(_KUBECONFIG)
    if content is None:
        raise BadConfiguration(f"it has no key {_KUBECONFIG!r}; store the kubeconfig under it")
    try:
        return b64decode(content).decode()
    except UnicodeDecodeError as error:
        raise BadConfiguration(f"its key {_KUBECONFIG!r} does not hold UTF-8 text") from error
