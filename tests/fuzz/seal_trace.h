/* Corrects the checksums of a trace's header and chunks, so that changed bytes reach the code behind
 * the check. */
#ifndef ARGUS_TESTS_SEAL_TRACE_H
#define ARGUS_TESTS_SEAL_TRACE_H

#include <stddef.h>
#include <stdint.h>

void seal_trace(uint8_t *data, size_t size);

#endif
