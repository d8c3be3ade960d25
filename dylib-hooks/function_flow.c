/* Which instructions of a function can be come to at all? Hand-written code (libcrypto, glibc, libjpeg) keeps tables between its
 * functions, and without its source nothing says what is which: a hook put there would change the numbers of a cipher. So the
 * code is followed from where the function begins and from wherever else something leads into it, instruction by instruction and
 * branch by branch; a hook can only be where that came along. What was not come to is decoded as well, for people to see.
 *
 * An address that is taken (lea) may be that of code or of a table. It counts as code only where the function jumps to a
 * computed address. What only seems to be a branch elsewhere does not count where it leads into the middle of an instruction
 * that was come to. So what can be missing are the targets of jumps that nobody explains: no hook can be there.
 * On arm64 jump tables are not read; there all that can be decoded counts.
 */
#include "function_code.h"

#include <stdlib.h>

struct flow {
    struct function_code *code;
    VEC(uint64_t) queue;
    bool computes; /* a jump whose target is in a register, or in a table */
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

/* False: no memory. */
static bool follow_from(struct flow *flow, uint64_t at)
{
    struct insn insn;
    while (is_new(flow, at) && function_code_insn(flow->code, at, &insn)) {
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

static bool follow_targets(struct flow *flow, enum target_kind kind)
{
    bool done = true;
    for (size_t i = 0; i < flow->code->targets.length && done; i++) {
        const struct jump_target *target = &flow->code->targets.data[i];
        if (target->kind == kind &&
            flow->code->reached[target->to - flow->code->first] == REACHED_NOT)
            done = follow_from(flow, target->to) && follow_all(flow);
    }
    return done;
}

/* Until an instruction that was come to. What cannot be decoded is passed over byte by byte. */
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
    bool done = (code->reached = calloc(1, code->end - code->first)) != NULL;
    if (done && code->image->arch != HOOK_ARCH_ARM64)
        done = follow_from(&flow, code->first) && follow_all(&flow) &&
               follow_targets(&flow, TARGET_OF_TABLE) && follow_targets(&flow, TARGET_OF_FAR) &&
               (!flow.computes || follow_targets(&flow, TARGET_OF_ADDRESS));
    done = done && add_starts(code);
    vec_deinit(&flow.queue);
    return done ? NULL : argus_error_memory();
}
