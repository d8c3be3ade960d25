/* Waits that the system call alone does not explain: the kernel's function in which the thread
 * waits tells. /proc/PID/wchan has the innermost one; the functions that called it are in
 * /proc/PID/stack, which only root may read. The names are those of Linux 5.10 to 6.18. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/live_mounts.h"

enum { STACK_BYTES = 8192, STATUS_BYTES = 4096, MOST_DEVICES = 64 /* of a process's files */ };

/* A part of a function's name, and what it waits for. To add one: a row. The first that fits
 * counts. */
static const struct {
    const char *function;
    enum argus_live_kind kind;
    bool is_caller; /* it need not be the innermost one */
} rows[] = {
    {"fuse_dev_", ARGUS_LIVE_REQUEST, false}, /* fs/fuse/dev.c: a server, which has no request */
    {"request_wait_answer", ARGUS_LIVE_FUSE, false},
    {"fuse_", ARGUS_LIVE_FUSE, false},
    {"handle_userfault", ARGUS_LIVE_USERFAULT, false},        /* fs/userfaultfd.c */
    {"mem_cgroup_oom_synchronize", ARGUS_LIVE_MEMORY, false}, /* mm/memcontrol.c */
    {"mem_cgroup_handle_over_high", ARGUS_LIVE_MEMORY, false},
    {"rpc_wait_bit_killable", ARGUS_LIVE_REMOTE_FS, false}, /* net/sunrpc/sched.c: NFS */
    {"do_swap_page", ARGUS_LIVE_PAGE, true},                /* mm/memory.c */
    {"filemap_fault", ARGUS_LIVE_PAGE, true},
    {"sb_start_write", ARGUS_LIVE_FROZEN_FS, true}, /* include/linux/fs.h, fs/namespace.c */
    {"mnt_want_write", ARGUS_LIVE_FROZEN_FS, true},
    {"sb_start_pagefault", ARGUS_LIVE_FROZEN_FS, true},
};

/* The functions between the wait and the system call or the fault; "" if this user may not see
 * them. */
static void read_stack(const struct argus_live *live, uint32_t thread, char ret[STACK_BYTES])
{
    char name[48];
    snprintf(name, sizeof(name), "task/%u/stack", live->threads.data[thread].tid);
    live_read(live_pid_of(live, thread), name, ret, STACK_BYTES);
}

/* Whether it waits until all threads of its process have stopped for a core dump, or until they
 * have ended (kernel/exit.c). */
static bool is_ending(const struct argus_live_thread *of)
{
    return strncmp(of->wchan, "coredump", 8) == 0 || strncmp(of->wchan, "exit", 4) == 0;
}

/* Whether a thread has memory: one that ends gives it back first, and closes its files then. */
static bool has_memory(const struct argus_live *live, uint32_t thread)
{
    char name[48], text[128];
    snprintf(name, sizeof(name), "task/%u/maps", live->threads.data[thread].tid);
    return live_read(live_pid_of(live, thread), name, text, sizeof(text)) > 0;
}

static bool is_dumping_core(const struct argus_live *live, uint32_t thread)
{
    char text[STATUS_BYTES];
    uint64_t is_dumping = 0;
    return live_read(live_pid_of(live, thread), "status", text, sizeof(text)) > 0 &&
           live_field(text, "CoreDumping:", 10, &is_dumping) && is_dumping;
}

/* A thread in the kernel without a system call: a page of its memory is missing, unless it ends. */
static bool is_in_fault(const struct argus_live *live, uint32_t thread)
{
    const struct argus_live_thread *of = &live->threads.data[thread];
    return !of->has_call && of->sp && of->pc &&
           (of->state == 'D' || strstr(of->wchan, "request_wait_answer")) && !is_ending(of) &&
           has_memory(live, thread) && !is_dumping_core(live, thread);
}

/* Types that are frozen with their disk, or with that of another one, but have no disk's number. To
 * add one: a row. */
static bool can_freeze(const struct live_mount *mount)
{
    static const char *const types[] = {"btrfs", "bcachefs", "overlay"};
    bool found = mount->major != 0;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        found |= strcmp(mount->type, types[i]) == 0;
    return found;
}

/* A freeze of a file system lets writers wait for a lock of this kind (fs/super.c). Forks and moves
 * between control groups have one, too: their files are in a file system without a disk. */
static bool is_frozen_fs(struct argus_live *live, uint32_t thread,
                         const struct argus_live_wait *wait)
{
    const struct argus_live_thread *of = &live->threads.data[thread];
    const char *call = argus_live_call_name(of);
    struct live_mount mount;
    return strcmp(of->wchan, "percpu_rwsem_wait") == 0 && call &&
           (strstr(call, "open") || strstr(call, "write") || strstr(call, "mkdir") ||
            strstr(call, "unlink") || strstr(call, "rename") || strstr(call, "truncate")) &&
           live_mount_of_wait(live, thread, wait, &mount) && can_freeze(&mount);
}

static enum argus_live_kind kind_of(struct argus_live *live, uint32_t thread,
                                    const struct argus_live_wait *wait)
{
    const struct argus_live_thread *of = &live->threads.data[thread];
    char stack[STACK_BYTES] = "";
    if (of->state == 'D')
        read_stack(live, thread, stack);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strstr(of->wchan, rows[i].function) ||
            (rows[i].is_caller && strstr(stack, rows[i].function)))
            return rows[i].kind;
    return is_frozen_fs(live, thread, wait) ? ARGUS_LIVE_FROZEN_FS
           : is_in_fault(live, thread)      ? ARGUS_LIVE_PAGE
                                            : ARGUS_LIVE_OTHER;
}

/* From swap or from a file: only root sees which. */
static void read_page(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait)
{
    char stack[STACK_BYTES];
    read_stack(live, thread, stack);
    if (strstr(stack, "swap"))
        wait->text = live_text(live, "swap");
    else if (strstr(stack, "filemap_"))
        wait->text = live_text(live, "of a file");
}

/* A thread that waits for a disk by its call, but whose file is on no disk. */
static void read_mount(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait)
{
    struct live_mount mount;
    if (!live_mount_of_wait(live, thread, wait, &mount))
        return;
    switch (live_mount_kind(&mount)) {
    case LIVE_MOUNT_FUSE:
        wait->kind = ARGUS_LIVE_FUSE;
        break;
    case LIVE_MOUNT_REMOTE:
        wait->kind = ARGUS_LIVE_REMOTE_FS;
        break;
    case LIVE_MOUNT_LOCAL:
        live_read_disk(live, &mount, wait);
        break;
    }
}

void live_wait_in_kernel(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait)
{
    const struct argus_live_thread of = live->threads.data[thread];
    if (wait->kind == ARGUS_LIVE_FIFO_OPEN || wait->kind == ARGUS_LIVE_UNREADABLE)
        return;
    enum argus_live_kind kind = kind_of(live, thread, wait);
    if (kind == ARGUS_LIVE_FUSE && is_in_fault(live, thread))
        wait->kind = ARGUS_LIVE_PAGE;
    else if (kind != ARGUS_LIVE_OTHER)
        wait->kind = kind;
    else if (of.state == 'D' && wait->kind == ARGUS_LIVE_OTHER && !is_ending(&of))
        wait->kind = ARGUS_LIVE_DISK;
    if (wait->kind == ARGUS_LIVE_DISK)
        read_mount(live, thread, wait);
    else if (wait->kind == ARGUS_LIVE_PAGE)
        read_page(live, thread, wait);
}

/* --- who can end it --- */

/* Handlers are most often threads of the process itself; else a process that got the descriptor. */
void live_by_userfault(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                       struct live_candidates *ret)
{
    uint32_t process = live->threads.data[thread].process;
    (void)wait;
    ret->link = ARGUS_LIVE_LINK_PROVIDES;
    ret->end = ARGUS_LIVE_END_UNKNOWN;
    live_fds(live);
    for (int own = 1; own >= 0 && !ret->count; own--)
        for (size_t i = 0; i < live->fds.length; i++) {
            const struct live_fd *fd = &live->fds.data[i];
            if (fd->type == LIVE_FILE_OTHER && (fd->process == process) == own &&
                strstr(strtab_get(live->texts, fd->path), "[userfaultfd]") &&
                live_load(live, fd->process))
                live_candidate(ret, fd->process, ARGUS_LIVE_NONE);
            ret->is_guess = !own;
        }
}

/* Devices about which mountinfo was asked: it can have thousands of lines. */
struct devices {
    unsigned numbers[MOST_DEVICES][2];
    size_t count;
};

/* False: it was added before, or there is no room. */
static bool add_device(struct devices *devices, unsigned major, unsigned minor)
{
    for (size_t i = 0; i < devices->count; i++)
        if (devices->numbers[i][0] == major && devices->numbers[i][1] == minor)
            return false;
    if (devices->count == MOST_DEVICES)
        return false;
    devices->numbers[devices->count][0] = major;
    devices->numbers[devices->count++][1] = minor;
    return true;
}

/* The file is not known; but a process that maps a file of a FUSE file system probably waits for
 * that one, because disks answer soon. */
void live_by_page(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                  struct live_candidates *ret)
{
    char name[48], *line = NULL;
    size_t room = 0;
    unsigned major, minor;
    struct devices asked = {.count = 0};
    uint32_t pid = live_pid_of(live, thread);
    struct live_mount mount;
    ret->link = ARGUS_LIVE_LINK_PROVIDES;
    ret->end = ARGUS_LIVE_END_DEVICE;
    if (strcmp(strtab_get(live->texts, wait->text), "swap") == 0)
        return;
    snprintf(name, sizeof(name), "/proc/%u/maps", pid);
    FILE *file = fopen(name, "re");
    while (file && getline(&line, &room, file) > 0) {
        if (sscanf(line, "%*s %*s %*s %x:%x", &major, &minor) == 2 && (major || minor) &&
            add_device(&asked, major, minor) && live_mount_of_device(pid, major, minor, &mount) &&
            live_mount_kind(&mount) == LIVE_MOUNT_FUSE)
            live_add_fuse_servers(live, &mount, ret);
    }
    if (file)
        fclose(file);
    free(line);
    ret->is_guess = true;
}
