"""The sandbox in which workflows run, without its cost of looking up what each payload belongs to.

For every payload in or out, the SDK enters the sandbox three times to ask the workflow what the
payload belongs to, in case a codec needs to know. A converter that treats all payloads alike has no
use for the answer, and getting it took a tenth of the engine's CPU time.
"""

from dataclasses import dataclass

from temporalio.bridge.proto.workflow_activation import WorkflowActivation
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.converter import StorageDriverStoreContext
from temporalio.worker import WorkflowInstance, WorkflowInstanceDetails
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner
from temporalio.workflow import Info


@dataclass(frozen=True)
class ContextFreeSandbox(SandboxedWorkflowRunner):
    """The SDK's sandbox, for a data converter that treats all payloads alike.

    Not for a converter whose codec or storage depends on what a payload belongs to.
    """

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        """Start a workflow, or a replay of one, in a sandbox of its own."""
        return _ContextFree(super().create_instance(det))


class _ContextFree(WorkflowInstance):
    """A sandboxed workflow whose sandbox is entered only to run the workflow."""

    def __init__(self, sandboxed: WorkflowInstance) -> None:
        self._sandboxed = sandboxed

    def activate(self, act: WorkflowActivation) -> WorkflowActivationCompletion:
        return self._sandboxed.activate(act)

    def get_serialization_context(self, command_info: object) -> None:
        return None

    def get_external_store_context(self, command_info: object) -> StorageDriverStoreContext:
        return StorageDriverStoreContext(target=None)

    def get_info(self) -> Info:
        return self._sandboxed.get_info()

    def get_thread_id(self) -> int | None:
        return self._sandboxed.get_thread_id()
