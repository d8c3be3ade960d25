/* Functions of glibc that Apple's libc lacks, under glibc's names, for code that is otherwise the
 * same on both.
 *
 * Include it after the system's headers. Where more than a name differs, there is one function with
 * an implementation for each system (recorder/platform.h).
 */
#ifndef ARGUS_BASE_COMPAT_H
#define ARGUS_BASE_COMPAT_H

#include <string.h>

/* strerror_r() returns a number in POSIX, and the text in glibc. */
static inline const char *error_text(int error_number, char *buffer, size_t buffer_bytes)
{
#ifdef __APPLE__
    return strerror_r(error_number, buffer, buffer_bytes) == 0 ? buffer : "unknown error";
#else
    return strerror_r(error_number, buffer, buffer_bytes);
#endif
}

#ifdef __APPLE__

#include <crt_externs.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define st_mtim st_mtimespec
#define st_ctim st_ctimespec

#ifndef O_PATH
#define O_PATH 0 /* such descriptors do not exist */
#endif

/* Apple makes it available to programs only, not to libraries. */
#define environ (*_NSGetEnviron())

/* The number belongs to the trace's system, which may be another one than this: so it is printed as
 * a number. */
#define sigabbrev_np(number) ((const char *)NULL)

/* BSD's version has `context` before `compare`, and passes it to `compare` first. */
struct compat_sort {
    int (*compare)(const void *, const void *, void *);
    void *context;
};

static inline int compat_compare(void *sort, const void *a, const void *b)
{
    const struct compat_sort *given = sort;
    return given->compare(a, b, given->context);
}

static inline void compat_qsort_r(void *base, size_t count, size_t bytes,
                                  int (*compare)(const void *, const void *, void *), void *context)
{
    struct compat_sort sort = {compare, context};
    qsort_r(base, count, bytes, &sort, compat_compare);
}
#define qsort_r compat_qsort_r

static inline void *reallocarray(void *old, size_t count, size_t bytes)
{
    size_t total;
    if (!__builtin_mul_overflow(count, bytes, &total))
        return realloc(old, total);
    errno = ENOMEM;
    return NULL;
}

/* <math.h> declares it only if _REENTRANT is defined. */
extern double lgamma_r(double value, int *ret_sign);

/* Not atomic as on Linux: if another thread forks at this moment, the child inherits the
 * descriptors. */
static inline int pipe2(int ends[2], int flags)
{
    if (pipe(ends) < 0)
        return -1;
    for (int i = 0; i < 2 && flags & O_CLOEXEC; i++)
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    return 0;
}

#endif
#endif
