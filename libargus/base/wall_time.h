/* Wall-clock times as text: in the reader's time zone for people, in UTC for programs. */
#ifndef ARGUS_BASE_WALL_TIME_H
#define ARGUS_BASE_WALL_TIME_H

#include <stddef.h>
#include <stdint.h>

/* Room for each of the texts. The functions write to `buffer` of `bytes` bytes and return it.
 * `wall_ns` is since 1970-01-01 UTC. */
enum { WALL_TIME_BYTES = 48 };

/* "14:32:10.523000", local; with `digits` digits of the second's fraction, 0 to 9. */
const char *wall_clock_text(uint64_t wall_ns, int digits, char *buffer, size_t bytes);

/* "2026-11-23 14:32:10.523 +0100", local, with its offset from UTC. */
const char *wall_moment_text(uint64_t wall_ns, char *buffer, size_t bytes);

/* "2026-11-23T13:32:10.523000Z". */
const char *wall_utc_text(uint64_t wall_ns, char *buffer, size_t bytes);

#endif
