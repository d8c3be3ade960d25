#include "linux/waiting.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "linux/interpreter_frames.h"
#include "linux/pid_namespace.h"
#include "linux/shared.h"
#include "linux/snapshots.h"
#include "server/clocks.h"

#define PROGRAM "on_waiting"

/* A desktop session has some hundred threads; this bounds the work on a runaway machine. */
#define MOST_WAITING 4096

/* State shared by all threads of a look. */
struct looking {
    const struct interpreters *interpreters;
    int waits_fd;
    size_t stack_bytes;
};

static void clear(struct waiting *waiting)
{
    for (size_t i = 0; i < waiting->snapshots.length; i++)
        free((void *)waiting->snapshots.data[i].stack);
    waiting->interpreted.length = waiting->records.length = 0;
    waiting->snapshots.length = waiting->late.length = 0;
}

void waiting_deinit(struct waiting *waiting)
{
    clear(waiting);
    vec_deinit(&waiting->snapshots);
    vec_deinit(&waiting->late);
    vec_deinit(&waiting->interpreted);
    vec_deinit(&waiting->records);
}

/* Where the copy begins: a 32-bit program's stack pointer may not be 8-aligned. */
static uint64_t copy_start(const struct bpf_waiting *found)
{
    return found->registers[BPF_REGISTER_SP] & ~(found->ranges.is_32_bit ? 7ull : 0);
}

/* Copies the readable part of the stack. Returns its size in bytes. */
static size_t copy_stack(const struct bpf_waiting *found, uint8_t *ret, size_t bytes)
{
    uint64_t sp = copy_start(found);
    struct iovec local = {ret, bytes}, remote = {(void *)(uintptr_t)sp, bytes};
    ssize_t done = process_vm_readv((pid_t)found->pid, &local, 1, &remote, 1, 0);
    return done < 0 ? 0 : (size_t)done & ~(size_t)7;
}

/* Whether the thread is still in the same wait, so that the copy belongs to it. */
static bool waits_still(int waits_fd, const struct bpf_waiting *found)
{
    uint32_t key = found->tid & (BPF_WAITS - 1);
    struct bpf_wait wait;
    if (bpf_map_lookup_elem(waits_fd, &key, &wait) != 0)
        return false;
    if (!found->since_ns)
        return wait.tid != found->tid;
    return wait.tid == found->tid && wait.since_ns == found->since_ns;
}

/* An ID that is unlikely to equal the hash of another snapshot: thread and time are unique. */
static uint64_t name_of(const struct bpf_waiting *found)
{
    uint64_t name = (found->since_ns ^ (uint64_t)found->tid << 40) * 0x9e3779b97f4a7c15ull;
    return (name ^ name >> 29) | 1ull << 63;
}

static enum argus_snapshot_end end_of(const struct bpf_waiting *found, size_t wanted, size_t bytes,
                                      size_t most)
{
    if (bytes < wanted)
        return ARGUS_SNAPSHOT_MISSING;
    bool whole = found->end && found->end - copy_start(found) <= most;
    return whole ? ARGUS_SNAPSHOT_WHOLE : ARGUS_SNAPSHOT_CUT;
}

static bool add_record(struct waiting *waiting, const struct bpf_waiting *found, uint64_t now_ns,
                       uint64_t stack)
{
    const struct argus_record record = {
        .timestamp = now_ns,
        .tid = found->tid,
        .debugid = ARGUS_ID_WAITING,
        .arg = {ARGUS_WAITING(found->call, found->state), found->argument[0], found->argument[1],
                stack},
    };
    return vec_push(&waiting->records, record);
}

/* A stack of a wait that began before the recording belongs to no wait in it but this one. */
static struct argus_late_stack late_of(const struct bpf_waiting *found, uint64_t now_ns,
                                       uint64_t id)
{
    return (struct argus_late_stack){found->tid, found->first_ns ? found->first_ns : now_ns, now_ns,
                                     found->registers[BPF_REGISTER_SP], id};
}

static struct argus_error *take(struct waiting *waiting, const struct bpf_waiting *found,
                                const struct looking *looking)
{
    size_t most = looking->stack_bytes;
    struct bpf_stack interpreted;
    uint64_t sp = copy_start(found), now_ns = clock_ns(TRACE_CLOCK);
    size_t wanted = found->end && found->end - sp < most ? (found->end - sp) & ~7ull : most;
    uint8_t *stack = malloc(wanted ? wanted : 1);
    if (!stack)
        return argus_error_memory();
    struct argus_snapshot snapshot = {
        .id = name_of(found),
        .pid = found->pid,
        .tid = found->tid,
        .ticks = now_ns,
        .stack = stack,
        .stack_bytes = (uint32_t)copy_stack(found, stack, wanted),
    };
    struct argus_late_stack late = late_of(found, now_ns, snapshot.id);
    snapshot.end = end_of(found, wanted, snapshot.stack_bytes, most);
    snapshot_set_registers(&snapshot, found->registers, &found->ranges);
    snapshot_keep_addresses(stack, snapshot.stack_bytes, &found->ranges);
    interpreters_read(looking->interpreters, found, &interpreted);
    bool is_same = waits_still(looking->waits_fd, found);
    bool good = snapshot.stack_bytes && is_same;
    if (is_same && !add_record(waiting, found, now_ns, good ? snapshot.id : 0)) {
        free(stack);
        return argus_error_memory();
    }
    if (good && vec_push(&waiting->interpreted, interpreted) &&
        vec_reserve(&waiting->snapshots, 1) && vec_push(&waiting->late, late)) {
        vec_push(&waiting->snapshots, snapshot);
        return NULL;
    }
    free(stack);
    return good ? argus_error_memory() : NULL;
}

static struct argus_error *read_all(struct waiting *waiting, int iterator,
                                    const struct looking *looking)
{
    struct bpf_waiting found[16];
    struct argus_error *error = NULL;
    size_t filled = 0;
    ssize_t count = 1;
    while (!error && count > 0 && waiting->snapshots.length < MOST_WAITING) {
        count = read(iterator, (char *)found + filled, sizeof(found) - filled);
        filled += count > 0 ? (size_t)count : 0;
        size_t whole = filled / sizeof(*found);
        for (size_t i = 0; i < whole && !error; i++)
            error = take(waiting, &found[i], looking);
        filled -= whole * sizeof(*found);
        memmove(found, found + whole, filled);
    }
    return error;
}

struct argus_error *waiting_look(struct waiting *waiting, struct bpf_object *object,
                                 const struct interpreters *interpreters, uint32_t stack_bytes)
{
    struct bpf_program *program = bpf_object__find_program_by_name(object, PROGRAM);
    const struct looking looking = {
        .interpreters = interpreters,
        .waits_fd = bpf_object__find_map_fd_by_name(object, "waits"),
        .stack_bytes = stack_bytes,
    };
    clear(waiting);
    /* In a container process_vm_readv() uses other process IDs than the BPF programs. */
    if (!program || bpf_program__fd(program) < 0 || !stack_bytes || pid_namespace_is_own())
        return NULL;
    struct bpf_link *link = bpf_program__attach_iter(program, NULL);
    int iterator = link ? bpf_iter_create(bpf_link__fd(link)) : -1;
    struct argus_error *error = NULL;
    if (iterator >= 0) {
        error = read_all(waiting, iterator, &looking);
        close(iterator);
    }
    bpf_link__destroy(link);
    return error;
}

struct argus_error *waiting_write(const struct waiting *waiting, struct argus_writer *writer)
{
    struct argus_error *error = NULL;
    for (size_t i = 0; i < waiting->snapshots.length && !error; i++) {
        error = argus_writer_snapshot(writer, &waiting->snapshots.data[i]);
        if (!error)
            error = argus_writer_late_stack(writer, &waiting->late.data[i]);
        const struct bpf_stack *interpreted = &waiting->interpreted.data[i];
        if (!error)
            error =
                argus_writer_stack(writer, waiting->snapshots.data[i].id ^ ARGUS_STACK_INTERPRETED,
                                   interpreted->frames, interpreted->count);
    }
    return error;
}
