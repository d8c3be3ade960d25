-- The kinds of hangs: how many, on how many machines, how long.
SELECT signature, max(what) AS what, count(*) AS hangs, count(DISTINCT machine) AS machines,
       max(duration_ns) AS worst_ns, sum(duration_ns) AS total_ns
FROM hangs
GROUP BY signature
ORDER BY hangs DESC, signature
