#include "steps/loops/code_order.h"

#include <stdlib.h>
#include <string.h>

#include "steps/loops/code_calls.h"
#include "steps/loops/code_slice.h"

/* Calls after which the function does not go on. To add one: a row. */
static bool ends(const struct code_function *function, uint32_t node)
{
    static const char *const names[] = {"exit", "_exit", "_Exit", "quick_exit", "pthread_exit"};
    struct code_target target;
    const struct instruction *at = &function->nodes.data[node];
    if (!code_is_call(at) || !code_call_target(function, node, &target))
        return false;
    for (size_t i = 0; target.name && i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(target.name, names[i]) == 0)
            return true;
    return code_fails(function, at);
}

static bool leads(const struct code_function *function, uint64_t from, uint64_t to)
{
    enum { MOST_WORK = 1000000 }; /* instructions: one search through any function */
    struct code_budget budget = {.left = MOST_WORK};
    uint32_t first = code_function_node(function, from), last = code_function_node(function, to);
    bool *goes_on = malloc(function->nodes.length);
    struct code_scope scope = {.function = function, .head = CODE_NONE, .region = goes_on};
    for (uint32_t i = 0; goes_on && i < function->nodes.length; i++)
        goes_on[i] = !ends(function, i);
    bool may_lead = !goes_on || first == CODE_NONE || last == CODE_NONE || first == last ||
                    code_leads_to(&budget, &scope, first, last, CODE_NONE);
    free(goes_on);
    return may_lead;
}

bool code_may_lead(struct elf_file *file, bool is_arm64, uint64_t from, uint64_t to)
{
    struct instruction_decoder *decoder;
    struct argus_error *error =
        instruction_decoder_create(is_arm64 ? INSTRUCTION_ARM64 : INSTRUCTION_X86_64, &decoder);
    if (error) {
        argus_error_destroy(error);
        return true;
    }
    struct code_library *library = code_library_create(decoder);
    const struct code_image *image = library ? code_library_image(library, file) : NULL;
    const struct code_function *function = image ? code_library_function(library, image, to) : NULL;
    bool may_lead = !function || leads(function, from, to);
    code_library_destroy(library);
    instruction_decoder_destroy(decoder);
    return may_lead;
}
