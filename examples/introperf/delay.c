/* A library to preload, which makes one function slow, as a fault in it would:
 *
 *     DELAY_MS=20 DELAY_HOW=sleep DELAY_FUNCTION=deflate DELAY_CALLER=mod_deflate LD_PRELOAD=./libdelay.so apache2 …
 *
 * DELAY_FUNCTION: which of those below, of other libraries. DELAY_CALLER: only when called by a file whose path has this in it;
 * all when not set. DELAY_HOW: a way of delay_ways.c, sleep when not set. DELAY_EVERY: only each that manieth call. Functions that
 * no other file can take the place of: delay_at.c. To add a function, add a row: it may have six arguments that go into integer
 * registers, and return one.
 */
#define _GNU_SOURCE
#include "delay.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef long (*original)(long, long, long, long, long, long);

static long setting(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text ? atol(text) : otherwise;
}

void delay(void)
{
    static long calls;
    if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) % setting("DELAY_EVERY", 1) != 0)
        return;
    delay_way(getenv("DELAY_HOW"), setting("DELAY_MS", 20));
}

/* Whether a file of DELAY_CALLER has this address. Of the program itself, dladdr() knows only the first argument: often a link, or no
 * path. */
static bool is_in_caller(const void *address)
{
    const char *file = getenv("DELAY_CALLER");
    Dl_info info;
    if (!file)
        return true;
    if (!dladdr(address, &info))
        return false;
    char *path = realpath(info.dli_fname, NULL);
    bool found = strstr(path ? path : info.dli_fname, file) != NULL;
    free(path);
    return found;
}

/* The last answer is kept, because looking for a file takes longer than most functions. */
static bool is_slow(const char *name, const void *caller)
{
    static __thread const void *known;
    static __thread bool is_known_slow;
    const char *function = getenv("DELAY_FUNCTION");
    if (!function || strcmp(function, name) != 0)
        return false;
    if (known != caller)
        is_known_slow = is_in_caller(caller);
    known = caller;
    return is_known_slow;
}

/* Where `name` would be without this file. A plug-in's own libraries are not among what RTLD_NEXT looks at. */
static original find_next(const char *name, const void *caller)
{
    Dl_info info;
    void *next = dlsym(RTLD_NEXT, name), *plug_in = NULL;
    if (!next && dladdr(caller, &info))
        plug_in = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    return (original)(next ? next : plug_in ? dlsym(plug_in, name) : NULL);
}

#define DELAYED(name)                                                                              \
    long name(long a, long b, long c, long d, long e, long f)                                      \
    {                                                                                              \
        static original next;                                                                      \
        if (!next)                                                                                 \
            next = find_next(#name, __builtin_return_address(0));                                  \
        if (is_slow(#name, __builtin_return_address(0)))                                           \
            delay();                                                                               \
        return next(a, b, c, d, e, f);                                                             \
    }

DELAYED(BIO_read)
DELAYED(deflate)
DELAYED(inflate)
DELAYED(read)
DELAYED(recv)
DELAYED(sendmsg)
DELAYED(apr_file_write)
DELAYED(apr_stat)
DELAYED(readdir64)
DELAYED(pread64)
DELAYED(fdatasync)
DELAYED(rsvg_handle_write)
DELAYED(poppler_document_get_page)
DELAYED(_ZNK7Poppler8Document4pageEi) /* Poppler::Document::page(int) const */
