#include "window.h"

#include <stdio.h>

#define OFFSET(window, insn_) ((unsigned long long)((insn_)->address - (window)->function_first))

void window_describe(const struct window *window, const struct insn *insn, size_t room, char *ret)
{
    snprintf(ret, room, "+0x%llx (%s)", OFFSET(window, insn), insn->text);
}

static uint32_t jump_bytes(const struct image *image)
{
    return image->arch == HOOK_ARCH_ARM64 ? 4 : 5;
}

static struct argus_error *too_short(const struct image *image, const struct window *window,
                                     const struct insn *last)
{
    char what[120];
    window_describe(window, last, sizeof(what), what);
    return argus_error_create(
        ARGUS_ERROR_UNSUPPORTED,
        "the function is too short there: it ends with %s, and the jump needs "
        "%u bytes before that; choose an earlier instruction",
        what, jump_bytes(image));
}

static struct argus_error *cannot_move(const struct window *window, const struct insn *insn,
                                       const char *reason)
{
    char what[120];
    window_describe(window, insn, sizeof(what), what);
    return argus_error_create(ARGUS_ERROR_UNSUPPORTED, "the instruction at %s %s", what, reason);
}

static bool never_goes_on(const struct insn *insn)
{
    return insn->flow == INSN_JUMP || insn->flow == INSN_JUMP_INDIRECT || insn->flow == INSN_RETURN;
}

static struct argus_error *check_flow(struct window *window, const struct insn *insn,
                                      bool inner_calls)
{
    bool is_last = insn == &window->insns[window->count - 1];
    if (insn->flow == INSN_SHORT_BRANCH)
        return cannot_move(window, insn, "cannot be moved: its branch only reaches 128 bytes");
    if (insn->flow == INSN_TRAP)
        return cannot_move(window, insn, "cannot be moved: it traps");
    bool is_inner = !is_last && (insn->flow == INSN_CALL || insn->flow == INSN_CALL_INDIRECT);
    window->returns_inside |= is_inner;
    if (is_inner && !inner_calls)
        return cannot_move(window, insn,
                           "is a call and not the last one that the jump covers: it would return "
                           "into the middle of the jump; choose another place, or "
                           "allow it with \"nounwind\"");
    return NULL;
}

/* After a jump or return that is not the last instruction, only padding may be overwritten. */
static struct argus_error *check_flows(const struct image *image, struct window *window,
                                       bool inner_calls)
{
    const struct insn *end = NULL;
    for (uint32_t i = 0; i < window->count; i++) {
        const struct insn *insn = &window->insns[i];
        bool is_padding = insn->is_nop || insn->flow == INSN_TRAP;
        if (end && !is_padding)
            return too_short(image, window, end);
        struct argus_error *error = end ? NULL : check_flow(window, insn, inner_calls);
        if (error)
            return error;
        if (never_goes_on(insn))
            end = insn;
    }
    return NULL;
}

static struct argus_error *collect(const struct function_code *code, struct window *window)
{
    while (window->bytes < jump_bytes(code->image)) {
        uint64_t at = window->address + window->bytes;
        struct insn *insn = &window->insns[window->count];
        const uint8_t *bytes = image_bytes(code->image, at, 1);
        if (at >= code->end)
            return too_short(code->image, window, &window->insns[window->count - 1]);
        if (!bytes || !decoder_next(code->decoder, bytes, (size_t)(code->end - at), at, insn))
            return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                      "the bytes at +0x%llx cannot be decoded",
                                      (unsigned long long)(at - window->function_first));
        window->count++;
        window->bytes += insn->length;
    }
    return NULL;
}

static struct argus_error *check_targets(const struct function_code *code,
                                         const struct window *window)
{
    const struct jump_target *target =
        function_code_target(code, window->address + 1, window->address + window->bytes);
    if (!target)
        return NULL;
    return argus_error_create(
        ARGUS_ERROR_UNSUPPORTED,
        "%s at 0x%llx leads to +0x%llx, into the middle of the %u bytes that the jump would cover; "
        "choose that place itself, or one behind it",
        target->what, (unsigned long long)target->from,
        (unsigned long long)(target->to - window->function_first), window->bytes);
}

struct argus_error *window_choose(const struct function_code *code, uint64_t address,
                                  bool inner_calls, struct window *ret)
{
    struct window window = {.address = address, .function_first = code->first};
    struct argus_error *error = function_code_check_start(code, address);
    if (!error)
        error = collect(code, &window);
    if (!error)
        error = check_flows(code->image, &window, inner_calls);
    if (!error)
        error = check_targets(code, &window);
    if (!error)
        *ret = window;
    return error;
}

struct argus_error *window_move(const struct function_code *code, uint64_t address,
                                bool inner_calls, struct window *ret,
                                struct trampoline_plan *ret_trampoline)
{
    struct argus_error *error = window_choose(code, address, inner_calls, ret);
    if (error)
        return error;
    return code->image->arch == HOOK_ARCH_ARM64 ? window_move_arm64(ret, ret_trampoline)
                                                : window_move_x86_64(ret, ret_trampoline);
}
