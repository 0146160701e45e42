-- Ask the dupefilter for one fingerprint. Reads only.
--
-- ARGV: 4 fingerprint, 20 bytes · 5 the same as 40 hex digits
-- Returns { seen 0|1, then what is known of its life: letter of the state, instant in ms, HTTP status or 0, attempts }.
-- O(1).
-- uses: dupefilter life

local life = lifeOf(ARGV[4])
return { seenFlags(marksOf(ARGV[4] .. ARGV[5], 1, 21, 1))[1], unpack(life) }
