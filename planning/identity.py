"""Which update run is meant, and how others name what belongs to it."""

from pydantic import BaseModel, ConfigDict

from api.kinds import SCOPES, Scope, ScopeName


class RunRef(BaseModel):
    """One update run; the uid tells a re-created namesake apart."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    scope_name: ScopeName
    namespace: str = ""
    """Empty for a cluster-scoped run."""
    name: str
    uid: str

    @property
    def scope(self) -> Scope:
        """The kinds that belong to the run."""
        return SCOPES[self.scope_name]

    @property
    def workflow_id(self) -> str:
        """`csur/<name>/<uid>` or `sur/<namespace>/<name>/<uid>`."""
        parts = [self.scope_name.value, self.namespace, self.name, self.uid]
        return "/".join(part for part in parts if part)

    @property
    def log_fields(self) -> dict[str, str]:
        """What lines of the log about the run are found by."""
        return {"namespace": self.namespace, "run": self.name}

    def key(self, name: str) -> str:
        """`<namespace>/<name>` of something in the run's namespace, `/<name>` without one."""
        return f"{self.namespace}/{name}"

    def reference(self, name: str) -> str:
        """`<namespace>/<name>`, or only the name without a namespace (contract: conventions)."""
        return f"{self.namespace}/{name}" if self.namespace else name
