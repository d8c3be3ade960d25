/* Places in code, in words: "on_reconfigured (settings.c:29)". The function is the one that has the
 * line, which may be inlined into another one; functions of the compiler's library are passed over.
 */
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

/* Whether a function is of the library of C++ or Rust: "std::atomic<bool>::store(…)", also behind a
 * type, as in "void std::store<int>(…)", or in "<…>". To add one: a row. */
static bool is_of_compiler(const char *function)
{
    static const char *const spaces[] = {"std::", "core::", "alloc::", "__gnu_cxx::"};
    function += function[0] == '<';
    size_t end = strcspn(function, "(<{");
    size_t start = end;
    while (start > 0 && function[start - 1] != ' ')
        start--;
    for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++)
        if (strncmp(function + start, spaces[i], strlen(spaces[i])) == 0)
            return true;
    return false;
}

/* "12/atomic", of libc++ "v1/atomic". */
static bool is_version(const char *folder)
{
    folder += *folder == 'v';
    size_t digits = strspn(folder, "0123456789.");
    return digits && folder[digits] == '/';
}

/* "90b35a6239c3d8bdabc530a6a0816f7ff89a0aaf/library/core/src/sync/atomic.rs" */
static bool is_commit(const char *folder)
{
    enum { DIGITS = 40 };
    return strspn(folder, "0123456789abcdef") == DIGITS && folder[DIGITS] == '/';
}

static bool is_library(const char *folder)
{
    return strncmp(folder, "rust/", 5) == 0 || strncmp(folder, "library/", 8) == 0;
}

/* Inlined functions often have no name space in debug information: then the source tells. To add a
 * folder: a row, with what must follow. */
static bool is_compiler_source(const char *path)
{
    static const struct {
        const char *folder;
        bool (*is_own)(const char *rest);
    } rows[] = {
        {"/include/c++/", is_version}, {"/rustc/", is_commit}, {"/rustlib/src/", is_library}};
    for (size_t i = 0; path && i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *found = strstr(path, rows[i].folder);
        if (found && rows[i].is_own(found + strlen(rows[i].folder)))
            return true;
    }
    return false;
}

/* Names that begin with "__" are the library's, but programs have them, too: a source decides. */
static bool is_own(const struct argus_symbol *symbol)
{
    if (!symbol->function || is_of_compiler(symbol->function))
        return false;
    return symbol->file ? !is_compiler_source(symbol->file)
                        : strncmp(symbol->function, "__", 2) != 0;
}

/* Of functions inlined into each other, the innermost one that is the program's own; NULL. */
static const struct argus_symbol *own_symbol(const struct argus_functions *functions)
{
    for (uint32_t i = 0; i < functions->count; i++)
        if (is_own(&functions->symbols[i]))
            return &functions->symbols[i];
    return NULL;
}

/* The functions at an address, as answers name them. A function of the compiler's library that was
 * made for the program's own code ("std::sys::backtrace::__rust_begin_short_backtrace", which
 * executes a closure) has that code inlined, which answers leave out elsewhere. */
static const struct argus_symbol *find_own(struct diagnoser *d, uint32_t process, uint64_t time_ns,
                                           uint64_t address, bool is_return,
                                           struct argus_functions *ret)
{
    argus_symbols_named(d->symbols, process, time_ns, address, is_return, ret);
    const struct argus_symbol *own = own_symbol(ret);
    if (own || !ret->symbols[0].function)
        return own;
    argus_symbols_find_all(d->symbols, process, time_ns, address, is_return, ret);
    return own_symbol(ret);
}

/* If none is its own, the outermost one's name tells what it was made for. */
static const struct argus_symbol *chosen(const struct argus_functions *functions,
                                         const struct argus_symbol *own)
{
    return own ? own : &functions->symbols[functions->count - 1];
}

char *text_code_place(struct diagnoser *d, const struct argus_vertex *v, uint64_t address,
                      bool is_return)
{
    struct argus_functions functions;
    const struct argus_symbol *own =
        find_own(d, d->view.threads[v->thread].process, v->end_ns, address, is_return, &functions);
    return text_place(chosen(&functions, own), address);
}

/* Functions without a name are taken for the program's own. */
char *text_writer_place(struct diagnoser *d, uint32_t process, uint64_t time_ns, uint64_t bias,
                        const struct code_writer *writer)
{
    struct argus_functions functions = {.count = 1};
    const struct argus_symbol *own = NULL;
    uint64_t address = writer->address + bias;
    for (uint32_t i = 0; i < writer->way_count && !own; i++) {
        address = writer->way[i] + bias;
        own = find_own(d, process, time_ns, address, false, &functions);
        if (!functions.symbols[0].function)
            break;
    }
    return text_place(chosen(&functions, own), address);
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
