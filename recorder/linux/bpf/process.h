/* Creation, end and names of threads and processes: as records, and as a table that outlives the
 * ring, so that a snapshot can name threads whose creation record was overwritten. */
#ifndef ARGUS_BPF_PROCESS_H
#define ARGUS_BPF_PROCESS_H

#include "interpreter.h"
#include "poller.h"
#include "ring.h"
#include "stack.h"

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 65536);
    __type(key, uint32_t);
    __type(value, struct bpf_thread);
} threads SEC(".maps");

/* A name as a record carries it. */
union comm {
    char text[32];
    uint64_t words[4];
};

static __always_inline void emit_name(const struct moment *now, uint32_t debugid, const char *name)
{
    union comm comm = {0};
    bpf_probe_read_kernel_str(comm.text, BPF_COMM_BYTES, name);
    emit(now, debugid, comm.words[0], comm.words[1], comm.words[2], comm.words[3]);
}

static __always_inline void thread_remember(struct task_struct *task, const char *name,
                                            uint64_t time_ns, uint64_t died_ns)
{
    uint32_t tid = BPF_CORE_READ(task, pid);
    struct bpf_thread thread = {
        .seen_ns = time_ns,
        .died_ns = died_ns,
        .pid = BPF_CORE_READ(task, tgid),
        .parent_pid = BPF_CORE_READ(task, real_parent, tgid),
        .kernel = BPF_CORE_READ(task, flags) & PF_KTHREAD ? 1 : 0,
    };
    bpf_probe_read_kernel_str(thread.comm, sizeof(thread.comm), name);
    bpf_map_update_elem(&threads, &tid, &thread, BPF_ANY);
}

SEC("raw_tp/sched_process_fork")
int on_fork(struct bpf_raw_tracepoint_args *ctx)
{
    struct task_struct *child = (void *)ctx->args[1];
    struct moment now = moment_now(bpf_get_current_task_btf());
    uint32_t tid = BPF_CORE_READ(child, pid), pid = BPF_CORE_READ(child, tgid);
    emit(&now, ARGUS_ID_NEW_THREAD, tid, pid, tid == pid,
         (uint32_t)BPF_CORE_READ(child, real_parent, tgid));
    emit_name(&now, ARGUS_ID_NAME_NEW, child->comm);
    thread_remember(child, child->comm, now.time_ns, 0);
    if (tid == pid)
        interpreter_fork((uint32_t)now.task->tgid, pid);
    return 0;
}

SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args *ctx)
{
    struct task_struct *task = (void *)ctx->args[0];
    struct moment now = moment_now(bpf_get_current_task_btf());
    /* A thread other than the main one that calls exec() takes over the main thread's ID. */
    caller_forget();
    emit(&now, ARGUS_ID_EXEC, (uint32_t)BPF_CORE_READ(task, tgid), 0, 0, 0);
    emit_name(&now, ARGUS_ID_NAME_EXEC, task->comm);
    thread_remember(task, task->comm, now.time_ns, 0);
    poller_forget(now.tid);
    return 0;
}

SEC("raw_tp/sched_process_exit")
int on_exit(struct bpf_raw_tracepoint_args *ctx)
{
    struct moment now = moment_now(bpf_get_current_task_btf());
    struct task_struct *task = (void *)ctx->args[0];
    bool is_last = BPF_CORE_READ(task, signal, live.counter) == 0;
    emit(&now, ARGUS_ID_THREAD_EXIT, now.tid, is_last, 0, 0);
    thread_remember(task, task->comm, now.time_ns, now.time_ns);
    poller_forget(now.tid);
    return 0;
}

/* Runs before the new name is in place. A thread may rename another one of its process. */
SEC("raw_tp/task_rename")
int on_rename(struct bpf_raw_tracepoint_args *ctx)
{
    struct task_struct *task = (void *)ctx->args[0];
    const char *name = (const char *)ctx->args[1];
    struct moment now = moment_now(bpf_get_current_task_btf());
    now.tid = (uint32_t)BPF_CORE_READ(task, pid);
    emit_name(&now, ARGUS_ID_NAME_THREAD, name);
    thread_remember(task, name, now.time_ns, 0);
    return 0;
}

#endif
