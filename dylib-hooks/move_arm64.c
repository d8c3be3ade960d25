/* The trampoline on arm64: below the 128 bytes that Apple's ABI lets a function keep under the
 * stack pointer, x16, x17 and x30 are saved here and all others by entry_arm64.S, in the order of
 * struct argus_hook_context. An instruction relative to its own address becomes a load of the
 * address from a literal after the code; encodings are those of the Arm Architecture Reference
 * Manual, C4.1.
 */
#include "trampoline_text.h"

#define FRAME         0x1a0u /* 128 + 33 words, a multiple of 16 */
#define LITERALS_MOST 6

#define LDR_LITERAL(rt) (0x58000000u | (rt))
#define B               0x14000000u
#define SUB_SP(bytes)   (0xd10003ffu | (bytes) << 10)
#define ADD_SP(bytes)   (0x910003ffu | (bytes) << 10)
#define X16_X17_AT      (128u / 8 << 15) /* of stp, ldp: in words */
#define X30_AT          (30u << 10)      /* of str, ldr: in words */

struct literal {
    uint32_t load; /* offset of the instruction that loads it */
    enum hook_fixup_kind kind;
    uint64_t address;
};

struct literals {
    struct literal all[LITERALS_MOST];
    uint32_t count;
};

static void put(struct trampoline_plan *plan, uint32_t word)
{
    text_bytes(plan, &word, sizeof(word));
}

static void put_load(struct trampoline_plan *plan, struct literals *literals, uint32_t rt,
                     enum hook_fixup_kind kind, uint64_t address)
{
    if (literals->count < LITERALS_MOST)
        literals->all[literals->count++] =
            (struct literal){.load = plan->bytes, .kind = kind, .address = address};
    put(plan, LDR_LITERAL(rt));
}

static void put_branch(struct trampoline_plan *plan, uint64_t target)
{
    text_fixup(plan, plan->bytes, HOOK_FIXUP_BRANCH26, target, 0);
    put(plan, B);
}

static void put_call_of_shell(struct trampoline_plan *plan, struct literals *literals)
{
    put(plan, SUB_SP(FRAME));
    put(plan, 0xa90047f0u | X16_X17_AT); /* stp x16, x17, [sp, #128] */
    put(plan, 0xf90003feu | X30_AT);     /* str x30, [sp, #240] */
    put_load(plan, literals, 16, HOOK_FIXUP_HOOK64, 0);
    put_load(plan, literals, 17, HOOK_FIXUP_ENTRY64, 0);
    put(plan, 0xd63f0220u);              /* blr x17 */
    put(plan, 0xf94003feu | X30_AT);     /* ldr x30, [sp, #240] */
    put(plan, 0xa94047f0u | X16_X17_AT); /* ldp x16, x17, [sp, #128] */
    put(plan, ADD_SP(FRAME));
}

static uint32_t word_of(const struct insn *insn)
{
    uint32_t word;
    memcpy(&word, insn->bytes, sizeof(word));
    return word;
}

/* The condition leads over a branch that leads over the branch to the target. */
static void put_conditional(struct trampoline_plan *plan, const struct insn *insn)
{
    uint32_t word = word_of(insn);
    bool is_bit_test = (word & 0x7e000000u) == 0x36000000u;
    uint32_t field = is_bit_test ? 0x3fffu << 5 : 0x7ffffu << 5;
    put(plan, (word & ~field) | 2u << 5);
    put(plan, B | 2);
    put_branch(plan, insn->target);
}

static bool put_call_indirect(struct trampoline_plan *plan, struct literals *literals,
                              const struct insn *insn)
{
    uint32_t word = word_of(insn), rn = word >> 5 & 31;
    if ((word & 0xfffffc1fu) != 0xd63f0000u || rn == 30) /* with a signed pointer, or of x30 */
        return false;
    put_load(plan, literals, 30, HOOK_FIXUP_ABS64, insn->address + insn->length);
    put(plan, 0xd61f0000u | rn << 5);
    return true;
}

/* adr, adrp, ldr (literal). */
static bool put_data(struct trampoline_plan *plan, struct literals *literals,
                     const struct insn *insn)
{
    static const uint32_t loads[] = {0xb9400000u, 0xf9400000u, 0xb9800000u};
    uint32_t word = word_of(insn), rt = word & 31;
    bool is_address = (word & 0x1f000000u) == 0x10000000u;
    if (!is_address && word >> 30 == 3) /* prfm: only a hint */
        return true;
    if (rt == 31 || (!is_address && word >> 26 & 1)) /* into a floating-point register */
        return false;
    put_load(plan, literals, rt, HOOK_FIXUP_ABS64, insn->target);
    if (!is_address)
        put(plan, loads[word >> 30] | rt << 5 | rt);
    return true;
}

static bool put_moved(struct trampoline_plan *plan, struct literals *literals,
                      const struct insn *insn)
{
    switch (insn->flow) {
    case INSN_JUMP:
        put_branch(plan, insn->target);
        return true;
    case INSN_BRANCH:
        put_conditional(plan, insn);
        return true;
    case INSN_CALL:
        put_load(plan, literals, 30, HOOK_FIXUP_ABS64, insn->address + insn->length);
        put_branch(plan, insn->target);
        return true;
    case INSN_CALL_INDIRECT:
        return put_call_indirect(plan, literals, insn);
    default:
        if (insn->names_data)
            return put_data(plan, literals, insn);
        put(plan, word_of(insn));
        return true;
    }
}

static void put_literals(struct trampoline_plan *plan, const struct literals *literals)
{
    while (plan->bytes % 8)
        put(plan, 0xd4200000u); /* brk */
    for (uint32_t i = 0; i < literals->count; i++) {
        const struct literal *literal = &literals->all[i];
        uint32_t word, distance = plan->bytes - literal->load;
        memcpy(&word, plan->code + literal->load, sizeof(word));
        word |= distance / 4 << 5;
        memcpy(plan->code + literal->load, &word, sizeof(word));
        text_fixup(plan, plan->bytes, literal->kind, literal->address, 0);
        put(plan, 0);
        put(plan, 0);
    }
}

struct argus_error *window_move_arm64(const struct window *window, struct trampoline_plan *ret)
{
    struct literals literals = {0};
    memset(ret, 0, sizeof(*ret));
    put_call_of_shell(ret, &literals);
    ret->moved_to[0] = (uint16_t)ret->bytes;
    if (!put_moved(ret, &literals, &window->insns[0])) {
        char what[120];
        window_describe(window, &window->insns[0], sizeof(what), what);
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                  "the instruction at %s cannot be moved: it names data by its own "
                                  "address in an unknown form",
                                  what);
    }
    put_branch(ret, window->address + window->bytes);
    put_literals(ret, &literals);
    return NULL;
}
