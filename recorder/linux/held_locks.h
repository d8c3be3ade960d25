/* File locks that are held or waited for now. They may be older than the recording, which then has
 * no call for them. */
#ifndef ARGUS_RECORDER_LINUX_HELD_LOCKS_H
#define ARGUS_RECORDER_LINUX_HELD_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "server/backend.h"

/* One line of /proc/locks (proc(5)): `*ret` is its record, with time 0. False: it has another form,
 * or is not a lock of flock() or fcntl(), or a lease. A line that names no process (an open file
 * description's lock has -1) makes a record of thread 0, that of one that waits for a lease one of
 * inode 0. */
bool held_locks_parse(const char *line, struct argus_record *ret);
/* Appends the records of all lines, at `time_ns`; leaves out the recorder's own locks, and all
 * locks after the first few thousand. False without memory. */
bool held_locks_read(uint64_t time_ns, record_list *ret);

#endif
