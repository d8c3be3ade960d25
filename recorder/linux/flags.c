/* The processor has four registers that watch up to eight bytes each. They belong to a thread: perf_event sets them when the
 * thread comes on a cpu. An event with `inherit` is copied to each thread that the watched one makes, before it runs, with
 * its BPF program (kernel/events/core.c, inherit_event()). So new threads are watched from their first instruction, and the
 * threads that there are get an event each.
 *
 * While that is being done threads come and go. What a watched one makes inherits; what another made before its turn is
 * found by looking again, until nothing new is there. A thread found so may have inherited as well, and is then reported
 * twice (bpf/flag.h leaves the second one out).
 *
 * A known hazard: on some virtual machines about one hit in a million ended the process by SIGTRAP (shared/reference, lldb.md);
 * the kernel had no event for a register that the processor reported. Not seen in six million hits on Linux 6.18.
 */
#include "linux/flags.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

#include "base/vec.h"
#include "linux/shared.h"

#define PROGRAM    "on_flag"
#define MOST_LOOKS 20 /* for new threads */

struct watched_thread {
    uint32_t tid;
    struct bpf_link *link;
};

struct flag {
    struct request_flag wanted; /* bytes 0: not in use */
    VEC(struct watched_thread) threads;
};

struct flags {
    struct bpf_program *program;
    int map_fd;
    struct flag flags[FLAG_LIMIT];
};

struct argus_error *flags_create(struct bpf_object *object, struct flags **ret)
{
    struct flags *flags = calloc(1, sizeof(*flags));
    if (!flags)
        return argus_error_memory();
    flags->program = bpf_object__find_program_by_name(object, PROGRAM);
    flags->map_fd = bpf_object__find_map_fd_by_name(object, "flags");
    *ret = flags;
    return NULL;
}

static void flag_clear(struct flags *flags, uint32_t number)
{
    struct flag *flag = &flags->flags[number];
    const struct bpf_flag nothing = {0};
    bpf_map_update_elem(flags->map_fd, &number, &nothing, BPF_ANY);
    for (size_t i = 0; i < flag->threads.length; i++)
        bpf_link__destroy(flag->threads.data[i].link);
    vec_deinit(&flag->threads);
    *flag = (struct flag){0};
}

void flags_destroy(struct flags *flags)
{
    for (uint32_t i = 0; flags && i < FLAG_LIMIT; i++)
        flag_clear(flags, i);
    free(flags);
}

/* --- one thread --- */

static struct argus_error *refusal(const struct request_flag *wanted, int failed)
{
    switch (failed) {
    case ENOSPC:
        return argus_error_create(
            ARGUS_ERROR_USAGE,
            "no debug register of process %u is left: the processor has %d, and "
            "debuggers use the same ones",
            wanted->pid, FLAG_REGISTERS);
    case EINVAL:
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "the processor cannot watch %u bytes at 0x%llx", wanted->bytes,
                                  (unsigned long long)wanted->address);
    case EOPNOTSUPP:
    case ENOENT:
    case ENODEV:
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                  "this machine has no debug registers that perf_event can use");
    default:
        return argus_error_os(failed, "cannot watch the memory of process %u", wanted->pid);
    }
}

/* ESRCH, and *ret_link NULL: the thread has ended. */
static int watch_thread(const struct flags *flags, const struct request_flag *wanted, uint32_t tid,
                        struct bpf_link **ret_link)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_BREAKPOINT,
        .size = sizeof(attributes),
        .bp_type = wanted->access == FLAG_WRITES ? HW_BREAKPOINT_W : HW_BREAKPOINT_RW,
        .bp_addr = wanted->address,
        .bp_len = wanted->bytes,
        .sample_period = 1,
        .inherit = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    *ret_link = NULL;
    int fd =
        (int)syscall(SYS_perf_event_open, &attributes, (pid_t)tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return errno;
    *ret_link = bpf_program__attach_perf_event(flags->program, fd);
    if (*ret_link)
        return 0;
    int failed = errno;
    close(fd);
    return failed;
}

static bool is_watched(const struct flag *flag, uint32_t tid)
{
    for (size_t i = 0; i < flag->threads.length; i++)
        if (flag->threads.data[i].tid == tid)
            return true;
    return false;
}

static struct argus_error *add_thread(const struct flags *flags, struct flag *flag, uint32_t tid)
{
    struct watched_thread thread = {.tid = tid};
    int failed = watch_thread(flags, &flag->wanted, tid, &thread.link);
    if (failed && failed != ESRCH)
        return refusal(&flag->wanted, failed);
    if (vec_push(&flag->threads, thread))
        return NULL;
    bpf_link__destroy(thread.link);
    return argus_error_memory();
}

/* --- all threads --- */

static struct argus_error *add_new_threads(const struct flags *flags, struct flag *flag,
                                           uint32_t *ret_found)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/%u/task", flag->wanted.pid);
    DIR *tasks = opendir(path);
    if (!tasks)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "there is no process %u",
                                  flag->wanted.pid);
    struct argus_error *error = NULL;
    struct dirent *entry;
    *ret_found = 0;
    while (!error && (entry = readdir(tasks))) {
        uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        if (!tid || is_watched(flag, tid))
            continue;
        error = add_thread(flags, flag, tid);
        ++*ret_found;
    }
    closedir(tasks);
    return error;
}

static struct argus_error *add_threads(const struct flags *flags, struct flag *flag)
{
    uint32_t found = 1;
    struct argus_error *error = NULL;
    for (int i = 0; i < MOST_LOOKS && found && !error; i++)
        error = add_new_threads(flags, flag, &found);
    return error;
}

/* What is not there cannot be read by the processor either. */
static struct argus_error *read_value(const struct request_flag *wanted, uint64_t *ret)
{
    char path[32];
    *ret = 0;
    snprintf(path, sizeof(path), "/proc/%u/mem", wanted->pid);
    FILE *memory = fopen(path, "re");
    if (!memory)
        return errno == ENOENT
                   ? argus_error_create(ARGUS_ERROR_NOT_FOUND, "there is no process %u",
                                        wanted->pid)
                   : argus_error_os(errno, "cannot look at the memory of process %u", wanted->pid);
    setvbuf(memory, NULL, _IONBF, 0);
    bool there = fseeko(memory, (off_t)wanted->address, SEEK_SET) == 0 &&
                 fread(ret, 1, wanted->bytes, memory) == wanted->bytes;
    fclose(memory);
    if (there)
        return NULL;
    return argus_error_create(ARGUS_ERROR_USAGE, "process %u has no memory at 0x%llx", wanted->pid,
                              (unsigned long long)wanted->address);
}

static struct argus_error *find_place(const struct flags *flags, const struct request_flag *wanted,
                                      uint32_t *ret)
{
    *ret = FLAG_LIMIT;
    for (uint32_t i = 0; i < FLAG_LIMIT; i++) {
        const struct request_flag *other = &flags->flags[i].wanted;
        if (!other->bytes && *ret == FLAG_LIMIT)
            *ret = i;
        if (other->bytes && other->pid == wanted->pid && other->address == wanted->address)
            return argus_error_create(ARGUS_ERROR_BUSY,
                                      "that address is watched already, as flag %u", i + 1);
    }
    return *ret < FLAG_LIMIT
               ? NULL
               : argus_error_create(ARGUS_ERROR_USAGE,
                                    "%d flags are watched already, which is the most", FLAG_LIMIT);
}

struct argus_error *flags_add(struct flags *flags, const struct request_flag *wanted,
                              uint32_t *ret_number)
{
    uint32_t place;
    uint64_t value;
    struct argus_error *error = read_value(wanted, &value);
    if (!error)
        error = find_place(flags, wanted, &place);
    if (error)
        return error;
    struct bpf_flag described = {.address = wanted->address,
                                 .value = value,
                                 .tgid = wanted->pid,
                                 .bytes = wanted->bytes,
                                 .access = wanted->access,
                                 .number = place + 1};
    if (bpf_map_update_elem(flags->map_fd, &place, &described, BPF_ANY) < 0)
        return argus_error_os(errno, "cannot tell the kernel which flag to watch");
    struct flag *flag = &flags->flags[place];
    flag->wanted = *wanted;
    error = add_threads(flags, flag);
    if (error)
        flag_clear(flags, place);
    else
        *ret_number = place + 1;
    return error;
}

static bool is_used(const struct flags *flags, uint32_t number)
{
    return flags && number >= 1 && number <= FLAG_LIMIT && flags->flags[number - 1].wanted.bytes;
}

struct argus_error *flags_remove(struct flags *flags, uint32_t number)
{
    if (!is_used(flags, number))
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "there is no flag %u", number);
    flag_clear(flags, number - 1);
    return NULL;
}

bool flags_get(const struct flags *flags, uint32_t number, struct reply_flag *ret)
{
    struct bpf_flag counted = {0};
    if (!is_used(flags, number))
        return false;
    uint32_t key = number - 1;
    bpf_map_lookup_elem(flags->map_fd, &key, &counted);
    const struct request_flag *wanted = &flags->flags[key].wanted;
    *ret = (struct reply_flag){.number = number,
                               .pid = wanted->pid,
                               .address = wanted->address,
                               .bytes = wanted->bytes,
                               .access = wanted->access,
                               .hits = counted.hits};
    memcpy(ret->label, wanted->label, sizeof(ret->label));
    return true;
}
