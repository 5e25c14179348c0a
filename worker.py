"""The worker: reads its settings, wires the packages together, runs until stopped by a signal."""

import asyncio
import gc
import logging
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any, Final, NoReturn

from pydantic import ValidationError

from hub import BOUNDS, Hub, HubError, allow_many_files, process_identity
from telemetry import (
    AddressError,
    LeadershipMetrics,
    LogFormat,
    ProcessHealth,
    TracingError,
    configure_logging,
    process_registry,
    register_client,
    register_readiness,
    serve_health,
)
from wiring import MANAGER, Part, ProcessContext, Settings, parts_of, problems
from workflows.connecting import UnusableSettingsError

logger = logging.getLogger(__name__)

WRONG_USAGE: Final = 2
"""Exit code for unusable settings, the same as that of commands."""


async def serve(settings: Settings) -> None:
    """Run every role that the settings name, until SIGTERM or SIGINT.

    Raises HubError, AddressError, TracingError or UnusableSettingsError for errors that an operator
    can fix.
    """
    health, registry = ProcessHealth(), process_registry()
    register_readiness(registry, health)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(serve_health(settings.metrics_address, health, registry))
        hub = await stack.enter_async_context(
            await Hub.connect(settings.kubeconfig, context=settings.context, manager=MANAGER)
        )
        register_client(registry, hub, bounds=BOUNDS)
        context = ProcessContext(
            hub=hub,
            registry=registry,
            health=health,
            leaderships=LeadershipMetrics(registry),
            identity=settings.identity or process_identity(),
        )
        parts = await parts_of(settings, context, stack)
        # An engine polls in the background, so a process with only an engine needs this to wait on.
        stay = asyncio.Event().wait()
        work = (*(part.run() for part in parts), _announce(parts, health), stay)
        tasks = [asyncio.create_task(each) for each in work]
        running = asyncio.gather(*tasks)
        _stop_on_signals(running)
        try:
            await running
        except asyncio.CancelledError:
            logger.info("stopping")
        finally:
            await _ended(tasks)


async def _ended(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Cancel all tasks and wait: they hand over before the connection to the hub is closed."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _announce(parts: Sequence[Part], health: ProcessHealth) -> None:
    await asyncio.gather(*(part.ready() for part in parts))
    # What is loaded here stays; to search it for garbage takes a tenth of a second each time.
    gc.collect()
    gc.freeze()
    health.ready = True
    logger.info("ready")


def _stop_on_signals(running: asyncio.Future[Any]) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, running.cancel)


def main(**overrides: object) -> None:
    """Run a worker as a process; report each operator error in one line on standard error."""
    try:
        settings = Settings.load(os.environ, **overrides)
        log_format = settings.log_format
        if log_format is None:
            log_format = LogFormat.TEXT if sys.stderr.isatty() else LogFormat.JSON
        configure_logging(log_format)
        allow_many_files()
        asyncio.run(serve(settings))
    except ValidationError as error:
        for each in problems(error, overrides):
            sys.stderr.write(f"error: {each}\n")  # There is no log yet.
        sys.exit(WRONG_USAGE)
    except UnusableSettingsError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(WRONG_USAGE)
    except (HubError, AddressError, TracingError) as error:
        sys.exit(f"error: {error}")


def run() -> NoReturn:
    """Run a worker and end the process with its exit code."""
    try:
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
    except BaseException:  # noqa: BLE001 - shown as the interpreter would show it
        traceback.print_exc()
        code = 1
    sys.stderr.flush()
    # As in `starter.cli.main`: threads of Temporal's SDK may abort the interpreter during its
    # shutdown, and a worker that has ended normally would count as crashed.
    os._exit(code)


if __name__ == "__main__":
    run()
