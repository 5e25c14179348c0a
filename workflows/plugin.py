"""Everything Temporal needs to know about fleetgate, in one plugin.

Worker, client, replayer and tests share it, so they cannot differ.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Final

from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client, Interceptor
from temporalio.envconfig import ClientConnectConfig
from temporalio.plugin import SimplePlugin
from temporalio.runtime import Runtime
from temporalio.service import RPCError
from temporalio.worker import WorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

from workflows import connecting
from workflows.deliverable import Deliverable
from workflows.encryption import Keys, data_converter, keys_of
from workflows.ended_run import EndUpdateRun
from workflows.sandbox import ContextFreeSandbox
from workflows.update_run import UpdateRunWorkflow

_PASSED_THROUGH: Final = (
    "pydantic",
    "pydantic_core",
    "annotated_types",
    "opentelemetry",
    "api",
    "planning",
    "activities",
)
"""Modules without side effects, which the sandbox need not reload for each workflow."""


def fleetgate_plugin(keys: Keys | None = None) -> SimplePlugin:
    """Return the plugin: data converter, sandbox, workflows; with keys, payloads are encrypted."""
    return SimplePlugin(
        "fleetgate",
        data_converter=data_converter(keys),
        workflow_runner=_passing_through,
        workflows=[UpdateRunWorkflow, EndUpdateRun],
        interceptors=[Deliverable()],
    )


async def connect(
    environ: Mapping[str, str] = os.environ,
    *,
    runtime: Runtime | None = None,
    interceptors: Sequence[Interceptor] = (),
) -> Client:
    """Connect with Temporal's own settings (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, …).

    Payloads are encrypted if FLEETGATE_PAYLOAD_KEYS names a file of keys. Interceptors apply to the
    client and to workers that use it.

    Raises UnusableSettingsError for settings that can never work, UnreachableError if Temporal does
    not answer.
    """
    config, plugin = connection(environ), fleetgate_plugin(keys_of(environ))
    try:
        return await Client.connect(
            **config, plugins=[plugin], runtime=runtime, interceptors=interceptors
        )
    except (RuntimeError, ValueError) as error:
        raise await connecting.explained(error, config) from error


async def connect_to_namespace(
    environ: Mapping[str, str] = os.environ,
    *,
    runtime: Runtime | None = None,
    interceptors: Sequence[Interceptor] = (),
) -> Client:
    """Connect like `connect`, and check that the namespace exists and that we may use it.

    Raises like `connect`; UnreachableError also while the namespace does not exist.
    """
    client = await connect(environ, runtime=runtime, interceptors=interceptors)
    try:
        await client.workflow_service.describe_namespace(
            DescribeNamespaceRequest(namespace=client.namespace)
        )
    except RPCError as error:
        raise connecting.refused(error, connection(environ)) from error
    return client


def connection(environ: Mapping[str, str] = os.environ) -> ClientConnectConfig:
    """Return the connection settings of Temporal; `target_host` and `namespace` are always set.

    Raises UnusableSettingsError.
    """
    return connecting.read(environ)


def _passing_through(runner: WorkflowRunner | None) -> WorkflowRunner:
    if not isinstance(runner, SandboxedWorkflowRunner):
        raise TypeError("workflows run only in the sandbox")
    return ContextFreeSandbox(
        runner.restrictions.with_passthrough_modules(*_PASSED_THROUGH), runner.runner_class
    )
