/* The ends of pipes and sockets that processes have open now. A thread that never used one in the
 * recording may still be the one that should: it inherited or opened the end before. */
#ifndef ARGUS_RECORDER_LINUX_OPEN_ENDS_H
#define ARGUS_RECORDER_LINUX_OPEN_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "server/backend.h"

/* What /proc/PID/fd/N leads to, as readlink() says: "pipe:[123]", "socket:[123]". 0: something
 * else. */
uint64_t open_ends_parse(const char *target);
/* Appends a record (ARGUS_ID_OPEN_END) at `time_ns` for each end of each process, without the
 * recorder's own; leaves out all after the first few thousand. False without memory. */
bool open_ends_read(uint64_t time_ns, record_list *ret);

#endif
