"""The member side: applies Works, checks availability, reports status, and sends the heartbeat.

It does not know about runs or the workflows that drive them, so it must not import `workflows`,
`activities` or `placement`: to the agent, a rollout is a Work that changed.
"""

from agent.agent import Agent, AgentError
from agent.member_secrets import MemberSecrets
from agent.metrics import AgentMetrics
from agent.pool import AgentPool
from agent.settings import AgentSettings

__all__ = ["Agent", "AgentError", "AgentMetrics", "AgentPool", "AgentSettings", "MemberSecrets"]
