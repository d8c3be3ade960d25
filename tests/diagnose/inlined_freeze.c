/* Freezes for about 3 s in a function that the compiler inlines: inlined busy, or inlined wait. The
 * test compiles it with -O2 -g, by gcc and by clang. */
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t cells[4096];

__attribute__((always_inline)) static inline uint64_t stir(uint64_t sum, uint64_t seed)
{
    for (unsigned i = 0; i < 4096; i++)
        sum += cells[i] = (cells[i] ^ sum) * 0x9e3779b97f4a7c15u + seed;
    return sum;
}

__attribute__((noinline)) static uint64_t rebuild(void)
{
    struct timespec begin, now;
    uint64_t sum = 0;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (unsigned i = 0; i < 1000; i++)
            sum = stir(sum, i);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - begin.tv_sec < 3);
    return sum;
}

__attribute__((always_inline)) static inline int await_reply(int from)
{
    char reply;
    return read(from, &reply, 1) == 1 ? reply : -1;
}

__attribute__((noinline)) static int load_settings(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        return -1;
    if (fork() == 0) {
        sleep(3);
        _exit(write(ends[1], "y", 1) != 1);
    }
    return await_reply(ends[0]) + 1;
}

int main(int count, char **words)
{
    uint64_t got =
        count > 1 && strcmp(words[1], "busy") == 0 ? rebuild() : (uint64_t)load_settings();
    usleep(10000);
    return got == 0;
}
