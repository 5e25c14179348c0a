"""`fleetgate run watch`: when it ends and with which exit code, and that it keeps watching."""

import asyncio
import fcntl
import os
import pty
import struct
import sys
import termios
from pathlib import Path

import pytest

from api.kinds import CLUSTER_SCOPE
from deploy.installing import crds
from hub import Hub, Json
from planning.runs import views
from starter.failures import ExitCode
from starter.run.watching import Until, exit_code
from tests.starter.runs import RunOnHub, recorded
from tests.starter.test_views import recorded as recorded_run
from tests.starter.typed import Fleetgate, nothing_printed, type_command
from tests.support.conditions import condition
from tests.support.eventually import eventually, patience
from tests.support.servers import PrivateApiServer

GATE = "approval-before-canary"


def asking(name: str) -> Json:
    """Return the status of a run with this name that waits for the approval before stage canary."""
    status: Json = recorded(GATE)["status"]
    task = status["stagesStatus"][1]["beforeStageTaskStatus"][0]
    task["approvalRequestName"] = f"{name}-before-canary"
    return status


@pytest.mark.parametrize(
    ("moment", "state", "codes"),
    [
        ("planned", "Initialize", [5, None, None]),
        ("planned", "Run", [None, None, None]),
        ("first-cluster-in-flight", "Run", [None, None, None]),
        ("timed-wait", "Run", [None, None, None]),
        ("stuck", "Run", [6, None, None]),
        (GATE, "Run", [4, None, None]),
        ("stopped", "Stop", [5, None, None]),
        ("stopped", "Run", [None, None, None]),
        ("stopped-at-gate", "Stop", [5, None, None]),
        ("succeeded", "Run", [0, 0, 0]),
        ("preempted", "Run", [1, 1, 0]),
        ("initialization-failed", "Run", [1, 1, 0]),
    ],
)
def test_the_exit_code_of_a_watch_at_each_moment_of_a_run(
    moment: str, state: str, codes: list[int | None]
) -> None:
    seen = recorded_run(moment)
    seen.spec.state = type(seen.spec.state)(state)
    view = views.of(seen)
    assert [exit_code(view, until) for until in Until] == codes


async def test_with_until_gate_it_ends_when_a_person_is_needed(run: RunOnHub) -> None:
    await run.create(GATE, state="Run")
    await run.say(asking(run.name))
    await run.ask()
    for option in (["--until", "gate"], ["--exit-on-gate"]):
        typed = await run.type("run", "watch", run.name, *option)
        assert typed.code == ExitCode.GATE, typed.err
        last = typed.out.splitlines()[-1]
        assert last == f"run {run.name}: waiting for approval before stage canary"


async def test_an_approval_that_was_just_given_does_not_end_the_watch(run: RunOnHub) -> None:
    await run.create(GATE, state="Run")
    await run.say(asking(run.name))
    await run.ask()
    request = await run.hub.get(run.scope.approval, run.request, namespace=run.namespace)
    approved = condition("Approved", "True", request["metadata"]["generation"])
    await run.hub.patch(
        run.scope.approval,
        run.request,
        {"status": {"conditions": [approved]}},
        namespace=run.namespace,
        subresource="status",
    )
    watching = asyncio.create_task(run.type("run", "watch", run.name, "--until", "gate"))
    await run.say(recorded("succeeded")["status"])
    typed = await asyncio.wait_for(watching, timeout=patience())
    assert typed.code == ExitCode.DONE, typed.out


async def test_with_until_finished_a_failed_run_exits_with_0(run: RunOnHub) -> None:
    await run.create("preempted")
    finished = await run.type("run", "watch", run.name, "--until", "finished")
    assert finished.code == ExitCode.DONE, finished.err
    assert finished.out.splitlines()[-1].startswith(f"run {run.name}: failed: the binding of")
    succeeded = await run.type("run", "watch", run.name)
    assert succeeded.code == ExitCode.FAILED


async def test_a_watch_times_out(run: RunOnHub) -> None:
    await run.create("stuck")
    typed = await run.type("run", "watch", run.name, "--timeout", "1s")
    assert typed.code == ExitCode.LATE, typed.err
    assert typed.out.splitlines()[-1].startswith(f"run {run.name}: stuck")
    unread = await run.type("run", "watch", run.name, "--timeout", "soon")
    assert unread.code == ExitCode.USAGE


async def test_contradicting_options_are_refused(fleetgate: Fleetgate) -> None:
    typed = await fleetgate("run", "watch", "any", "--exit-on-gate", "--until", "finished")
    assert typed.code == ExitCode.USAGE
    assert "--exit-on-gate means --until gate, not --until finished" in typed.err


async def test_a_run_without_finished_clusters_is_estimated_from_earlier_runs(
    run: RunOnHub, unique: str
) -> None:
    before = RunOnHub(run.hub, run.scope, f"{unique}-before", run.fleetgate)
    await before.create("succeeded", placementName=unique)
    try:
        await run.create("planned", placementName=unique)
        typed = await run.type("run", "watch", run.name, "--until", "gate")
    finally:
        await before.remove()
    assert typed.code == ExitCode.STOPPED
    assert "0/3 planned, not started; left: about " in typed.out
    assert " plus 2 approvals" in typed.out


async def test_it_keeps_watching_while_the_api_server_is_unreachable(
    private_api_server: PrivateApiServer, fleetgate: Fleetgate, unique: str
) -> None:
    kubeconfig = private_api_server.kubeconfig
    printed = nothing_printed()

    async def says(text: str) -> None:
        await eventually(lambda: any(text in stream.getvalue() for stream in printed.values()))

    async with await Hub.connect(kubeconfig) as hub:
        await crds.install(hub, crds.definitions())
        run = RunOnHub(hub, CLUSTER_SCOPE, unique, fleetgate)
        await run.create("first-cluster-in-flight")
        watching = asyncio.create_task(
            type_command(("run", "watch", unique, "--kubeconfig", str(kubeconfig)), printed=printed)
        )
        await says("updating member2 in stage staging")
        await private_api_server.kill()
        await says("lost the hub, still trying: ")
        await private_api_server.start()
        await says("reached the hub again")
        await run.say(recorded("succeeded")["status"])
    typed = await asyncio.wait_for(watching, timeout=patience())
    assert typed.code == ExitCode.DONE
    assert "succeeded after" in typed.out


async def test_on_a_terminal_the_screen_is_redrawn(run: RunOnHub, hub_kubeconfig: Path) -> None:
    await run.create("first-cluster-in-flight")
    terminal, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    words = ["run", "watch", run.name, "--kubeconfig", str(hub_kubeconfig), *run.flags]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "starter", *words),
        stdin=inside,
        stdout=inside,
        stderr=inside,
        env=os.environ | {"TERM": "xterm-256color"},
    )
    os.close(inside)
    try:
        async with asyncio.timeout(patience()):
            drawn = await asyncio.to_thread(_read, terminal, "updating member2 in stage staging")
            assert "─" in drawn
            await run.say(recorded("succeeded")["status"])
            end = f"run {run.name}: succeeded after"
            assert CLEARED in await asyncio.to_thread(_read, terminal, end)
            assert await process.wait() == ExitCode.DONE
    finally:
        if process.returncode is None:
            process.kill()  # which also ends a reader of the terminal
        os.close(terminal)


CLEARED = "\x1b[2K"
"""Escape sequence that clears a line of a terminal before it is redrawn."""


def _read(terminal: int, until: str) -> str:
    seen = ""
    while until not in seen:
        seen += os.read(terminal, 65536).decode(errors="replace")
    return seen
