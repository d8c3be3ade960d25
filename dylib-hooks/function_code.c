#include "function_code.h"

#include <stdlib.h>

#include "base/lower_bound.h"

#define OFFSET(code, address) ((unsigned long long)((address) - (code)->first))

static int compare_targets(const void *a, const void *b)
{
    const struct jump_target *left = a, *right = b;
    if (left->to != right->to)
        return left->to < right->to ? -1 : 1;
    return left->from < right->from ? -1 : left->from > right->from;
}

struct argus_error *function_code_create(const struct image *image, struct decoder *decoder,
                                         uint64_t address, struct function_code *ret)
{
    struct function_code code = {.image = image, .decoder = decoder};
    if (!image_code(image, address))
        return argus_error_create(ARGUS_ERROR_USAGE, "0x%llx is not an address in its code",
                                  (unsigned long long)address);
    if (!image_function_range(image, address, &code.first, &code.end))
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "it is not known where the function at 0x%llx begins: the file "
                                  "has neither symbols nor unwind tables for it",
                                  (unsigned long long)address);
    struct argus_error *error = jump_targets_collect(&code);
    if (!error && code.targets.length)
        qsort(code.targets.data, code.targets.length, sizeof(*code.targets.data), compare_targets);
    if (!error)
        error = function_flow_follow(&code);
    if (error)
        function_code_deinit(&code);
    else
        *ret = code;
    return error;
}

void function_code_deinit(struct function_code *code)
{
    vec_deinit(&code->starts);
    vec_deinit(&code->targets);
    free(code->reached);
    code->reached = NULL;
}

/* The last start at or before `address`; NULL: none. */
static const uint64_t *start_before(const struct function_code *code, uint64_t address)
{
    size_t behind;
    LOWER_BOUND(behind, code->starts.length, code->starts.data[behind] <= address);
    return behind ? &code->starts.data[behind - 1] : NULL;
}

struct argus_error *function_code_check_start(const struct function_code *code, uint64_t address)
{
    struct insn insn = {0};
    const uint64_t *start = start_before(code, address);
    if (code->reached[address - code->first] == REACHED_START)
        return NULL;
    if (start && *start == address)
        return argus_error_create(
            ARGUS_ERROR_UNSUPPORTED,
            "nothing in the image leads to +0x%llx: it is padding, data among "
            "the code, or behind bytes that cannot be decoded",
            OFFSET(code, address));
    if (start)
        function_code_insn(code, *start, &insn);
    if (address - insn.address >= insn.length)
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED, "the bytes at +0x%llx cannot be decoded",
                                  OFFSET(code, address));
    return argus_error_create(ARGUS_ERROR_USAGE,
                              "no instruction begins at +0x%llx: it lies inside of +0x%llx (%s), "
                              "the next one is at +0x%llx",
                              OFFSET(code, address), OFFSET(code, insn.address), insn.text,
                              OFFSET(code, insn.address) + insn.length);
}

bool function_code_insn(const struct function_code *code, uint64_t at, struct insn *ret)
{
    const uint8_t *bytes = image_bytes(code->image, at, 1);
    return bytes && at < code->end &&
           decoder_next(code->decoder, bytes, (size_t)(code->end - at), at, ret);
}

const struct jump_target *function_code_target(const struct function_code *code, uint64_t first,
                                               uint64_t end)
{
    size_t at;
    LOWER_BOUND(at, code->targets.length, code->targets.data[at].to < first);
    bool is_there = at < code->targets.length && code->targets.data[at].to < end;
    return is_there ? &code->targets.data[at] : NULL;
}
