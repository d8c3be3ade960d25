-- Kinds of hangs that more machines have with a version of their program than with the versions before it.
-- p is the one-tailed probability of Fisher's exact test over machines; p_corrected is Bonferroni's. A version
-- is older if its first hang is. The factorials come from the number of rows, so no engine needs a function for them.
WITH v AS (
    SELECT program, version, min(wall_ns) AS first_ns FROM hangs WHERE version IS NOT NULL GROUP BY program, version
), pairs AS (
    SELECT n.program, n.version, o.version AS older
    FROM v n JOIN v o ON o.program = n.program
        AND (o.first_ns < n.first_ns OR (o.first_ns = n.first_ns AND o.version < n.version))
), newer AS (
    SELECT DISTINCT program, version FROM pairs
), after_all AS (
    SELECT h.program, h.version, count(DISTINCT h.machine) AS machines
    FROM newer JOIN hangs h ON h.program = newer.program AND h.version = newer.version GROUP BY h.program, h.version
), before_all AS (
    SELECT pairs.program, pairs.version, count(DISTINCT h.machine) AS machines
    FROM pairs JOIN hangs h ON h.program = pairs.program AND h.version = pairs.older
    GROUP BY pairs.program, pairs.version
), after_kind AS (
    SELECT h.program, h.version, h.signature, count(DISTINCT h.machine) AS machines
    FROM newer JOIN hangs h ON h.program = newer.program AND h.version = newer.version
    GROUP BY h.program, h.version, h.signature
), before_kind AS (
    SELECT pairs.program, pairs.version, h.signature, count(DISTINCT h.machine) AS machines
    FROM pairs JOIN hangs h ON h.program = pairs.program AND h.version = pairs.older
    GROUP BY pairs.program, pairs.version, h.signature
), tested AS (
    SELECT a.program, a.version, a.signature, coalesce(b.machines, 0) AS with_before,
           before_all.machines AS machines_before, a.machines AS with_after, after_all.machines AS machines_after
    FROM after_kind a
    JOIN after_all ON after_all.program = a.program AND after_all.version = a.version
    JOIN before_all ON before_all.program = a.program AND before_all.version = a.version
    LEFT JOIN before_kind b ON b.program = a.program AND b.version = a.version AND b.signature = a.signature
), numbers AS (
    SELECT row_number() OVER (ORDER BY key) AS n FROM hangs
), factorials AS (
    SELECT 0 AS n, CAST(0 AS DOUBLE) AS log
    UNION ALL
    SELECT n, sum(ln(n)) OVER (ORDER BY n) AS log FROM numbers
), judged AS (
    SELECT t.program, t.version, t.signature, t.with_before, t.machines_before, t.with_after, t.machines_after,
           sum(exp(w.log - k.log - wk.log + o.log - ak.log - oak.log - whole.log + a.log + b.log)) AS p
    FROM tested t
    JOIN factorials k ON k.n >= t.with_after AND k.n <= t.with_before + t.with_after AND k.n <= t.machines_after
        AND t.with_before + t.with_after - k.n <= t.machines_before
    JOIN factorials w ON w.n = t.with_before + t.with_after
    JOIN factorials wk ON wk.n = t.with_before + t.with_after - k.n
    JOIN factorials o ON o.n = t.machines_before + t.machines_after - t.with_before - t.with_after
    JOIN factorials ak ON ak.n = t.machines_after - k.n
    JOIN factorials oak
        ON oak.n = t.machines_before - t.with_before - t.with_after + k.n
    JOIN factorials whole ON whole.n = t.machines_before + t.machines_after
    JOIN factorials a ON a.n = t.machines_after
    JOIN factorials b ON b.n = t.machines_before
    GROUP BY t.program, t.version, t.signature, t.with_before, t.machines_before, t.with_after, t.machines_after
)
SELECT signature, program, version, with_before, machines_before, with_after, machines_after, p,
       least(1.0, p * (SELECT count(*) FROM judged)) AS p_corrected
FROM judged
WHERE with_after * machines_before > with_before * machines_after
ORDER BY p, signature
