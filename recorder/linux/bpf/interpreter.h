/* The frames of interpreters, beside the copy of the C stack (snapshot.h).
 *
 * The C stack of a thread that runs Python is the same whichever Python function waits: the functions' frames are on the heap, and
 * a call from one to another leaves nothing on the C stack. So they are read at the same moment, and are part of the copy's name:
 * two copies that differ only in them have two names.
 *
 * What is kept of a frame is the address of its instruction, which lies inside the code object, as a return address lies inside a
 * function. The function's name, file and table of lines are copied once for each code object. Where on the C stack the frames
 * belong, a mark says: the address of a struct there, in the frame of the C function that interprets.
 */
#ifndef ARGUS_BPF_INTERPRETER_H
#define ARGUS_BPF_INTERPRETER_H

#include "kernel_read.h"
#include "ring.h"

/* Which processes run one; filled by the recorder, as they map the file. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct bpf_interpreter);
} interpreters SEC(".maps");

/* By the id of the snapshot, ^ ARGUS_STACK_INTERPRETED. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 1);
    __type(key, uint64_t);
    __type(value, struct bpf_stack);
} interpreted SEC(".maps");

/* By interpreter_code_key(). */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 1);
    __type(key, uint64_t);
    __type(value, struct bpf_code);
} codes SEC(".maps");

/* Nothing: a program reads the memory of the process that it runs in. */
struct interpreter_reader {
    uint32_t unused;
};

#define INTERPRETER_READ(reader, to, from)                                                         \
    ((void)(reader), bpf_probe_read_user((to), sizeof(*to), (const void *)(from)))

#define INTERPRETER_COPY(reader, to, bytes, most, from)                                            \
    ({                                                                                             \
        uint64_t copied = at_most((bytes), (most));                                                \
        if (!copied || bpf_probe_read_user((to), at_most(copied, (most)), (const void *)(from)))   \
            copied = 0;                                                                            \
        (uint32_t) copied;                                                                         \
    })

#include "../interpreter_walk.h"

/* Snapshots are taken one at a time on each cpu. */
struct interpreter_scratch {
    struct bpf_stack stack;
    struct bpf_code code;
    struct interpreter_place place;
    uint64_t mark; /* of the frames that come; 0: it was written */
    uint64_t hash; /* of all entries so far */
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct interpreter_scratch);
} interpreter_scratch SEC(".maps");

/* The interpreter of a process, or of the one that it was forked from and that it is a copy of. */
static __always_inline const struct bpf_interpreter *interpreter_of(struct task_struct *task)
{
    uint32_t pid = (uint32_t)task->tgid;
    const struct bpf_interpreter *found = bpf_map_lookup_elem(&interpreters, &pid);
    if (found)
        return found;
    uint32_t parent = (uint32_t)BPF_CORE_READ(task, real_parent, tgid);
    return bpf_map_lookup_elem(&interpreters, &parent);
}

/* Sees to it that the code object's name is known. */
__attribute__((noinline)) uint64_t interpreter_note_code(uint64_t code)
{
    struct task_struct *task = bpf_get_current_task_btf();
    const struct interpreter_reader *reader = NULL;
    struct interpreter_texts texts = {0};
    uint32_t zero = 0;
    if (!settings.interpreters)
        return 0;
    const struct bpf_interpreter *interpreter = interpreter_of(task);
    struct interpreter_scratch *scratch = bpf_map_lookup_elem(&interpreter_scratch, &zero);
    if (!interpreter || !scratch || !code ||
        INTERPRETER_READ(reader, &texts, code + interpreter->layout.texts))
        return 0;
    uint64_t key = interpreter_code_key((uint32_t)task->tgid, code, &texts);
    if (bpf_map_lookup_elem(&codes, &key))
        return 1;
    scratch->code.pid = (uint32_t)task->tgid;
    scratch->code.time_ns = bpf_ktime_get_ns();
    if (!interpreter_copy_code(reader, interpreter, code, &texts, &scratch->code))
        return 0;
    bpf_map_update_elem(&codes, &key, &scratch->code, BPF_ANY);
    return 1;
}

/* The number of frames is in memory, and volatile: the verifier would look at each one by itself. */
static __always_inline void interpreter_add(struct bpf_stack *stack, uint64_t entry)
{
    uint64_t at = *(volatile uint64_t *)&stack->count;
    if (at >= BPF_STACK_FRAMES)
        return;
    stack->frames[bounded(at, BPF_STACK_FRAMES)] = entry;
    *(volatile uint64_t *)&stack->count = at + 1;
}

static __always_inline void interpreter_add_frame(struct interpreter_scratch *scratch,
                                                  const struct interpreter_frame *frame)
{
    uint64_t hash = scratch->hash ^ scratch->mark ^ frame->instruction;
    if (scratch->mark)
        interpreter_add(&scratch->stack, scratch->mark);
    scratch->mark = 0;
    interpreter_add(&scratch->stack, frame->instruction);
    hash *= 0x9e3779b97f4a7c15ull;
    scratch->hash = hash ^ hash >> 32;
    interpreter_note_code(frame->code);
}

/* One frame. A function of its own, so that the verifier looks at it once and not in every round. Returns 0 behind the last one. */
__attribute__((noinline)) uint64_t interpreter_step(uint32_t unused)
{
    struct task_struct *task = bpf_get_current_task_btf();
    const struct interpreter_reader *reader = NULL;
    uint32_t zero = 0;
    (void)unused;
    if (!settings.interpreters)
        return 0;
    const struct bpf_interpreter *interpreter = interpreter_of(task);
    struct interpreter_scratch *scratch = bpf_map_lookup_elem(&interpreter_scratch, &zero);
    if (!interpreter || !scratch || !scratch->place.frame)
        return 0;
    const struct interpreter_layout *layout = &interpreter->layout;
    struct interpreter_frame frame = interpreter_read_frame(reader, layout, scratch->place.frame);
    if (!frame.is_shim)
        interpreter_add_frame(scratch, &frame);
    if (frame.is_outermost && scratch->place.holder) {
        scratch->place.holder =
            interpreter_word(reader, scratch->place.holder + layout->holder_previous);
        scratch->mark = scratch->place.holder | ARGUS_FRAME_MARK_BEFORE;
    } else if (frame.is_shim) {
        interpreter_add(&scratch->stack, scratch->place.frame | ARGUS_FRAME_MARK_AFTER);
    }
    scratch->place.frame = frame.previous;
    return frame.previous && scratch->stack.count < BPF_STACK_FRAMES;
}

/* Reads the frames of the current thread into the scratch. Returns a hash of them; 0: there are none. */
__attribute__((noinline)) uint64_t interpreter_take(uint32_t unused)
{
    struct task_struct *task = bpf_get_current_task_btf();
    const struct interpreter_reader *reader = NULL;
    uint32_t zero = 0;
    (void)unused;
    if (!settings.interpreters)
        return 0;
    const struct bpf_interpreter *interpreter = interpreter_of(task);
    struct interpreter_scratch *scratch = bpf_map_lookup_elem(&interpreter_scratch, &zero);
    if (!interpreter || !scratch)
        return 0;
    uint64_t thread = interpreter_thread(reader, interpreter, arch_thread_pointer(task, false));
    if (!thread)
        return 0;
    struct interpreter_place place = interpreter_innermost(reader, interpreter, thread);
    scratch->place = place;
    scratch->mark = place.holder ? place.holder | ARGUS_FRAME_MARK_BEFORE : 0;
    scratch->hash = 1;
    scratch->stack.count = 0;
    for (uint64_t i = 0; i < BPF_STACK_FRAMES; i++)
        if (!interpreter_step(0))
            break;
    return scratch->stack.count ? scratch->hash | 1 : 0;
}

/* Keeps what interpreter_take() has read for the snapshot of this name. */
static __always_inline void interpreter_keep(uint64_t snapshot)
{
    uint64_t key = snapshot ^ ARGUS_STACK_INTERPRETED;
    uint32_t zero = 0;
    const struct interpreter_scratch *scratch = bpf_map_lookup_elem(&interpreter_scratch, &zero);
    if (scratch && !bpf_map_lookup_elem(&interpreted, &key))
        bpf_map_update_elem(&interpreted, &key, &scratch->stack, BPF_ANY);
}

#endif
