/**
 * The invariants (DESIGN §5) that a query can check: it returns a sentence for each breach. `?1` is the space of the crawl.
 * `verify.ts` has those that need code.
 */
export const invariants: readonly string[] = [
  `SELECT 'I4: ' || coalesce(counted.n, 0) || ' requests are ' || state || ' but the counter says ' || said.n FROM (
     SELECT 'pending' AS state, pending AS n FROM tally WHERE space = ?1
     UNION ALL SELECT 'suspect', suspects FROM tally WHERE space = ?1
     UNION ALL SELECT 'delayed', delayed FROM tally WHERE space = ?1
     UNION ALL SELECT 'leased', leased FROM tally WHERE space = ?1
     UNION ALL SELECT 'failed', failed FROM tally WHERE space = ?1
   ) AS said LEFT JOIN (SELECT state, count(*) AS n FROM request WHERE space = ?1 GROUP BY state) AS counted USING (state)
   WHERE said.n <> coalesce(counted.n, 0)`,
  `SELECT 'I1: ' || count(*) || ' requests are in the state "' || state || '", which there is not' FROM request
   WHERE space = ?1 AND state NOT IN ('pending', 'suspect', 'delayed', 'leased', 'failed') GROUP BY state`,
  `SELECT 'I4: ' || accepted || ' were accepted but ' || total || ' are pending, delayed, leased, done, failed, removed or lost' FROM (
     SELECT accepted, done + removed + lost + (SELECT count(*) FROM request WHERE space = ?1) AS total
     FROM tally WHERE space = ?1)
   WHERE accepted <> total`,

  // A failed request beyond the limit of the failed list has no record.
  `SELECT 'I1: ' || lower(hex(id)) || ' is ' || state || ' but has no record' FROM request LEFT JOIN record USING (n)
   WHERE space = ?1 AND state <> 'failed' AND record.n IS NULL`,
  `SELECT 'I4: ' || n || ' failed records are kept, not ' || failed_records FROM tally, (
     SELECT count(*) AS n FROM failure JOIN record USING (n) WHERE failure.space = ?1)
   WHERE space = ?1 AND n <> failed_records`,
  `SELECT 'I1: ' || count(*) || ' records have no request' FROM record LEFT JOIN request USING (n)
   WHERE request.n IS NULL AND ?1 > 0 HAVING count(*) > 0`,

  `SELECT 'I1: ' || lower(hex(id)) || ' failed but is not in the failed list' FROM request LEFT JOIN failure USING (n)
   WHERE request.space = ?1 AND state = 'failed' AND failure.n IS NULL`,
  `SELECT 'I1: ' || count(*) || ' entries of the failed list have no failed request' FROM failure
   LEFT JOIN request ON request.n = failure.n AND request.space = failure.space
   WHERE failure.space = ?1 AND (request.n IS NULL OR state <> 'failed') HAVING count(*) > 0`,

  `SELECT 'I3: ' || lower(hex(request.id)) || ' is leased to nobody that is registered' FROM request
   LEFT JOIN node ON number = node AND node.space = request.space
   WHERE request.space = ?1 AND state = 'leased' AND (number IS NULL OR token IS NULL)`,
  `SELECT 'I1: ' || lower(hex(id)) || ' is ' || state || ' and leased too' FROM request
   WHERE space = ?1 AND state <> 'leased' AND (node IS NOT NULL OR token IS NOT NULL)`,
  `SELECT 'I1: ' || lower(hex(id)) || ' is delayed, but until no time' FROM request
   WHERE space = ?1 AND state = 'delayed' AND due IS NULL`,
  `SELECT 'I3: ' || id || ' holds ' || n || ' leases, not ' || leased FROM (
     SELECT id, leased, (SELECT count(*) FROM request WHERE request.node = number AND state = 'leased') AS n
     FROM node WHERE space = ?1)
   WHERE leased <> n`,

  `SELECT DISTINCT 'I7: ' || domain || ' has requests but no record' FROM request
   WHERE space = ?1 AND state IN ('pending', 'leased')
     AND NOT EXISTS (SELECT 1 FROM domain WHERE domain.space = ?1 AND name = request.domain)`,
  `SELECT 'I6: ' || name || ' has ' || coalesce(n, 0) || ' leased, not ' || active FROM domain LEFT JOIN (
     SELECT domain, count(*) AS n FROM request WHERE space = ?1 AND state = 'leased' GROUP BY domain) ON domain = name
   WHERE space = ?1 AND active <> coalesce(n, 0)`,
  `SELECT 'I4: there are ' || n || ' domains, the counter says ' || domains FROM tally, (
     SELECT count(*) AS n FROM domain WHERE space = ?1)
   WHERE space = ?1 AND n <> domains`,

  `SELECT 'I4: the cookie jar "' || name || '" is said to have ' || coalesce(said, 0) || ' cookies and has ' || coalesce(n, 0) FROM (
     SELECT coalesce(jar, cookie_jar.name) AS name, count AS said, n FROM (
       SELECT jar, sum(count) AS n FROM cookie_set WHERE space = ?1 AND count > 0 GROUP BY jar)
     FULL JOIN cookie_jar ON cookie_jar.name = jar AND cookie_jar.space = ?1
     WHERE cookie_jar.space IS NULL OR cookie_jar.space = ?1)
   WHERE said IS NOT n`,
  `SELECT 'I4: the cookies of ' || domain || ' cannot be read, or are not ' || count FROM cookie_set
   WHERE space = ?1 AND CASE WHEN json_valid(cookies) THEN json_array_length(cookies) <> count ELSE 1 END`,
  `SELECT 'I4: the cookies of ' || domain || ' have a version beyond the last one' FROM cookie_set JOIN tally USING (space)
   WHERE space = ?1 AND version > cookie_version`,

  `SELECT 'a repair broke off: repair again' FROM crawl WHERE space = ?1 AND repairing IS NOT NULL`,
];
