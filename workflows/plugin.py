"""Everything Temporal needs to know about fleetgate, in one plugin.

Worker, client, replayer and tests all use it, so none of them can differ (design D13).
"""

import os
from collections.abc import Mapping, Sequence
from typing import Final

from temporalio.client import Client, Interceptor
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.envconfig import ClientConfig, ClientConnectConfig
from temporalio.plugin import SimplePlugin
from temporalio.runtime import Runtime
from temporalio.worker import WorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

from workflows.sandbox import ContextFreeSandbox
from workflows.update_run import UpdateRun

DEFAULT_ADDRESS: Final = "localhost:7233"
DEFAULT_NAMESPACE: Final = "default"
_PASSED_THROUGH: Final = (
    "pydantic",
    "pydantic_core",
    "annotated_types",
    "opentelemetry",
    "api",
    "planning",
    "activities",
)
"""Modules without side effects that the sandbox need not load anew for each workflow."""


def fleetgate_plugin() -> SimplePlugin:
    """Make the plugin: data converter, sandbox, workflows."""
    return SimplePlugin(
        "fleetgate",
        data_converter=pydantic_data_converter,
        workflow_runner=_passing_through,
        workflows=[UpdateRun],
    )


async def connect(
    environ: Mapping[str, str] = os.environ,
    *,
    runtime: Runtime | None = None,
    interceptors: Sequence[Interceptor] = (),
) -> Client:
    """Connect as Temporal's own settings say (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, …).

    Interceptors work for the client, and in workers that use it.

    Raises RuntimeError when nobody answers there.
    """
    config = connection(environ)
    return await Client.connect(
        **config, plugins=[fleetgate_plugin()], runtime=runtime, interceptors=interceptors
    )


def connection(environ: Mapping[str, str] = os.environ) -> ClientConnectConfig:
    """Where Temporal's own settings say that it is, `target_host` and `namespace` at least.

    Raises RuntimeError when they name a profile that there is not.
    """
    found = ClientConfig.load_client_connect_config(override_env_vars=dict(environ))
    found.setdefault("target_host", DEFAULT_ADDRESS)
    found.setdefault("namespace", DEFAULT_NAMESPACE)
    return found


def _passing_through(runner: WorkflowRunner | None) -> WorkflowRunner:
    if not isinstance(runner, SandboxedWorkflowRunner):
        raise TypeError("workflows run in the sandbox only")
    return ContextFreeSandbox(
        runner.restrictions.with_passthrough_modules(*_PASSED_THROUGH), runner.runner_class
    )
