/* Exact entries and exits of every function of a program that was compiled with
 * -finstrument-functions, linked into it.
 *
 * Each thread writes into its own mapped file, which is created at its first function and is large
 * enough for the whole run. So the hooks make no system calls later, and a recorder sees only the
 * program's own. After a kill the file has everything written so far. A forked child creates its
 * own files. A thread that has filled its file writes nothing more, and the reader reports that.
 *
 * Why not uftrace: its separate recorder process drops events when it is late, which happens often
 * with all CPUs busy and Argus recording; and its libmcount keeps a shadow stack that breaks
 * unwinding.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "truth_event.h"

static __thread struct truth_event *next, *end;
static __thread bool begun;

static void forget(void)
{
    next = end = NULL;
    begun = false;
}

__attribute__((constructor)) static void prepare(void)
{
    pthread_atfork(NULL, NULL, forget);
}

static void begin(void)
{
    char path[512];
    const char *folder = getenv(TRUTH_FOLDER);
    size_t bytes = sizeof(struct truth_event) * TRUTH_EVENTS_MAX;
    begun = true;
    if (!folder)
        return;
    snprintf(path, sizeof(path), "%s/%d-%ld.truth", folder, getpid(), syscall(SYS_gettid));
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    void *map = ftruncate(fd, (off_t)bytes) == 0
                    ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                    : MAP_FAILED;
    close(fd);
    if (map == MAP_FAILED)
        return;
    next = map;
    end = next + TRUTH_EVENTS_MAX;
}

static inline void note(void *function, uint64_t is_exit)
{
    struct timespec now;
    if (next == end) {
        if (!begun)
            begin();
        if (next == end)
            return;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    next->time_ns_and_exit =
        ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec) << 1 | is_exit;
    next->function = (uint64_t)(uintptr_t)function;
    next++;
}

/* The compiler defines these names (gcc(1), -finstrument-functions). */
void __cyg_profile_func_enter(void *function, void *call_site);
void __cyg_profile_func_exit(void *function, void *call_site);

void __cyg_profile_func_enter(void *function, void *call_site)
{
    (void)call_site;
    note(function, 0);
}

void __cyg_profile_func_exit(void *function, void *call_site)
{
    (void)call_site;
    note(function, 1);
}
