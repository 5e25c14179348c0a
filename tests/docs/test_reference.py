"""The generated reference matches the code."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from api.base import KubernetesObject
from api.crds import MODELS, definition
from api.markers import Schema
from docs.generator import all_pages, messages, settings, write
from docs.generator.__main__ import main
from docs.generator.markdown import literal, plain
from planning import durations, failures
from planning.failures import RunFailure
from starter.cli import fleetgate
from starter.explain import reasons
from starter.explain.reasons.entries import ReasonEntry
from starter.failures import ExitCode
from starter.worker import worker as worker_command
from wiring import Settings

PAGES = all_pages()


def kinds(model: type[KubernetesObject]) -> str:
    return model.resource.kind.kind


def schemas(schema: Schema) -> Iterator[Schema]:
    """Yield the schema and all schemas within it, except those that every object has."""
    yield schema
    below = schema.get("properties", {}) | ({"": schema["items"]} if "items" in schema else {})
    for name, each in below.items():
        if name not in {"apiVersion", "kind", "metadata"}:
            yield from schemas(each)


@pytest.mark.parametrize("model", MODELS, ids=kinds)
def test_a_page_of_a_kind_has_every_field_limit_and_refusal(model: type[KubernetesObject]) -> None:
    text = PAGES[f"objects/{kinds(model).lower()}.md"]
    served = definition(model)["spec"]["versions"][-1]["schema"]["openAPIV3Schema"]

    for schema in schemas(served):
        fields = set(schema.get("properties", ())) - {"apiVersion", "kind", "metadata"}
        said = [f"\n| {literal(name)} |" for name in fields]
        said += [plain(rule["message"]) for rule in schema.get("x-kubernetes-validations", ())]
        said += [literal(value) for value in schema.get("enum", ())]
        assert [each for each in said if each not in text] == []


@pytest.mark.parametrize("model", MODELS, ids=kinds)
def test_the_list_of_objects_links_to_every_kind(model: type[KubernetesObject]) -> None:
    name = kinds(model)
    assert f"[{name}]({name.lower()}.md)" in PAGES["objects/index.md"]


def test_a_field_that_is_described_elsewhere_on_the_page_links_there() -> None:
    text = PAGES["objects/clusterstagedupdatestrategy.md"]
    row = next(line for line in text.splitlines() if line.startswith("| `beforeStageTasks`"))
    assert "[object](#specstagesafterstagetasks)" in row
    assert text.count("One gate before or after a stage.") == 1


def commands(group: click.Group, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, *path, name)


@pytest.mark.parametrize(("path", "command"), list(commands(fleetgate)), ids=str)
def test_every_command_is_described_with_all_its_options(
    path: tuple[str, ...], command: click.Command
) -> None:
    text = PAGES[f"commands/{path[0]}.md"]
    assert f"# fleetgate {' '.join(path)}\n" in text
    options = [
        each for each in command.params if isinstance(each, click.Option) and not each.hidden
    ]
    assert [each.name for each in options if each.opts[0] not in text] == []


@pytest.mark.parametrize("code", list(ExitCode))
def test_every_exit_code_is_described(code: ExitCode) -> None:
    assert f"\n| {code.value} | " in PAGES["commands/index.md"]


def test_every_setting_is_described_with_an_existing_flag() -> None:
    flags = {opt for each in worker_command.params for opt in each.opts}
    for name in Settings.model_fields:
        flag = f"--{name.replace('_', '-')}"
        assert f"| `FLEETGATE_{name.upper()}` | `{flag}` |" in PAGES["settings.md"]
        assert flag in flags


@pytest.mark.parametrize("typed", ["10s", "1m", "5m", "1m30s", "1h", "2h10m", "1h5s"])
def test_a_default_is_written_as_a_user_types_it(typed: str) -> None:
    assert settings.written(durations.parse(typed)) == literal(typed)


@pytest.mark.parametrize("entry", reasons.ALL, ids=lambda entry: f"{entry.kind} {entry.reason}")
def test_every_reason_is_explained_with_what_to_do(entry: ReasonEntry) -> None:
    section = PAGES["reasons.md"].partition(f"## {entry.kind[0].upper()}{entry.kind[1:]}\n")[2]
    told = section.partition(f"### {entry.reason}\n")[2].partition("\n#")[0]
    where = f"Of the condition `{entry.condition}`. " if entry.condition else ""
    assert f"{where}{entry.cause}" in told
    assert f"→ {entry.fix}" in told


@pytest.mark.parametrize("failure", failures.ALL, ids=lambda failure: failure.text.template[:40])
def test_every_message_of_a_failed_run_is_a_heading_with_its_own_explanation(
    failure: RunFailure,
) -> None:
    _, found, after = PAGES["messages.md"].partition(f"### {literal(messages.heading(failure))}\n")
    assert found
    told = after.partition("\n#")[0]
    fixed = [re.split(r"\{.+?\}", text)[0] for text in (failure.cause, failure.fix)]
    assert [text for text in fixed if plain(text) not in told] == []


def test_pages_of_removed_code_are_deleted_from_the_reference(tmp_path: Path) -> None:
    (tmp_path / "objects").mkdir()
    (tmp_path / "objects" / "gone.md").write_text("# Gone")
    (tmp_path / "index.md").write_text("# Written by hand")

    write(tmp_path)

    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.md")}
    assert found == {"index.md", *PAGES}


def test_an_unchanged_page_is_not_written_again(tmp_path: Path) -> None:
    write(tmp_path)
    old = tmp_path / "settings.md"
    os.utime(old, (1, 1))

    write(tmp_path)

    assert old.stat().st_mtime == 1


def test_pages_that_differ_from_the_code_are_reported_and_then_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main([str(tmp_path)])
    (tmp_path / "settings.md").write_text("# Old")
    (tmp_path / "reasons.md").unlink()
    (tmp_path / "gone.md").write_text("# Gone")

    assert main(["--check", str(tmp_path)]) == 1
    assert capsys.readouterr().err.splitlines() == [
        f"{tmp_path}/gone.md describes what no longer exists",
        f"{tmp_path}/reasons.md is missing or out of date",
        f"{tmp_path}/settings.md is missing or out of date",
        f"to update the pages: python -m docs.generator {tmp_path}",
    ]
    assert main([str(tmp_path)]) == 0
    assert main(["--check", str(tmp_path)]) == 0
