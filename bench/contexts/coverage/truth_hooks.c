/* Exact entries and exits of every function of a program that was compiled with -finstrument-functions, linked into it.
 *
 * Each thread writes into a mapped file of its own, which is made at its first function and is large enough for the whole run: so
 * the hooks make no system call later on, and what a recorder sees of the program is the program's. After a kill the file has
 * what was written. A fork begins files of its own. A thread that fills its file writes nothing more, and the reader says so.
 *
 * Not uftrace: it has its own recorder beside the program and drops events when that one is late, which with both cpus busy and
 * Argus recording as well is often; and its libmcount keeps a shadow stack that breaks unwinding through it.
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

/* The names are the compiler's (gcc(1), -finstrument-functions). */
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
