"""The helm commands that joining prints are complete and can be pasted."""

import subprocess
from pathlib import Path

import pytest

from deploy.joining import chart
from deploy.joining.chart import HelmRelease


@pytest.mark.parametrize("context", ["prod-1", "arn:aws:eks:eu/prod 1", None])
@pytest.mark.parametrize("kubeconfig", [Path("my files/member.kubeconfig"), None])
def test_a_shell_reads_the_printed_command_as_it_would_be_run(
    kubeconfig: Path | None, context: str | None
) -> None:
    command = HelmRelease(kubeconfig, context).install(
        "prod-1", chart="a chart", settings=["a={1,2}", "b=$c"], files=[Path("values.yaml")]
    )
    pasted = ["sh", "-c", f"printf '%s\\n' {chart.text(command)}"]
    read = subprocess.run(pasted, capture_output=True, text=True, check=True)
    assert read.stdout.splitlines() == command


def test_the_printed_command_has_an_option_on_each_line() -> None:
    command = HelmRelease(None, "prod-1").uninstall()
    assert chart.text(command).splitlines() == [
        "helm uninstall fleetgate-agent \\",
        "    --ignore-not-found \\",
        "    --namespace fleetgate \\",
        "    --kube-context prod-1",
    ]


def test_the_chart_of_a_clone_is_found_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = chart.shipped()
    assert found
    assert (Path(found) / "Chart.yaml").exists()
