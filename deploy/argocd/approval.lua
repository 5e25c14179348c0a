-- Health of ClusterApprovalRequest and ApprovalRequest for Argo CD.

local function find(conditions, kind)
  for _, condition in ipairs(conditions or {}) do
    if condition.type == kind then
      return condition
    end
  end
end

local function health(status, message)
  return { status = status, message = message }
end

local conditions = (obj.status or {}).conditions
local accepted = find(conditions, "ApprovalAccepted")
local approved = find(conditions, "Approved")

if accepted ~= nil and accepted.status == "True" then
  return health("Healthy", accepted.message)
end
if approved == nil or approved.status ~= "True" then
  return health("Suspended", "stage " .. obj.spec.targetStage .. " is waiting for approval")
end
if approved.observedGeneration ~= obj.metadata.generation then
  local text = "the approval is ignored: its observedGeneration must be "
  return health("Degraded", text .. obj.metadata.generation)
end
return health("Progressing", "approved, waiting for a worker")
