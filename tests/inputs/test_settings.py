"""Any value in a worker's environment is used, or refused with the variable's name."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import worker
from tests.inputs.generated import TEXTS, WAITS
from wiring.settings import Settings, _problem

VARIABLES = [f"FLEETGATE_{name.upper()}" for name in Settings.model_fields]
VALUES = st.one_of(
    TEXTS,
    WAITS,
    st.sampled_from(
        ["engine", "engine,bridge", "engine,", ",", "all", "builtin", "external", "json", "otlp"]
    ),
    st.sampled_from(["a=b", "a=b,c=d", "a=", "=b", "true", "no", "127.0.0.1:0", "[::1]:80", ":"]),
)


@given(st.dictionaries(st.sampled_from(VARIABLES), VALUES, max_size=4))
def test_a_value_is_used_or_refused_with_its_variable(environ: dict[str, str]) -> None:
    try:
        Settings.load(environ)
    except ValidationError as error:
        for each in error.errors():
            line = _problem(each, {})
            name = line.partition(" is ")[0]
            assert name in VARIABLES, line
            assert "\n" not in line or "\n" in environ[name]


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("FLEETGATE_RUN", "engine,cook"),
        ("FLEETGATE_PLACEMENT", "none"),
        ("FLEETGATE_STUCK_AFTER", "0s"),
        ("FLEETGATE_STUCK_AFTER", "5 minutes"),
        ("FLEETGATE_STUCK_AFTER", "9" * 500 + "h"),
        ("FLEETGATE_MEMBERS", "member1"),
        ("FLEETGATE_LOG_FORMAT", "xml"),
        ("FLEETGATE_TRACING", "jaeger"),
        ("FLEETGATE_COLLECT_NAMESPACES", "perhaps"),
    ],
)
def test_a_worker_with_an_unusable_variable_names_it_and_exits_with_2(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SystemExit) as ended:
        worker.main()
    assert ended.value.code == 2
    assert re.match(rf"error: {variable} is ", capsys.readouterr().err)
