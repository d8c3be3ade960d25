/* Locks on files that are held or waited for now: what no call in a recording tells of, since the locks are older. */
#ifndef ARGUS_RECORDER_LINUX_HELD_LOCKS_H
#define ARGUS_RECORDER_LINUX_HELD_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "backend.h"

/* One line of /proc/locks (proc(5)): `*ret` is its record, of time 0. False: it has another form, or is no lock of flock() or
 * fcntl() (a lease). A line that names no process (an open file description's lock has -1) makes a record of thread 0. */
bool held_locks_parse(const char *line, struct argus_record *ret);
/* Appends the records of all lines, at `time_ns`; the recorder's own locks and what lies behind some thousands are left out. False
 * without memory. */
bool held_locks_read(uint64_t time_ns, record_list *ret);

#endif
