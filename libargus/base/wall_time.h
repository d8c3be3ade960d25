/* Moments of the wall clock as text: people read them in the time zone of who reads, programs in UTC. */
#ifndef ARGUS_BASE_WALL_TIME_H
#define ARGUS_BASE_WALL_TIME_H

#include <stddef.h>
#include <stdint.h>

/* Room for each of the texts. They are put into `buffer` of `bytes`, which is returned; `wall_ns` is since 1970-01-01 UTC. */
enum { WALL_TIME_BYTES = 48 };

/* "14:32:10.523000", local; `digits` of the second's fraction, 0 to 9. */
const char *wall_clock_text(uint64_t wall_ns, int digits, char *buffer, size_t bytes);

/* "2026-11-23 14:32:10.523 +0100", local, with its distance from UTC. */
const char *wall_moment_text(uint64_t wall_ns, char *buffer, size_t bytes);

/* "2026-11-23T13:32:10.523000Z". */
const char *wall_utc_text(uint64_t wall_ns, char *buffer, size_t bytes);

#endif
