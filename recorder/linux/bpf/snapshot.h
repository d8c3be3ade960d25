/* Snapshots of the user stack: the registers and the bytes from the stack pointer up, of all
 * processes after long waits (late.h), and at every wait of processes chosen with --unwind.
 * Programs built without frame pointers cannot be unwound here; that is done later with the ELF
 * files (libargus/event/unwind/unwinder.c).
 *
 * What is copied. At a wait, a wake-up and a sample the thread's registers of user space lie at the
 * top of its kernel stack, all of them: x86-64 (PUSH_AND_CLEAR_REGS in arch/x86/entry/calling.h)
 * and arm64 (kernel_entry in arch/arm64/kernel/entry.S) save also those that the callee keeps. The
 * stack reaches up to mm->start_stack, where exec() began it (above are arguments and environment,
 * which must not be copied), or in other threads to the thread pointer, below which the C libraries
 * put a thread's stack. Other stacks (Go, coroutines) are copied as far as the slot and the mapped
 * memory allow.
 *
 * IDs. A thread that waits at the same place again should need no second copy, although counters
 * and times on its stack have changed. So the ID is a hash not of all bytes but of what unwinding
 * can depend on: the registers pc and sp, and the words, with their positions, that may be an
 * address of code or of the stack: within the program's own code, in the region of mappings
 * (libraries, thread stacks, the main stack above it), or near sp. It does not include numbers,
 * times, text and pointers into the heap. If an interpreter runs, its frames are part of the ID
 * (interpreter.h).
 *
 * The ring. Each CPU has `snapshot_slots` slots and reuses them in turn. A slot is written before
 * it is known to be new: if its ID is known already, and the earlier copy is not about to be
 * overwritten, the next snapshot takes the same slot. So a reader finds the slots of the last
 * `snapshot_slots - 1` numbers intact. `sequence` is 0 while a slot is being written. A stream
 * reads each ID once, when it first sees it: there a copy may be overwritten before its stack is
 * copied again.
 */
#ifndef ARGUS_BPF_SNAPSHOT_H
#define ARGUS_BPF_SNAPSHOT_H

#include "interpreter.h"
#include "known_copy.h"

/* Where the snapshot of a name is: its cpu in the upper 16 bits, its number below. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 1);
    __type(key, uint64_t);
    __type(value, uint64_t);
} snapshot_places SEC(".maps");

/* The processes chosen; the value is unused. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, BPF_UNWIND_TARGETS);
    __type(key, struct bpf_unwind_target);
    __type(value, uint32_t);
} unwind_targets SEC(".maps");

static __always_inline bool is_target_name(const char *name)
{
    struct bpf_unwind_target target = {0};
    bpf_probe_read_kernel_str(target.comm, sizeof(target.comm), name);
    return bpf_map_lookup_elem(&unwind_targets, &target) != NULL;
}

/* Whether the current thread is one that --unwind names. Not inlined: its variables need no place on
 * the stack meanwhile (kernels allow 512 bytes for nested functions). */
__attribute__((noinline)) uint64_t snapshot_is_chosen(void)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct bpf_unwind_target target = {.pid = (uint32_t)task->tgid};
    if (settings.unwind & UNWIND_PIDS && bpf_map_lookup_elem(&unwind_targets, &target))
        return true;
    return settings.unwind & UNWIND_NAMES &&
           (is_target_name(task->comm) || is_target_name(task->group_leader->comm));
}

/* Of two words of 32 bits, what may matter. */
static __always_inline uint64_t matter_32_bit(const struct bpf_ranges *ranges, uint64_t words)
{
    uint64_t low = (uint64_t)(matters(ranges, words & 0xffffffff) >> 63) & 0xffffffff;
    uint64_t high = (uint64_t)(matters(ranges, words >> 32) >> 63) << 32;
    return words & (low | high);
}

/* snapshot_hash() of a stack of 32-bit words. */
__attribute__((noinline)) uint64_t snapshot_hash_32_bit(uint32_t index, uint32_t first,
                                                        uint64_t hash)
{
    const struct bpf_snapshot *snapshot = bpf_map_lookup_elem(&snapshots, &index);
    struct mm_struct *mm = bpf_get_current_task_btf()->mm;
    if (!snapshot || !mm || !settings.unwind || first > SNAPSHOT_MOST_WORDS)
        return hash;
    struct bpf_ranges ranges = ranges_of(mm, snapshot->registers[BPF_REGISTER_SP], true);
    uint32_t words = snapshot->bytes / 8;
    for (uint64_t i = 0; i < SNAPSHOT_PART; i++) {
        uint32_t at = first + i;
        if (at >= words || at >= settings.snapshot_bytes / 8)
            break;
        asm volatile("" : "+r"(at));
        hash = hash_add(hash, matter_32_bit(&ranges, snapshot->stack[at]) ^ (uint64_t)at << 48);
    }
    return hash;
}

/* Goes on with `hash` over SNAPSHOT_PART words of the snapshot of the current thread in slot
 * `index`, from word `first` on. The functions here that are neither inlined nor static are looked
 * at by the verifier once, and not once for each way that leads to them; and a part is as much as
 * it follows without finding it too complex. */
__attribute__((noinline)) uint64_t snapshot_hash(uint32_t index, uint32_t first, uint64_t hash)
{
    const struct bpf_snapshot *snapshot = bpf_map_lookup_elem(&snapshots, &index);
    struct mm_struct *mm = bpf_get_current_task_btf()->mm;
    if (!snapshot || !mm || !settings.unwind || first > SNAPSHOT_MOST_WORDS)
        return hash;
    struct bpf_ranges ranges = ranges_of(mm, snapshot->registers[BPF_REGISTER_SP], false);
    uint32_t words = snapshot->bytes / 8;
    for (uint64_t i = 0; i < SNAPSHOT_PART; i++) {
        uint32_t at = first + i;
        if (at >= words || at >= settings.snapshot_bytes / 8)
            break;
        asm volatile("" : "+r"(at)); /* the address is to be made of what was just checked */
        uint64_t word = snapshot->stack[at];
        if (may_matter(&ranges, word))
            hash = hash_add(hash, word ^ (uint64_t)at << 48);
    }
    return hash;
}

static __always_inline uint64_t snapshot_name(const struct bpf_snapshot *snapshot, uint32_t index,
                                              struct task_struct *task)
{
    uint64_t hash = hash_add(snapshot->pid, task->mm->start_stack);
    hash = hash_add(hash, snapshot->registers[BPF_REGISTER_PC]);
    hash = hash_add(hash, snapshot->registers[BPF_REGISTER_SP]);
    uint32_t words = snapshot->bytes / 8;
    for (uint64_t first = 0; first < SNAPSHOT_MOST_WORDS; first += SNAPSHOT_PART) {
        if (first >= words)
            break;
        hash = snapshot->ranges.is_32_bit ? snapshot_hash_32_bit(index, first, hash)
                                          : snapshot_hash(index, first, hash);
    }
    return hash | 1ull << 63;
}

/* The end of the stack that contains `sp`; 0: unknown. */
static __always_inline uint64_t stack_end(struct task_struct *task, uint64_t sp, bool is_32_bit)
{
    uint64_t start = task->mm->start_stack, thread_pointer = arch_thread_pointer(task, is_32_bit);
    uint64_t to_start = start - sp, to_thread = thread_pointer - sp;
    uint64_t nearer = to_start < to_thread ? to_start : to_thread;
    return nearer < BPF_STACK_FARTHEST ? sp + nearer : 0;
}

/* Replaces memory that is not mapped. */
static const uint64_t snapshot_gap[SNAPSHOT_STEP / 8] SEC(".rodata.gap") = {
    [0 ... SNAPSHOT_STEP / 8 - 1] = ARGUS_SNAPSHOT_GAP};

/* Page by page, where not all pages are there: a function may never have touched a part of its
 * frame. `to_end`: there is more behind such a gap. Returns how many bytes were copied. */
static __always_inline uint32_t copy_steps(struct bpf_snapshot *snapshot, uint64_t sp,
                                           uint32_t wanted, bool to_end)
{
    uint8_t *to = (uint8_t *)snapshot->stack;
    uint32_t done = 0, part = SNAPSHOT_STEP - (sp & (SNAPSHOT_STEP - 1));
    for (uint64_t i = 0; i < SNAPSHOT_MOST_BYTES / SNAPSHOT_STEP + 1; i++) {
        if (done >= wanted || done >= settings.snapshot_bytes || part > SNAPSHOT_STEP)
            break;
        if (bpf_probe_read_user(to + done, part, (const void *)(sp + done)) &&
            (!to_end || bpf_probe_read_kernel(to + done, part, snapshot_gap)))
            break;
        done += part;
        part = SNAPSHOT_STEP;
    }
    return done < wanted ? done : wanted;
}

/* How much of the stack there is to copy. */
static __always_inline void bound_stack(struct bpf_snapshot *snapshot, uint64_t sp, uint64_t end)
{
    uint64_t wanted = end ? (end - sp) & ~7ull : settings.snapshot_bytes;
    snapshot->end = end ? BPF_SNAPSHOT_WHOLE : BPF_SNAPSHOT_CUT;
    if (wanted > settings.snapshot_bytes) {
        wanted = settings.snapshot_bytes;
        snapshot->end = BPF_SNAPSHOT_CUT;
    }
    snapshot->bytes = wanted;
}

/* Copies so much, or less if there is less. */
static __always_inline void copy_stack(struct bpf_snapshot *snapshot, bool has_end)
{
    uint64_t sp = snapshot->ranges.sp;
    uint64_t wanted = at_most(snapshot->bytes, settings.snapshot_bytes);
    if (bpf_probe_read_user(snapshot->stack, wanted, (const void *)sp) == 0)
        return;
    snapshot->bytes = copy_steps(snapshot, sp, wanted, has_end) & ~7u;
    if (snapshot->end == BPF_SNAPSHOT_WHOLE || !has_end)
        snapshot->end = BPF_SNAPSHOT_MISSING;
}

/* Whether the snapshot at `place` will not be overwritten soon, or need not be there any more. */
static __always_inline bool is_recent(uint64_t place)
{
    uint32_t cpu = place >> 48;
    uint64_t number = place & ((1ull << 48) - 1);
    const struct bpf_cpu *state = bpf_map_lookup_elem(&cpus, &cpu);
    return state && state->snapshot_head - number <= settings.snapshot_recent;
}

/* Whether there is a snapshot that has this name and is_recent(). */
static __always_inline bool is_kept(uint64_t name, uint64_t *ret_place)
{
    const uint64_t *place = bpf_map_lookup_elem(&snapshot_places, &name);
    if (!place)
        return false;
    *ret_place = *place;
    return is_recent(*ret_place);
}

/* The same of a stack that was recognized as the copy in `way`, which remembers the place. */
static __always_inline bool is_known_kept(uint64_t key, uint32_t way, uint64_t name)
{
    uint64_t place;
    if (known_place(key, way, name, &place) && is_recent(place))
        return true;
    if (!is_kept(name, &place))
        return false;
    known_note_place(key, way, name, place);
    return true;
}

/* The stack pointer of the current thread, whole words of ours; 0: it has no stack. */
static __always_inline uint64_t snapshot_sp(struct pt_regs *regs, bool is_32_bit)
{
    uint64_t sp = arch_stack_pointer(regs);
    if (is_32_bit)
        sp &= ~7ull; /* the copy begins at a whole word of ours */
    return sp < 4096 || sp >> 56 || sp & 7 ? 0 : sp;
}

/* Registers and bounds of the stack of the current thread. */
static __always_inline void snapshot_begin(struct bpf_snapshot *snapshot, struct task_struct *task,
                                           uint64_t sp, bool *ret_has_end)
{
    struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
    arch_copy_registers(snapshot->registers, regs);
    bool is_32_bit = arch_is_32_bit(regs);
    snapshot->ranges = ranges_of(task->mm, sp, is_32_bit);
    snapshot->pid = (uint32_t)task->tgid;
    snapshot->tid = (uint32_t)task->pid;
    uint64_t end = stack_end(task, sp, is_32_bit);
    bound_stack(snapshot, sp, end);
    *ret_has_end = end != 0;
}

/* The name of the current thread's stack, if it is one that was copied before, and how it is known;
 * otherwise 0. Only the words that are looked at are copied into `snapshot`, the slot `index`. */
static __always_inline uint64_t known_name(struct bpf_snapshot *snapshot, uint32_t index,
                                           uint64_t key, uint64_t sp, uint64_t last_name,
                                           uint32_t *ret_way)
{
    uint32_t *next = known_next(key, last_name);
    if (!next)
        return 0;
    snapshot->registers[BPF_REGISTER_SP] = sp;
    snapshot->bytes = settings.snapshot_bytes;
    snapshot->pieces = 0;
    uint32_t first = *next;
    for (uint32_t i = 0; i < KNOWN_WAYS; i++) {
        uint32_t way = (first + i) & (KNOWN_WAYS - 1);
        uint64_t name = known_match(index, key, way);
        if (!name)
            continue;
        if (i)
            *next = way;
        *ret_way = way;
        return name;
    }
    return 0;
}

/* Copies the stack that snapshot_begin() has begun; false: nothing could be. */
static __always_inline bool snapshot_copy(struct bpf_snapshot *snapshot, bool has_end)
{
    snapshot->time_ns = bpf_ktime_get_ns();
    copy_stack(snapshot, has_end);
    return snapshot->bytes != 0;
}

/* The same, of one that was not recognized; returns its name, or 0. */
static __always_inline uint64_t snapshot_copy_new(struct bpf_snapshot *snapshot, uint32_t index,
                                                  struct task_struct *task, bool has_end,
                                                  uint64_t key, uint64_t number)
{
    if (!snapshot_copy(snapshot, has_end))
        return 0;
    uint64_t name = known_keep(snapshot, index, key, number);
    return name ? name : snapshot_name(snapshot, index, task);
}

/* Whether the stack that was recognized as the copy in `way` has no frames of an interpreter, and
 * its snapshot is_recent(): then there is nothing to do. */
static __always_inline bool is_known_plain(uint64_t key, uint32_t way, uint64_t name)
{
    uint64_t place;
    return (!settings.interpreters || known_is_plain(key, way, interpreter_changes())) &&
           known_place(key, way, name, &place) && is_recent(place);
}

static __always_inline uint64_t snapshot_into(struct bpf_cpu *state, uint32_t cpu,
                                              struct task_struct *task)
{
    uint64_t number = state->snapshot_head;
    uint32_t index = cpu * settings.snapshot_slots + (uint32_t)(number % settings.snapshot_slots);
    struct bpf_snapshot *snapshot = bpf_map_lookup_elem(&snapshots, &index);
    struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
    bool is_32_bit = arch_is_32_bit(regs), has_end;
    uint64_t sp = snapshot_sp(regs, is_32_bit);
    if (!snapshot || !sp)
        return 0;
    arch_store_last(&snapshot->sequence, 0);
    asm volatile("" ::: "memory");
    uint64_t key = 0, known = 0, place;
    uint32_t way = 0;
    if (settings.known_sets && !is_32_bit) {
        key = known_key(hash_add((uint32_t)task->tgid, task->mm->start_stack), regs);
        known = known_name(snapshot, index, key, sp, state->call_stack, &way);
    }
    if (known && is_known_plain(key, way, known)) {
        state->snapshots_known++;
        state->snapshots_same++;
        return known;
    }
    snapshot_begin(snapshot, task, sp, &has_end);
    uint64_t base = known;
    if (!known)
        base = snapshot_copy_new(snapshot, index, task, has_end, key, number);
    uint64_t changes = interpreter_changes();
    uint64_t interpreted = base && settings.interpreters ? interpreter_take(snapshot->pid) : 0;
    uint64_t name = interpreted ? hash_add(base, interpreted) | 1ull << 63 : base;
    if (known && !interpreted && !interpreter_of(snapshot->pid))
        known_note_plain(key, way, changes);
    bool is_there =
        known && !interpreted ? is_known_kept(key, way, name) : name && is_kept(name, &place);
    if (!name || is_there) {
        state->snapshots_known += name != 0;
        state->snapshots_same += name && known;
        return name;
    }
    if (known && !snapshot_copy(snapshot, has_end))
        return 0;
    if (interpreted)
        interpreter_keep(snapshot->pid, name);
    place = (uint64_t)cpu << 48 | number;
    snapshot->id = name;
    arch_store_last(&snapshot->sequence, number + 1);
    state->snapshot_head = number + 1;
    return bpf_map_update_elem(&snapshot_places, &name, &place, BPF_ANY) < 0 ? 0 : name;
}

/* The processes whose stacks to copy. */
enum snapshot_of { SNAPSHOT_CHOSEN, SNAPSHOT_ANY };

/* The id of a snapshot of the current thread; 0: it was not to be copied, or could not be, and
 * frame pointers have to do. SNAPSHOT_CHOSEN: only of a thread that --unwind names; SNAPSHOT_ANY:
 * of any. */
__attribute__((noinline)) uint64_t snapshot_take(uint32_t of)
{
    uint32_t cpu;
    if (!settings.unwind)
        return 0;
    struct task_struct *task = bpf_get_current_task_btf();
    struct bpf_cpu *state = this_cpu(&cpu);
    if (!state || !task->mm || (of == SNAPSHOT_CHOSEN && !snapshot_is_chosen()))
        return 0;
    if (state->snapshot_busy) { /* this program has interrupted a snapshot in progress */
        state->snapshots_missed++;
        return 0;
    }
    state->snapshot_busy = 1;
    uint64_t name = snapshot_into(state, cpu, task);
    state->snapshots_missed += name == 0;
    state->snapshot_busy = 0;
    return name;
}

#endif
