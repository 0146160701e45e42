-- A dupefilter of many keys: `index` HASH { generation, pieces, seen, slices, filled, allocated } and the pieces 0, 1, 2 …
-- as `<dupefilter>:~piece:<generation>:<number>`. Clearing deletes the index at once; the pieces are
-- deleted in steps (crawl/sweep.lua), while a new generation may already begin. Also `gone:<number>` for each piece that was
-- found missing (marks.lua). meta.pieces has generation and number of pieces, should the index be deleted by another hand.
local MOST_PIECES = 10000000
local FIELDS = { 'generation', 'pieces', 'seen', 'slices', 'filled', 'allocated' }

-- The index, read once a call: numbers by name, and prefix, what the names of its pieces begin with.
function pieces.index(crawl)
  if crawl.index then return crawl.index end
  local found = redis.call('HMGET', crawl.keys.index, unpack(FIELDS))
  local index = { generation = found[1] }
  for i = 2, #FIELDS do index[FIELDS[i]] = reader.number(found[i]) or 0 end
  index.prefix = pieces.prefix(crawl, found[1] or '')
  index.known = index.pieces
  crawl.index = index
  return index
end

-- Refuses a call where the index holds what no verb has written: the dupefilter would forget, or a call never end.
function pieces.refuseUnreadable(crawl)
  local found = redis.call('HMGET', crawl.keys.index, unpack(FIELDS))
  for i = 2, #FIELDS do
    local number = reader.number(found[i] or 0)
    if not number or number ~= math.floor(number) or (FIELDS[i] ~= 'seen' and FIELDS[i] ~= 'filled' and number > MOST_PIECES) then
      verbs.refuse('CRAWLNODE_FIELD ' .. crawl.keys.index .. ' ' .. FIELDS[i])
    end
  end
end

function pieces.prefix(crawl, generation) return crawl.keys.dupefilter .. ':~piece:' .. generation .. ':' end

-- Begins a generation where there is none; it is named by the time.
function pieces.begin(crawl)
  local index = pieces.index(crawl)
  if index.generation then return index end
  index.generation = lists.digits(crawl.nowUs)
  index.prefix = pieces.prefix(crawl, index.generation)
  return index
end

-- An index that another hand deleted leaves its pieces behind: sweep.lua deletes them.
function pieces.discardLeft(crawl)
  local generation, count = string.match(meta.get(crawl, 'pieces') or '', '^(%d+) (%d+)$')
  if not generation or generation == pieces.index(crawl).generation then return end
  redis.call('HSET', crawl.keys.garbage, generation, count)
  meta.set(crawl, 'pieces', '')
end

function pieces.save(crawl)
  local fields = {}
  for _, name in ipairs(FIELDS) do lists.pair(fields, name, crawl.index[name]) end
  redis.call('HSET', crawl.keys.index, unpack(fields))
  local index = crawl.index
  if index.pieces ~= index.known then
    pieces.discardLeft(crawl)
    meta.set(crawl, 'pieces', index.generation .. ' ' .. lists.digits(index.pieces))
    index.known = index.pieces
  end
end
