/* Memory: threads that must free some before they get any, and the sizes of programs.
 *
 * A thread that allocates when none is free reclaims pages itself: of the machine, or of its
 * control group, which has reached its limit. It does so on the CPU and in waits. A group at its
 * limit may reclaim ten thousand times a second, 32 pages each. So a thread's time is added up, and
 * one record is written for each millisecond of it.
 *
 * The size of a program is read at its CPU samples and when it has reclaimed: a program that grows
 * does either. It is recorded when it has changed by much.
 */
#ifndef ARGUS_BPF_MEMORY_H
#define ARGUS_BPF_MEMORY_H

#include "kernel_read.h"
#include "process.h"
#include "ring.h"

#define MEMORY_ENTRIES     8192       /* a power of two */
#define STALL_NOTED_NS     1000000ull /* of one thread, for a record */
#define SIZE_CHANGE_BYTES  (16ull << 20)
#define SIZE_LEAST_BYTES   (1ull << 20)
#define SIZE_AGAIN_NS      1000000000ull
#define MOST_MEMORY_GROUPS 8
#define NEAR_LIMIT_SHIFT   5   /* a group is at its limit if it uses all but 1/32 of it … */
#define NEAR_LIMIT_PAGES   256 /* … and some pages: what was just reclaimed, and kernel caches */

enum size_of { SIZE_FILE, SIZE_ANONYMOUS, SIZE_SWAPPED, SIZE_SHARED }; /* MM_FILEPAGES … */

struct memory_stall {
    uint64_t begin_ns; /* 0: not in one */
    uint64_t sum_ns, pages;
    uint32_t tid, kind;
};

struct memory_size {
    uint64_t bytes, time_ns;
    uint64_t tgid;
};

/* By the lower bits of thread and process ID. If another one takes over an entry, its sum is lost.
 */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, MEMORY_ENTRIES);
    __type(key, uint32_t);
    __type(value, struct memory_stall);
} memory_stalls SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, MEMORY_ENTRIES);
    __type(key, uint32_t);
    __type(value, struct memory_size);
} memory_sizes SEC(".maps");

/* --- sizes --- */

static __always_inline uint64_t size_of_kind(const void *mm, uint64_t kind)
{
    int64_t pages;
    if (bpf_core_field_exists(struct mm_struct___before_6_2, rss_stat))
        pages = (int64_t)kernel_word(kernel_place(mm_struct___before_6_2, mm, rss_stat) + kind * 8);
    else
        pages = (int64_t)kernel_word(kernel_place(mm_struct, mm, rss_stat) +
                                     kind * bpf_core_type_size(struct percpu_counter) +
                                     bpf_core_field_offset(struct percpu_counter, count));
    return pages > 0 ? (uint64_t)pages << (settings.page_shift & 31) : 0;
}

static __always_inline bool size_is_due(struct memory_size *known, uint64_t tgid, uint64_t bytes,
                                        uint64_t time_ns)
{
    uint64_t change = bytes > known->bytes ? bytes - known->bytes : known->bytes - bytes;
    uint64_t needed =
        time_ns - known->time_ns < SIZE_AGAIN_NS ? SIZE_CHANGE_BYTES : SIZE_LEAST_BYTES;
    if (known->tgid == tgid && change < needed)
        return false;
    *known = (struct memory_size){bytes, time_ns, tgid};
    return true;
}

/* Of the program of the current thread. */
static __always_inline void emit_memory_size(const struct moment *now)
{
    uint32_t key = (uint32_t)now->task->tgid & (MEMORY_ENTRIES - 1);
    struct memory_size *known = bpf_map_lookup_elem(&memory_sizes, &key);
    const void *mm = now->task->mm;
    if (!known || !mm || now->task->flags & PF_KTHREAD)
        return;
    uint64_t own = size_of_kind(mm, SIZE_ANONYMOUS), swapped = size_of_kind(mm, SIZE_SWAPPED);
    uint64_t others = size_of_kind(mm, SIZE_FILE) + size_of_kind(mm, SIZE_SHARED);
    if (size_is_due(known, (uint32_t)now->task->tgid, own + swapped + others, now->time_ns))
        emit(now, ARGUS_ID_MEMORY_SIZE, (uint32_t)now->task->tgid, own, others, swapped);
}

/* --- the group at its limit --- */

struct memory_group {
    uint64_t inode, limit_pages;
    const void *node; /* NULL: none is at its limit */
};

/* Whether a group is at its limit `pages`, which is not set if it is more than any machine has. */
static __always_inline bool is_at_limit(uint64_t usage, uint64_t pages)
{
    return pages < 1ull << 40 && usage + (pages >> NEAR_LIMIT_SHIFT) + NEAR_LIMIT_PAGES >= pages;
}

/* The innermost group of `task` at its limit. */
static __always_inline void find_memory_group(struct task_struct *task, struct memory_group *ret)
{
    *ret = (struct memory_group){.node = NULL};
    if (!bpf_core_type_exists(struct mem_cgroup) ||
        !bpf_core_enum_value_exists(enum cgroup_subsys_id, memory_cgrp_id))
        return;
    uint64_t index = bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id);
    const void *set = kernel_read(task_struct, task, cgroups);
    const void *css = (void *)kernel_word(kernel_place(css_set, set, subsys) + index * 8);
    for (uint64_t i = 0; i < MOST_MEMORY_GROUPS && css; i++) {
        const void *group = css - bpf_core_field_offset(struct mem_cgroup, css);
        const void *counter = kernel_place(mem_cgroup, group, memory);
        uint64_t usage = kernel_word(kernel_place(page_counter, counter, usage));
        uint64_t most = kernel_read(page_counter, counter, max), high = most;
        if (bpf_core_field_exists(struct page_counter, high))
            high = kernel_read(page_counter, counter, high);
        uint64_t limit = high < most ? high : most;
        if (is_at_limit(usage, limit)) {
            const void *cgroup = kernel_read(cgroup_subsys_state, css, cgroup);
            /* not read from *ret: the access would be relocated as one of the kernel's types */
            const void *node = kernel_read(cgroup, cgroup, kn);
            ret->node = node;
            ret->inode = kernel_read(kernfs_node, node, id);
            ret->limit_pages = limit;
            return;
        }
        css = kernel_read(cgroup_subsys_state, css, parent);
    }
}

static __always_inline void emit_memory_group(const struct moment *now, const void *node)
{
    union comm name = {0};
    bpf_probe_read_kernel_str(name.text, sizeof(name.text), kernel_read(kernfs_node, node, name));
    emit(now, ARGUS_ID_MEMORY_GROUP, name.words[0], name.words[1], name.words[2], name.words[3]);
}

/* --- stalls --- */

static __always_inline struct memory_stall *stall_of(uint32_t tid)
{
    uint32_t key = tid & (MEMORY_ENTRIES - 1);
    return bpf_map_lookup_elem(&memory_stalls, &key);
}

static __always_inline void emit_stall(const struct moment *now, struct memory_stall *stall)
{
    struct memory_group group = {.node = NULL};
    if (stall->kind == ARGUS_MEMORY_GROUP_RECLAIM)
        find_memory_group(now->task, &group);
    uint32_t shift = settings.page_shift & 31;
    emit(now, ARGUS_ID_MEMORY_STALL, ARGUS_MEMORY_STALL(stall->kind, stall->pages << shift),
         stall->sum_ns, group.inode, group.limit_pages << shift);
    if (group.node)
        emit_memory_group(now, group.node);
    stall->sum_ns = stall->pages = 0;
}

/* Not inlined, so that the verifier analyses it once. */
__attribute__((noinline)) int stall_begins(uint32_t kind)
{
    struct task_struct *task = bpf_get_current_task_btf();
    if (task->flags & PF_KTHREAD || is_own(task))
        return 0;
    struct memory_stall *stall = stall_of((uint32_t)task->pid);
    if (!stall)
        return 0;
    if (stall->tid != (uint32_t)task->pid || stall->kind != kind)
        *stall = (struct memory_stall){.tid = (uint32_t)task->pid, .kind = kind};
    stall->begin_ns = bpf_ktime_get_ns();
    return 0;
}

__attribute__((noinline)) int stall_ends(uint64_t pages)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct memory_stall *stall = stall_of((uint32_t)task->pid);
    if (!stall || stall->tid != (uint32_t)task->pid || !stall->begin_ns)
        return 0;
    struct moment now = moment_now(task);
    stall->sum_ns += now.time_ns - stall->begin_ns;
    stall->pages += pages;
    stall->begin_ns = 0;
    if (stall->sum_ns < STALL_NOTED_NS)
        return 0;
    emit_stall(&now, stall);
    emit_memory_size(&now);
    return 0;
}

SEC("raw_tp/mm_vmscan_direct_reclaim_begin")
int on_reclaim_begin(struct bpf_raw_tracepoint_args *ctx)
{
    (void)ctx;
    return stall_begins(ARGUS_MEMORY_RECLAIM);
}

SEC("raw_tp/mm_vmscan_direct_reclaim_end")
int on_reclaim_end(struct bpf_raw_tracepoint_args *ctx)
{
    return stall_ends(ctx->args[0]);
}

SEC("raw_tp/mm_vmscan_memcg_reclaim_begin")
int on_group_reclaim_begin(struct bpf_raw_tracepoint_args *ctx)
{
    (void)ctx;
    return stall_begins(ARGUS_MEMORY_GROUP_RECLAIM);
}

SEC("raw_tp/mm_vmscan_memcg_reclaim_end")
int on_group_reclaim_end(struct bpf_raw_tracepoint_args *ctx)
{
    return stall_ends(ctx->args[0]);
}

SEC("raw_tp/mm_compaction_begin")
int on_compaction_begin(struct bpf_raw_tracepoint_args *ctx)
{
    (void)ctx;
    return stall_begins(ARGUS_MEMORY_COMPACTION);
}

SEC("raw_tp/mm_compaction_end")
int on_compaction_end(struct bpf_raw_tracepoint_args *ctx)
{
    (void)ctx;
    return stall_ends(0);
}

#endif
