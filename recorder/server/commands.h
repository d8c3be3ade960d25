/* The commands that a process has started. */
#ifndef ARGUS_RECORDER_COMMANDS_H
#define ARGUS_RECORDER_COMMANDS_H

#include <stdint.h>

/* When the first of those commands was started that a process's main thread has started at
 * `since_ns` or later, that live, and to which it has not given its terminal; CLOCK_MONOTONIC, to a
 * hundredth of a second. 0: there is none, or it is unknown, as on macOS. Any thread may call it. */
uint64_t process_command_since(uint32_t pid, uint64_t since_ns);

#endif
