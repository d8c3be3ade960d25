/* Which instructions of a function are reachable? Hand-written code (libcrypto, glibc, libjpeg) has
 * tables between its functions, and without its source nothing distinguishes them from code: a hook
 * there would change the constants of a cipher. So the code is followed from the function's start
 * and from all other entries, instruction by instruction and branch by branch. Only a reachable
 * instruction can have a hook. Unreachable bytes are decoded as well, but only for display.
 *
 * An address that is taken (lea) may be that of code or of a table. It counts as code only if the
 * function jumps to a computed address. Some apparent entries are false: bytes of another
 * instruction that look like a branch, entries after the end of a table. So entries that agree with
 * decoding the function from its start are followed first, and others only if they do not conflict
 * with these. Targets of unexplained jumps may be missing: they cannot have hooks. On arm64 jump
 * tables are not read, so everything that can be decoded counts as reachable.
 */
#include "function_code.h"

#include <stdlib.h>

struct flow {
    struct function_code *code;
    VEC(uint64_t) queue;
    uint8_t *in_line; /* for each byte: an instruction begins there in a linear decoding; owned */
    bool careful;     /* ignore instructions that conflict with reachable ones */
    bool computes;    /* a jump whose target is in a register, or in a table */
};

static bool goes_on(const struct insn *insn)
{
    return insn->flow != INSN_JUMP && insn->flow != INSN_JUMP_INDIRECT && insn->flow != INSN_RETURN;
}

static bool is_new(const struct flow *flow, uint64_t address)
{
    const struct function_code *code = flow->code;
    return address >= code->first && address < code->end &&
           code->reached[address - code->first] != REACHED_START;
}

static void mark(struct function_code *code, const struct insn *insn)
{
    uint8_t *at = &code->reached[insn->address - code->first];
    at[0] = REACHED_START;
    for (uint8_t i = 1; i < insn->length; i++)
        if (at[i] == REACHED_NOT)
            at[i] = REACHED_INSIDE;
}

static bool leads_elsewhere(const struct insn *insn)
{
    return insn->flow == INSN_JUMP || insn->flow == INSN_BRANCH ||
           insn->flow == INSN_SHORT_BRANCH || insn->flow == INSN_CALL;
}

static bool collides(const struct flow *flow, const struct insn *insn)
{
    const uint8_t *reached = &flow->code->reached[insn->address - flow->code->first];
    bool does = reached[0] == REACHED_INSIDE;
    for (uint8_t i = 1; i < insn->length; i++)
        does |= reached[i] == REACHED_START;
    return does && flow->careful;
}

/* False: no memory. */
static bool follow_from(struct flow *flow, uint64_t at)
{
    struct insn insn;
    while (is_new(flow, at) && function_code_insn(flow->code, at, &insn) &&
           !collides(flow, &insn)) {
        mark(flow->code, &insn);
        flow->computes |= insn.flow == INSN_JUMP_INDIRECT && !insn.names_data;
        if (leads_elsewhere(&insn) && is_new(flow, insn.target) &&
            !vec_push(&flow->queue, insn.target))
            return false;
        if (!goes_on(&insn))
            break;
        at += insn.length;
    }
    return true;
}

static bool follow_all(struct flow *flow)
{
    bool done = true;
    while (flow->queue.length && done)
        done = follow_from(flow, flow->queue.data[--flow->queue.length]);
    return done;
}

/* Follows the targets whose kind is in `kinds` (bits). */
static bool follow_targets(struct flow *flow, unsigned kinds, bool in_line)
{
    const struct function_code *code = flow->code;
    bool done = true;
    flow->careful = !in_line;
    for (size_t i = 0; i < code->targets.length && done; i++) {
        const struct jump_target *target = &code->targets.data[i];
        if (kinds >> target->kind & 1 && flow->in_line[target->to - code->first] == in_line)
            done = follow_from(flow, target->to) && follow_all(flow);
    }
    return done;
}

static void decode_in_line(struct flow *flow)
{
    const struct function_code *code = flow->code;
    struct insn insn;
    for (uint64_t at = code->first; at < code->end;) {
        bool is_insn = function_code_insn(code, at, &insn);
        flow->in_line[at - code->first] = is_insn;
        at += is_insn ? insn.length : 1;
    }
}

static bool follow_function(struct flow *flow)
{
    const unsigned sure = 1u << TARGET_OF_TABLE | 1u << TARGET_OF_FAR;
    decode_in_line(flow);
    bool done = follow_from(flow, flow->code->first) && follow_all(flow) &&
                follow_targets(flow, sure, true) && follow_targets(flow, sure, false);
    if (!done || !flow->computes)
        return done;
    return follow_targets(flow, 1u << TARGET_OF_ADDRESS, true) &&
           follow_targets(flow, 1u << TARGET_OF_ADDRESS, false);
}

/* Decodes up to the next reachable instruction. Skips bytes that cannot be decoded. */
static bool add_unreached(struct function_code *code, uint64_t at, uint64_t end, bool count_them)
{
    struct insn insn;
    while (at < end) {
        bool is_insn = function_code_insn(code, at, &insn) && at + insn.length <= end;
        if (is_insn && !vec_push(&code->starts, at))
            return false;
        if (is_insn && count_them)
            mark(code, &insn);
        at += is_insn ? insn.length : 1;
    }
    return true;
}

static bool add_starts(struct function_code *code)
{
    uint64_t behind = code->first;
    for (uint64_t at = code->first; at < code->end; at++) {
        struct insn insn;
        if (code->reached[at - code->first] != REACHED_START ||
            !function_code_insn(code, at, &insn))
            continue;
        if (!add_unreached(code, behind, at, false) || !vec_push(&code->starts, at))
            return false;
        if (behind < at + insn.length)
            behind = at + insn.length;
    }
    return add_unreached(code, behind, code->end, code->image->arch == HOOK_ARCH_ARM64);
}

struct argus_error *function_flow_follow(struct function_code *code)
{
    struct flow flow = {.code = code};
    code->reached = calloc(1, code->end - code->first);
    flow.in_line = calloc(1, code->end - code->first);
    bool done = code->reached && flow.in_line;
    if (done && code->image->arch != HOOK_ARCH_ARM64)
        done = follow_function(&flow);
    done = done && add_starts(code);
    vec_deinit(&flow.queue);
    free(flow.in_line);
    return done ? NULL : argus_error_memory();
}
