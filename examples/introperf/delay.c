/* A library to preload, which makes one function of other libraries slow, as a fault in them would:
 *
 *     DELAY_MS=20 DELAY_HOW=sleep DELAY_CALLER=mod_deflate LD_PRELOAD=./libdelay.so apache2 …
 *
 * DELAY_FUNCTION: which of those below. DELAY_CALLER: only when called by a file whose path has this in it; all when not set. DELAY_HOW: sleep, or
 * compute. DELAY_EVERY: only each that manieth call. To add a function, add a row: it may have six arguments that go into integer
 * registers, and return one.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef long (*function)(long, long, long, long, long, long);

static long setting(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text ? atol(text) : otherwise;
}

static void compute(long ms)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (volatile int i = 0; i < 100000; i++)
            ;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}

static void delay(const char *name, const void *caller)
{
    static long calls;
    const char *function = getenv("DELAY_FUNCTION"), *file = getenv("DELAY_CALLER");
    Dl_info info;
    if (!function || strcmp(function, name) != 0 ||
        (file && (!dladdr(caller, &info) || !strstr(info.dli_fname, file))) ||
        __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) % setting("DELAY_EVERY", 1) != 0)
        return;
    long ms = setting("DELAY_MS", 20);
    const char *how = getenv("DELAY_HOW");
    if (how && strcmp(how, "compute") == 0)
        compute(ms);
    else
        nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

#define DELAYED(name)                                                                              \
    long name(long a, long b, long c, long d, long e, long f)                                      \
    {                                                                                              \
        static function next;                                                                      \
        if (!next)                                                                                 \
            next = (function)dlsym(RTLD_NEXT, #name);                                              \
        delay(#name, __builtin_return_address(0));                                                 \
        return next(a, b, c, d, e, f);                                                             \
    }

DELAYED(deflate)
DELAYED(apr_file_write_full)
DELAYED(apr_file_write)
DELAYED(apr_stat)
DELAYED(readdir64)
DELAYED(pread64)
