-- The budgets of a run: how many pages, items, errors and ms all its nodes together may use.
--
-- meta.budgets: JSON { pages, items, errors, ms }, 0 for no limit; '' where there is none at all, as in most crawls. The
-- node that begins a run sets them for all its nodes.

-- The closing reason of each budget, in the order of the checks.
local REASONS = {
  { 'pages', 'closespider_pagecount' },
  { 'items', 'closespider_itemcount' },
  { 'errors', 'closespider_errorcount' },
  { 'ms', 'closespider_timeout' },
}

local BUDGETS = { pages = 'number', items = 'number', errors = 'number', ms = 'number' }

-- The run's budgets; nil for none.
local function ofRun(crawl)
  local text = meta.get(crawl, 'budgets')
  local found = text and reader.json(text)
  return found and reader.hasAll(found, BUDGETS) and found or nil
end

-- Closes the run for all nodes. The first closing reason stays. limit: the budget that was used up, else 0.
function budgets.close(crawl, reason, limit)
  if meta.get(crawl, 'closing') then return end
  meta.set(crawl, 'closing', reason)
  meta.set(crawl, 'closing_at', crawl.nowMs)
  meta.set(crawl, 'closing_limit', limit)
end

-- Closes a run when a budget is used up.
function budgets.closeWhenSpent(crawl)
  local runLimits = ofRun(crawl)
  if not runLimits or meta.get(crawl, 'closing') then return end
  local used = {
    -- Only when nothing is leased: a lease that ends unstarted gives its page back.
    pages = redis.call('HLEN', crawl.keys.leases) == 0 and meta.number(crawl, 'run_leased') or 0,
    items = meta.number(crawl, 'run_items'),
    errors = meta.number(crawl, 'run_errors'),
    ms = crawl.nowMs - meta.number(crawl, 'run_started'),
  }
  for _, reason in ipairs(REASONS) do
    local most = runLimits[reason[1]]
    if most > 0 and used[reason[1]] >= most then
      budgets.close(crawl, reason[2], most)
      return
    end
  end
end

-- How many pages are left; nil for no limit.
function budgets.pagesLeft(crawl)
  local runLimits = ofRun(crawl)
  if not runLimits or runLimits.pages == 0 then return nil end
  return math.max(0, runLimits.pages - meta.number(crawl, 'run_leased'))
end

-- Whether the item budget is already used up, so that a page with items comes too late.
function budgets.isTooLate(crawl)
  local runLimits = ofRun(crawl)
  return runLimits and runLimits.items > 0 and meta.number(crawl, 'run_items') >= runLimits.items
end

-- Why a node with these budgets should not begin a run: the last run was just closed by the same budget. Else nil.
function budgets.closedJustNow(crawl, text, withinMs)
  if text == '' or crawl.nowMs - meta.number(crawl, 'closing_at') >= withinMs then return nil end
  local runLimits = cjson.decode(text)
  for _, reason in ipairs(REASONS) do
    local most = runLimits[reason[1]]
    if meta.get(crawl, 'closing') == reason[2] and most > 0 and most == meta.number(crawl, 'closing_limit') then
      return reason[2]
    end
  end
end
