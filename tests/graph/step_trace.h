/* A trace out of any bytes, for tests: whatever comes, the graph's builder must cope with it.
 *
 * The bytes are read as small steps: which tracepoint, on which cpu, by which of a few threads, with which of a few
 * arguments. Few threads, timers and calls make the combinations that matter likely. Now and then records are lost, time
 * jumps back, or an argument is any number. */
#ifndef ARGUS_TESTS_STEP_TRACE_H
#define ARGUS_TESTS_STEP_TRACE_H

#include <stddef.h>
#include <stdint.h>

/* Writes the trace that `data` stands for to `fd`, an empty file. */
void step_trace_write(int fd, const uint8_t *data, size_t size);

#endif
