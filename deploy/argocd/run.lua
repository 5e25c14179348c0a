-- Health of ClusterStagedUpdateRun and StagedUpdateRun for Argo CD.
-- Argo CD gives health checks no string library and no way to share functions between files, so this
-- only compares and concatenates, and repeats some functions.

local function find(conditions, kind)
  for _, condition in ipairs(conditions or {}) do
    if condition.type == kind then
      return condition
    end
  end
end

local function is_true(conditions, kind)
  local condition = find(conditions, kind)
  return condition ~= nil and condition.status == "True"
end

-- Names of the approval requests that have not been approved.
local function pending_approvals(stages)
  local names = {}
  for _, stage in ipairs(stages or {}) do
    for _, tasks in ipairs({ stage.beforeStageTaskStatus or {}, stage.afterStageTaskStatus or {} }) do
      for _, task in ipairs(tasks) do
        local asked = is_true(task.conditions, "ApprovalRequestCreated")
        if asked and not is_true(task.conditions, "ApprovalRequestApproved") then
          table.insert(names, task.approvalRequestName)
        end
      end
    end
  end
  return names
end

local function count_clusters(status)
  local done, total = 0, 0
  local function add(stage)
    for _, cluster in ipairs(stage.clusters or {}) do
      total = total + 1
      if is_true(cluster.conditions, "Succeeded") then
        done = done + 1
      end
    end
  end
  for _, stage in ipairs(status.stagesStatus or {}) do
    add(stage)
  end
  add(status.deletionStageStatus or {})
  return done .. " of " .. total .. " clusters are done"
end

local function health(status, message)
  return { status = status, message = message }
end

local function waiting(status, progressing)
  local approvals = pending_approvals(status.stagesStatus)
  if #approvals > 0 then
    return health("Suspended", "waiting for approval: " .. table.concat(approvals, ", "))
  end
  -- A timed wait ends by itself.
  return health("Progressing", progressing.message)
end

local status = obj.status or {}
local initialized = find(status.conditions, "Initialized")
local progressing = find(status.conditions, "Progressing")
local succeeded = find(status.conditions, "Succeeded")

-- The result of a run is final, even if its spec is changed later.
if succeeded ~= nil then
  return health(succeeded.status == "True" and "Healthy" or "Degraded", succeeded.message)
end
if initialized ~= nil and initialized.status == "False" then
  return health("Degraded", initialized.message)
end
if initialized == nil then
  return health("Progressing", "waiting for a worker to plan the run")
end
if initialized.observedGeneration ~= obj.metadata.generation then
  return health("Progressing", "waiting for a worker to process the latest change of the spec")
end
if progressing == nil then
  return health("Suspended", "planned, not started: set spec.state to Run to start it")
end
-- Clusters do not get the content, and a person has to look.
local broken = { UpdateRunStuck = true, UpdateRunPaused = true, UpdateRunRollingBack = true }
if broken[progressing.reason] then
  return health("Degraded", progressing.message)
end
if progressing.reason == "UpdateRunStopped" then
  return health("Suspended", "stopped, " .. count_clusters(status) .. ": set spec.state to Run to resume")
end
if progressing.reason == "UpdateRunWaiting" then
  return waiting(status, progressing)
end
if progressing.reason == "UpdateRunQueued" or progressing.reason == "UpdateRunSuperseded" then
  return health("Progressing", progressing.message)
end
if progressing.reason == "UpdateRunStopping" then
  return health("Progressing", "stopping once the clusters in flight are done, " .. count_clusters(status))
end
return health("Progressing", count_clusters(status))
