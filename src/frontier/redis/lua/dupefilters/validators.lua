-- The validators of pages that may be downloaded again: HASH validators, fingerprint (20 bytes) → epoch, space, text. They
-- hold only under the epoch of their commit: when a fingerprint is forgotten, the page that links to it must be read again.

-- Commits those of a settle: { fingerprint, text: absent to remove them }. A page of which a link was dropped has none, since
-- the link must be found again.
function validators.commit(crawl, settle, epoch, hasDropped)
  local change = settle.validators
  if settle.kind ~= 'done' then return end
  if change.text and not hasDropped then
    redis.pcall('HSET', crawl.keys.validators, change.fingerprint, epoch .. ' ' .. change.text)
  else
    redis.pcall('HDEL', crawl.keys.validators, change.fingerprint)
  end
end

-- Read the validators of pages.
--
-- args: fingerprints
-- Returns a text for each, '' where there is none. O(fingerprints).
verbs.register('validators', { 'no-writes' }, function(crawl, args)
  local found, prefix = {}, (redis.call('HGET', crawl.keys.meta, 'epoch') or '') .. ' '
  for i, value in ipairs(lists.read('HMGET', crawl.keys.validators, args.fingerprints)) do
    local isValid = value and string.sub(value, 1, #prefix) == prefix
    found[i] = isValid and string.sub(value, #prefix + 1) or ''
  end
  return found
end)
