/* Functions of scripts in stacks. */
#include <string.h>

#include "argus/symbols.h"

bool argus_symbol_is_script(const struct argus_symbol *symbol)
{
    const char *image = symbol->image;
    bool in_file = image && (image[0] == '[' ? strcmp(image, "[kernel]") == 0
                                             : image[0] == '/' && image[1] != '/');
    return symbol->function && symbol->file && !in_file;
}

bool argus_source_is_library(const char *source)
{
    static const char *const built_in[] = {"<frozen ", "node:"};
    for (size_t i = 0; i < sizeof(built_in) / sizeof(*built_in); i++)
        if (strncmp(source, built_in[i], strlen(built_in[i])) == 0)
            return true;
    return strstr(source, "/lib/") != NULL;
}

uint32_t argus_symbols_script(struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                              struct argus_stack stack, struct argus_symbol *ret)
{
    uint32_t found = ARGUS_NONE;
    for (uint32_t i = 0; symbols && i < stack.count && stack.frames[i] >= ARGUS_FRAME_ENDS; i++) {
        struct argus_symbol symbol =
            argus_symbols_find(symbols, process, time_ns, stack.frames[i], i > 0);
        if (!argus_symbol_is_script(&symbol))
            continue;
        bool is_library = argus_source_is_library(symbol.file);
        if (found == ARGUS_NONE || !is_library) {
            found = i;
            *ret = symbol;
        }
        if (!is_library)
            break;
    }
    return found;
}
