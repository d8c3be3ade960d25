/* What glibc has and Apple's libc has not, under glibc's names: for code that is otherwise the same on both.
 *
 * To be included behind the system's headers. What differs by more than a name is a function of its own, with one
 * implementation for each system (recorder/platform.h).
 */
#ifndef ARGUS_BASE_COMPAT_H
#define ARGUS_BASE_COMPAT_H

#include <string.h>

/* strerror_r() of POSIX returns a number, that of glibc the text. */
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

/* Apple gives it to programs only, not to libraries. */
#define environ (*_NSGetEnviron())

/* The number is the trace's system's, which need not be this one: it is printed as a number. */
#define sigabbrev_np(number) ((const char *)NULL)

/* BSD's has the context before, and in the comparison first. */
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

/* Not atomic as Linux's is: a process that forks at this moment inherits them. */
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
