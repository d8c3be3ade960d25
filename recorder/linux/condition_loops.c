#include "linux/condition_loops.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/vec.h"
#include "linux/process_fds.h"
#include "server/hang_watch.h"
#include "server/proc_stat.h"
#include "server/windows.h"

#define LIST_EVERY_NS 5000000000ull /* a loop that is younger is hardly awaited */
#define SURE_SAMPLES  3             /* found so often in its wait, a thread counts as a loop */
#define FORGET_AFTER  30            /* looks elsewhere: a wait that is not sure was no loop's */
#define MOST_LOOPS    512
#define MOST_THREADS  256
#define LONG_REST_NS  1000000000ull /* its waits are not measured; they may be this long */
#define ASKED_TIMES   3             /* a program that has just been started has no window yet */

struct loop {
    uint32_t pid, tid;
    uint32_t samples;  /* in its wait … */
    uint32_t others;   /* … before the last one, elsewhere … */
    uint32_t lately;   /* … and since then */
    uint32_t polls;    /* looks that found it in a poll */
    uint64_t home_sp;  /* of its wait; 0: not found yet */
    uint64_t since_ns; /* since when it is away; 0: it is not */
    long home_call;    /* the system call of its wait: futex or read */
    struct proc_place at;
    uint32_t asked;  /* how often it was found out whether it is awaited */
    bool listed;     /* in the current list of processes, or of threads that poll */
    bool is_awaited; /* works for a process with windows, or has some, or a terminal */
};

struct condition_loops {
    VEC(struct loop) loops;   /* all processes, sorted by ID after each list */
    VEC(struct loop) threads; /* that have polled */
    uint64_t listed_ns;
};

struct condition_loops *condition_loops_create(void)
{
    return calloc(1, sizeof(struct condition_loops));
}

void condition_loops_destroy(struct condition_loops *loops)
{
    if (!loops)
        return;
    vec_deinit(&loops->loops);
    vec_deinit(&loops->threads);
    free(loops);
}

/* --- which processes --- */

static int compare(const void *a, const void *b)
{
    const struct loop *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

static struct loop *find(struct condition_loops *loops, size_t sorted, uint32_t pid)
{
    const struct loop key = {.pid = pid};
    return sorted ? bsearch(&key, loops->loops.data, sorted, sizeof(key), compare) : NULL;
}

static void drop_ended(struct condition_loops *loops)
{
    size_t kept = 0;
    for (size_t i = 0; i < loops->loops.length; i++)
        if (loops->loops.data[i].listed)
            loops->loops.data[kept++] = loops->loops.data[i];
    loops->loops.length = kept;
}

/* Whether the process is in the foreground of a terminal, so that it may read what is typed. */
static bool has_terminal(uint32_t pid)
{
    struct proc_stat stat;
    return proc_stat_read(pid, pid, &stat) && proc_stat_in_foreground(&stat);
}

static void find_out(struct loop *loop)
{
    loop->home_call = SYS_futex;
    loop->is_awaited = process_works_for_windows(loop->pid);
    if (loop->is_awaited || !has_terminal(loop->pid))
        return;
    loop->home_call = SYS_read;
    loop->is_awaited = true;
}

/* Keeps what is known of processes that still exist. Without memory, new ones are looked at later.
 */
static void list(struct condition_loops *loops)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    size_t sorted = loops->loops.length;
    if (!folder)
        return;
    for (size_t i = 0; i < sorted; i++)
        loops->loops.data[i].listed = false;
    while ((entry = readdir(folder))) {
        uint32_t pid = isdigit((unsigned char)entry->d_name[0]) ? (uint32_t)atoi(entry->d_name) : 0;
        struct loop *known = pid ? find(loops, sorted, pid) : NULL;
        const struct loop new = {.pid = pid, .tid = pid, .listed = true};
        if (known)
            known->listed = true;
        else if (pid && vec_reserve(&loops->loops, 1))
            vec_push(&loops->loops, new);
    }
    closedir(folder);
    drop_ended(loops);
    for (size_t i = 0; i < loops->loops.length; i++) {
        struct loop *loop = &loops->loops.data[i];
        if (!loop->is_awaited && loop->asked++ < ASKED_TIMES)
            find_out(loop);
    }
    if (loops->loops.length)
        qsort(loops->loops.data, loops->loops.length, sizeof(struct loop), compare);
}

/* --- samples --- */

static bool is_terminal(int fd)
{
    return isatty(fd);
}

static bool reads_terminal(const struct loop *loop)
{
    int process = (int)syscall(SYS_pidfd_open, loop->pid, 0);
    bool reads = process >= 0 && process_fd_is(process, (int)loop->at.first, is_terminal);
    if (process >= 0)
        close(process);
    return reads;
}

/* Whether it waits in its loop now; what a read there reads is looked at the first time. */
static bool is_in_wait(const struct loop *loop)
{
    if (!loop->at.sp || loop->at.number != loop->home_call || loop->at.sp < loop->home_sp)
        return false;
    return loop->at.number == SYS_futex || loop->at.sp == loop->home_sp || reads_terminal(loop);
}

/* A thread may wait once nearer to the beginning of its stack than in its loop, for a mutex or for
 * the start of another thread. */
static void forget_unsure(struct loop *loop)
{
    if (loop->samples < SURE_SAMPLES && loop->lately > FORGET_AFTER) {
        loop->samples = loop->others = loop->lately = 0;
        loop->home_sp = loop->since_ns = 0;
    }
}

static void sample(struct loop *loop, uint64_t now_ns)
{
    forget_unsure(loop);
    if (!proc_place_read(loop->pid, loop->tid, &loop->at))
        loop->is_awaited = false;
    else if (is_in_wait(loop)) {
        bool is_new = loop->at.sp > loop->home_sp;
        loop->samples = is_new ? 1 : loop->samples + 1;
        loop->others = is_new ? 0 : loop->others + loop->lately;
        loop->lately = 0;
        loop->home_sp = loop->at.sp;
        loop->since_ns = 0;
    } else {
        loop->lately++;
        loop->since_ns = loop->since_ns ? loop->since_ns : now_ns;
    }
}

static bool is_away(const struct loop *loop)
{
    return loop->is_awaited && loop->since_ns && loop->samples >= SURE_SAMPLES;
}

/* For a thread besides the main thread, `handler_set` tells where it is now: by this the watch
 * tells doubts apart, and a dialog is not taken for a hang twice. */
static struct backend_poller poller_of(const struct loop *loop)
{
    return (struct backend_poller){
        .tid = loop->tid,
        .pid = loop->pid,
        .returned_ns = loop->since_ns,
        .returns = loop->samples,
        .rested_ns = LONG_REST_NS,
        .waits_for_condition = true,
        .handler_set = {.words = {(uint64_t)loop->at.number,
                                  loop->at.sp ? loop->home_sp - loop->at.sp : 0},
                        .count = loop->tid == loop->pid ? 0 : 2},
    };
}

static const struct backend_poller *find_poller(uint32_t tid, const struct backend_poller *pollers,
                                                size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (pollers[i].tid == tid)
            return &pollers[i];
    return NULL;
}

static void add_processes(struct condition_loops *loops, uint64_t now_ns,
                          struct backend_poller *ret, size_t room, size_t *count)
{
    size_t polling = *count, looked_at = 0;
    for (size_t i = 0; i < loops->loops.length && looked_at < MOST_LOOPS; i++) {
        struct loop *loop = &loops->loops.data[i];
        if (!loop->is_awaited)
            continue;
        looked_at++;
        loop->is_awaited = !find_poller(loop->pid, ret, polling);
        sample(loop, now_ns);
        if (is_away(loop) && *count < room)
            ret[(*count)++] = poller_of(loop);
    }
}

/* --- threads that poll, but may have another loop --- */

/* Whether it is another thread of a process whose main thread never rests in a poll; or a main
 * thread that never does, because another thread polls for it (Tcl). */
static bool may_be_loop(const struct backend_poller *poller, const struct backend_poller *pollers,
                        size_t count)
{
    const struct backend_poller *main = find_poller(poller->pid, pollers, count);
    return !main || main->rested_ns < HANG_RESTING_NS;
}

/* A main thread can be in many more places: it has to be found in its wait mostly. One that was
 * found polling has its loop there, and waits for a condition in a handler. */
static bool is_known_loop(const struct loop *loop)
{
    return loop->is_awaited && loop->samples >= SURE_SAMPLES &&
           (loop->tid != loop->pid || loop->samples >= loop->others + loop->polls);
}

/* Its last poll, which may be long ago, says nothing. */
static void put_in_loop(struct backend_poller *poller, uint64_t now_ns)
{
    poller->polling = true;
    poller->polling_in_handler = false;
    poller->seen_ns = now_ns;
    poller->usual_ns = 0;
    poller->rested_ns = LONG_REST_NS;
}

/* NULL: there are too many, or no memory. */
static struct loop *thread_of(struct condition_loops *loops, const struct backend_poller *poller)
{
    for (size_t i = 0; i < loops->threads.length; i++)
        if (loops->threads.data[i].tid == poller->tid)
            return &loops->threads.data[i];
    const struct loop new = {.pid = poller->pid, .tid = poller->tid, .home_call = SYS_futex};
    if (loops->threads.length == MOST_THREADS || !vec_push(&loops->threads, new))
        return NULL;
    return &loops->threads.data[loops->threads.length - 1];
}

static void drop_threads(struct condition_loops *loops)
{
    size_t kept = 0;
    for (size_t i = 0; i < loops->threads.length; i++)
        if (loops->threads.data[i].listed)
            loops->threads.data[kept++] = loops->threads.data[i];
    loops->threads.length = kept;
    for (size_t i = 0; i < kept; i++)
        loops->threads.data[i].listed = false;
}

/* Replaces what is known of the polls of such a thread. */
static void replace(struct loop *loop, uint64_t now_ns, struct backend_poller *poller)
{
    loop->listed = true;
    if (!loop->is_awaited && loop->asked < ASKED_TIMES) {
        loop->asked++;
        loop->is_awaited = process_has_window(loop->pid);
    }
    loop->polls += poller->polling;
    if (poller->polling)
        loop->since_ns = 0;
    else if (loop->is_awaited)
        sample(loop, now_ns);
    if (is_known_loop(loop) && loop->since_ns)
        *poller = poller_of(loop);
    else if (is_known_loop(loop))
        put_in_loop(poller, now_ns);
}

/* Main threads come last: what their polls were decides about the others. */
static void replace_threads(struct condition_loops *loops, uint64_t now_ns,
                            struct backend_poller *pollers, size_t count)
{
    for (int mains = 0; mains < 2; mains++)
        for (size_t i = 0; i < count; i++) {
            struct backend_poller *poller = &pollers[i];
            bool is_main = poller->tid == poller->pid;
            if (is_main != (mains == 1) || !may_be_loop(poller, pollers, count))
                continue;
            struct loop *loop = thread_of(loops, poller);
            if (loop)
                replace(loop, now_ns, poller);
        }
    drop_threads(loops);
}

void condition_loops_add(struct condition_loops *loops, uint64_t now_ns, struct backend_poller *ret,
                         size_t room, size_t *count)
{
    if (now_ns - loops->listed_ns > LIST_EVERY_NS) {
        list(loops);
        loops->listed_ns = now_ns;
    }
    replace_threads(loops, now_ns, ret, *count);
    add_processes(loops, now_ns, ret, room, count);
}
