#include "steps/loops/loop_flags.h"

#include <string.h>

#include "steps/loops/code_calls.h"
#include "steps/loops/code_loops.h"
#include "steps/loops/code_slice.h"
#include "steps/loops/code_slice_memo.h"
#include "steps/loops/loop_effects.h"
#include "steps/loops/loop_pauses.h"

enum {
    MOST_WORK = 8000000, /* instructions that are looked at, over all searches: some 50 ms */
};

struct reading {
    struct code_library *library;
    struct code_budget budget;
    const struct loop_frame *frames;
    uint32_t count;
    const struct code_files *files;
    bool spins; /* the thread does not wait in a call */
};

enum verdict {
    TELLS_NOTHING, /* only the waiting decides, or a counter: look farther outward */
    TELLS,
    IS_OPAQUE,
};

/* --- exits --- */

static bool is_exit(const struct code_function *function, const struct code_loop *loop,
                    uint32_t node)
{
    const struct instruction *at = &function->nodes.data[node];
    struct code_way way;
    if (!loop->has[node] || (at->flow != FLOW_BRANCH && at->flow != FLOW_JUMP_INDIRECT))
        return false;
    for (uint32_t k = 0; code_function_way(function, node, k, &way); k++)
        if ((way.to == CODE_NONE || !loop->has[way.to]) && !code_gives_up(function, way.address))
            return true;
    return false;
}

/* --- one loop --- */

static enum verdict judge(const struct code_slice *slice, uint32_t exits)
{
    if (slice->source_count > 0)
        return slice->source_count <= LOOP_FLAGS_MAX ? TELLS : IS_OPAQUE;
    return exits && slice->yields && !slice->counts && !slice->summed && !slice->waits_for_time &&
                   !slice->is_unknown
               ? TELLS_NOTHING
               : IS_OPAQUE;
}

/* Whether the loop goes through an array or a list, whose elements a busy loop need not wait for:
 * it searches. What it sums up anew in each turn is no search: the result is the same until another
 * thread changes an element. */
static bool searches(const struct code_slice *slice)
{
    for (uint32_t i = 0; i < slice->source_count; i++) {
        const struct code_path *path = &slice->sources[i];
        if ((path->elements && !(slice->summed && slice->levels[i])) ||
            (path->root == CODE_STACK && path->links))
            return true;
    }
    return false;
}

/* A loop that only counts, or waits for a time, is a pause in one that looks. What it computes may
 * be the sum at which the loop around it looks; otherwise that loop works until it is told to stop.
 * `*computes`: whether an inner loop computes something; set here. */
static enum verdict judge_spin(const struct code_slice *slice, const struct code_scope *scope,
                               enum verdict verdict, bool *computes)
{
    struct loop_effects effects;
    bool only_counts = (slice->counts || slice->summed || slice->waits_for_time) &&
                       !slice->source_count && !slice->is_unknown && !slice->yields;
    loop_effects_find(slice, scope, &effects);
    if (only_counts && !effects.acts && effects.computes) {
        *computes = true;
        return TELLS_NOTHING;
    }
    if (*computes && !slice->summed)
        return IS_OPAQUE;
    if (effects.acts || searches(slice) || (slice->counts && effects.computes))
        return IS_OPAQUE;
    return only_counts ? TELLS_NOTHING : verdict;
}

/* Whether a turn may come to the wait without coming to `node`. The ways of the head are followed
 * one by one, because to come to the head is the end of a turn. */
static bool waits_without(const struct code_slice *slice, const struct code_scope *scope,
                          uint32_t node)
{
    struct code_way way;
    if (scope->head == node || scope->head == slice->yield)
        return scope->head != node;
    for (uint32_t k = 0; code_function_way(scope->function, scope->head, k, &way); k++)
        if (code_leads_to(slice->budget, scope, way.to, slice->yield, node))
            return true;
    return false;
}

/* Whether each turn, unless it is the last, comes to `node`, before it waits or after that. */
static bool is_in_each_turn(const struct code_slice *slice, const struct code_scope *scope,
                            uint32_t node)
{
    uint32_t waited = scope->function->next[slice->yield][0];
    return !waits_without(slice, scope, node) ||
           (waited != CODE_NONE &&
            !code_leads_to(slice->budget, scope, waited, CODE_NEXT_TURN, node));
}

/* Takes the exits to which each turn comes. `is_short`: without those that alone look at too many
 * variables, as one does that also asks how far the loop's work is. */
static void take_sure_exits(struct code_slice *slice, const struct code_scope *scope,
                            const struct code_loop *loop, bool is_short)
{
    slice->source_count = 0;
    for (uint32_t i = 0; i < scope->function->nodes.length; i++) {
        uint32_t before = slice->source_count;
        if (!is_exit(scope->function, loop, i) || !is_in_each_turn(slice, scope, i))
            continue;
        code_slice_branch(slice, scope, i);
        if (is_short && slice->source_count > LOOP_FLAGS_MAX)
            slice->source_count = before;
    }
}

/* If too many variables have a part in it, only those count at which each turn looks. The others
 * are mostly options: a large main() has many, which decide whether an exit is reached. */
static void take_fewer(struct code_slice *slice, const struct code_scope *scope,
                       const struct code_loop *loop)
{
    slice->is_unknown = true;
    take_sure_exits(slice, scope, loop, false);
    if (slice->source_count > LOOP_FLAGS_MAX)
        take_sure_exits(slice, scope, loop, true);
}

static enum verdict read_loop(struct code_slice *slice, const struct code_scope *scope,
                              const struct code_loop *loop)
{
    const struct code_function *function = scope->function;
    uint32_t exits = 0;
    for (uint32_t i = 0; i < function->nodes.length; i++) {
        if (loop->has[i] && code_function_is_open(function, i))
            slice->is_unknown = true;
        if (!is_exit(function, loop, i))
            continue;
        exits++;
        code_slice_branch(slice, scope, i);
    }
    /* What lets the loop come to its exits: `if (is_open && done) break`. */
    for (uint32_t i = 0; i < function->nodes.length; i++)
        if (is_exit(function, loop, i))
            code_slice_control(slice, scope, i);
    if (slice->source_count > LOOP_FLAGS_MAX && slice->yield != CODE_NONE)
        take_fewer(slice, scope, loop);
    code_slice_drop_limits(slice);
    code_slice_put_summed_first(slice);
    if (slice->yield != CODE_NONE && (loop_ends_on_timeout(slice, scope) ||
                                      (!slice->source_count && loop_is_pause(slice, scope))))
        return TELLS_NOTHING;
    if (slice->budget->left < function->nodes.length) /* not all was looked at */
        slice->is_unknown = true;
    return judge(slice, exits);
}

static struct loop_local local_of(const struct code_path *path)
{
    struct loop_local local = {.is_local = code_path_is_local(path)};
    if (!local.is_local)
        return local;
    local.is_object = path->root == CODE_OBJECT;
    local.function = path->function->start;
    local.slot = path->slot;
    local.code = path->code;
    local.seen_count = path->seen_count;
    memcpy(local.seen, path->seen, sizeof(local.seen));
    if (!local.is_object && !path->links)
        local.inside = path->slot.displacement - code_slot_object(path->function, path->slot);
    return local;
}

static struct loop_flag flag_of(const struct code_path *path)
{
    struct loop_flag flag = {
        .file = path->image->file,
        .foreign = path->root == CODE_FOREIGN ? path->name : NULL,
        .is_mapped = path->root == CODE_MAPPED,
        .is_thread_local = path->root == CODE_THREAD,
        .address = path->address,
        .links = path->links,
        .size_bytes = path->size_bytes,
        .elements = path->elements,
        .is_lock = path->is_lock,
        .taken_by = path->taken_by,
        .local = local_of(path),
    };
    /* x86-64: the program's own variables end where the thread's pointer leads; arm64: they begin
     * two words behind it ("ELF Handling For Thread-Local Storage", variants II and I). */
    bool is_arm64 = elf_file_machine(flag.file) == ELF_MACHINE_AARCH64;
    if (flag.is_thread_local)
        flag.address += is_arm64 ? (uint64_t)-16 : elf_file_thread_block(flag.file);
    for (uint32_t k = 0; k < path->links; k++)
        flag.offsets[k] = path->offsets[k];
    return flag;
}

static void take_flags(const struct code_slice *slice, const struct code_scope *scope,
                       const struct code_loop *loop, struct loop_flags *ret)
{
    ret->count = slice->source_count;
    ret->is_whole = !slice->is_unknown;
    for (uint32_t i = 0; i < ret->count; i++) {
        ret->all[i] = flag_of(&slice->sources[i]);
        loop_tests_find(slice, scope, loop, &slice->sources[i], &ret->all[i].tests);
    }
}

/* --- frames --- */

/* The function of another file that has this name; NULL. */
static const struct code_function *foreign_function(struct reading *reading, const char *name)
{
    uint64_t address;
    struct elf_file *file = reading->files && name
                                ? reading->files->find(reading->files->context, name, &address)
                                : NULL;
    const struct code_image *image = file ? code_library_image(reading->library, file) : NULL;
    const struct code_function *function =
        image ? code_library_function(reading->library, image, address) : NULL;
    return function && function->start == address ? function : NULL;
}

/* The function at the target; NULL: not known. */
static const struct code_function *function_of(struct reading *reading,
                                               const struct code_function *caller,
                                               const struct code_target *target)
{
    if (!target->is_here)
        return foreign_function(reading, target->name);
    const struct code_function *function =
        code_library_function(reading->library, caller->image, target->address);
    return function && function->start == target->address ? function : NULL;
}

static bool is_function(struct reading *reading, const struct code_function *caller,
                        const struct code_target *target, const struct code_function *function)
{
    uint64_t offset;
    if (target->is_here)
        return caller->image == function->image && target->address == function->start;
    const char *name = elf_file_function(function->image->file, function->start, &offset);
    return (name && offset == 0 && target->name && strcmp(name, target->name) == 0) ||
           foreign_function(reading, target->name) == function;
}

/* The jump of `function` to `inner`, as a tail call; CODE_NONE: none, or several. */
static uint32_t tail_call_to(struct reading *reading, const struct code_function *function,
                             const struct code_function *inner)
{
    uint32_t found = CODE_NONE;
    for (uint32_t i = 0; i < function->nodes.length; i++) {
        struct code_target target;
        uint8_t flow = function->nodes.data[i].flow;
        if ((flow != FLOW_JUMP && flow != FLOW_JUMP_INDIRECT) ||
            function->next[i][0] != CODE_NONE || !code_call_target(function, i, &target) ||
            !is_function(reading, function, &target, inner))
            continue;
        if (found != CODE_NONE)
            return CODE_NONE;
        found = i;
    }
    return found;
}

/* What the call at `node` calls is `inner`; or another function that ends with a jump to it, and is
 * therefore on no stack: `*ret` is then that function's scope, and `*ret_jump` the jump. False:
 * neither, so what `inner` got from its caller is not known. */
static bool find_link(struct reading *reading, const struct code_function *caller, uint32_t node,
                      const struct code_function *inner, struct code_scope *ret, uint32_t *ret_jump)
{
    struct code_target target;
    *ret_jump = CODE_NONE;
    if (!code_call_target(caller, node, &target) || is_function(reading, caller, &target, inner))
        return true; /* also through a pointer */
    const struct code_function *between = function_of(reading, caller, &target);
    if (!between)
        return false;
    *ret_jump = tail_call_to(reading, between, inner);
    *ret = (struct code_scope){.function = between, .head = CODE_NONE};
    return *ret_jump != CODE_NONE;
}

/* The functions of the frames from `frame` on, each called by the next one. Returns how many there
 * are; scopes[0] is innermost. */
static uint32_t take_callers(struct reading *reading, uint32_t frame, struct code_scope *scopes,
                             uint32_t room)
{
    uint32_t count = 0;
    for (; count < room && frame < reading->count; count++, frame++) {
        const struct loop_frame *at = &reading->frames[frame];
        const struct code_image *image =
            at->file ? code_library_image(reading->library, at->file) : NULL;
        const struct code_function *function =
            image ? code_library_function(reading->library, image, at->address) : NULL;
        uint32_t node = function ? code_function_node(function, at->address) : CODE_NONE;
        uint32_t jump = CODE_NONE;
        if (node == CODE_NONE ||
            (count && !find_link(reading, function, node, scopes[count - 1].function,
                                 &scopes[count], &jump)))
            break;
        if (jump != CODE_NONE) {
            scopes[count - 1].caller = &scopes[count];
            scopes[count - 1].call = jump;
            if (++count == room)
                break;
        }
        scopes[count] = (struct code_scope){.function = function, .head = CODE_NONE};
        if (count) {
            scopes[count - 1].caller = &scopes[count];
            scopes[count - 1].call = node;
        }
    }
    return count;
}

static enum verdict read_frame(struct reading *reading, uint32_t frame, struct loop_flags *ret)
{
    enum { CALLERS = 6 };
    struct code_scope scopes[CALLERS];
    struct code_loops loops;
    enum verdict verdict = TELLS_NOTHING;
    bool computes = false; /* an inner loop does */
    if (!reading->frames[frame].file)
        return TELLS_NOTHING;
    if (!take_callers(reading, frame, scopes, CALLERS))
        return IS_OPAQUE;
    uint32_t node = code_function_node(scopes[0].function, reading->frames[frame].address);
    if (!code_loops_init(&loops, scopes[0].function, node, reading->spins))
        return IS_OPAQUE;
    for (uint32_t i = 0; i < loops.count && verdict == TELLS_NOTHING; i++) {
        struct code_slice slice = {.library = reading->library,
                                   .budget = &reading->budget,
                                   .files = reading->files,
                                   .memo = slice_memo_create(),
                                   .yield = reading->spins ? CODE_NONE : node,
                                   .yield_function = scopes[0].function};
        scopes[0].region = loops.all[i].has;
        scopes[0].head = loops.all[i].head;
        verdict = read_loop(&slice, &scopes[0], &loops.all[i]);
        if (reading->spins)
            verdict = judge_spin(&slice, &scopes[0], verdict, &computes);
        ret->head = scopes[0].function->nodes.data[loops.all[i].head].address;
        if (verdict == TELLS)
            take_flags(&slice, &scopes[0], &loops.all[i], ret);
        slice_memo_destroy(slice.memo);
    }
    code_loops_deinit(&loops);
    return verdict;
}

static bool takes_lock(const struct code_function *function, uint32_t node)
{
    struct code_target target;
    return code_call_target(function, node, &target) && !target.is_here &&
           code_takes_lock(target.name);
}

/* The only call of the function that takes a spin lock; CODE_NONE: none, or several. */
static uint32_t find_lock_call(const struct code_function *function)
{
    uint32_t found = CODE_NONE;
    for (uint32_t i = 0; i < function->nodes.length; i++) {
        if (!code_is_call(&function->nodes.data[i]) || !takes_lock(function, i))
            continue;
        if (found != CODE_NONE)
            return CODE_NONE;
        found = i;
    }
    return found;
}

/* Stacks by frame pointers lack the caller of the innermost function, which has made no frame: then
 * it is the function that `caller` calls at `node`. Returns the call that takes the lock, and its
 * scope; CODE_NONE: not known. */
static uint32_t find_lock_scope(struct reading *reading, const struct code_scope *caller,
                                uint32_t node, struct code_scope *ret)
{
    struct code_target target;
    *ret = *caller;
    if (takes_lock(caller->function, node))
        return node;
    if (!code_call_target(caller->function, node, &target) || !target.is_here)
        return CODE_NONE;
    const struct code_function *between =
        code_library_function(reading->library, caller->function->image, target.address);
    *ret = (struct code_scope){
        .function = between, .head = CODE_NONE, .caller = caller, .call = node, .depth = 1};
    return between && between->start == target.address ? find_lock_call(between) : CODE_NONE;
}

/* The lock for which pthread_spin_lock() polls, whose frame is the innermost one: its caller names
 * it. */
static enum verdict read_spin_lock(struct reading *reading, struct loop_flags *ret)
{
    enum { CALLERS = 6, BYTES = 4 }; /* pthread_spinlock_t */
    struct code_scope scopes[CALLERS], scope;
    struct code_path path;
    if (take_callers(reading, 1, scopes, CALLERS) == 0)
        return IS_OPAQUE;
    uint32_t node = code_function_node(scopes[0].function, reading->frames[1].address);
    node = find_lock_scope(reading, &scopes[0], node, &scope);
    if (node == CODE_NONE)
        return IS_OPAQUE;
    code_path_find_pointed(&reading->budget, &scope, node, code_argument(scope.function, 0), &path);
    if (path.root != CODE_ADDRESS && path.root != CODE_FOREIGN)
        return IS_OPAQUE;
    path.size_bytes = BYTES;
    *ret = (struct loop_flags){
        .frame = 1, .head = scope.function->nodes.data[node].address, .count = 1, .is_whole = true};
    ret->all[0] = flag_of(&path);
    return TELLS;
}

static bool find(struct reading reading, bool is_arm64, struct loop_flags *ret)
{
    struct instruction_decoder *decoder;
    struct argus_error *error =
        instruction_decoder_create(is_arm64 ? INSTRUCTION_ARM64 : INSTRUCTION_X86_64, &decoder);
    *ret = (struct loop_flags){0};
    if (error) {
        argus_error_destroy(error);
        return false;
    }
    reading.library = code_library_create(decoder);
    reading.budget = (struct code_budget){MOST_WORK, reading.library};
    enum verdict verdict = reading.library ? TELLS_NOTHING : IS_OPAQUE;
    if (verdict == TELLS_NOTHING && reading.count > 1 && reading.frames[0].is_spin_lock)
        verdict = read_spin_lock(&reading, ret);
    for (uint32_t i = 0; i < reading.count && verdict == TELLS_NOTHING; i++) {
        ret->frame = i;
        verdict = read_frame(&reading, i, ret);
    }
    code_library_destroy(reading.library);
    instruction_decoder_destroy(decoder);
    return verdict == TELLS;
}

bool loop_flags_find(const struct loop_frame *frames, uint32_t count, bool is_arm64,
                     const struct code_files *files, struct loop_flags *ret)
{
    return find((struct reading){.frames = frames, .count = count, .files = files}, is_arm64, ret);
}

bool loop_flags_find_spin(const struct loop_frame *frames, uint32_t count, bool is_arm64,
                          const struct code_files *files, struct loop_flags *ret)
{
    return find((struct reading){.frames = frames, .count = count, .files = files, .spins = true},
                is_arm64, ret);
}
