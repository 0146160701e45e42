-- What a run may use up, over all its nodes, and how many requests may wait.
-- uses: meta chunks
--
-- meta.budgets: pages, items, errors and ms of a run, with commas, 0 for none; '' when there is none at all, as in most
-- crawls. Items and errors are counted whether there is a budget or not, since a node may bring one later; they are
-- read where a budget asks for them.

local function budgetsOf(text)
  local pages, items, errors, ms = string.match(text or '', '^(%d+),(%d+),(%d+),(%d+)$')
  return { pages = tonumber(pages or 0), items = tonumber(items or 0), errors = tonumber(errors or 0),
    ms = tonumber(ms or 0) }
end

local function hasBudgets() return meta.budgets and meta.budgets ~= '' end

-- Budgets of a node that takes part in a run: each that it has replaces the run's.
local function joinBudgets(old, new)
  local b, n = budgetsOf(old), budgetsOf(new)
  for name, most in pairs(n) do
    if most > 0 then b[name] = most end
  end
  if b.pages + b.items + b.errors + b.ms == 0 then return '' end
  return string.format('%.0f,%.0f,%.0f,%.0f', b.pages, b.items, b.errors, b.ms)
end

-- Of each its closing reason, in the order they are asked.
local function closingReasons()
  return {
    { 'pages', 'closespider_pagecount' },
    { 'items', 'closespider_itemcount' },
    { 'errors', 'closespider_errorcount' },
    { 'ms', 'closespider_timeout' },
  }
end

-- By this call, so far.
local itemsNow, errorsNow = 0, 0

local function counted(field) return tonumber(call('HGET', metaKey, field) or 0) end

-- Closes a run of budgets when one is used up; what closed it first stays.
local function closeWhenSpent() -- rarely: seldom
  if (meta.closing or '') ~= '' then return end
  -- Pages: used up, and nothing is leased that could give one back.
  local spent = {
    pages = function(most) return number('run_pages') >= most and call('HLEN', leasesKey) == 0 end,
    items = function(most) return counted('run_items') + itemsNow >= most end,
    errors = function(most) return counted('run_errors') + errorsNow >= most end,
    ms = function(most) return nowMs - counted('run_started') >= most end,
  }
  local budgets = budgetsOf(meta.budgets)
  for _, budget in ipairs(closingReasons()) do
    local most = budgets[budget[1]]
    if most > 0 and spent[budget[1]](most) then
      setMeta('closing', budget[2])
      setMeta('closed_at', nowMs)
      setMeta('closed_limit', most)
      return
    end
  end
end

-- Of so many pages those that the budget has left.
local function roomForPages(wanted) -- rarely: seldom
  local most = budgetsOf(meta.budgets).pages
  return most > 0 and min(wanted, max(0, most - number('run_pages'))) or wanted
end

-- Why a node of these budgets should not begin a run: the last one was closed by the same a moment ago.
local function closedJustNow(text, withinMs)
  if nowMs - number('closed_at') >= withinMs then return nil end
  local budgets = budgetsOf(text)
  for _, budget in ipairs(closingReasons()) do
    local most = budgets[budget[1]]
    if meta.closing == budget[2] and most > 0 and most == number('closed_limit') then return budget[2] end
  end
end

-- Whether a page comes with items after those the run may scrape.
-- so far: in this call, before it.
local function comesTooLate(items, soFar) -- rarely: seldom
  if items == 0 then return false end
  local most = budgetsOf(meta.budgets).items
  return most > 0 and counted('run_items') + soFar >= most
end

local function saveCounted()
  if itemsNow > 0 then call('HINCRBY', metaKey, 'run_items', inDigits(itemsNow)) end
  if errorsNow > 0 then call('HINCRBY', metaKey, 'run_errors', inDigits(errorsNow)) end
  itemsNow, errorsNow = 0, 0
end

local function waitingRequests() return pendingCount() + call('ZCARD', suspectsKey) + call('ZCARD', delayedKey) end

local function isQueueFull() -- rarely: seldom
  local limit = number('queue_limit')
  return limit > 0 and waitingRequests() >= limit
end

-- How many discovered requests there is room for.
local function roomForLinks()
  local limit = number('queue_limit')
  if limit == 0 then return math.huge end
  return max(0, 2 * limit - waitingRequests())
end
