/* The commands that a process has started. */
#ifndef ARGUS_RECORDER_COMMANDS_H
#define ARGUS_RECORDER_COMMANDS_H

#include <stdint.h>

/* The main thread of process `pid` may have started commands. This is the start of the first one
 * that was started at `since_ns` or later, still runs, and was not given the terminal:
 * CLOCK_MONOTONIC, to a hundredth of a second. 0: there is none, or it is unknown, as on macOS. Any
 * thread may call it. */
uint64_t process_command_since(uint32_t pid, uint64_t since_ns);

#endif
