#include "steps/describe.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/names/demangle.h"

enum { CODE_MOST = 16, TEXT_MOST = 1024 };

static const char *keep(struct describer *describer, const char *text)
{
    uint32_t id = 0;
    struct argus_error *error = strtab_intern(describer->strings, text, strlen(text), &id);
    describer->no_memory |= error != NULL;
    argus_error_destroy(error);
    return strtab_get(describer->strings, id);
}

const char *describe_text(struct describer *describer, const char *format, ...)
{
    char text[TEXT_MOST];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    return keep(describer, text);
}

const char *describe_symbol(struct describer *describer, const char *symbol)
{
    char *readable = demangle(symbol);
    const char *kept = keep(describer, readable ? readable : symbol);
    free(readable);
    return kept;
}

struct argus_code_place describe_code(struct describer *describer, uint64_t address)
{
    const struct run *run = describer->run;
    const struct module *module = places_module(run->places, address);
    struct argus_code_place place = {.address = address};
    uint8_t code[CODE_MOST];
    char text[160];
    size_t bytes = run_code(run, address, sizeof(code), code);
    place.text =
        keep(describer, instruction_text(run->decoder, code, bytes, address, text, sizeof(text)));
    if (!module)
        return place;
    place.image = keep(describer, module->path);
    place.image_offset = address - module->base;
    const char *function = places_function(run->places, address, &place.function_offset);
    place.function = function ? describe_symbol(describer, function) : NULL;
    const char *file = places_line(run->places, address, &place.line);
    place.file = file ? keep(describer, file) : NULL;
    return place;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *describe_function(struct describer *describer, uint64_t address)
{
    struct argus_code_place place = describe_code(describer, address);
    if (place.function)
        return place.function;
    if (place.image)
        return describe_text(describer, "%s+0x%llx", last_part(place.image),
                             (unsigned long long)place.image_offset);
    return describe_text(describer, "0x%llx", (unsigned long long)address);
}

const char *describe_place(struct describer *describer, const struct argus_code_place *place)
{
    const char *where = describe_function(describer, place->address);
    if (place->file && place->line)
        return describe_text(describer, "%s:%u in %s", last_part(place->file), place->line, where);
    if (place->function)
        return describe_text(describer, "%s+0x%llx", where,
                             (unsigned long long)place->function_offset);
    return where;
}
