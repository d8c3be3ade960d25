#include "linux/condition_loops.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/vec.h"
#include "server/windows.h"

#define LIST_EVERY_NS 5000000000ull /* a loop that is younger is hardly awaited */
#define SURE_SAMPLES  3             /* found so often in its wait, a thread counts as a loop */
#define MOST_LOOPS    512
#define LONG_REST_NS  1000000000ull /* its waits are not measured; they may be this long */
#define ASKED_TIMES   3             /* a program that has just been started has no window yet */

struct loop {
    uint32_t pid;
    uint32_t samples;  /* in its wait */
    uint64_t home_sp;  /* of its wait; 0: not found yet */
    uint64_t since_ns; /* since when it is away; 0: it is not */
    uint32_t asked;    /* how often it was found out whether it is awaited */
    bool listed;       /* in the current list of processes */
    bool is_awaited;   /* works for a process with windows */
};

struct condition_loops {
    VEC(struct loop) loops; /* all processes, sorted by ID after each list */
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
        const struct loop new = {.pid = pid, .listed = true};
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
            loop->is_awaited = process_works_for_windows(loop->pid);
    }
    if (loops->loops.length)
        qsort(loops->loops.data, loops->loops.length, sizeof(struct loop), compare);
}

/* --- samples --- */

/* What /proc/PID/task/PID/syscall says: "NUMBER ARGUMENT… SP PC", or "running". */
static bool read_place(uint32_t pid, long *ret_number, uint64_t *ret_sp)
{
    char path[64], text[256] = "";
    unsigned long long sp;
    snprintf(path, sizeof(path), "/proc/%u/task/%u/syscall", pid, pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool read = fgets(text, sizeof(text), file) != NULL;
    fclose(file);
    *ret_number = -1;
    *ret_sp = 0;
    if (sscanf(text, "%ld %*s %*s %*s %*s %*s %*s %llx", ret_number, &sp) == 2)
        *ret_sp = sp;
    return read;
}

static void sample(struct loop *loop, uint64_t now_ns)
{
    long number;
    uint64_t sp;
    if (!read_place(loop->pid, &number, &sp))
        loop->is_awaited = false;
    else if (number == SYS_futex && sp >= loop->home_sp) {
        loop->samples = sp > loop->home_sp ? 1 : loop->samples + 1;
        loop->home_sp = sp;
        loop->since_ns = 0;
    } else if (!loop->since_ns)
        loop->since_ns = now_ns;
}

static bool polls(uint32_t pid, const struct backend_poller *pollers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (pollers[i].tid == pid)
            return true;
    return false;
}

void condition_loops_add(struct condition_loops *loops, uint64_t now_ns, struct backend_poller *ret,
                         size_t room, size_t *count)
{
    size_t polling = *count, looked_at = 0;
    if (now_ns - loops->listed_ns > LIST_EVERY_NS) {
        list(loops);
        loops->listed_ns = now_ns;
    }
    for (size_t i = 0; i < loops->loops.length && looked_at < MOST_LOOPS; i++) {
        struct loop *loop = &loops->loops.data[i];
        if (!loop->is_awaited)
            continue;
        looked_at++;
        loop->is_awaited = !polls(loop->pid, ret, polling);
        sample(loop, now_ns);
        if (loop->is_awaited && loop->since_ns && loop->samples >= SURE_SAMPLES && *count < room)
            ret[(*count)++] = (struct backend_poller){.tid = loop->pid,
                                                      .pid = loop->pid,
                                                      .returned_ns = loop->since_ns,
                                                      .returns = loop->samples,
                                                      .rested_ns = LONG_REST_NS,
                                                      .waits_for_condition = true};
    }
}
