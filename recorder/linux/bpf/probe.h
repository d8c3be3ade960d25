/* Probes in libraries (uprobes): callbacks that are queued, begin and end, and UI events. One
 * program for all of them; the cookie of the attachment identifies the probe, and `probes` has its
 * description.
 *
 * A hit costs about a microsecond before this program is called, so its own time hardly matters;
 * but a record costs room in the ring. So a callback that was not queued (most of Qt's) leaves no
 * record if the probe says so; the turn of a loop leaves one only if a callback may have ended; and
 * of the functions called for a UI event only the first few are recorded.
 *
 * The program's memory is read without faulting. Data that is not in memory is not recorded; that
 * is rare, because the program is about to use it.
 */
#ifndef ARGUS_BPF_PROBE_H
#define ARGUS_BPF_PROBE_H

#include "client_memory.h"
#include "loop_turn.h"

#define PROBE_HANDLERS 16 /* for one callback or UI event */

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, PROBE_LIMIT);
    __type(key, uint32_t);
    __type(value, struct probe_spec);
} probes SEC(".maps");

/* Number of hits of each probe, with or without a record: a probe that is hit too often is removed
 * (linux/probe_rates.h). */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, PROBE_LIMIT);
    __type(key, uint32_t);
    __type(value, uint64_t);
} probe_hits SEC(".maps");

struct probe_key {
    uint32_t tgid, space;
    uint64_t key;
};

/* The callbacks that are queued. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 16384);
    __type(key, struct probe_key);
    __type(value, uint32_t);
} queued SEC(".maps");

struct hit {
    const struct probe_spec *spec;
    struct moment now;
    uint64_t registers[PROBE_BASES]; /* by base */
    uint64_t sp;                     /* at the function's beginning */
    uint32_t number;
};

static __always_inline uint64_t cut(uint64_t value, uint32_t bytes, bool is_signed)
{
    uint32_t unused = 64 - 8 * bytes;
    if (bytes == 0 || bytes >= 8)
        return value;
    value <<= unused & 63;
    return is_signed ? (uint64_t)((int64_t)value >> (unused & 63)) : value >> (unused & 63);
}

/* False: some memory on the way is not there. */
static __noinline bool probe_read(const uint64_t *registers, const struct probe_value *value,
                                  uint64_t *ret)
{
    uint64_t number = registers[value->base & (PROBE_BASES - 1)];
    for (uint64_t i = 0; i < PROBE_STEPS; i++) {
        if (i >= value->steps)
            break;
        bool last = i + 1 == value->steps;
        uint32_t bytes = last ? value->bytes & 15 : 8;
        const void *place = (const void *)(number + (int64_t)value->offsets[i]);
        uint64_t read = 0;
        if (bytes > 8 || bpf_probe_read_user(&read, bytes, place) < 0)
            return false;
        number = last ? cut(read, bytes, value->is_signed) : read;
    }
    *ret = value->steps ? number : cut(number, value->bytes, value->is_signed);
    return true;
}

static __always_inline bool probe_applies(const struct hit *hit)
{
    const struct probe_condition *when = &hit->spec->when;
    uint64_t value = 0;
    if (when->compare == PROBE_COMPARE_NONE)
        return true;
    if (!probe_read(hit->registers, &when->value, &value))
        return false;
    if (when->compare == PROBE_COMPARE_EQUAL)
        return value == when->than;
    return when->compare == PROBE_COMPARE_LESS ? value < when->than : value >= when->than;
}

static __always_inline uint64_t probe_function(const struct hit *hit)
{
    uint64_t function = 0;
    return probe_read(hit->registers, &hit->spec->function, &function) ? function : 0;
}

/* The thread's state, made when there is none; NULL when there is no room. */
static __always_inline struct probe_thread *probe_thread(const struct hit *hit, bool make)
{
    uint32_t tid = (uint32_t)hit->now.tid;
    struct probe_thread *thread = bpf_map_lookup_elem(&probe_threads, &tid);
    if (thread || !make)
        return thread;
    const struct probe_thread fresh = {0};
    bpf_map_update_elem(&probe_threads, &tid, &fresh, BPF_ANY);
    return bpf_map_lookup_elem(&probe_threads, &tid);
}

static __always_inline void probe_begun(const struct hit *hit, struct probe_thread *thread)
{
    if (!thread)
        return;
    thread->handlers = 0;
    thread->function = 0;
    turn_begun(thread, hit->sp);
}

static __always_inline void on_probe_queue(const struct hit *hit, const struct probe_key *key)
{
    uint32_t number = hit->number;
    bpf_map_update_elem(&queued, key, &number, BPF_ANY);
    emit(&hit->now, ARGUS_ID_CALLBACK_QUEUED, key->key, probe_function(hit), hit->number, 0);
}

static __always_inline void on_probe_cancel(const struct hit *hit, const struct probe_key *key)
{
    if (bpf_map_delete_elem(&queued, key) == 0)
        emit(&hit->now, ARGUS_ID_CALLBACK_CANCELLED, key->key, 0, hit->number, 0);
}

static __always_inline void on_probe_begin(const struct hit *hit, const struct probe_key *key)
{
    uint32_t flags = hit->spec->flags;
    if (flags & PROBE_QUEUED && !bpf_map_lookup_elem(&queued, key))
        return;
    if (flags & PROBE_ONCE)
        bpf_map_delete_elem(&queued, key);
    probe_begun(hit, probe_thread(hit, true));
    emit(&hit->now, ARGUS_ID_CALLBACK | ARGUS_FUNC_START, key->key, probe_function(hit),
         hit->number, hit->sp);
}

static __always_inline void on_probe_end(const struct hit *hit, const struct probe_key *key)
{
    emit(&hit->now, ARGUS_ID_CALLBACK | ARGUS_FUNC_END, key->key, 0, hit->number, hit->sp);
}

static __always_inline void on_probe_turn(const struct hit *hit)
{
    struct probe_thread *thread = probe_thread(hit, false);
    if (!thread)
        return;
    bool open = thread->open;
    if (turn_ends(thread, hit->sp) || open)
        emit(&hit->now, ARGUS_ID_CALLBACK | ARGUS_FUNC_END, 0, 0, hit->number, hit->sp);
}

/* The kind of UI event for a number of the toolkit's; false: one that nobody wants to know of.
 * Without kinds, all are wanted. */
static __always_inline bool probe_kind(const struct probe_spec *spec, uint64_t number,
                                       uint64_t *ret)
{
    if (spec->kind_count == 0)
        return true;
    for (uint64_t i = 0; i < PROBE_KINDS; i++) {
        if (i >= spec->kind_count)
            break;
        if (spec->kinds[i].number != number)
            continue;
        *ret = spec->kinds[i].kind;
        return true;
    }
    return false;
}

static __always_inline void on_probe_ui(const struct hit *hit, const struct probe_key *key)
{
    uint64_t type = 0, kind = 0;
    if (!probe_read(hit->registers, &hit->spec->type, &type) || !probe_kind(hit->spec, type, &kind))
        return;
    if (hit->spec->shape == ARGUS_PROBE_READ) {
        emit(&hit->now, ARGUS_ID_UI_EVENT, kind, 0, hit->number, 0);
        return;
    }
    struct probe_thread *thread = probe_thread(hit, true);
    if (thread && hit->spec->flags & PROBE_FIRST) {
        if (thread->seen == key->key)
            return;
        thread->seen = key->key;
    }
    probe_begun(hit, thread);
    emit(&hit->now, ARGUS_ID_UI_EVENT, kind, 0, hit->number, hit->sp);
}

static __always_inline void on_probe_handler(const struct hit *hit)
{
    uint64_t function = 0, other = 0;
    struct probe_thread *thread = probe_thread(hit, false);
    if (!thread || !thread->outermost_sp || thread->handlers >= PROBE_HANDLERS ||
        !probe_read(hit->registers, &hit->spec->function, &function) ||
        function == thread->function || function < 4096)
        return;
    probe_read(hit->registers, &hit->spec->other, &other);
    thread->function = function;
    thread->handlers++;
    emit(&hit->now, ARGUS_ID_HANDLER, function, other, hit->number, 0);
}

static __always_inline void on_probe_note(const struct hit *hit, const struct probe_key *key)
{
    uint64_t other = 0;
    if (!probe_read(hit->registers, &hit->spec->other, &other))
        other = 0;
    emit(&hit->now, ARGUS_ID_HOOK, key->key, probe_function(hit), hit->number, other);
}

static __always_inline void probe_dispatch(const struct hit *hit)
{
    struct probe_key key = {.tgid = (uint32_t)hit->now.task->tgid, .space = hit->spec->space};
    if (!probe_applies(hit) || !probe_read(hit->registers, &hit->spec->key, &key.key))
        return;
    switch (hit->spec->shape) {
    case ARGUS_PROBE_QUEUE:
        return on_probe_queue(hit, &key);
    case ARGUS_PROBE_CANCEL:
        return on_probe_cancel(hit, &key);
    case ARGUS_PROBE_BEGIN:
        return on_probe_begin(hit, &key);
    case ARGUS_PROBE_END:
        return on_probe_end(hit, &key);
    case ARGUS_PROBE_TURN:
        return on_probe_turn(hit);
    case ARGUS_PROBE_UI:
    case ARGUS_PROBE_READ:
        return on_probe_ui(hit, &key);
    case ARGUS_PROBE_HANDLER:
        return on_probe_handler(hit);
    case ARGUS_PROBE_NOTE:
        return on_probe_note(hit, &key);
    }
}

static __always_inline void count_hit(uint32_t number)
{
    uint64_t *hits = bpf_map_lookup_elem(&probe_hits, &number);
    if (hits)
        __sync_fetch_and_add(hits, 1);
}

SEC("uprobe")
int on_probe(struct pt_regs *ctx)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct hit hit = {.now = moment_now(task), .number = (uint32_t)bpf_get_attach_cookie(ctx)};
    hit.spec = bpf_map_lookup_elem(&probes, &hit.number);
    if (!hit.spec || is_own(task))
        return 0;
    count_hit(hit.number);
    if (!is_of_client(task))
        return 0;
    arch_call_registers(ctx, hit.registers);
    hit.sp = arch_stack_pointer(ctx) + hit.spec->stack_bytes;
    probe_dispatch(&hit);
    return 0;
}

#endif
