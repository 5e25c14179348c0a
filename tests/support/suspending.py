"""Suspending a process."""

import signal

import psutil

from tests.support.eventually import wait


def suspend(pid: int) -> None:
    """Send SIGSTOP and wait until all threads have stopped.

    On a busy machine some threads keep answering for a moment after the signal.
    """
    process = psutil.Process(pid)
    process.send_signal(signal.SIGSTOP)
    wait(
        lambda: all(
            psutil.Process(each.id).status() == psutil.STATUS_STOPPED for each in process.threads()
        )
    )
