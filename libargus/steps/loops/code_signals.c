#include "steps/loops/code_signals.h"

#include <string.h>

#include "steps/loops/code_calls.h"
#include "steps/loops/code_references.h"
#include "steps/loops/code_slice.h"

enum {
    MOST_FUNCTIONS = 16, /* that name the handler */
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
    uint64_t handler; /* address of the file */
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

static bool is_handler(const struct search *search, const struct code_path *path)
{
    return path->root == CODE_ADDRESS && path->links == 0 && path->address == search->handler;
}

/* What argument 0 or 1 of the call points to. */
static void find_argument(const struct search *search, uint32_t node, unsigned argument,
                          struct code_path *ret)
{
    code_path_find_pointed(search->budget, search->scope, node,
                           code_argument(search->scope->function, argument), ret);
}

/* sigaction.sa_handler is the first member. */
static bool is_stored_in(const struct search *search, const struct code_path *structure)
{
    const struct code_function *function = search->scope->function;
    for (uint32_t i = 0; i < function->nodes.length; i++) {
        const struct instruction *at = &function->nodes.data[i];
        struct code_path place, value;
        if (at->memory_count != 1 || !at->memory[0].writes || at->memory[0].size_bytes != 8)
            continue;
        code_path_find(search->budget, search->scope, i, 0, &place);
        if (!code_path_is_same(&place, structure))
            continue;
        bool is_constant = at->is_move && !at->reads && at->has_immediate; /* not relocated */
        if (is_constant ? (uint64_t)at->immediate == search->handler
                        : code_path_find_stored(search->budget, search->scope, i, &value) &&
                              is_handler(search, &value))
            return true;
    }
    return false;
}

static uint64_t signal_at(const struct search *search, uint32_t node)
{
    struct code_path number, handler;
    enum installer kind = installer_at(search->scope->function, node);
    if (kind == INSTALLS_NOTHING)
        return 0;
    find_argument(search, node, 0, &number); /* a constant looks like an address */
    find_argument(search, node, 1, &handler);
    bool is_number = number.root == CODE_ADDRESS && number.links == 0 && number.address > 0 &&
                     number.address <= MOST_SIGNAL;
    bool is_own =
        kind == INSTALLS_FUNCTION ? is_handler(search, &handler) : is_stored_in(search, &handler);
    return is_number && is_own ? UINT64_C(1) << (number.address - 1) : 0;
}

static uint64_t signals_in(struct search *search, const struct code_function *function)
{
    uint64_t signals = 0;
    struct code_scope scope = {.function = function, .head = CODE_NONE};
    search->scope = &scope;
    for (uint32_t i = 0; i < function->nodes.length; i++)
        signals |= signal_at(search, i);
    return signals;
}

uint64_t code_signals_of(struct code_budget *budget, const struct code_image *image, uint64_t start)
{
    struct code_references references = {0};
    struct search search = {.budget = budget, .handler = start};
    uint64_t signals = 0, begin = 0, bytes = 0;
    code_references_add(&references, image->file, start, 1);
    for (size_t i = 0, functions = 0; i < references.places.length; i++) {
        uint64_t place = references.places.data[i];
        if (place - begin < bytes)
            continue;
        if (!elf_file_function_range(image->file, place, &begin, &bytes)) {
            bytes = 0;
            continue;
        }
        const struct code_function *function = code_library_function(budget->library, image, place);
        if (++functions > MOST_FUNCTIONS)
            break;
        if (function)
            signals |= signals_in(&search, function);
    }
    code_references_deinit(&references);
    return signals;
}
