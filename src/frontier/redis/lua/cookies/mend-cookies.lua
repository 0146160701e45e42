-- Counts the cookies of each jar anew, leaves out what cannot be read, and gives every set a new version, so that all nodes
-- read them.
-- Atomic: no node reads the half of it.
--
-- args: none of its own
-- Returns nothing. O(cookies).
verbs.register('mend_cookies', { 'crawl' }, cookies.rebuild)
