#include "steps/loops/code_signals.h"

#include <stdlib.h>
#include <string.h>

#include "steps/loops/code_calls.h"
#include "steps/loops/code_references.h"
#include "steps/loops/code_slice.h"

enum {
    MOST_FUNCTIONS = 16, /* for each handler, that name one */
    MOST_SIGNAL = 64,
};

enum installer {
    INSTALLS_NOTHING,
    INSTALLS_FUNCTION,  /* its second argument is the handler */
    INSTALLS_STRUCTURE, /* … points to the handler */
};

/* To add a function: a row. */
static const struct {
    const char *name;
    enum installer kind;
} installers[] = {
    {"signal", INSTALLS_FUNCTION},        {"bsd_signal", INSTALLS_FUNCTION},
    {"ssignal", INSTALLS_FUNCTION},       {"sysv_signal", INSTALLS_FUNCTION},
    {"__sysv_signal", INSTALLS_FUNCTION}, {"sigset", INSTALLS_FUNCTION},
    {"sigaction", INSTALLS_STRUCTURE},
};

struct search {
    struct code_budget *budget;
    const struct code_scope *scope;
    const uint64_t *starts; /* addresses of the handlers in the file, borrowed; in any order */
    uint32_t count;
    uint64_t *signals; /* by handler, borrowed */
};

static enum installer installer_at(const struct code_function *function, uint32_t node)
{
    struct code_target target;
    if (!code_is_call(&function->nodes.data[node]) || !code_call_target(function, node, &target) ||
        target.is_here || !target.name)
        return INSTALLS_NOTHING;
    for (size_t i = 0; i < sizeof(installers) / sizeof(installers[0]); i++)
        if (strcmp(target.name, installers[i].name) == 0)
            return installers[i].kind;
    return INSTALLS_NOTHING;
}

/* What argument 0 or 1 of the call points to. */
static void find_argument(const struct search *search, uint32_t node, unsigned argument,
                          struct code_path *ret)
{
    code_path_find_pointed(search->budget, search->scope, node,
                           code_argument(search->scope->function, argument), ret);
}

/* --- the structure that sigaction() gets --- */

/* Where the path ends, as a number of bytes. */
static int64_t *end_of(struct code_path *path)
{
    if (path->links)
        return &path->offsets[path->links - 1];
    return path->root == CODE_STACK ? &path->slot.displacement : (int64_t *)&path->address;
}

/* Whether a store to `stored` changes the word at `word`. */
static bool covers(struct code_path stored, struct code_path word)
{
    if (stored.root != word.root || stored.links != word.links)
        return false;
    int64_t distance = *end_of(&word) - *end_of(&stored);
    *end_of(&stored) = *end_of(&word);
    return code_path_is_same(&stored, &word) && distance > -8 &&
           (distance <= 0 || distance < stored.size_bytes);
}

/* The stores to its first member, sa_handler, in `marked`. */
static void mark_stores(const struct search *search, const struct code_path *structure,
                        bool *marked)
{
    const struct code_function *function = search->scope->function;
    for (uint32_t i = 0; i < function->nodes.length; i++) {
        const struct instruction *at = &function->nodes.data[i];
        for (unsigned k = 0; k < at->memory_count; k++) {
            struct code_path place;
            if (!at->memory[k].writes || at->memory[k].is_implicit)
                continue;
            code_path_find(search->budget, search->scope, i, k, &place);
            marked[i] |= covers(place, *structure);
        }
    }
}

/* The only store that reaches the call. CODE_NONE: none, several, or the code does not tell. */
static uint32_t reaching_store(const struct search *search, const struct code_path *structure,
                               uint32_t call)
{
    struct code_reach reach = {.is_cut = true};
    bool *marked = calloc(search->scope->function->nodes.length, sizeof(*marked));
    if (marked && structure->root != CODE_UNKNOWN) {
        mark_stores(search, structure, marked);
        code_reach_marked(search->budget, search->scope, true, call, marked, &reach);
    }
    free(marked);
    return reach.count == 1 && !reach.enters && !reach.is_cut ? reach.found[0] : CODE_NONE;
}

/* The address that the call finds in the structure; 0: the code does not tell. */
static uint64_t stored_handler(const struct search *search, const struct code_path *structure,
                               uint32_t call)
{
    struct code_path place, value;
    uint32_t store = reaching_store(search, structure, call);
    if (store == CODE_NONE)
        return 0;
    const struct instruction *at = &search->scope->function->nodes.data[store];
    code_path_find(search->budget, search->scope, store, 0, &place);
    if (at->memory_count != 1 || at->memory[0].size_bytes != 8 ||
        !code_path_is_same(&place, structure))
        return 0;
    if (at->is_move && !at->reads && at->has_immediate) /* of a program that is not relocated */
        return (uint64_t)at->immediate;
    bool is_address = code_path_find_stored(search->budget, search->scope, store, &value) &&
                      value.root == CODE_ADDRESS && value.links == 0 && !value.elements;
    return is_address ? value.address : 0;
}

/* --- calls --- */

static uint64_t handler_at(const struct search *search, uint32_t node, enum installer kind)
{
    struct code_path handler;
    find_argument(search, node, 1, &handler);
    if (kind == INSTALLS_STRUCTURE)
        return stored_handler(search, &handler, node);
    return handler.root == CODE_ADDRESS && handler.links == 0 && !handler.elements ? handler.address
                                                                                   : 0;
}

static void look_at(const struct search *search, uint32_t node)
{
    struct code_path number;
    enum installer kind = installer_at(search->scope->function, node);
    if (kind == INSTALLS_NOTHING)
        return;
    find_argument(search, node, 0, &number); /* a constant looks like an address */
    if (number.root != CODE_ADDRESS || number.links || number.elements || !number.address ||
        number.address > MOST_SIGNAL)
        return;
    uint64_t handler = handler_at(search, node, kind);
    for (uint32_t i = 0; handler && i < search->count; i++)
        if (search->starts[i] == handler)
            search->signals[i] |= UINT64_C(1) << (number.address - 1);
}

static void look_into(const struct search *whole, const struct code_function *function)
{
    const struct code_scope scope = {.function = function, .head = CODE_NONE};
    struct search search = *whole;
    search.scope = &scope;
    for (uint32_t i = 0; i < function->nodes.length; i++)
        look_at(&search, i);
}

static void look_at_references(struct search *search, const struct code_image *image,
                               const struct code_references *references)
{
    uint64_t begin = 0, bytes = 0;
    for (size_t i = 0, functions = 0; i < references->places.length; i++) {
        uint64_t place = references->places.data[i];
        if (place - begin < bytes)
            continue;
        if (!elf_file_function_range(image->file, place, &begin, &bytes)) {
            bytes = 0;
            continue;
        }
        if (++functions > (size_t)MOST_FUNCTIONS * search->count)
            return;
        const struct code_function *function =
            code_library_function(search->budget->library, image, place);
        if (function)
            look_into(search, function);
    }
}

static int by_number(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

void code_signals_find(struct code_budget *budget, const struct code_image *image,
                       const uint64_t *starts, uint32_t count, uint64_t *ret)
{
    struct code_references references = {0};
    struct search search = {.budget = budget, .starts = starts, .count = count, .signals = ret};
    uint64_t sorted[CODE_HANDLERS_MAX];
    memset(ret, 0, count * sizeof(*ret));
    if (!count || count > CODE_HANDLERS_MAX)
        return;
    memcpy(sorted, starts, count * sizeof(*starts));
    qsort(sorted, count, sizeof(*sorted), by_number);
    code_references_add_functions(&references, image->file, sorted, count);
    look_at_references(&search, image, &references);
    code_references_deinit(&references);
}
