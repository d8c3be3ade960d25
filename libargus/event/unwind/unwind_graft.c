/* If a function has a large array on its stack, its frame is always larger than the copied part of
 * the stack, so its callers are never seen. But the address of its return address on the stack is
 * known exactly from the last row of call frame information; only the word itself was not copied.
 * Other stacks of the same thread, which were copied completely, have a return address at exactly
 * this place too: into the same caller, unless the thread reached the function another way.
 *
 * Nothing is guessed, so two conditions must hold:
 *   - all complete stacks of the thread with a return address at this place agree: it leads into
 *     the same function, and the frames beyond it are identical;
 *   - this function really calls the one whose caller is missing: one of the complete stacks
 *     contains that call, or its code contains a direct call.
 * Otherwise the stack stays cut off. If the code has exactly one such call, the frame is at this
 * call. If it has several, the function is known but not the line, and the frame is at the
 * function's start.
 */
#include "event/unwind/unwind_graft.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/lower_bound.h"
#include "event/unwind/unwind_code.h"

#define MOST_LOOKED_AT 16384 /* most complete stacks that are examined for one that was cut off */
#define THREAD_BITS    20    /* of a place's key; the rest is the stack slot, in words */

bool grafts_note(struct grafts *grafts, const struct argus_snapshot *snapshot, uint64_t time_ns,
                 uint32_t process, const struct unwound *unwound, bool *ret_kept_back)
{
    uint64_t end = unwound->frames[unwound->count - 1];
    bool is_cut = end == ARGUS_FRAME_CUT || end == ARGUS_FRAME_MISSING;
    struct graft_stack stack = {.id = snapshot->id,
                                .tid = snapshot->tid,
                                .time_ns = time_ns,
                                .count = (uint32_t)unwound->count,
                                .process = process};
    *ret_kept_back = is_cut && unwound->count > 1 && unwound->slots[unwound->count - 2];
    if (*ret_kept_back) {
        stack.count--;
        stack.first = grafts->frames.length;
        stack.slot = unwound->slots[stack.count - 1];
        stack.mark = end;
        for (uint32_t i = 0; i < stack.count; i++)
            if (!vec_push(&grafts->frames, unwound->frames[i]))
                return false;
        return vec_push(&grafts->cut, stack);
    }
    if (end < ARGUS_FRAME_ENDS)
        return true;
    stack.first = grafts->slots.length;
    for (uint32_t i = 0; i < stack.count; i++)
        if (!vec_push(&grafts->slots, unwound->slots[i]))
            return false;
    return vec_push(&grafts->whole, stack);
}

/* The state of one call of grafts_finish(). */
struct work {
    struct grafts *grafts;
    struct unwinder *unwinder;
    struct argus_trace *trace;
    struct idmap threads; /* thread ID → number */
    struct idmap places;  /* thread and slot where the stacks were cut off → number */
    VEC(struct hit) hits; /* sorted by place */
    struct codes codes;
    bool no_memory;
};

/* A complete stack that has a return address at a place: that of its frame `frame`. */
struct hit {
    uint32_t place, whole, frame;
};

/* --- places where stacks were cut off --- */

static uint32_t number_of(struct work *work, struct idmap *map, uint64_t id)
{
    uint32_t number = idmap_get(map, id);
    if (number != IDMAP_NONE)
        return number;
    number = (uint32_t)map->count;
    work->no_memory |= !idmap_put(map, id, number);
    return number;
}

/* 0: none. */
static uint64_t place_key(struct work *work, const struct graft_stack *stack, uint64_t slot)
{
    uint32_t thread = number_of(work, &work->threads, stack->tid << 24 ^ stack->process);
    if (thread >> THREAD_BITS || slot >> (64 - THREAD_BITS + 3) || slot & 3)
        return 0;
    /* A 32-bit program's slot may be half of an 8-byte word; the upper bits of the key are
     * zeros. */
    uint64_t between = (slot & 7 ? 1ull : 0) << (63 - THREAD_BITS);
    return (uint64_t)thread << (64 - THREAD_BITS) | slot >> 3 | between;
}

static int by_place(const void *left, const void *right)
{
    const struct hit *a = left, *b = right;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    if (a->whole != b->whole)
        return a->whole < b->whole ? -1 : 1;
    return a->frame < b->frame ? -1 : a->frame > b->frame;
}

static void find_hits(struct work *work)
{
    const struct grafts *grafts = work->grafts;
    for (size_t i = 0; i < grafts->cut.length; i++) {
        uint64_t key = place_key(work, &grafts->cut.data[i], grafts->cut.data[i].slot);
        if (key)
            number_of(work, &work->places, key);
    }
    for (uint32_t i = 0; i < grafts->whole.length; i++) {
        const struct graft_stack *whole = &grafts->whole.data[i];
        for (uint32_t frame = 0; frame + 1 < whole->count; frame++) {
            uint64_t slot = grafts->slots.data[whole->first + frame];
            uint64_t key = slot ? place_key(work, whole, slot) : 0;
            uint32_t place = key ? idmap_get(&work->places, key) : IDMAP_NONE;
            if (place != IDMAP_NONE)
                work->no_memory |= !vec_push(&work->hits, (struct hit){place, i, frame});
        }
    }
    if (work->hits.length)
        qsort(work->hits.data, work->hits.length, sizeof(*work->hits.data), by_place);
}

static size_t first_hit(const struct work *work, uint32_t place)
{
    size_t first;
    LOWER_BOUND(first, work->hits.length, work->hits.data[first].place < place);
    return first;
}

/* --- the caller --- */

static struct code code_of(struct work *work, const struct graft_stack *stack, uint64_t address)
{
    return codes_at(&work->codes, work->unwinder, stack->process, stack->time_ns, address);
}

/* What is known about the caller of a stack that was cut off. */
struct caller {
    struct code code;
    const uint64_t *beyond; /* the caller's own callers, borrowed from the trace */
    size_t beyond_count;
    uint64_t return_address; /* of exactly this call; 0: only the function is known */
    bool is_known, is_ambiguous;
};

static void look_at(struct work *work, const struct hit *hit, const struct code *callee,
                    struct caller *caller)
{
    const struct graft_stack *whole = &work->grafts->whole.data[hit->whole];
    const uint64_t *frames;
    size_t count = argus_trace_stack(work->trace, whole->id, &frames);
    uint32_t at = hit->frame + 1;
    if (at >= count)
        return;
    struct code code = code_of(work, whole, frames[at] - 1);
    struct code here = code_of(work, whole, frames[hit->frame] - (hit->frame > 0));
    if (!caller->is_known)
        *caller = (struct caller){.code = code,
                                  .beyond = frames + at + 1,
                                  .beyond_count = count - at - 1,
                                  .is_known = true};
    if (!code_is_same(&code, &caller->code) || caller->beyond_count != count - at - 1 ||
        memcmp(caller->beyond, frames + at + 1, caller->beyond_count * sizeof(*frames)) != 0)
        caller->is_ambiguous = true;
    if (code_is_same(&here, callee))
        caller->return_address = frames[at];
}

static bool find_caller(struct work *work, const struct graft_stack *cut, struct caller *ret)
{
    const uint64_t *frames = work->grafts->frames.data + cut->first;
    struct code callee = code_of(work, cut, frames[cut->count - 1] - (cut->count > 1));
    uint64_t key = place_key(work, cut, cut->slot), back = 0;
    uint32_t place = key ? idmap_get(&work->places, key) : IDMAP_NONE;
    *ret = (struct caller){0};
    if (place == IDMAP_NONE)
        return false;
    size_t first = first_hit(work, place);
    for (size_t i = first; i < work->hits.length && i < first + MOST_LOOKED_AT &&
                           work->hits.data[i].place == place && !ret->is_ambiguous;
         i++)
        look_at(work, &work->hits.data[i], &callee, ret);
    if (!ret->is_known || ret->is_ambiguous)
        return false;
    if (ret->return_address)
        return true;
    unsigned machine = ret->code.elf ? elf_file_machine(ret->code.elf) : EM_NONE;
    uint32_t calls = code_count_calls(machine, &ret->code, &callee, &back);
    if (calls > 1)
        back = ret->code.start + 1; /* as a return address, this stands for the function's start */
    ret->return_address = back + ret->code.moved;
    return calls > 0;
}

/* Replaces the mark by `caller` and its callers. */
static size_t join(uint64_t frames[ARGUS_STACK_MAX_FRAMES], size_t count,
                   const struct caller *caller)
{
    frames[count++] = caller->return_address;
    size_t room = ARGUS_STACK_MAX_FRAMES - count, more = caller->beyond_count;
    bool fits = more <= room;
    if (!fits)
        more = room - 1;
    memcpy(frames + count, caller->beyond, more * sizeof(*frames));
    count += more;
    if (!fits)
        frames[count++] = ARGUS_FRAME_DEEP;
    return count;
}

static struct argus_error *finish_one(struct work *work, const struct graft_stack *cut,
                                      uint64_t *ret_continued)
{
    uint64_t frames[ARGUS_STACK_MAX_FRAMES];
    size_t count = cut->count;
    struct caller caller;
    memcpy(frames, work->grafts->frames.data + cut->first, count * sizeof(*frames));
    if (count + 2 <= ARGUS_STACK_MAX_FRAMES && find_caller(work, cut, &caller)) {
        count = join(frames, count, &caller);
        (*ret_continued)++;
    } else {
        frames[count++] = cut->mark;
    }
    return argus_trace_add_stack(work->trace, cut->id, frames, count);
}

struct argus_error *grafts_finish(struct grafts *grafts, struct unwinder *unwinder,
                                  struct argus_trace *trace, uint64_t *ret_continued)
{
    struct work work = {.grafts = grafts, .unwinder = unwinder, .trace = trace};
    struct argus_error *error = NULL;
    *ret_continued = 0;
    if (grafts->cut.length)
        find_hits(&work);
    for (size_t i = 0; i < grafts->cut.length && !error && !work.no_memory && !work.codes.no_memory;
         i++)
        error = finish_one(&work, &grafts->cut.data[i], ret_continued);
    if (!error && (work.no_memory || work.codes.no_memory))
        error = argus_error_memory();
    idmap_deinit(&work.threads);
    idmap_deinit(&work.places);
    vec_deinit(&work.hits);
    codes_deinit(&work.codes);
    return error;
}

void grafts_deinit(struct grafts *grafts)
{
    vec_deinit(&grafts->whole);
    vec_deinit(&grafts->cut);
    vec_deinit(&grafts->slots);
    vec_deinit(&grafts->frames);
}
