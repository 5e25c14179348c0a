"""The identity of an update run, and the names derived from it."""

from typing import Final

from pydantic import BaseModel, ConfigDict

from api.kinds import SCOPES, Scope, ScopeName

LONGEST_NAME: Final = 63
"""Maximum length of a run's name (contract: update-runs 1)."""


def name_after(base: str, ending: str) -> str:
    """Return the name of a run that follows from something else, within what names may have."""
    # A truncated name must still end with a letter or digit before the suffix is added.
    return base[: LONGEST_NAME - len(ending)].rstrip("-.") + ending


class RunRef(BaseModel):
    """One update run; the uid distinguishes it from a re-created run of the same name."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    scope_name: ScopeName
    namespace: str = ""
    """Empty for a cluster-scoped run."""
    name: str
    uid: str

    @property
    def scope(self) -> Scope:
        """The kinds of the run's scope."""
        return SCOPES[self.scope_name]

    @property
    def workflow_id(self) -> str:
        """`csur/<name>/<uid>` or `sur/<namespace>/<name>/<uid>`."""
        parts = [self.scope_name.value, self.namespace, self.name, self.uid]
        return "/".join(part for part in parts if part)

    @property
    def as_owner(self) -> dict[str, str]:
        """The reference of an object that is deleted with the run."""
        kind = self.scope.run
        return {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "name": self.name,
            "uid": self.uid,
        }

    @property
    def log_fields(self) -> dict[str, str]:
        """The fields of log lines about the run."""
        return {"namespace": self.namespace, "run": self.name}

    def named(self, name: str) -> dict[str, str]:
        """Return the metadata that identifies an object in the run's namespace."""
        return {"name": name} | ({"namespace": self.namespace} if self.namespace else {})

    def key(self, name: str) -> str:
        """Return `<namespace>/<name>` of an object in the run's namespace; `/<name>` if none."""
        return f"{self.namespace}/{name}"

    def reference(self, name: str) -> str:
        """Return `<namespace>/<name>`, or only the name if none (contract: conventions)."""
        return f"{self.namespace}/{name}" if self.namespace else name
