-- Answers are kept until they are known to have arrived: a call that is sent again gets its first answer, and does
-- nothing. A field of `answers` is "caller:call number", or for a settle "caller:call number.id", by the token of its
-- lease; the value is the answer, of a settle as it is and of another call as MessagePack.

local function fieldOf(crawl, name) return crawl.caller .. ':' .. name end

-- Forgets what has arrived: args.arrived, fields without their caller.
function answers.forgetArrived(crawl)
  local arrived = crawl.args.arrived
  for i = 1, #arrived do arrived[i] = fieldOf(crawl, arrived[i]) end
  lists.send('HDEL', crawl.keys.answers, arrived)
end

-- The first answer of this very call; nil when it comes for the first time.
function answers.first(crawl)
  local packed = redis.call('HGET', crawl.keys.answers, fieldOf(crawl, crawl.args.call))
  if not packed then return nil end
  local isRead, answer = pcall(cmsgpack.unpack, packed)
  return isRead and answer or nil
end

function answers.keep(crawl, answer)
  redis.call('HSET', crawl.keys.answers, fieldOf(crawl, crawl.args.call), cmsgpack.pack(answer))
end

function answers.settleField(crawl, givenBy, id) return fieldOf(crawl, lists.digits(givenBy) .. '.' .. id) end

-- The same of a settle, by the call that gave its lease and its id.
function answers.firstOfSettle(crawl, givenBy, id)
  return redis.call('HGET', crawl.keys.answers, answers.settleField(crawl, givenBy, id))
end

-- kept: { field by answers.settleField, answer, … }
function answers.keepSettles(crawl, kept) lists.send('HSET', crawl.keys.answers, kept) end

-- Forgets all that was kept for a caller.
function answers.forgetCaller(crawl, caller)
  local fields = {}
  for _, field in ipairs(redis.call('HKEYS', crawl.keys.answers)) do
    if string.sub(field, 1, #caller + 1) == caller .. ':' then fields[#fields + 1] = field end
  end
  lists.send('HDEL', crawl.keys.answers, fields)
end
