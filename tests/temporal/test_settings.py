"""A Temporal setting that can never work is named; an unreachable server is waited for."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from starter import cli, temporal
from starter.failures import CommandFailure, ExitCode
from starter.targets import Output, Target
from tests.support.eventually import PATIENCE
from tests.support.guarded_temporal import Authority, guarded
from tests.support.limits import lifted
from workflows import connecting
from workflows.connecting import UnreachableError, UnusableSettingsError
from workflows.plugin import connect, connection

NOBODY = "127.0.0.1:1"

patient = lifted(connecting, "_PROBE_WITHIN", PATIENCE)


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        (
            {"TEMPORAL_PROFILE": "nobodys"},
            (
                "TEMPORAL_PROFILE is 'nobodys': the file that TEMPORAL_CONFIG_FILE names has no "
                "such profile"
            ),
        ),
        (
            {"TEMPORAL_CONFIG_FILE": "/none.toml"},
            "TEMPORAL_CONFIG_FILE is '/none.toml': no such file",
        ),
        (
            {"TEMPORAL_TLS_SERVER_CA_CERT_PATH": "/none.pem"},
            "TEMPORAL_TLS_SERVER_CA_CERT_PATH is '/none.pem': No such file or directory",
        ),
        (
            {"TEMPORAL_TLS_CLIENT_KEY_PATH": "/none.pem"},
            "TEMPORAL_TLS_CLIENT_KEY_PATH is '/none.pem': No such file or directory",
        ),
        ({"TEMPORAL_ADDRESS": "temporal"}, "TEMPORAL_ADDRESS is 'temporal': write host:port"),
        (
            {"TEMPORAL_ADDRESS": "https://temporal:7233"},
            "TEMPORAL_ADDRESS is 'https://temporal:7233': write host:port",
        ),
    ],
)
def test_a_setting_that_cannot_be_read_is_named(variables: Mapping[str, str], told: str) -> None:
    with pytest.raises(UnusableSettingsError) as refused:
        connection(variables)
    assert str(refused.value) == told


def test_a_file_that_is_not_toml_is_named(tmp_path: Path) -> None:
    file = tmp_path / "temporal.toml"
    file.write_text("[[[")
    with pytest.raises(UnusableSettingsError, match=r"TEMPORAL_CONFIG_FILE is .*TOML parse error"):
        connection({"TEMPORAL_CONFIG_FILE": str(file)})


@pytest.mark.parametrize("address", ["temporal.example:7233", "[::1]:7233", "10.0.0.1:1"])
def test_a_host_and_a_port_are_an_address(address: str) -> None:
    assert connection({"TEMPORAL_ADDRESS": address})["target_host"] == address


async def test_an_unreachable_server_is_not_a_wrong_setting() -> None:
    expected = rf"^{NOBODY} does not answer; check TEMPORAL_ADDRESS \("
    with pytest.raises(UnreachableError, match=expected):
        await connect({"TEMPORAL_ADDRESS": NOBODY})


async def test_a_certificate_without_its_key_is_refused(authority: Authority) -> None:
    pair = authority.issue("client")
    with pytest.raises(UnusableSettingsError, match=r"_CERT_PATH and .*_KEY_PATH go together"):
        await connect({"TEMPORAL_TLS_CLIENT_CERT_PATH": str(pair.certificate)})


async def test_a_key_of_another_certificate_is_refused(authority: Authority) -> None:
    one, other = authority.issue("one"), authority.issue("other")
    variables = {
        "TEMPORAL_ADDRESS": NOBODY,
        "TEMPORAL_TLS_CLIENT_CERT_PATH": str(one.certificate),
        "TEMPORAL_TLS_CLIENT_KEY_PATH": str(other.key),
    }
    with pytest.raises(UnusableSettingsError, match=r"_KEY_PATH is not the key of .*_CERT_PATH"):
        await connect(variables)


# -- answers of a guarded server, which needs no Temporal behind it ---------------------------

Given = Callable[[Authority, Authority], dict[str, str]]


def _trusting(authority: Authority) -> dict[str, str]:
    return {"TEMPORAL_TLS_SERVER_CA_CERT_PATH": str(authority.path)}


def _with_certificate(trusted: Authority, signer: Authority) -> dict[str, str]:
    pair = signer.issue("client")
    return _trusting(trusted) | {
        "TEMPORAL_TLS_CLIENT_CERT_PATH": str(pair.certificate),
        "TEMPORAL_TLS_CLIENT_KEY_PATH": str(pair.key),
    }


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (lambda _, __: {}, "TEMPORAL_TLS must be true: {address} speaks TLS"),
        (
            lambda _, other: _trusting(other),
            (
                "TEMPORAL_TLS_SERVER_CA_CERT_PATH must name the CA that signed the certificate of "
                "{address}; the CAs trusted now did not"
            ),
        ),
        (
            lambda right, _: _trusting(right) | {"TEMPORAL_TLS_SERVER_NAME": "temporal.example"},
            (
                "TEMPORAL_TLS_SERVER_NAME must be a name that the certificate of {address} is "
                "valid for"
            ),
        ),
        (
            lambda right, _: _trusting(right),
            (
                "{address} requires authentication for namespace default: set TEMPORAL_API_KEY, or "
                "TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH"
            ),
        ),
        (
            lambda right, _: _trusting(right) | {"TEMPORAL_API_KEY": "wrong"},
            "TEMPORAL_API_KEY is not accepted by {address} for namespace default",
        ),
    ],
    ids=["no TLS", "other authority", "other name", "no API key", "wrong API key"],
)
async def test_a_setting_that_the_server_requires_is_named(
    given: Given, told: str, authority: Authority, tmp_path: Path
) -> None:
    other = Authority(tmp_path, "other")
    async with guarded(NOBODY, server=authority.issue("server"), api_key="right") as address:
        variables = given(authority, other) | {"TEMPORAL_ADDRESS": address}
        with pytest.raises(UnusableSettingsError) as refused:
            await connect(variables)
    assert str(refused.value) == told.format(address=address)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            lambda right, _: _trusting(right),
            (
                "TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH must be set: "
                "{address} requires a client certificate"
            ),
        ),
        (_with_certificate, "TEMPORAL_TLS_CLIENT_CERT_PATH is not accepted by {address}"),
    ],
    ids=["no certificate", "certificate of another authority"],
)
async def test_a_client_certificate_that_the_server_requires_is_named(
    given: Given, told: str, authority: Authority, tmp_path: Path
) -> None:
    other, pair = Authority(tmp_path, "other"), authority.issue("server")
    async with guarded(NOBODY, server=pair, clients_of=authority.path) as address:
        variables = given(authority, other) | {"TEMPORAL_ADDRESS": address}
        with pytest.raises(UnusableSettingsError) as refused:
            await connect(variables)
    assert str(refused.value) == told.format(address=address)


# -- commands ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        ["temporal", "setup"],
        ["temporal", "set-current", "--deployment", "d", "--build-id", "b"],
        ["search-attributes"],
        ["search-attributes", "--print"],
    ],
    ids=" ".join,
)
def test_an_unusable_setting_is_a_usage_error(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TEMPORAL_PROFILE", "nobodys")
    assert cli.run(command) == 2
    assert capsys.readouterr().err == (
        "error: TEMPORAL_PROFILE is 'nobodys': the file that TEMPORAL_CONFIG_FILE names has no "
        "such profile\n"
    )


async def test_a_command_about_runs_tells_an_unusable_setting_from_an_unreachable_temporal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It would do without an unreachable Temporal, as far as the hub can help."""
    target = Target(kubeconfig=None, context=None, namespace="", output=Output.TABLE)
    monkeypatch.setenv("TEMPORAL_ADDRESS", NOBODY)
    with pytest.raises(temporal.OutOfReach):
        await temporal.connect(target)
    monkeypatch.setenv("TEMPORAL_PROFILE", "nobodys")
    with pytest.raises(CommandFailure) as refused:
        await temporal.connect(target)
    assert refused.value.exit_code is ExitCode.USAGE
