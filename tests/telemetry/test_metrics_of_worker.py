"""What a worker process shows on its metrics address."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import aiohttp
import pytest

from deploy.local import ports
from tests.support.eventually import eventually
from tests.support.workers import worker_process


@pytest.fixture
def address(
    hub_kubeconfig: Path, temporal_address: str, unique: str, tmp_path: Path
) -> Iterator[str]:
    """Metrics address of a running worker that only polls a queue of its own."""
    address = f"127.0.0.1:{ports.choose()}"
    with worker_process(
        tmp_path / "worker.log",
        KUBECONFIG=str(hub_kubeconfig),
        TEMPORAL_ADDRESS=temporal_address,
        FLEETGATE_RUN="engine",
        FLEETGATE_TASK_QUEUE=unique,
        FLEETGATE_METRICS_ADDRESS=address,
    ):
        yield address


async def scrape(address: str) -> str:
    """Return the text of `/metrics`; empty while nothing answers."""
    try:
        async with aiohttp.ClientSession() as http, http.get(f"http://{address}/metrics") as found:
            return await found.text()
    except aiohttp.ClientConnectorError:
        return ""


async def test_a_worker_shows_metrics_of_its_process_and_its_requests(address: str) -> None:
    text = await eventually(lambda: scrape(address))
    assert "\nprocess_resident_memory_bytes " in text
    text = await eventually(
        lambda: scrape(address), lambda seen: "fleetgate_hub_requests_total" in seen
    )
    assert "# TYPE fleetgate_hub_requests_total counter\n" in text


async def test_a_worker_shows_that_it_is_ready_and_polls_temporal(address: str) -> None:
    for series in ("fleetgate_ready 1.0", "temporal_num_pollers{"):
        await eventually(partial(scrape, address), partial(contains, f"\n{series}"))


def contains(part: str, text: str) -> bool:
    return part in text
