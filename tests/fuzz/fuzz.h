/* One entry for two drivers: libFuzzer (ARGUS_FUZZERS, clang) and run_corpus.c (every build, as a
 * test). */
#ifndef ARGUS_TESTS_FUZZ_H
#define ARGUS_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Reads `data`; returns 0. A fault is a crash or a report of a sanitizer. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
