/* The snapshot itself, whatever the system: its processes, threads and texts. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/utf8.h"
#include "live/live_wait.h"

enum { MOST_PARENTS = 1000 };

uint32_t live_text(struct argus_live *live, const char *text)
{
    uint32_t id = 0;
    char *name = strdup(text);
    if (name)
        utf8_repair_name(name, strlen(name));
    struct argus_error *error =
        name ? strtab_intern(live->texts, name, strlen(name), &id) : argus_error_memory();
    if (error)
        live->no_memory = true;
    argus_error_destroy(error);
    free(name);
    return id;
}

uint32_t live_process(struct argus_live *live, uint32_t pid)
{
    uint32_t index = idmap_get(&live->by_pid, pid);
    return index != IDMAP_NONE && live_load(live, index) ? index : ARGUS_LIVE_NONE;
}

uint32_t live_thread_in(struct argus_live *live, uint32_t process, uint32_t tid)
{
    if (process == ARGUS_LIVE_NONE || !live_load(live, process))
        return ARGUS_LIVE_NONE;
    const struct argus_live_process *of = &live->processes.data[process];
    for (uint32_t i = of->first_thread; i < of->first_thread + of->thread_count; i++)
        if (live->threads.data[i].tid == tid)
            return i;
    return ARGUS_LIVE_NONE;
}

bool live_descends_from(struct argus_live *live, uint32_t process, uint32_t ancestor)
{
    for (int i = 0; i < MOST_PARENTS && process != IDMAP_NONE; i++) {
        process = idmap_get(&live->by_pid, live_parent_of(live, process));
        if (process == ancestor)
            return process != IDMAP_NONE;
    }
    return false;
}

uint32_t live_pid_of(const struct argus_live *live, uint32_t thread)
{
    return live->processes.data[live->threads.data[thread].process].pid;
}

struct argus_error *argus_live_open(struct argus_live **ret)
{
    struct argus_live *live = calloc(1, sizeof(*live));
    if (!live || !(live->texts = strtab_create())) {
        free(live);
        return argus_error_memory();
    }
    struct argus_error *error = live_read_processes(live);
    if (error)
        argus_live_close(live);
    else
        *ret = live;
    return error;
}

void argus_live_close(struct argus_live *live)
{
    if (!live)
        return;
    live_system_close(live);
    vec_deinit(&live->processes);
    vec_deinit(&live->threads);
    vec_deinit(&live->fds);
    vec_deinit(&live->sockets);
    idmap_deinit(&live->by_pid);
    idmap_deinit(&live->by_inode);
    strtab_destroy(live->texts);
    free(live);
}

const struct argus_live_thread *argus_live_thread_at(const struct argus_live *live, uint32_t thread)
{
    return &live->threads.data[thread];
}

const struct argus_live_process *argus_live_process_at(const struct argus_live *live,
                                                       uint32_t process)
{
    return &live->processes.data[process];
}

const char *argus_live_text(const struct argus_live *live, uint32_t text)
{
    return strtab_get(live->texts, text);
}

uint64_t live_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void argus_live_debugged(struct argus_live *live, uint32_t pid)
{
    live->debugged_pid = pid;
}

struct argus_live_wait argus_live_wait_of(struct argus_live *live, uint32_t thread)
{
    return live_wait(live, thread);
}
