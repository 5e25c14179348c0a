"""The sandbox in which workflows run, without what it costs for payloads that need nothing.

For each single payload that comes or goes, the SDK asks the workflow three times, inside of its
sandbox, what the payload belongs to, so that a codec may know. A converter that treats all alike
has no use for it, and entering the sandbox for the answer was a tenth of the engine's work.
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
    """The SDK's sandbox, for a data converter that converts everything in the same way.

    Not for one with a codec or a storage that has to know what a payload belongs to.
    """

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        """Begin a workflow, or a replay of it, in a sandbox of its own."""
        return _ContextFree(super().create_instance(det))


class _ContextFree(WorkflowInstance):
    """A sandboxed workflow that is only entered to go on with it."""

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
