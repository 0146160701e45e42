-- The end of a dupefilter of any class. Its pieces, which may be a hundred thousand, are only noted in
-- `<dupefilter>:~garbage` HASH generation → pieces left: the client sweeps them in steps (sweep.lua).

local garbageKey, pieceIndexKey = dupefilter .. ':~garbage', dupefilter .. ':~index'

local function hasDupefilter() return call('EXISTS', dupefilter, pieceIndexKey) > 0 end

local function dropDupefilter()
  local pieces = call('HMGET', pieceIndexKey, 'generation', 'pieces')
  call('UNLINK', dupefilter, pieceIndexKey)
  if pieces[1] then call('HSET', garbageKey, pieces[1], pieces[2]) end
end
