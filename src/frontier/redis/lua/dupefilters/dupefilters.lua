-- The dupefilter of a crawl, by its class. Each class is a table in this one:
--   type                                  what its own key holds ('none': it lies in keys beside it, see pieces.lua)
--   seen(crawl, marks)                    for each mark 1 or 0
--   record(crawl, marks, delayed, judged) delayed: set of those whose requests wait for a time of their own; judged: none
--                                         of them was seen a moment ago
--   forget(crawl, mark)                   1 when it was there; a BloomDupeFilter has none
--   count(crawl)                          how many it holds
-- A mark is a fingerprint as the class stores it; the client makes it (marks.ts).
--
-- It is agreed by the first that writes, be it a seed or a node: two classes, or two capacities, must never write into one
-- record. args.dupefilter is the caller's: { text: as meta has it, class, and what else its class needs to know }.

function dupefilters.of(crawl) return dupefilters[crawl.args.dupefilter.class] end

-- Whether another one was agreed.
function dupefilters.isOther(crawl)
  local agreed = meta.get(crawl, 'dupefilter')
  return agreed and agreed ~= crawl.args.dupefilter.text
end

function dupefilters.refuseOther(crawl)
  if not dupefilters.isOther(crawl) then return end
  verbs.refuse('CRAWLNODE_SHAPE [' .. meta.get(crawl, 'dupefilter') .. ',' .. crawl.args.dupefilter.text .. ']')
end

function dupefilters.agree(crawl)
  local text = crawl.args.dupefilter.text
  if meta.get(crawl, 'dupefilter') ~= text then meta.set(crawl, 'dupefilter', text) end
end

function dupefilters.exists(crawl) return redis.call('EXISTS', crawl.keys.dupefilter, crawl.keys.index) > 0 end

-- The end of a dupefilter of any class. Its pieces, which may be a hundred thousand, are only noted: the client has them
-- swept in steps (crawl/sweep.lua).
function dupefilters.drop(crawl)
  local found = redis.call('HMGET', crawl.keys.index, 'generation', 'pieces')
  redis.call('UNLINK', crawl.keys.dupefilter, crawl.keys.index)
  if found[1] then redis.call('HSET', crawl.keys.garbage, found[1], found[2]) end
end
