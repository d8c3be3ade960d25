/* Two counters that are watched: on arm64 one is changed by the atomic instructions of ARMv8.1, the other one by load-exclusive
 * and store-exclusive, as ARMv8.0 does it. Elsewhere both are ordinary atomic counters.
 *
 * flag_atomics TIMES: prints "PID"; at a line of its input adds 1 TIMES to each counter and prints "done A B".
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(__aarch64__)
#define NEW_INSTRUCTIONS __attribute__((target("arch=armv8.1-a"), noinline))
#define OLD_INSTRUCTIONS __attribute__((target("arch=armv8-a"), noinline))
#else
#define NEW_INSTRUCTIONS __attribute__((noinline))
#define OLD_INSTRUCTIONS __attribute__((noinline))
#endif

uint64_t new_count, old_count;

NEW_INSTRUCTIONS static void add_new(void)
{
    __atomic_fetch_add(&new_count, 1, __ATOMIC_SEQ_CST);
}

OLD_INSTRUCTIONS static void add_old(void)
{
    __atomic_fetch_add(&old_count, 1, __ATOMIC_SEQ_CST);
}

int main(int argc, char **argv)
{
    char line[64];
    uint64_t times = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
    printf("%d\n", (int)getpid());
    fflush(stdout);
    if (!fgets(line, sizeof(line), stdin))
        return 1;
    for (uint64_t i = 0; i < times; i++)
        add_new();
    for (uint64_t i = 0; i < times; i++)
        add_old();
    printf("done %llu %llu\n", (unsigned long long)new_count, (unsigned long long)old_count);
    return 0;
}
