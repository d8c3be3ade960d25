/* One entry for two drivers: libFuzzer (ARGUS_FUZZERS, clang) and run_corpus.c (every build, as a
 * test). */
#ifndef ARGUS_TESTS_FUZZ_H
#define ARGUS_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads `data`; returns 0. A fault is a crash or a report of a sanitizer. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whether to do part `part` of the `parts` of a target's work for this input. A fuzzer does one part,
 * which the input's bytes choose, and so tries several times as many inputs; a test does all. */
static inline bool fuzz_does(const uint8_t *data, size_t size, unsigned part, unsigned parts)
{
#ifdef ARGUS_FUZZERS
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * 16777619u;
    return (hash >> 8) % parts == part;
#else
    (void)data, (void)size, (void)part, (void)parts;
    return true;
#endif
}

#endif
