-- Links with dontFilter that a page has pushed before its settle. No dupefilter knows them, so their ids are kept while the request
-- of the page is live: when its node dies and a link is done by then, the page comes again and would have it accepted twice.
--
-- `early` is a SET of the pages that have any, meta.early how many they are. The ids of a page are a SET of its own, whose name
-- is computed: some 70 bytes each, and deleted in O(1) with the page, however many they are.

local function keyOf(crawl, page) return crawl.keys.early .. ':' .. lists.hex(page) end

local function isLive(crawl, id)
  return redis.call('HEXISTS', crawl.keys.requests, id) == 1 or redis.call('ZSCORE', crawl.keys.failed, id)
end

-- For each request 1 when the page has pushed it already; nil where that needs no test. isEarly: the page has not settled,
-- so it must be live; else another node has ended it, and its links are all there.
function earlyLinks.known(crawl, requests, page, isEarly)
  if not page or not requests.dontFilter then return nil end
  if isEarly and not isLive(crawl, page) then return requests.dontFilter end
  if meta.number(crawl, 'early') == 0 or redis.call('SISMEMBER', crawl.keys.early, page) == 0 then return nil end
  return lists.read('SMISMEMBER', keyOf(crawl, page), requests.ids)
end

-- ids: of links with dontFilter that were accepted.
function earlyLinks.keep(crawl, page, ids)
  if #ids == 0 then return end
  meta.add(crawl, 'early', redis.call('SADD', crawl.keys.early, page))
  lists.send('SADD', keyOf(crawl, page), ids)
end

-- The requests of these pages, or others, have ended.
function earlyLinks.forget(crawl, pages)
  if meta.number(crawl, 'early') == 0 then return end
  for _, page in ipairs(pages) do
    if redis.call('SREM', crawl.keys.early, page) == 1 then
      redis.call('UNLINK', keyOf(crawl, page))
      meta.add(crawl, 'early', -1)
    end
  end
end

-- All requests are deleted.
function earlyLinks.drop(crawl)
  for _, page in ipairs(redis.call('SMEMBERS', crawl.keys.early)) do redis.call('UNLINK', keyOf(crawl, page)) end
  redis.call('UNLINK', crawl.keys.early)
end
