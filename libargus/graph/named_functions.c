/* Inlined functions of other source trees have no name of their own in answers: operators of C++'s
 * containers, iterators of Rust. They are many and tiny; named one by one they would hide the
 * function that is slow, which is the one that uses them.
 */
#include <string.h>

#include "argus/symbols.h"

/* Whether two source files are below the same two folders, or below the folder of `a` if that is
 * higher: /home/user/editor/src/main.cpp and /home/user/tree.h, but not /usr/include/c++/12/vector.
 */
static bool is_same_tree(const char *a, const char *b)
{
    enum { FOLDERS = 2 };
    const char *end = a[0] == '/' ? a + 1 : a;
    for (int i = 0; i < FOLDERS; i++) {
        const char *slash = strchr(end, '/');
        end = slash ? slash + 1 : end;
    }
    return strncmp(a, b, (size_t)(end - a)) == 0;
}

void argus_functions_keep_named(struct argus_functions *functions)
{
    const struct argus_symbol outermost = functions->symbols[functions->count - 1];
    uint32_t kept = 0;
    for (uint32_t i = 0; i + 1 < functions->count; i++) {
        const struct argus_symbol *symbol = &functions->symbols[i];
        if (outermost.file && symbol->file && symbol->image &&
            is_same_tree(outermost.file, symbol->file))
            functions->symbols[kept++] = *symbol;
    }
    functions->symbols[kept++] = outermost;
    functions->count = kept;
}

void argus_symbols_named(struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                         uint64_t address, bool is_return, struct argus_functions *ret)
{
    struct argus_functions shown;
    argus_symbols_find_all(symbols, process, time_ns, address, is_return, ret);
    argus_functions_keep_named(ret);
    if (ret->symbols[ret->count - 1].file)
        return;
    argus_symbols_show_all(symbols, process, time_ns, address, is_return, &shown);
    ret->symbols[ret->count - 1] = shown.symbols[shown.count - 1];
}
