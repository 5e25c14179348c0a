"""The worker as a separate process."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

import aiohttp

ROOT = Path(__file__).parent.parent.parent


@contextmanager
def worker_process(log: Path, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a worker with these variables while the context is open; its log goes to a file."""
    command = [sys.executable, str(ROOT / "worker.py")]
    with log.open("w") as written:
        process = subprocess.Popen(command, env=os.environ | variables, stderr=written)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


async def answers_ready(address: str) -> bool:
    """Return whether a worker answers at its metrics address and is ready."""
    try:
        async with aiohttp.ClientSession() as http, http.get(f"http://{address}/readyz") as found:
            return found.status == HTTPStatus.OK
    except aiohttp.ClientConnectorError:
        return False
