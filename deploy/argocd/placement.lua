-- Health of ClusterResourcePlacement and ResourcePlacement for Argo CD.

local function health(status, message)
  return { status = status, message = message }
end

-- The condition, if it is about the current spec.
local function current(name)
  for _, condition in ipairs((obj.status or {}).conditions or {}) do
    local about_now = condition.observedGeneration == obj.metadata.generation
    if condition.type == obj.kind .. name and about_now then
      return condition
    end
  end
end

local scheduled = current("Scheduled")
if scheduled == nil or scheduled.status == "Unknown" then
  return health("Progressing", scheduled and scheduled.message or "waiting to be scheduled")
end
if scheduled.status == "False" then
  return health("Degraded", scheduled.message)
end

for _, name in ipairs({ "Overridden", "Applied", "StatusSynced" }) do
  local condition = current(name)
  if condition ~= nil and condition.status == "False" then
    return health("Degraded", condition.message)
  end
end

-- With External, the placement is healthy once clusters are picked. If it had to be rolled out first,
-- a sync that applies the run after the placement would never finish.
local strategy = (obj.spec.strategy or {}).type
local started = current("RolloutStarted")
if strategy == "External" and (started == nil or started.status ~= "True") then
  return health("Healthy", "clusters are picked; update runs roll out the changes")
end

local apply = (obj.spec.strategy or {}).applyStrategy or {}
local chain = { "RolloutStarted", "Overridden", "WorkSynchronized", "Applied", "Available" }
if apply.type == "ReportDiff" then
  chain = { "RolloutStarted", "Overridden", "WorkSynchronized", "DiffReported" }
end
local last
for _, name in ipairs(chain) do
  last = current(name)
  if last == nil or last.status ~= "True" then
    return health("Progressing", last and last.message or scheduled.message)
  end
end
return health("Healthy", last.message)
