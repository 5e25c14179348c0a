"""A cluster of the fleet: a kube-apiserver and a kube-controller-manager."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.local import worker_rights
from deploy.local.files import private_folder, write_private
from deploy.local.keys import new_certificate, new_signing_key
from deploy.local.kubeconfigs import USER, write_kubeconfig
from deploy.local.ports import LOOPBACK
from deploy.local.processes import Processes
from deploy.local.services import Service, answers, ensure
from deploy.local.state import WORKER, api_server, controllers

# Only the controllers whose effects users see; the rest would just cost memory.
_HOUSEKEEPING: Final = (
    "namespace-controller",
    "garbage-collector-controller",
    "serviceaccount-token-controller",  # issues the tokens of `fleetgate member join`
)
_WORKLOADS: Final = (
    "deployment-controller",
    "replicaset-controller",
    "daemonset-controller",
    "statefulset-controller",
    "job-controller",
)

_AUDIT_LOG_MIB: Final = 100_000


@dataclass(frozen=True, slots=True)
class ControlPlane:
    """One cluster without nodes."""

    name: str
    folder: Path
    """Folder of its certificates, keys and token file."""
    kubeconfig: Path
    port: int
    token: str
    etcd_address: str
    runs_workloads: bool = True
    """Whether its workloads create pods."""
    worker_token: str = ""
    """Token of fleetgate's own worker, whose identity is not an administrator."""
    audit_policy: str = ""
    """Audit policy as YAML: which requests are recorded in `audit_log`; empty for no audit log."""

    @property
    def url(self) -> str:
        """Address of the API server."""
        return f"https://{LOOPBACK}:{self.port}"

    @property
    def authority(self) -> Path:
        """Certificates that a client has to trust: those of the server and of its authority."""
        return self.folder / "apiserver.crt"

    @property
    def audit_log(self) -> Path:
        """Audit log: one line of JSON per request that the audit policy selects."""
        return self.folder / "audit.log"

    def prepare(self) -> None:
        """Write the files that the API server reads when it starts."""
        private_folder(self.folder)
        if self.audit_policy:
            write_private(self._audit_policy_file, self.audit_policy)
        lines = [f'{self.token},{USER},{USER},"system:masters"']
        if self.worker_token:
            groups = ",".join(worker_rights.GROUPS)
            lines.append(f'{self.worker_token},{worker_rights.USER},{WORKER},"{groups}"')
        write_private(self._tokens, "".join(f"{line}\n" for line in lines))
        if not self._signing_key.exists():
            write_private(self._signing_key, new_signing_key())
        if not self.authority.exists():
            made = new_certificate(LOOPBACK)
            write_private(self._certificate_key, made.key)
            write_private(self.authority, made.chain)

    def write_kubeconfig(self) -> None:
        """Write the kubeconfig."""
        self._write_kubeconfig(self.kubeconfig, USER, self.token)

    def write_worker_kubeconfig(self, path: Path) -> None:
        """Write the kubeconfig of fleetgate's own worker."""
        self._write_kubeconfig(path, WORKER, self.worker_token)

    def _write_kubeconfig(self, path: Path, user: str, token: str) -> None:
        write_kubeconfig(
            path,
            cluster=self.name,
            url=self.url,
            authority=self.authority,
            user=user,
            token=token,
        )

    def api_server(self, binary: Path) -> Service:
        """Return the kube-apiserver."""
        return Service(
            name=api_server(self.name),
            argv=(
                str(binary),
                f"--etcd-servers={self.etcd_address}",
                f"--etcd-prefix=/{self.name}",
                f"--bind-address={LOOPBACK}",
                f"--advertise-address={LOOPBACK}",
                f"--secure-port={self.port}",
                f"--cert-dir={self.folder}",
                f"--token-auth-file={self._tokens}",
                "--anonymous-auth=false",
                "--authorization-mode=RBAC",
                "--service-account-issuer=https://kubernetes.default.svc",
                f"--service-account-key-file={self._signing_key}",
                f"--service-account-signing-key-file={self._signing_key}",
                "--service-cluster-ip-range=10.0.0.0/24",
                "--endpoint-reconciler-type=none",
                # Pods need no service account here, and no controller creates one.
                "--disable-admission-plugins=ServiceAccount",
                # Off by default before Kubernetes 1.36: the policies that record who did what.
                "--feature-gates=MutatingAdmissionPolicy=true",
                "--runtime-config=admissionregistration.k8s.io/v1beta1=true",
                "--profiling=false",
                *self._auditing(),
            ),
            address=self.url,
            ready=self._is_ready,
        )

    def controllers(self, binary: Path) -> Service:
        """Return the kube-controller-manager."""
        active = _HOUSEKEEPING + (_WORKLOADS if self.runs_workloads else ())
        return Service(
            name=controllers(self.name),
            argv=(
                str(binary),
                f"--kubeconfig={self.kubeconfig}",
                f"--controllers={','.join(active)}",
                f"--service-account-private-key-file={self._signing_key}",
                "--leader-elect=false",
                "--secure-port=0",
                "--profiling=false",
            ),
            uses=(self.url,),
        )

    def _auditing(self) -> tuple[str, ...]:
        if not self.audit_policy:
            return ()
        return (
            f"--audit-policy-file={self._audit_policy_file}",
            f"--audit-log-path={self.audit_log}",
            # A reader that follows the log would lose the end of a rotated file.
            f"--audit-log-maxsize={_AUDIT_LOG_MIB}",
        )

    @property
    def _audit_policy_file(self) -> Path:
        return self.folder / "audit-policy.yaml"

    @property
    def _certificate_key(self) -> Path:
        # Where the API server looks for it: next to its certificate.
        return self.folder / "apiserver.key"

    @property
    def _tokens(self) -> Path:
        return self.folder / "tokens.csv"

    @property
    def _signing_key(self) -> Path:
        return self.folder / "service-accounts.key"

    def _is_ready(self) -> bool:
        # The default namespace is created shortly after the server reports that it is ready.
        paths = ("/readyz", "/api/v1/namespaces/default")
        return all(
            answers(self.url + path, token=self.token, authority=self.authority) for path in paths
        )


async def ensure_control_plane(
    plane: ControlPlane, *, api_server: Path, controllers: Path, processes: Processes
) -> bool:
    """Start the processes of the cluster that are not running, and write its kubeconfig.

    Returns whether anything was started.
    """
    plane.prepare()
    server = await ensure(plane.api_server(api_server), processes=processes)
    plane.write_kubeconfig()
    return await ensure(plane.controllers(controllers), processes=processes) or server
