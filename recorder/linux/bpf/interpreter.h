/* The frames of interpreters, stored with the copy of the C stack (snapshot.h).
 *
 * The C stack of a thread that runs Python does not depend on the Python function that waits: the
 * functions' frames are on the heap, and a call from one to another leaves nothing on the C stack.
 * So the frames are read when the stack is copied, and are part of the copy's ID: two copies that
 * differ only in them have different IDs.
 *
 * Of a frame only the address of its instruction is kept, which lies inside the code object, as a
 * return address lies inside a function. The function's name, file and table of lines are copied
 * once for each code object. A mark tells where on the C stack the frames belong: the address of a
 * struct in the frame of the interpreting C function.
 *
 * Two steps. interpreter_take() walks at each copy: two reads a frame, of PHP three (the line), of
 * Ruby six (the flags, a code object in two parts, two tables of lines). interpreter_keep() stores
 * the frames, and the names of their code, for a new copy. The names of the code are part of the
 * copy's ID, so a known copy needs neither.
 *
 * settings.interpreters is 0 if there are none, or if the kernel refuses this part: the verifier
 * then skips its code, but still adds up the stack sizes of its functions. So large data is in
 * maps, and calls are not deep.
 */
#ifndef ARGUS_BPF_INTERPRETER_H
#define ARGUS_BPF_INTERPRETER_H

#include "client_memory.h"
#include "ring.h"

/* The processes that run one; filled by the recorder when they map the file. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct bpf_interpreter);
} interpreters SEC(".maps");

/* How often the recorder has added a process to the table. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, uint64_t);
} interpreter_additions SEC(".maps");

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

/* Empty: a BPF program reads the memory of the process in which it runs. */
struct interpreter_reader {
    uint32_t unused;
};

#define INTERPRETER_READ(reader, to, BYTES, from)                                                  \
    ({                                                                                             \
        _Static_assert(__builtin_constant_p(BYTES), "the verifier needs to see it");               \
        (void)(reader);                                                                            \
        bpf_probe_read_user((to), (BYTES), (const void *)(from));                                  \
    })

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
    struct bpf_interpreter interpreter; /* of the process being read */
    struct interpreter_walk walk;
    struct bpf_code code;
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct interpreter_scratch);
} interpreter_scratch SEC(".maps");

static __always_inline const struct bpf_interpreter *interpreter_of(uint32_t pid)
{
    return bpf_map_lookup_elem(&interpreters, &pid);
}

/* Another number, never 0, since a process was added to the table. A fork adds only a child of one
 * that is there; no stack of the child was seen before. */
static __always_inline uint64_t interpreter_changes(void)
{
    uint32_t zero = 0;
    const uint64_t *additions = bpf_map_lookup_elem(&interpreter_additions, &zero);
    return additions ? *additions + 1 : 0;
}

/* NULL if there are no interpreters: the verifier then skips all that follows in the caller. */
static __always_inline struct interpreter_scratch *interpreter_scratch_of_cpu(void)
{
    uint32_t zero = 0;
    return settings.interpreters ? bpf_map_lookup_elem(&interpreter_scratch, &zero) : NULL;
}

/* A forked process inherits its parent's entry. An entry of an earlier process with the same ID is
 * dropped. */
static __always_inline void interpreter_fork(uint32_t parent, uint32_t child)
{
    if (!settings.interpreters)
        return;
    const struct bpf_interpreter *found = interpreter_of(parent);
    if (found)
        bpf_map_update_elem(&interpreters, &child, found, BPF_ANY);
    else
        bpf_map_delete_elem(&interpreters, &child);
}

/* The same for a child that was forked before the recorder knew of its parent. A child that has
 * executed another program is left out. */
static __always_inline bool interpreter_inherit(struct task_struct *task, uint32_t pid)
{
    struct task_struct *parent = task->real_parent;
    const struct bpf_interpreter *found = interpreter_of((uint32_t)parent->tgid);
    if (!found || parent->mm->start_stack != task->mm->start_stack)
        return false;
    return bpf_map_update_elem(&interpreters, &pid, found, BPF_ANY) == 0;
}

/* The functions that follow are neither inlined nor static: so the verifier analyses each one once,
 * and not in every iteration of a loop. */

/* Searches for the current thread's innermost frame. */
__attribute__((noinline)) uint64_t interpreter_find(uint64_t thread_pointer)
{
    struct interpreter_scratch *scratch = interpreter_scratch_of_cpu();
    if (!scratch)
        return 0;
    return interpreter_thread(NULL, &scratch->interpreter, &scratch->walk.block, thread_pointer);
}

/* One frame. Returns 0 after the last one. */
__attribute__((noinline)) uint64_t interpreter_step(uint32_t pid)
{
    struct interpreter_scratch *scratch = interpreter_scratch_of_cpu();
    if (!scratch || !scratch->walk.place.frame)
        return 0;
    return interpreter_step_over(NULL, &scratch->interpreter, &scratch->walk, pid);
}

/* The same for INTERPRETER_ZEND, in two halves: first reads the frame. */
__attribute__((noinline)) uint64_t interpreter_read_zend(void)
{
    struct interpreter_scratch *scratch = interpreter_scratch_of_cpu();
    if (!scratch || !scratch->walk.place.frame)
        return 0;
    return zend_read_frame(NULL, &scratch->interpreter.layout, &scratch->walk);
}

__attribute__((noinline)) uint64_t interpreter_step_zend(uint32_t pid)
{
    struct interpreter_scratch *scratch = interpreter_scratch_of_cpu();
    if (!scratch)
        return 0;
    return zend_step_over(NULL, &scratch->interpreter, &scratch->walk, pid);
}

/* The same for INTERPRETER_ZEND; begins the walk, too. */
__attribute__((noinline)) uint64_t interpreter_find_zend(void)
{
    struct interpreter_scratch *scratch = interpreter_scratch_of_cpu();
    if (!scratch)
        return 0;
    zend_begin(NULL, &scratch->interpreter, &scratch->walk);
    return scratch->walk.place.frame;
}

/* The same for INTERPRETER_YARV: begins the walk, */
__attribute__((noinline)) uint64_t interpreter_find_yarv(uint64_t thread_pointer)
{
    struct interpreter_scratch *scratch = interpreter_scratch_of_cpu();
    if (!scratch)
        return 0;
    return yarv_begin(NULL, &scratch->interpreter, &scratch->walk, thread_pointer);
}

/* reads a frame, */
__attribute__((noinline)) uint64_t interpreter_read_yarv(void)
{
    struct interpreter_scratch *scratch = interpreter_scratch_of_cpu();
    if (!scratch || !scratch->walk.place.frame)
        return 0;
    return yarv_read_frame(NULL, &scratch->interpreter.layout, &scratch->walk);
}

/* and takes it. */
__attribute__((noinline)) uint64_t interpreter_step_yarv(uint32_t pid)
{
    struct interpreter_scratch *scratch = interpreter_scratch_of_cpu();
    if (!scratch)
        return 0;
    return yarv_step_over(NULL, &scratch->interpreter, &scratch->walk, pid);
}

/* Begins the walk in the scratch, by kind. False: there are no frames. */
static __always_inline bool interpreter_take_first(struct interpreter_scratch *scratch,
                                                   struct task_struct *task)
{
    uint32_t kind = scratch->interpreter.layout.kind;
    if (kind == INTERPRETER_ZEND)
        return interpreter_find_zend();
    if (kind == INTERPRETER_YARV)
        return interpreter_find_yarv(arch_thread_pointer(task, false));
    uint64_t found = interpreter_find(arch_thread_pointer(task, false));
    if (found)
        interpreter_begin(NULL, &scratch->interpreter, &scratch->walk, found);
    return found;
}

/* Takes a frame. False: it was the last one. */
static __always_inline bool interpreter_take_next(uint32_t kind, uint32_t pid)
{
    if (kind == INTERPRETER_ZEND)
        return interpreter_read_zend() && interpreter_step_zend(pid);
    if (kind == INTERPRETER_YARV)
        return interpreter_read_yarv() && interpreter_step_yarv(pid);
    return interpreter_step(pid);
}

/* Reads the frames of the current thread into the scratch. Returns a hash of them; 0: there are
 * none. */
__attribute__((noinline)) uint64_t interpreter_take(uint32_t pid)
{
    if (!settings.interpreters)
        return 0;
    struct task_struct *task = bpf_get_current_task_btf();
    if (!is_of_client(task))
        return 0;
    const struct bpf_interpreter *interpreter = interpreter_of(pid);
    if (!interpreter && interpreter_inherit(task, pid))
        interpreter = interpreter_of(pid);
    struct interpreter_scratch *scratch = interpreter_scratch_of_cpu();
    if (!interpreter || !scratch)
        return 0;
    scratch->interpreter = *interpreter;
    if (!interpreter_take_first(scratch, task))
        return 0;
    for (uint64_t i = 0; i < 2 * BPF_STACK_FRAMES; i++)
        if (!interpreter_take_next(scratch->interpreter.layout.kind, pid))
            break;
    return scratch->walk.stack.count ? scratch->walk.hash | 1 : 0;
}

/* Ensures that the name of the code object of entry `at` is stored. */
__attribute__((noinline)) uint64_t interpreter_note(uint32_t pid, uint64_t at)
{
    struct interpreter_scratch *scratch = interpreter_scratch_of_cpu();
    if (!scratch)
        return 0;
    const struct bpf_interpreter *interpreter = &scratch->interpreter;
    struct interpreter_walk *walk = &scratch->walk;
    uint64_t address = walk->codes[bounded(at, BPF_STACK_FRAMES)];
    if (!address || (at && walk->codes[bounded(at - 1, BPF_STACK_FRAMES)] == address))
        return 1; /* a mark, or a function that calls itself */
    if (!interpreter_read_code(NULL, interpreter, &walk->block, address))
        return 0;
    uint64_t key = interpreter_code_key(&interpreter->layout, &walk->block, pid, address);
    if (bpf_map_lookup_elem(&codes, &key))
        return 1;
    scratch->code.pid = pid;
    scratch->code.time_ns = bpf_ktime_get_ns();
    interpreter_copy_code(NULL, interpreter, &walk->block, &walk->text, address, &scratch->code);
    return bpf_map_update_elem(&codes, &key, &scratch->code, BPF_ANY) == 0;
}

/* The same for INTERPRETER_ZEND. */
__attribute__((noinline)) uint64_t interpreter_note_zend(uint32_t pid, uint64_t at)
{
    struct interpreter_scratch *scratch = interpreter_scratch_of_cpu();
    if (!scratch)
        return 0;
    const struct interpreter_layout *layout = &scratch->interpreter.layout;
    struct interpreter_walk *walk = &scratch->walk;
    uint64_t address = walk->codes[bounded(at, BPF_STACK_FRAMES)];
    if (!address || (at && walk->codes[bounded(at - 1, BPF_STACK_FRAMES)] == address))
        return 1; /* a mark, or a function that calls itself */
    if (!zend_read_code(NULL, layout, walk, address))
        return 0;
    uint64_t key = zend_code_key(layout, &walk->block, pid);
    if (bpf_map_lookup_elem(&codes, &key))
        return 1;
    scratch->code.pid = pid;
    scratch->code.time_ns = bpf_ktime_get_ns();
    zend_copy_code(NULL, layout, &walk->block, &walk->text, &walk->zend, &scratch->code);
    return bpf_map_update_elem(&codes, &key, &scratch->code, BPF_ANY) == 0;
}

/* The same for INTERPRETER_YARV. */
__attribute__((noinline)) uint64_t interpreter_note_yarv(uint32_t pid, uint64_t at)
{
    struct interpreter_scratch *scratch = interpreter_scratch_of_cpu();
    if (!scratch)
        return 0;
    const struct interpreter_layout *layout = &scratch->interpreter.layout;
    struct interpreter_walk *walk = &scratch->walk;
    uint64_t address = walk->codes[bounded(at, BPF_STACK_FRAMES)];
    if (!address || (at && walk->codes[bounded(at - 1, BPF_STACK_FRAMES)] == address))
        return 1; /* a mark, or a function that calls itself */
    if (!yarv_read_code(NULL, layout, walk, address))
        return 0;
    uint64_t key = yarv_code_key(layout, &walk->block, pid);
    if (bpf_map_lookup_elem(&codes, &key))
        return 1;
    scratch->code.pid = pid;
    scratch->code.time_ns = bpf_ktime_get_ns();
    yarv_copy_code(NULL, layout, walk, &scratch->code);
    return bpf_map_update_elem(&codes, &key, &scratch->code, BPF_ANY) == 0;
}

static __always_inline bool interpreter_note_any(uint32_t kind, uint32_t pid, uint64_t at)
{
    if (kind == INTERPRETER_ZEND)
        return interpreter_note_zend(pid, at);
    return kind == INTERPRETER_YARV ? interpreter_note_yarv(pid, at) : interpreter_note(pid, at);
}

/* Stores the frames that interpreter_take() has read for the snapshot with this ID, if the names of
 * all its code are known. */
__attribute__((noinline)) uint64_t interpreter_keep(uint32_t pid, uint64_t snapshot)
{
    uint64_t key = snapshot ^ ARGUS_STACK_INTERPRETED;
    if (!settings.interpreters)
        return 0;
    const struct interpreter_scratch *scratch = interpreter_scratch_of_cpu();
    if (!scratch || bpf_map_lookup_elem(&interpreted, &key))
        return 0;
    for (uint64_t i = 0; i < BPF_STACK_FRAMES; i++) {
        if (i >= scratch->walk.stack.count)
            break;
        if (!interpreter_note_any(scratch->interpreter.layout.kind, pid, i))
            return 0;
    }
    return bpf_map_update_elem(&interpreted, &key, &scratch->walk.stack, BPF_ANY) == 0;
}

#endif
