/* Calls bench_victim() N times and prints the nanoseconds of one call. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

unsigned long bench_victim(unsigned long x);

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    unsigned long calls = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000, sum = 0;
    double begin = now_ns();
    for (unsigned long i = 0; i < calls; i++)
        sum += bench_victim(sum);
    printf("%.2f\n", (now_ns() - begin) / (double)calls);
    return sum == 42;
}
