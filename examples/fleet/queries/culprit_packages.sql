-- Hangs by the package, else the file, of the root cause.
SELECT coalesce(culprit_package, culprit_image, culprit_program, 'unknown') AS package,
       count(*) AS hangs, count(DISTINCT machine) AS machines, sum(duration_ns) AS total_ns
FROM hangs
GROUP BY coalesce(culprit_package, culprit_image, culprit_program, 'unknown')
ORDER BY hangs DESC, package
