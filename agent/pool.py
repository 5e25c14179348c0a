"""Many agents in one process: one for each member whose kubeconfig is in a Secret on the hub.

For members that cannot run an agent of their own. A Secret names its member in the label
`fleetgate.dev/member` and has the kubeconfig under the key `kubeconfig`. A changed Secret
restarts the agent, a removed one ends it and leaves the member as it is.

contract: placement 8 and 11
"""

import asyncio
import hashlib
import logging
from base64 import b64decode
from contextlib import suppress
from dataclasses import dataclass

from agent.errors import AgentError
from agent.room import Agent
from agent.settings import AgentSettings
from agent.sources import Split
from api import names
from api.kinds import MEMBER_CLUSTER, SECRET, WORK
from hub import BadConfiguration, Cache, Change, Controller, Hub, Json, Key

logger = logging.getLogger(__name__)

KUBECONFIG = "kubeconfig"
"""Key of a Secret under which the kubeconfig is."""


@dataclass(frozen=True, slots=True)
class _Running:
    fingerprint: str
    task: asyncio.Task[None]


class AgentPool:
    """Runs the agents of members whose kubeconfigs are in Secrets of one namespace."""

    def __init__(self, hub: Hub, *, namespace: str, settings: AgentSettings | None = None) -> None:
        self._hub = hub
        self._settings = settings or AgentSettings()
        self._secrets = Cache(hub, SECRET, namespace=namespace, labels=names.MEMBER_KUBECONFIG)
        # One watch each for all agents, however many there are.
        self._works = Split(Cache(hub, WORK), by=lambda key: key[0])
        self._members = Split(Cache(hub, MEMBER_CLUSTER), by=lambda key: key[1])
        self._running: dict[str, _Running] = {}
        self._controller = Controller("agents", self._reconcile)

    async def run(self) -> None:
        """Work until cancelled."""
        self._secrets.subscribe(self._on_secret)
        caches = (self._secrets, self._works.cache, self._members.cache)
        try:
            await asyncio.gather(*(cache.run() for cache in caches), self._controller.run())
        finally:
            for member in list(self._running):
                await self._stop(member)

    async def ready(self) -> None:
        """Wait until it is known which members there are and what they are to have."""
        for cache in (self._secrets, self._works.cache, self._members.cache):
            await cache.ready()

    def _on_secret(self, change: Change) -> None:
        for body in (change.old, change.new):
            if body is not None:
                self._controller.queue.add(("", _member(body)))

    async def _reconcile(self, key: Key) -> None:
        member = key[1]
        secret = self._secret(member)
        fingerprint = _fingerprint(secret) if secret else ""
        running = self._running.get(member)
        if running is not None and running.fingerprint == fingerprint:
            return
        await self._stop(member)
        if secret is not None:
            task = asyncio.create_task(self._serve(member, secret), name=f"agent of {member}")
            self._running[member] = _Running(fingerprint, task)

    def _secret(self, member: str) -> Json | None:
        """The Secret of a member; of several the first by name."""
        found = [each for each in self._secrets.items() if _member(each) == member]
        if len(found) > 1:
            others = ", ".join(each["metadata"]["name"] for each in found[1:])
            logger.warning(
                "member %s has several Secrets: %s counts, not %s",
                member,
                found[0]["metadata"]["name"],
                others,
            )
        return found[0] if found else None

    async def _stop(self, member: str) -> None:
        running = self._running.pop(member, None)
        if running is not None:
            running.task.cancel()
            with suppress(asyncio.CancelledError):
                await running.task

    async def _serve(self, member: str, secret: Json) -> None:
        """Be the agent of one member until cancelled; what goes wrong harms no other member."""
        while True:
            try:
                await self._run_agent(member, secret)
            except BadConfiguration as error:
                name = secret["metadata"]["name"]
                logger.warning("member %s has no agent: Secret %s: %s", member, name, error)
                return
            except AgentError as error:
                logger.warning("member %s has no agent for now: %s", member, error)
            except Exception:
                logger.exception("the agent of member %s has failed", member)
            await asyncio.sleep(self._settings.restart_pause.total_seconds())

    async def _run_agent(self, member: str, secret: Json) -> None:
        cluster = await Hub.connect_as_told(_kubeconfig(secret), manager="fleetgate-agent")
        async with cluster:
            await Agent(
                member=member,
                hub=self._hub,
                cluster=cluster,
                settings=self._settings,
                works=self._works.part(names.member_namespace(member)),
                members=self._members.part(member),
            ).run()


def _member(secret: Json) -> str:
    member: str = secret["metadata"]["labels"][names.MEMBER_KUBECONFIG]
    return member


def _fingerprint(secret: Json) -> str:
    content = (secret.get("data") or {}).get(KUBECONFIG, "")
    return hashlib.sha256(f"{secret['metadata']['name']} {content}".encode()).hexdigest()


def _kubeconfig(secret: Json) -> str:
    content = (secret.get("data") or {}).get(KUBECONFIG)
    if content is None:
        raise BadConfiguration(f"it has no key {KUBECONFIG!r}: put the member's kubeconfig there")
    try:
        return b64decode(content).decode()
    except UnicodeDecodeError as error:
        raise BadConfiguration(f"its {KUBECONFIG!r} is no text") from error
