-- The budgets of a run: how many pages, items, errors and ms all its nodes together may use.
--
-- meta.budgets: JSON of Budgets (types/crawl.ts), 0 for no limit; '' where there is none at all, as in most crawls. The
-- node that begins a run sets them for all its nodes. `closingReasons` are those of budgets.ts, in the order of the checks.

local BUDGETS = { maxPages = 'number', maxItems = 'number', maxErrors = 'number', maxRunMs = 'number' }

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

-- Closes a run when a budget is used up. ended: leases that have ended in this call and are still stored; absent for none.
function budgets.closeWhenSpent(crawl, ended)
  local budgetsOfRun = ofRun(crawl)
  if not budgetsOfRun or meta.get(crawl, 'closing') then return end
  local used = {
    -- Only when nothing is leased: a lease that ends unstarted gives its page back.
    maxPages = redis.call('HLEN', crawl.keys.leases) == (ended or 0) and meta.number(crawl, 'run_leased') or 0,
    maxItems = meta.number(crawl, 'run_items'),
    maxErrors = meta.number(crawl, 'run_errors'),
    maxRunMs = crawl.nowMs - meta.number(crawl, 'run_started'),
  }
  for _, closing in ipairs(closingReasons) do
    local most = budgetsOfRun[closing.budget]
    if most > 0 and used[closing.budget] >= most then
      budgets.close(crawl, closing.reason, most)
      return
    end
  end
end

-- How many pages the page budget leaves; nil without one.
function budgets.pagesLeft(crawl)
  local budgetsOfRun = ofRun(crawl)
  if not budgetsOfRun or budgetsOfRun.maxPages == 0 then return nil end
  return math.max(0, budgetsOfRun.maxPages - meta.number(crawl, 'run_leased'))
end

-- How many of `wanted` requests the page budget leaves room for.
function budgets.roomForPages(crawl, wanted) return math.min(wanted, budgets.pagesLeft(crawl) or wanted) end

-- Reserves pages: each lease is one.
function budgets.reservePages(crawl, count) meta.add(crawl, 'run_leased', count) end

-- Gives the page of a lease back whose download did not begin.
function budgets.giveBackPage(crawl) meta.set(crawl, 'run_leased', math.max(0, meta.number(crawl, 'run_leased') - 1)) end

-- Whether the item budget is already used up, so that a page with items comes too late.
function budgets.isTooLate(crawl)
  local budgetsOfRun = ofRun(crawl)
  return budgetsOfRun and budgetsOfRun.maxItems > 0 and meta.number(crawl, 'run_items') >= budgetsOfRun.maxItems
end

-- Why a node with these budgets should not begin a run: the last run was just closed by the same budget. Else nil.
function budgets.closedJustNow(crawl, text, withinMs)
  if text == '' or crawl.nowMs - meta.number(crawl, 'closing_at') >= withinMs then return nil end
  local own = cjson.decode(text)
  for _, closing in ipairs(closingReasons) do
    local most = own[closing.budget]
    if meta.get(crawl, 'closing') == closing.reason and most > 0 and most == meta.number(crawl, 'closing_limit') then
      return closing.reason
    end
  end
end
