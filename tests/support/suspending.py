"""Having a process do nothing for a while."""

import signal

import psutil

from tests.support.eventually import wait


def suspend(pid: int) -> None:
    """Stop a process, and wait until all of its threads stand still.

    On a busy machine the signal takes a while to reach them, in which they answer.
    """
    process = psutil.Process(pid)
    process.send_signal(signal.SIGSTOP)
    wait(
        lambda: all(
            psutil.Process(each.id).status() == psutil.STATUS_STOPPED for each in process.threads()
        )
    )
