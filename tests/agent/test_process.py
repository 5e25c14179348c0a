"""`fleetgate agent` as an operator runs it."""

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.agent.support import Member, namespace
from tests.support.eventually import patience


async def start(member: str, hub: Path, cluster: Path, *more: str) -> Process:
    options = [
        "--member",
        member,
        "--hub-kubeconfig",
        str(hub),
        "--member-kubeconfig",
        str(cluster),
        *more,
    ]
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "starter", "agent", *options, stdout=PIPE, stderr=PIPE
    )


async def test_an_agent_process_runs_until_it_is_stopped(
    member: Member,
    unique: str,
    hub_kubeconfig: Path,
    member_kubeconfig: Callable[[str], Awaitable[Path]],
) -> None:
    process = await start(member.name, hub_kubeconfig, await member_kubeconfig("agents"))
    await member.put(unique, namespace(f"{unique}-ns"))
    await member.reported(unique)
    process.send_signal(signal.SIGTERM)
    _, errors = await asyncio.wait_for(process.communicate(), timeout=patience())
    assert process.returncode == 0, errors.decode()
    assert b"Traceback" not in errors


async def test_a_missing_kubeconfig_is_reported_in_one_line(tmp_path: Path) -> None:
    absent = tmp_path / "absent.kubeconfig"
    process = await start("member1", absent, absent)
    _, errors = await process.communicate()
    assert process.returncode == 2
    assert errors.decode().startswith("error: Invalid value for '--hub-kubeconfig': File")
