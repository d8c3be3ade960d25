#include "steps/loops/code_order.h"

#include <stdlib.h>

#include "steps/loops/code_calls.h"
#include "steps/loops/code_ends.h"
#include "steps/loops/code_slice.h"

struct code_order {
    struct instruction_decoder *decoder; /* owned */
    struct code_library *library;        /* owned */
};

static bool ends(const struct code_function *function, uint32_t node)
{
    const struct instruction *at = &function->nodes.data[node];
    return code_ends(function, at, false) || code_fails(function, at);
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

struct code_order *code_order_create(bool is_arm64)
{
    struct code_order *order = calloc(1, sizeof(*order));
    struct argus_error *error =
        order ? instruction_decoder_create(is_arm64 ? INSTRUCTION_ARM64 : INSTRUCTION_X86_64,
                                           &order->decoder)
              : NULL;
    if (order && !error)
        order->library = code_library_create(order->decoder);
    if (error)
        argus_error_destroy(error);
    if (order && order->library)
        return order;
    code_order_destroy(order);
    return NULL;
}

void code_order_destroy(struct code_order *order)
{
    if (!order)
        return;
    code_library_destroy(order->library);
    instruction_decoder_destroy(order->decoder);
    free(order);
}

bool code_may_lead(struct code_order *order, struct elf_file *file, uint64_t from, uint64_t to)
{
    const struct code_image *image = order ? code_library_image(order->library, file) : NULL;
    const struct code_function *function =
        image ? code_library_function(order->library, image, to) : NULL;
    return !function || leads(function, from, to);
}
