/* Feeds pseudo-random inputs to the fuzz target: the builder's invariants hold for any records.
 *
 *     random_graphs COUNT [SEED]
 */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13; /* xorshift64: the same numbers everywhere */
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

int main(int argc, char **argv)
{
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    uint64_t state = argc > 2 ? strtoull(argv[2], NULL, 10) : 88172645463325252u;
    static uint8_t data[8 * 600 + 1];
    for (unsigned long i = 0; i < count; i++) {
        size_t size = 1 + 8 * (next(&state) % 600);
        for (size_t k = 0; k < size; k++)
            data[k] = (uint8_t)(next(&state) >> 24);
        data[0] = i % 4 ? 0 : data[0]; /* mostly Linux */
        /* In most inputs nothing is lost and chunks are long, as in a real trace. */
        for (size_t k = 2; i % 8 && k < size; k += 8)
            data[k] &= 127;
        LLVMFuzzerTestOneInput(data, size);
    }
    printf("%lu random traces\n", count);
    return 0;
}
