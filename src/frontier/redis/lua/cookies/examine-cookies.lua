-- I4: all cookies of a set can be read, and nodes learn of it by its version.

-- found.counts: { field, how many cookies it holds, or says that its jar has, … }
function examine.cookies(crawl, page, found)
  found.counts = {}
  for i = 1, #page, 2 do
    local field, text = page[i], page[i + 1]
    local count = tonumber(text) or 0
    local separator = string.find(field, '\0', 1, true)
    if separator then
      local domain, readable = string.sub(field, separator + 1), cookies.decode(text)
      local isJson, values = pcall(cjson.decode, text)
      count = isJson and type(values) == 'table' and #values or 0
      if count ~= #readable then
        examine.breach(found, 'I4: cookies of %s cannot be read (%d of %d bytes can)', domain, #cjson.encode(readable), #text)
      end
      if not redis.call('ZSCORE', crawl.keys['cookie-versions'], field) then
        examine.breach(found, 'I4: the cookies of %s have no version: nodes would never read them', domain)
      end
    end
    lists.pair(found.counts, field, count)
  end
end
