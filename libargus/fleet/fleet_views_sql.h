/* The queries of fleet_views.c. Each continues SQL_SELECTED, which makes the table `h` of the hangs
 * that are looked at. Columns whose names begin with "is_" are true or false. sum_ns() is sum()
 * without an overflow, which would be an error. */
#ifndef ARGUS_FLEET_VIEWS_SQL_H
#define ARGUS_FLEET_VIEWS_SQL_H

#define SQL_OF_SIGNATURE                                                                           \
    "(signature = :signature OR (NOT :is_exact AND "                                               \
    "substr(signature, 1, length(:signature)) = :signature)) "

#define SQL_SELECTED                                                                               \
    "WITH h AS (SELECT * FROM hangs WHERE (:program = '' OR program = :program) "                  \
    "AND " SQL_OF_SIGNATURE "AND wall_ns >= :since)"

/* The best example is certain, whole, and recent. */
#define SQL_PLACES                                                                                 \
    ", placed AS (SELECT *, "                                                                      \
    "row_number() OVER (PARTITION BY signature ORDER BY damaged, guessed, ongoing, "               \
    "wall_ns DESC, key) AS place FROM h)"

/* The first hang of each kind: those before :since count as well, else an old kind would be new. */
#define SQL_FIRSTS                                                                                 \
    ", firsts AS (SELECT * FROM (SELECT signature, wall_ns, time, version, "                       \
    "row_number() OVER (PARTITION BY signature ORDER BY wall_ns, key) AS by_time FROM hangs "      \
    "WHERE (:program = '' OR program = :program) "                                                 \
    "AND " SQL_OF_SIGNATURE ") WHERE by_time = 1)"

#define SQL_KINDS                                                                                  \
    SQL_PLACES                                                                                     \
    SQL_FIRSTS                                                                                     \
    "SELECT placed.signature AS signature, max(what) AS what, max(parts) AS parts, "               \
    "count(*) AS hangs, count(DISTINCT machine) AS machines, max(duration_ns) AS worst_ns, "       \
    "sum_ns(duration_ns) AS total_ns, firsts.wall_ns AS first_ns, max(placed.wall_ns) AS "         \
    "last_ns, "                                                                                    \
    "firsts.time AS first_time, max(placed.time) AS last_time, "                                   \
    "firsts.version AS since_version, firsts.wall_ns >= :new_since AS is_new, "                    \
    "max(CASE WHEN place = 1 THEN file END) AS example_file, "                                     \
    "max(CASE WHEN place = 1 THEN number END) AS example_number, "                                 \
    "max(CASE WHEN place = 1 THEN cause END) AS example_cause "                                    \
    "FROM placed JOIN firsts ON firsts.signature = placed.signature GROUP BY placed.signature"

#define SQL_PACKAGES                                                                               \
    "SELECT coalesce(culprit_package, culprit_image, culprit_program, 'unknown') AS package, "     \
    "count(*) AS hangs, count(DISTINCT machine) AS machines, "                                     \
    "count(DISTINCT signature) AS kinds, sum_ns(duration_ns) AS total_ns, "                        \
    "max(duration_ns) AS worst_ns FROM h GROUP BY 1"

#define SQL_REASONS                                                                                \
    "SELECT reason, sum_ns(ns) AS ns, count(DISTINCT h.key) AS hangs, "                            \
    "CAST(sum_ns(ns) AS REAL) / (SELECT sum_ns(s.ns) FROM shares s JOIN h ON h.key = s.key) AS "   \
    "share "                                                                                       \
    "FROM h JOIN shares ON shares.key = h.key GROUP BY reason"

#define SQL_VERSIONS                                                                               \
    "SELECT program, version, count(*) AS hangs, count(DISTINCT machine) AS machines, "            \
    "min(wall_ns) AS first_ns, min(time) AS first_time, max(time) AS last_time "                   \
    "FROM h GROUP BY program, version"

#define SQL_MACHINES                                                                               \
    "SELECT machine, count(*) AS hangs, count(DISTINCT signature) AS kinds, "                      \
    "max(time) AS last_time FROM h GROUP BY machine"

#define SQL_DAYS                                                                                   \
    "SELECT substr(time, 1, 10) AS day, count(*) AS hangs, "                                       \
    "count(DISTINCT machine) AS machines FROM h GROUP BY 1"

#define SQL_EXAMPLES                                                                               \
    SQL_PLACES                                                                                     \
    "SELECT file, number, time, machine, version, duration_ns, cause, damaged AS is_damaged, "     \
    "guessed AS is_guessed, place FROM placed"

#define SQL_TOTALS                                                                                 \
    "SELECT count(*) AS hangs, count(DISTINCT machine) AS machines, "                              \
    "count(DISTINCT signature) AS kinds, min(time) AS first_time, max(time) AS last_time, "        \
    "sum_ns(duration_ns) AS total_ns, (SELECT count(*) FROM files) AS files, "                     \
    "(SELECT count(*) FROM files WHERE why IS NOT NULL) AS files_unreadable FROM h"

/* For each version of a program with an older one: how many of the machines on which the program
 * hung have a hang of this kind, with this version and with the older ones. A version is older if
 * the fleet saw it earlier. */
#define SQL_REGRESSIONS                                                                            \
    ", v AS (SELECT program, version, min(wall_ns) AS first_ns FROM h "                            \
    "WHERE version IS NOT NULL GROUP BY program, version), "                                       \
    "pairs AS (SELECT n.program, n.version, o.version AS older FROM v n JOIN v o "                 \
    "ON o.program = n.program AND (o.first_ns < n.first_ns OR "                                    \
    "(o.first_ns = n.first_ns AND o.version < n.version))), "                                      \
    "newer AS (SELECT DISTINCT program, version FROM pairs), "                                     \
    "after_all AS (SELECT h.program, h.version, count(DISTINCT h.machine) AS machines "            \
    "FROM newer JOIN h ON h.program = newer.program AND h.version = newer.version "                \
    "GROUP BY h.program, h.version), "                                                             \
    "before_all AS (SELECT pairs.program, pairs.version, count(DISTINCT h.machine) AS machines "   \
    "FROM pairs JOIN h ON h.program = pairs.program AND h.version = pairs.older "                  \
    "GROUP BY pairs.program, pairs.version), "                                                     \
    "after_kind AS (SELECT h.program, h.version, h.signature, max(h.what) AS what, "               \
    "count(*) AS hangs, count(DISTINCT h.machine) AS machines "                                    \
    "FROM newer JOIN h ON h.program = newer.program AND h.version = newer.version "                \
    "GROUP BY h.program, h.version, h.signature), "                                                \
    "before_kind AS (SELECT pairs.program, pairs.version, h.signature, "                           \
    "count(DISTINCT h.machine) AS machines "                                                       \
    "FROM pairs JOIN h ON h.program = pairs.program AND h.version = pairs.older "                  \
    "GROUP BY pairs.program, pairs.version, h.signature), "                                        \
    "tested AS (SELECT a.program, a.version, a.signature, a.what, a.hangs AS hangs_after, "        \
    "coalesce(b.machines, 0) AS with_before, before_all.machines AS machines_before, "             \
    "a.machines AS with_after, after_all.machines AS machines_after FROM after_kind a "            \
    "JOIN after_all ON after_all.program = a.program AND after_all.version = a.version "           \
    "JOIN before_all ON before_all.program = a.program AND before_all.version = a.version "        \
    "LEFT JOIN before_kind b ON b.program = a.program AND b.version = a.version "                  \
    "AND b.signature = a.signature), "                                                             \
    "judged AS (SELECT *, fisher(with_before, machines_before, with_after, machines_after) "       \
    "AS p FROM tested) "                                                                           \
    "SELECT signature, program, version, what, hangs_after, with_before, machines_before, "        \
    "with_after, machines_after, p, min(1.0, p * (SELECT count(*) FROM judged)) AS p_corrected, "  \
    "p * (SELECT count(*) FROM judged) <= 0.05 AS is_significant FROM judged "                     \
    "WHERE with_after * machines_before > with_before * machines_after"

#endif
