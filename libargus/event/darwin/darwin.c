#include "event/darwin/darwin.h"

#include <stdlib.h>
#include <string.h>

/* How each record is handled. Records of class 0x60 without a row are Argus's own and pass
 * unchanged; all others without a row have no meaning for the graph. */
static const struct darwin_row {
    uint32_t debugid;
    darwin_translator translate;
} darwin_rows[] = {
    {ARGUS_ID_SWITCH, darwin_on_switch},
    {DARWIN_ID_STACK_HANDOFF, darwin_on_switch},
    {DARWIN_ID_PERF_SWITCH, darwin_on_perf_switch},
    {DARWIN_ID_BLOCK, darwin_on_block},
    {DARWIN_ID_DISPATCH, darwin_on_dispatch},
    {DARWIN_ID_IDLE, darwin_on_idle},
    {ARGUS_ID_MAKE_RUNNABLE, darwin_on_wake},
    {DARWIN_ID_LAZY_WAKE, darwin_on_wake},
    {ARGUS_ID_INTERRUPT, darwin_on_interrupt},
    {DARWIN_ID_LOST, darwin_on_lost},
    {ARGUS_ID_TIMER_ARMED, darwin_on_timer_enter},
    {ARGUS_ID_TIMER_CANCEL, darwin_on_timer_cancel},
    {ARGUS_ID_TIMER_FIRED, darwin_on_timer_fired},
    {DARWIN_ID_CALLOUT, darwin_on_callout},
    {ARGUS_ID_NEW_THREAD, darwin_on_new_thread},
    {ARGUS_ID_EXEC, darwin_on_exec},
    {ARGUS_ID_THREAD_EXIT, darwin_on_terminate},
    {DARWIN_ID_TERMINATE_PID, darwin_on_proc_exit},
    {DARWIN_ID_PROC_EXIT, darwin_on_proc_exit},
    {ARGUS_ID_NAME_NEW, darwin_on_name},
    {ARGUS_ID_NAME_EXEC, darwin_on_name},
    {ARGUS_ID_NAME_THREAD, darwin_on_name},
    {DARWIN_ID_VOUCHER_SET, darwin_on_voucher_set},
    {DARWIN_ID_VOUCHER_CREATE, darwin_on_voucher_create},
    {DARWIN_ID_VOUCHER_CONTENTS, darwin_on_voucher_contents},
    {DARWIN_ID_VOUCHER_MADE, darwin_on_voucher_made},
    {DARWIN_ID_VOUCHER_DESTROY, darwin_on_voucher_destroy},
    {DARWIN_ID_MSG_SEND, darwin_on_msg_send},
    {DARWIN_ID_MSG_RECEIVE, darwin_on_msg_receive},
    {DARWIN_ID_MSG_RECEIVE_OTHER, darwin_on_msg_receive},
    {DARWIN_ID_KMSG_SENT, darwin_on_kmsg_sent},
    {DARWIN_ID_KMSG_RECEIVED, darwin_on_kmsg_received},
    {DARWIN_ID_KMSG_FREED, darwin_on_kmsg_freed},
    {DARWIN_ID_WAIT_ENDED, darwin_on_wait_ended},
    {DARWIN_ID_CALL_QUEUED, darwin_on_call_queued},
    {DARWIN_ID_CALL_RUN, darwin_on_call_run},
    {DARWIN_ID_MK_TIMER_FIRED, darwin_on_mk_timer_fired},
    {DARWIN_ID_MAINTENANCE_DUE, darwin_on_maintenance_due},
    {KDEBUG_ID_LOOKUP, darwin_on_lookup},
    {DARWIN_ID_PERF_EVENT, darwin_on_perf_event},
    {DARWIN_ID_PERF_THREAD, darwin_on_sampled_thread},
    {KDEBUG_ID_USER_STACK, darwin_on_frames},
    {KDEBUG_ID_USER_FRAMES, darwin_on_frames},
    {KDEBUG_ID_KERNEL_STACK, darwin_on_frames},
    {KDEBUG_ID_KERNEL_FRAMES, darwin_on_frames},
    {DARWIN_ID_LAZY_WAIT, darwin_on_lazy_wait},
    {DARWIN_ID_LAZY_WAIT_OLD, darwin_on_lazy_wait},
    {DARWIN_ID_PUSH_BLOCK, darwin_on_push},
    {DARWIN_ID_PUSH_BLOCK_FUNC, darwin_on_push},
    {DARWIN_ID_PUSH_FUNCTION, darwin_on_push},
    {DARWIN_ID_PUSH_SOURCE, darwin_on_push},
    {DARWIN_ID_POP, darwin_on_pop},
    {DARWIN_ID_POP_SOURCE, darwin_on_pop},
    {DARWIN_ID_ITEM_DONE, darwin_on_item_done},
    {DARWIN_ID_TURNSTILE_WAITER, darwin_on_turnstile_waiter},
    {DARWIN_ID_TURNSTILE_HOLDER, darwin_on_turnstile_holder},
    {DARWIN_ID_TURNSTILE_FREED, darwin_on_turnstile_freed},
};

enum { ROWS = sizeof(darwin_rows) / sizeof(*darwin_rows) };

void darwin_put(struct darwin *darwin, struct idmap *map, uint64_t key, uint32_t number)
{
    if (!idmap_put(map, key, number))
        darwin->no_memory = true;
}

struct darwin_thread *darwin_thread(struct darwin *darwin, uint64_t tid)
{
    uint32_t index = idmap_get(&darwin->thread_by_tid, tid);
    if (index != IDMAP_NONE)
        return &darwin->threads.data[index];
    index = (uint32_t)darwin->threads.length;
    struct darwin_thread made = {.tid = tid, .call = ARGUS_NONE};
    if (!vec_push(&darwin->threads, made) || !idmap_put(&darwin->thread_by_tid, tid, index)) {
        darwin->no_memory = true;
        return NULL;
    }
    return &darwin->threads.data[index];
}

struct darwin_thread *darwin_current(struct darwin *darwin, const struct darwin_cpu *cpu)
{
    return cpu->tid ? darwin_thread(darwin, cpu->tid) : NULL;
}

static struct darwin_cpu *cpu_of(struct darwin *darwin, uint32_t number)
{
    uint32_t index = idmap_get(&darwin->cpu_by_number, number);
    if (index != IDMAP_NONE)
        return &darwin->cpus.data[index];
    index = (uint32_t)darwin->cpus.length;
    if (!vec_push(&darwin->cpus, (struct darwin_cpu){.cpu = number}) ||
        !idmap_put(&darwin->cpu_by_number, number, index)) {
        darwin->no_memory = true;
        return NULL;
    }
    return &darwin->cpus.data[index];
}

/* The threads that existed when the trace began, from its thread table. */
static void take_table(struct darwin *darwin)
{
    const struct argus_thread_entry *entries;
    size_t count = argus_trace_threads(darwin->trace, &entries);
    for (size_t i = 0; i < count; i++) {
        struct darwin_thread *thread = darwin_thread(darwin, entries[i].tid);
        if (!thread)
            return;
        thread->pid = entries[i].kernel ? 0 : entries[i].pid;
        thread->has_pid = true;
        darwin_put(darwin, &darwin->known_pids, thread->pid, 1);
    }
}

struct darwin *darwin_create(const struct argus_trace *trace)
{
    struct darwin *darwin = calloc(1, sizeof(*darwin));
    if (!darwin)
        return NULL;
    darwin->trace = trace;
    for (uint32_t i = 0; i < ROWS; i++)
        darwin_put(darwin, &darwin->rows, darwin_rows[i].debugid, i);
    take_table(darwin);
    if (darwin->no_memory || !darwin_find_idle(darwin)) {
        darwin_destroy(darwin);
        return NULL;
    }
    return darwin;
}

void darwin_destroy(struct darwin *darwin)
{
    if (!darwin)
        return;
    struct idmap *maps[] = {&darwin->thread_by_tid,       &darwin->cpu_by_number,
                            &darwin->known_pids,          &darwin->receiver_by_port,
                            &darwin->size_by_message,     &darwin->holder_by_turnstile,
                            &darwin->waiter_by_turnstile, &darwin->origin_by_voucher,
                            &darwin->bytes_by_request,    &darwin->rows};
    for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
        idmap_deinit(maps[i]);
    vec_deinit(&darwin->threads);
    vec_deinit(&darwin->cpus);
    vec_deinit(&darwin->recipes);
    vec_deinit(&darwin->out);
    kdebug_stacks_deinit(&darwin->stacks);
    kdebug_strings_deinit(&darwin->strings);
    free(darwin);
}

void darwin_emit_of(struct darwin *darwin, const struct argus_record *at, uint64_t tid,
                    uint32_t debugid, const uint64_t arg[4])
{
    struct argus_record made = {
        .timestamp = at->timestamp, .tid = tid, .debugid = debugid, .cpu = at->cpu};
    memcpy(made.arg, arg, sizeof(made.arg));
    if (!vec_push(&darwin->out, made))
        darwin->no_memory = true;
}

void darwin_emit(struct darwin *darwin, const struct darwin_cpu *cpu, const struct argus_record *at,
                 uint32_t debugid, const uint64_t arg[4])
{
    darwin_emit_of(darwin, at, cpu->tid, debugid, arg);
}

static uint32_t row_of(const struct darwin *darwin, uint32_t debugid)
{
    return idmap_get(&darwin->rows, ARGUS_DEBUGID_EVENT(debugid));
}

static darwin_translator translator_of(const struct darwin *darwin, uint32_t debugid)
{
    if (debugid >> 16 == ARGUS_ID_SYSCALL(0) >> 16)
        return darwin_on_bsd_call;
    if (debugid >> 16 == DARWIN_ID_TRAP(0) >> 16)
        return darwin_on_trap;
    if (debugid >> 16 == DARWIN_ID_DISK >> 16)
        return darwin_on_disk;
    uint32_t row = row_of(darwin, debugid);
    return row == IDMAP_NONE ? NULL : darwin_rows[row].translate;
}

/* Class 7 has records that a thread writes about another thread, or before it is on the CPU. */
static bool tells_who_runs(const struct argus_record *record)
{
    return ARGUS_DEBUGID_CLASS(record->debugid) != 0x07 && record->tid;
}

/* The record's thread is on its CPU, even if earlier records said otherwise. */
static void note_thread(struct darwin *darwin, struct darwin_cpu *cpu,
                        const struct argus_record *record)
{
    if (!tells_who_runs(record) || (cpu->known && (cpu->tid == record->tid || cpu->idles)))
        return;
    const struct darwin_thread *thread = darwin_thread(darwin, record->tid);
    if (!thread)
        return;
    cpu->tid = thread->idle ? 0 : record->tid;
    cpu->known = true;
}

bool darwin_feed(struct darwin *darwin, const struct argus_record *record,
                 const struct argus_record *ahead, size_t ahead_count)
{
    darwin_translator translate = translator_of(darwin, record->debugid);
    bool is_own = ARGUS_DEBUGID_CLASS(record->debugid) == ARGUS_CLASS;
    darwin->ahead = ahead;
    darwin->ahead_count = ahead_count;
    darwin->out.length = darwin->next_out = 0;
    if (!translate && !is_own)
        return true;
    struct darwin_cpu *cpu = cpu_of(darwin, record->cpu);
    if (!cpu)
        return false;
    bool is_switch = translate == darwin_on_perf_switch;
    if (translate && !is_switch)
        note_thread(darwin, cpu, record);
    if (translate)
        translate(darwin, cpu, record);
    else if (!vec_push(&darwin->out, *record))
        darwin->no_memory = true;
    return !darwin->no_memory && !darwin->stacks.no_memory && !darwin->strings.no_memory;
}

struct argus_record *darwin_take(struct darwin *darwin)
{
    return darwin->next_out < darwin->out.length ? &darwin->out.data[darwin->next_out++] : NULL;
}
