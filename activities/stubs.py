"""Every activity: its name, what it takes and what it answers, said once for both sides.

Workflows call activities by these stubs (`workflows.calls`), activities take their names from
them, and commands that read a workflow's history recognise them by their names.
"""

from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from activities.requests import (
    AcceptApproval,
    ActivityMessage,
    AnswerDecision,
    ApplyAgain,
    ApprovalState,
    ClusterUpdated,
    DecisionRead,
    FindSnapshot,
    FollowBindings,
    OpenApproval,
    ReadDecision,
    ReadLine,
    RecordApproval,
    RecordEvents,
    RemoveCluster,
    RollBack,
    RolledBack,
    SetState,
    StateSet,
    StatusWritten,
    Survey,
    Surveyed,
    UpdateCluster,
    WriteReport,
    WriteStatus,
)
from planning.policies.queueing import Line
from planning.runs.facts import SnapshotFacts

RequestT = TypeVar("RequestT", bound=ActivityMessage)
AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True, slots=True)
class Stub(Generic[RequestT, AnswerT]):
    """One activity, as a workflow calls it."""

    name: str
    takes: type[RequestT]
    answers: type[AnswerT]


SURVEY: Final = Stub("survey", Survey, Surveyed)
FIND_SNAPSHOT: Final = Stub("find_snapshot", FindSnapshot, SnapshotFacts)
WRITE_STATUS: Final = Stub("write_status", WriteStatus, StatusWritten)
SET_STATE: Final = Stub("set_state", SetState, StateSet)
OPEN_APPROVAL: Final = Stub("open_approval", OpenApproval, ApprovalState)
RECORD_APPROVAL: Final = Stub("record_approval", RecordApproval, ApprovalState)
ACCEPT_APPROVAL: Final = Stub("accept_approval", AcceptApproval, ApprovalState)
UPDATE_CLUSTER: Final = Stub("update_cluster", UpdateCluster, ClusterUpdated)
APPLY_AGAIN: Final = Stub("apply_again", ApplyAgain, type(None))
REMOVE_CLUSTER: Final = Stub("remove_cluster", RemoveCluster, ClusterUpdated)
FOLLOW_BINDINGS: Final = Stub("follow_bindings", FollowBindings, type(None))
ROLL_BACK: Final = Stub("roll_back", RollBack, RolledBack)
WRITE_REPORT: Final = Stub("write_report", WriteReport, type(None))
READ_LINE: Final = Stub("read_line", ReadLine, Line)
READ_DECISION: Final = Stub("read_decision", ReadDecision, DecisionRead)
ANSWER_DECISION: Final = Stub("answer_decision", AnswerDecision, type(None))
RECORD_EVENTS: Final = Stub("record_events", RecordEvents, type(None))
