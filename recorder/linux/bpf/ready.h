/* Which descriptors a poll, select or epoll call returned as ready: at its end, from what it wrote
 * to the caller's memory.
 *
 * poll and select return descriptors. epoll returns the data that the caller attached to each, so a
 * table keeps what epoll_ctl() attaches; the recorder fills it for older sets (linux/epoll_sets.c).
 * The first sixteen ready descriptors are recorded, of the first 128 of a poll and of those below
 * 1024 of a select.
 */
#ifndef ARGUS_BPF_READY_H
#define ARGUS_BPF_READY_H

#include "naming.h"
#include "object.h"
#include "ring.h"

/* Unrolled, the loops would have tens of thousands of instructions. Their counters have 64 bits:
 * the verifier of Linux 5.15 forgets a number of 32 bits that lay on the stack, and a loop without
 * a known counter has no end. */
#define KEEP_LOOP _Pragma("clang loop unroll(disable)")

#define READY_MOST    16  /* recorded of one call */
#define POLL_MOST     128 /* looked at of one call */
#define SELECT_WORDS  16
#define EPOLL_CTL_DEL 2
#define POLLIN        0x1
#define POLLPRI       0x2
#define POLLOUT       0x4
#define READY_UNKNOWN 0xffffffffu

struct poll_entry {
    int32_t descriptor;
    uint16_t asked, ready;
};

struct epoll_entry {
    uint32_t events;
    uint64_t data;
}
#if defined(__TARGET_ARCH_x86)
__attribute__((packed)) /* as in 32-bit programs, include/uapi/linux/eventpoll.h */
#endif
;

struct ready_scratch {
    union { /* the output of one call */
        struct poll_entry polls[POLL_MOST];
        struct epoll_entry epolls[READY_MOST];
        uint64_t sets[3][SELECT_WORDS]; /* readable, writable, exceptional */
    };
    /* In memory, since the verifier would follow a register variable through every path. */
    uint64_t found;
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct ready_scratch);
} ready_scratches SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 16384);
    __type(key, struct bpf_epoll_key);
    __type(value, uint32_t);
} epoll_sets SEC(".maps");

static __always_inline struct ready_scratch *scratch_of_cpu(void)
{
    uint32_t zero = 0;
    return bpf_map_lookup_elem(&ready_scratches, &zero);
}

/* The functions from here on are not inlined, so that the verifier analyses each once and not for
 * each path to it.
 *
 * Writes one record; `data` is what the caller had attached to the descriptor, if that is not
 * known. */
__attribute__((noinline)) int emit_ready_object(uint64_t what, uint64_t data, uint64_t time_ns)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct moment now = {.time_ns = time_ns, .tid = (uint32_t)task->pid, .task = task};
    struct object object;
    if ((uint32_t)what == READY_UNKNOWN)
        emit(&now, ARGUS_ID_READY, what, data, 0, 0);
    else if (object_of_descriptor(task, (uint32_t)what, &object))
        emit(&now, ARGUS_ID_READY, what, object.inode, object.peer, object.kind);
    return 0;
}

__attribute__((noinline)) int emit_ready_polls(uint64_t address, uint64_t count, uint64_t time_ns)
{
    struct ready_scratch *scratch = scratch_of_cpu();
    count = at_most(count, POLL_MOST);
    if (!scratch ||
        bpf_probe_read_user(scratch->polls, count * sizeof(struct poll_entry), (void *)address) < 0)
        return 0;
    scratch->found = 0;
    KEEP_LOOP
    for (uint64_t i = 0; i < POLL_MOST && i < count; i++) {
        uint64_t entry = *(volatile uint64_t *)&scratch->polls[i];
        if (!(entry >> 48) || (int32_t)entry < 0)
            continue;
        emit_ready_object((uint32_t)entry | entry >> 48 << 32, 0, time_ns);
        if (++scratch->found == READY_MOST)
            break;
    }
    return 0;
}

/* The number of the lowest bit of `bits`, which is not 0: how many bits lie below it. Without
 * branches, because in a loop the verifier of Linux 5.15 follows every combination of them. clang
 * cannot translate __builtin_ctzll() for BPF (14), nor the instruction that counts bits (15 to 19):
 * it knows this way to count, unless something is hidden from it. */
static __always_inline uint32_t lowest_bit(uint64_t bits)
{
    uint64_t below = ~bits & (bits - 1);
    below -= below >> 1 & 0x5555555555555555ull;
    asm volatile("" : "+r"(below));
    below = (below & 0x3333333333333333ull) + (below >> 2 & 0x3333333333333333ull);
    below = (below + (below >> 4)) & 0x0f0f0f0f0f0f0f0full;
    return (uint32_t)(below * 0x0101010101010101ull >> 56);
}

_Static_assert(POLLIN == 1 && POLLPRI == 2 && POLLOUT == 4, "events_of_bit() shifts bits to these");

static __always_inline uint64_t events_of_bit(uint64_t readable, uint64_t writable, uint64_t urgent,
                                              uint32_t number)
{
    return (readable >> number & 1) | (urgent >> number & 1) << 1 | (writable >> number & 1) << 2;
}

/* 64 descriptors of a select. */
__attribute__((noinline)) int emit_ready_word(uint64_t word, uint64_t time_ns)
{
    struct ready_scratch *scratch = scratch_of_cpu();
    if (!scratch || word >= SELECT_WORDS)
        return 0;
    uint64_t at = bounded(word, SELECT_WORDS);
    uint64_t readable = scratch->sets[0][at], writable = scratch->sets[1][at];
    uint64_t urgent = scratch->sets[2][at], left = readable | writable | urgent;
    KEEP_LOOP
    for (uint64_t i = 0; i < READY_MOST && left && scratch->found < READY_MOST; i++) {
        uint32_t number = lowest_bit(left);
        uint64_t events = events_of_bit(readable, writable, urgent, number);
        emit_ready_object((word * 64 + number) | events << 32, 0, time_ns);
        left &= left - 1;
        scratch->found++;
    }
    return 0;
}

static __always_inline bool read_set(uint64_t *set, uint64_t words, uint64_t address)
{
    return !address || bpf_probe_read_user(set, words * 8, (void *)address) == 0;
}

/* The sets of a 32-bit program are made of words of 32 bits: half of our last word may be other
 * memory. */
static __always_inline void cut_sets(struct ready_scratch *scratch, uint64_t descriptors)
{
    uint64_t last = bounded(descriptors / 64, SELECT_WORDS);
    if (descriptors % 64 == 0 || descriptors % 64 > 32)
        return;
    scratch->sets[0][last] &= 0xffffffff;
    scratch->sets[1][last] &= 0xffffffff;
    scratch->sets[2][last] &= 0xffffffff;
}

static __always_inline void emit_ready_select(const struct call *call, uint64_t time_ns)
{
    struct ready_scratch *scratch = scratch_of_cpu();
    uint64_t words = at_most((call->arguments[0] + 63) / 64, SELECT_WORDS);
    if (!scratch)
        return;
    __builtin_memset(scratch->sets, 0, sizeof(scratch->sets));
    scratch->found = 0;
    if (!read_set(scratch->sets[0], words, call->arguments[1]) ||
        !read_set(scratch->sets[1], words, call->arguments[2]) ||
        !read_set(scratch->sets[2], words, call->arguments[3]))
        return;
    if (call->is_compat)
        cut_sets(scratch, call->arguments[0]);
    KEEP_LOOP
    for (uint64_t i = 0; i < SELECT_WORDS && i < words; i++)
        emit_ready_word(i, time_ns);
}

__attribute__((noinline)) int emit_ready_epolls(uint64_t set, uint64_t address, uint64_t count,
                                                uint64_t time_ns)
{
    struct ready_scratch *scratch = scratch_of_cpu();
    struct bpf_epoll_key key = {.pid = bpf_get_current_pid_tgid() >> 32, .set = (uint32_t)set};
    count = at_most(count, READY_MOST);
    if (!scratch || bpf_probe_read_user(scratch->epolls, count * sizeof(struct epoll_entry),
                                        (void *)address) < 0)
        return 0;
    KEEP_LOOP
    for (uint64_t i = 0; i < READY_MOST && i < count; i++) {
        key.data = scratch->epolls[i].data;
        uint32_t *descriptor = bpf_map_lookup_elem(&epoll_sets, &key);
        uint64_t what = descriptor ? *descriptor : READY_UNKNOWN;
        emit_ready_object(what | (uint64_t)scratch->epolls[i].events << 32, key.data, time_ns);
    }
    return 0;
}

/* epoll_ctl(): stores which descriptor the data stands for. */
static __always_inline void remember_epoll(struct task_struct *task, const struct call *call)
{
    struct epoll_entry entry;
    uint32_t descriptor = (uint32_t)call->arguments[2];
    if (call->arguments[1] == EPOLL_CTL_DEL ||
        bpf_probe_read_user(&entry, sizeof(entry), (void *)call->arguments[3]) < 0)
        return;
    struct bpf_epoll_key key = {
        .pid = (uint32_t)task->tgid, .set = (uint32_t)call->arguments[0], .data = entry.data};
    const uint32_t *known = bpf_map_lookup_elem(&epoll_sets, &key);
    /* Some loops change at each turn what they wait for, and a look costs less than an update. */
    if (!known || *known != descriptor)
        bpf_map_update_elem(&epoll_sets, &key, &descriptor, BPF_ANY);
}

static __always_inline bool is_poll(uint64_t number)
{
    return number == ARCH_POLL || number == ARCH_PPOLL;
}

static __always_inline bool is_select(uint64_t number)
{
    return number == ARCH_SELECT || number == ARCH_PSELECT6;
}

/* At the end of `call`, which is one of settings.end_syscalls but is not a lock call. */
static __always_inline void emit_ready(const struct moment *now, const struct call *call,
                                       int64_t result)
{
    uint64_t number = call->number;
    if (number == ARCH_CONNECT) {
        if (!result || result == -CONNECT_BEGUN)
            emit_connected(now, (uint32_t)call->arguments[0]);
        return;
    }
    if (number == ARCH_EPOLL_CTL) {
        if (result == 0)
            remember_epoll(now->task, call);
        return;
    }
    if (result <= 0)
        return;
    if (is_poll(number))
        emit_ready_polls(call->arguments[0], call->arguments[1], now->time_ns);
    else if (is_select(number))
        emit_ready_select(call, now->time_ns);
    else
        emit_ready_epolls((uint32_t)call->arguments[0], call->arguments[1], (uint64_t)result,
                          now->time_ns);
}

#endif
