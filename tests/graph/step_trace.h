/* Makes a trace from any bytes, for tests: the graph's builder must handle every one.
 *
 * The bytes are read as small steps: which tracepoint, on which cpu, by which of a few threads,
 * with which of a few arguments. With few threads, timers and calls, interesting combinations are
 * likely. Occasionally records are lost, time jumps back, or an argument is any number. */
#ifndef ARGUS_TESTS_STEP_TRACE_H
#define ARGUS_TESTS_STEP_TRACE_H

#include <stddef.h>
#include <stdint.h>

/* Writes the trace made from `data` to `fd`, an empty file. */
void step_trace_write(int fd, const uint8_t *data, size_t size);

#endif
