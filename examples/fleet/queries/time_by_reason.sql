-- How the time of all hangs was spent. `shares` has a row for each hang and reason (see the scripts).
SELECT reason, sum(ns) AS ns, count(DISTINCT key) AS hangs,
       sum(ns) / CAST((SELECT sum(ns) FROM shares) AS DOUBLE) AS share
FROM shares
GROUP BY reason
ORDER BY ns DESC, reason
