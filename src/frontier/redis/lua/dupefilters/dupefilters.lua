-- The dupefilter of a crawl, by its class. Each class is a table in this one:
--   seen(crawl, marks)                    for each mark 1 or 0
--   record(crawl, marks, delayed, judged) delayed: set of those whose requests wait for a time of their own; judged: this
--                                         call has already found all of them unseen. Returns by how much its size grew
--   forget(crawl, mark)                   1 when it was there; a class that cannot forget has none. And by how much its size
--                                         shrank, where that is not the same
--   markOf(id)                            the mark of a request without dontFilter, from its id, the fingerprint (20 bytes);
--                                         only with forget
--   size(crawl)                           how many it holds, in O(1); with those that have expired: see marks.lua
--   count(crawl)                          the same without those that have expired; absent where none expires
--   holdsAny(index, number)               of a class of many keys: whether this piece must exist
--   restore(crawl, marks, untils, lives)  record marks of a backup; those that are there already stay as they are. untils:
--                                         the instants they are forgotten; lives: entries of state.lua; nil where not
--                                         known. Returns by how much its size grew. Absent where it does what record does
--   followsRequests                       whether it stores the state of each request (state.lua)
-- A mark is a fingerprint as the class stores it; the client makes it. dupefilter-classes.ts describes each class to the client.
--
-- The first client that writes, a node or not, sets the crawl's dupefilter: two classes, or two capacities, must never write
-- into one record. args.dupefilter is the caller's: { text: as meta has it, class,
-- type: of its own key, 'none' where it lies in keys beside it (pieces.lua), and what else its class needs to know }.

function dupefilters.of(crawl) return dupefilters[crawl.args.dupefilter.class] end

-- The one that the crawl has agreed on, which a caller that only reads may not have in its settings; nil before that.
function dupefilters.agreed(crawl)
  local text = meta.get(crawl, 'dupefilter')
  return text and dupefilters[string.match(text, '"class":"(%w+)"')]
end

-- Whether the crawl has another one. A text that names no class is as good as none.
function dupefilters.isOther(crawl)
  local agreed = meta.get(crawl, 'dupefilter')
  return agreed and string.find(agreed, '"class":"%w+"') and agreed ~= crawl.args.dupefilter.text
end

function dupefilters.refuseOther(crawl)
  if not dupefilters.isOther(crawl) then return end
  verbs.refuse('CRAWLNODE_SHAPE [' .. meta.get(crawl, 'dupefilter') .. ',' .. crawl.args.dupefilter.text .. ']')
end

function dupefilters.agree(crawl)
  local text = crawl.args.dupefilter.text
  if meta.get(crawl, 'dupefilter') ~= text then meta.set(crawl, 'dupefilter', text) end
end

-- How many fingerprints it holds, without those that have expired.
function dupefilters.count(crawl)
  local class = dupefilters.of(crawl)
  return (class.count or class.size)(crawl)
end

function dupefilters.exists(crawl) return redis.call('EXISTS', crawl.keys.dupefilter, crawl.keys.index) > 0 end

-- Forgets a mark. Returns 1 when it was there.
function dupefilters.forget(crawl, mark)
  local was, removed = dupefilters.of(crawl).forget(crawl, mark)
  marks.add(crawl, -(removed or was))
  return was
end

-- Deletes a dupefilter of any class. Its pieces, perhaps a hundred thousand, are only recorded in `garbage`: the client has
-- them deleted in steps (crawl/sweep.lua).
function dupefilters.drop(crawl)
  local found = redis.call('HMGET', crawl.keys.index, 'generation', 'pieces')
  redis.call('UNLINK', crawl.keys.dupefilter, crawl.keys.index)
  if found[1] then redis.call('HSET', crawl.keys.garbage, found[1], found[2]) end
end
