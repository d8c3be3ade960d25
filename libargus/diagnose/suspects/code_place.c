/* Places in code, in words: "on_reconfigured (settings.c:29)". The function is the one that has the
 * line, which may be inlined into another one. */
#include <string.h>

#include "diagnose/suspects/code_place.h"
#include "diagnose/words.h"

static void find_named(struct diagnoser *d, const struct argus_vertex *v, uint64_t address,
                       bool is_return, struct argus_functions *ret)
{
    argus_symbols_named(d->symbols, d->view.threads[v->thread].process, v->end_ns, address,
                        is_return, ret);
}

static char *text_place(const struct argus_symbol *symbol, uint64_t address)
{
    char name[256];
    argus_symbol_text(symbol, address, name, sizeof(name));
    return symbol->file ? text_print("%s (%s:%u)", name, text_image(symbol->file), symbol->line)
                        : text_print("%s", name);
}

char *text_code_place(struct diagnoser *d, const struct argus_vertex *v, uint64_t address,
                      bool is_return)
{
    struct argus_functions functions;
    find_named(d, v, address, is_return, &functions);
    return text_place(&functions.symbols[0], address);
}

char *text_process_place(struct diagnoser *d, uint32_t process, uint64_t time_ns, uint64_t address)
{
    struct argus_functions functions;
    argus_symbols_named(d->symbols, process, time_ns, address, false, &functions);
    return text_place(&functions.symbols[0], address);
}

/* The function `level` levels inside the outermost one. */
static const struct argus_symbol *at_level(const struct argus_functions *functions, uint32_t level)
{
    return &functions->symbols[functions->count - 1 - level];
}

/* Whether both have the same function there, inlined at the same line. */
static bool is_same_level(const struct argus_functions *a, const struct argus_functions *b,
                          uint32_t level)
{
    return level < a->count && level < b->count &&
           strcmp(at_level(a, level)->function, at_level(b, level)->function) == 0 &&
           at_level(a, level - 1)->line == at_level(b, level - 1)->line;
}

char *text_loop_place(struct diagnoser *d, const struct argus_vertex *v, uint64_t address,
                      bool is_return, uint64_t head)
{
    struct argus_functions inside, beginning;
    uint32_t level = 0;
    find_named(d, v, address, is_return, &inside);
    find_named(d, v, head, false, &beginning);
    while (is_same_level(&inside, &beginning, level + 1))
        level++;
    return text_place(at_level(&inside, level), address);
}
