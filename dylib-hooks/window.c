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

static struct argus_error *no_instruction(const struct window *window, const struct insn *last,
                                          uint64_t address)
{
    char around[120];
    window_describe(window, last, sizeof(around), around);
    return argus_error_create(
        ARGUS_ERROR_USAGE,
        "no instruction begins at +0x%llx: it lies inside of %s, the next one "
        "is at +0x%llx",
        (unsigned long long)(address - window->function_first), around,
        OFFSET(window, last) + last->length);
}

/* Decodes from the beginning of the function to `address`: that way it is known where instructions begin. */
static struct argus_error *find_start(const struct image *image, struct decoder *decoder,
                                      uint64_t address, struct window *window)
{
    struct insn insn;
    for (uint64_t at = window->function_first; at < address; at += insn.length) {
        const uint8_t *bytes = image_bytes(image, at, 1);
        const struct image_segment *code = image_code(image, at);
        if (!bytes || !code ||
            !decoder_next(decoder, bytes, code->address + code->bytes - at, at, &insn))
            return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                      "what stands at +0x%llx cannot be decoded",
                                      (unsigned long long)(at - window->function_first));
        if (at + insn.length > address)
            return no_instruction(window, &insn, address);
    }
    return NULL;
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

static struct argus_error *check_flow(const struct window *window, const struct insn *insn)
{
    bool is_last = insn == &window->insns[window->count - 1];
    if (insn->flow == INSN_SHORT_BRANCH)
        return cannot_move(window, insn, "cannot be moved: its branch only reaches 128 bytes");
    if (insn->flow == INSN_TRAP)
        return cannot_move(window, insn, "cannot be moved: it traps");
    if (!is_last && (insn->flow == INSN_CALL || insn->flow == INSN_CALL_INDIRECT))
        return cannot_move(window, insn,
                           "is a call and not the last one that the jump covers: it would return "
                           "into the middle of the jump; choose another place");
    return NULL;
}

/* Behind a jump or return that is not the last one, only padding may be overwritten. */
static struct argus_error *check_flows(const struct image *image, const struct window *window)
{
    const struct insn *end = NULL;
    for (uint32_t i = 0; i < window->count; i++) {
        const struct insn *insn = &window->insns[i];
        bool is_padding = insn->is_nop || insn->flow == INSN_TRAP;
        if (end && !is_padding)
            return too_short(image, window, end);
        struct argus_error *error = end ? NULL : check_flow(window, insn);
        if (error)
            return error;
        if (never_goes_on(insn))
            end = insn;
    }
    return NULL;
}

static struct argus_error *collect(const struct image *image, struct decoder *decoder,
                                   struct window *window)
{
    while (window->bytes < jump_bytes(image)) {
        uint64_t at = window->address + window->bytes;
        struct insn *insn = &window->insns[window->count];
        const uint8_t *bytes = image_bytes(image, at, 1);
        if (at >= window->function_end)
            return too_short(image, window, &window->insns[window->count - 1]);
        if (!bytes || !decoder_next(decoder, bytes, window->function_end - at, at, insn))
            return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                      "what stands at +0x%llx cannot be decoded",
                                      (unsigned long long)(at - window->function_first));
        window->count++;
        window->bytes += insn->length;
    }
    return NULL;
}

struct argus_error *window_choose(const struct image *image, struct decoder *decoder,
                                  uint64_t address, struct window *ret)
{
    struct window window = {.address = address};
    if (!image_code(image, address))
        return argus_error_create(ARGUS_ERROR_USAGE, "0x%llx is no address of its code",
                                  (unsigned long long)address);
    if (!image_function_range(image, address, &window.function_first, &window.function_end))
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "it is not known where the function at 0x%llx begins: the file "
                                  "has neither symbols nor unwind tables for it",
                                  (unsigned long long)address);
    struct argus_error *error = find_start(image, decoder, address, &window);
    if (!error)
        error = collect(image, decoder, &window);
    if (!error)
        error = check_flows(image, &window);
    if (!error)
        error = window_check_targets(image, decoder, &window);
    if (!error)
        *ret = window;
    return error;
}
