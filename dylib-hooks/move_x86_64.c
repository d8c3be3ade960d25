/* The trampoline on x86-64. It is entered by a jump, not by a call: a victim may keep data in the
 * 128 bytes below the stack pointer (the red zone of the System V ABI), which a call would
 * overwrite. A moved call pushes the address that the program expects, so that stack walks,
 * exceptions and the removal of the hook never see the trampoline.
 */
#include "trampoline_text.h"

#define BYTES(plan, ...)                                                                           \
    text_bytes(plan, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void put_relative(struct trampoline_plan *plan, uint64_t target)
{
    text_fixup(plan, plan->bytes, HOOK_FIXUP_REL32, target, 4);
    BYTES(plan, 0, 0, 0, 0);
}

static void put_jump(struct trampoline_plan *plan, uint64_t target)
{
    BYTES(plan, 0xe9);
    put_relative(plan, target);
}

/* Returns the offset of the 32 bits that must point to the literal. */
static uint32_t put_call_of_shell(struct trampoline_plan *plan)
{
    BYTES(plan, 0x48, 0x8d, 0x64, 0x24, 0x80); /* lea rsp, [rsp - 128] */
    BYTES(plan, 0x50);                         /* push rax */
    BYTES(plan, 0x48, 0xb8);                   /* mov rax, the running hook */
    text_fixup(plan, plan->bytes, HOOK_FIXUP_HOOK64, 0, 0);
    BYTES(plan, 0, 0, 0, 0, 0, 0, 0, 0);
    BYTES(plan, 0xff, 0x15); /* call [rip + …] */
    uint32_t operand = plan->bytes;
    BYTES(plan, 0, 0, 0, 0);
    BYTES(plan, 0x58);                                           /* pop rax */
    BYTES(plan, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0x00, 0x00, 0x00); /* lea rsp, [rsp + 128] */
    return operand;
}

static void put_literal(struct trampoline_plan *plan, uint32_t operand)
{
    while (plan->bytes % 8)
        BYTES(plan, 0xcc);
    uint32_t distance = plan->bytes - (operand + 4);
    memcpy(plan->code + operand, &distance, sizeof(distance));
    text_fixup(plan, plan->bytes, HOOK_FIXUP_ENTRY64, 0, 0);
    BYTES(plan, 0, 0, 0, 0, 0, 0, 0, 0);
}

static struct argus_error *unsupported(const struct window *window, const struct insn *insn)
{
    char what[120];
    window_describe(window, insn, sizeof(what), what);
    return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                              "the instruction at %s cannot be moved: this form of it is not known",
                              what);
}

/* Index of the opcode, after prefixes that do not affect a branch: hints, notrack, bnd. */
static uint32_t skip_prefixes(const struct insn *insn)
{
    uint32_t at = 0;
    while (at < insn->length &&
           (insn->bytes[at] == 0x2e || insn->bytes[at] == 0x3e || insn->bytes[at] == 0xf2))
        at++;
    return at;
}

static void put_return_address(struct trampoline_plan *plan, uint64_t address)
{
    BYTES(plan, 0x48, 0x8d, 0x64, 0x24, 0xf8); /* lea rsp, [rsp - 8] */
    BYTES(plan, 0xc7, 0x04, 0x24);             /* mov dword ptr [rsp], low half */
    text_fixup(plan, plan->bytes, HOOK_FIXUP_ABS32_LOW, address, 0);
    BYTES(plan, 0, 0, 0, 0);
    BYTES(plan, 0xc7, 0x44, 0x24, 0x04); /* mov dword ptr [rsp + 4], high half */
    text_fixup(plan, plan->bytes, HOOK_FIXUP_ABS32_HIGH, address, 0);
    BYTES(plan, 0, 0, 0, 0);
}

static void put_copy(struct trampoline_plan *plan, const struct insn *insn, const uint8_t *bytes)
{
    if (insn->names_data)
        text_fixup(plan, plan->bytes + insn->displacement_at, HOOK_FIXUP_REL32, insn->target,
                   insn->length - insn->displacement_at);
    text_bytes(plan, bytes, insn->length);
}

static bool put_branch(struct trampoline_plan *plan, const struct insn *insn)
{
    uint32_t at = skip_prefixes(insn);
    const uint8_t *opcode = insn->bytes + at;
    bool is_short = (opcode[0] & 0xf0) == 0x70;
    if (!is_short && !(opcode[0] == 0x0f && (opcode[1] & 0xf0) == 0x80))
        return false;
    BYTES(plan, 0x0f, (uint8_t)(0x80 | ((is_short ? opcode[0] : opcode[1]) & 0x0f)));
    put_relative(plan, insn->target);
    return true;
}

/* call r/m64 is FF /2, jmp r/m64 is FF /4. The address that is pushed before must not change what
 * the operand means. */
static bool put_call_indirect(struct trampoline_plan *plan, const struct insn *insn)
{
    uint8_t bytes[INSN_BYTES_MOST];
    uint32_t at = skip_prefixes(insn);
    memcpy(bytes, insn->bytes, sizeof(bytes));
    if ((bytes[at] & 0xf0) == 0x40)
        at++;
    bool is_known = bytes[at] == 0xff && (bytes[at + 1] & 0x38) == 0x10;
    bool is_of_stack = insn->uses_sp || bytes[at + 1] == 0xd4;
    if (!is_known || is_of_stack)
        return false;
    bytes[at + 1] = (uint8_t)((bytes[at + 1] & ~0x38) | 0x20);
    put_return_address(plan, insn->address + insn->length);
    put_copy(plan, insn, bytes);
    return true;
}

/* A call that is not the last instruction of the window returns into the trampoline, where what
 * follows it was moved to: the address that the program expects is in the middle of the jump.
 * Unwinding the stack meanwhile stops there, so the table must allow it (nounwind). */
static void put_inner_call(struct trampoline_plan *plan, const struct insn *insn)
{
    if (insn->flow == INSN_CALL_INDIRECT) {
        put_copy(plan, insn, insn->bytes);
        return;
    }
    BYTES(plan, 0xe8);
    put_relative(plan, insn->target);
}

static bool put_moved(struct trampoline_plan *plan, const struct insn *insn, bool is_last)
{
    bool is_call = insn->flow == INSN_CALL || insn->flow == INSN_CALL_INDIRECT;
    if (is_call && !is_last) {
        put_inner_call(plan, insn);
        return true;
    }
    switch (insn->flow) {
    case INSN_JUMP:
        put_jump(plan, insn->target);
        return true;
    case INSN_BRANCH:
        return put_branch(plan, insn);
    case INSN_CALL:
        put_return_address(plan, insn->address + insn->length);
        put_jump(plan, insn->target);
        return true;
    case INSN_CALL_INDIRECT:
        return put_call_indirect(plan, insn);
    default:
        put_copy(plan, insn, insn->bytes);
        return !insn->names_data || insn->displacement_at;
    }
}

struct argus_error *window_move_x86_64(const struct window *window, struct trampoline_plan *ret)
{
    memset(ret, 0, sizeof(*ret));
    uint32_t operand = put_call_of_shell(ret);
    for (uint32_t i = 0; i < window->count; i++) {
        ret->moved_to[i] = (uint16_t)ret->bytes;
        if (!put_moved(ret, &window->insns[i], i + 1 == window->count))
            return unsupported(window, &window->insns[i]);
    }
    put_jump(ret, window->address + window->bytes);
    put_literal(ret, operand);
    return text_fits(ret) ? NULL : unsupported(window, &window->insns[0]);
}
