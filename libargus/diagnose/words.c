#include "diagnose/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "argus/symbols.h"

const char *text_duration(uint64_t ns, char *buffer, size_t bytes)
{
    static const struct {
        uint64_t unit_ns;
        const char *name;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        /* the smallest duration that is printed as 1.00 of this unit */
        if (ns < units[i].unit_ns - units[i].unit_ns / 200)
            continue;
        double value = (double)ns / (double)units[i].unit_ns;
        int digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
        snprintf(buffer, bytes, "%.*f %s", digits, value, units[i].name);
        return buffer;
    }
    snprintf(buffer, bytes, "%u ns", (unsigned)ns);
    return buffer;
}

const char *text_thread(const struct view *view, uint32_t thread, char *buffer, size_t bytes)
{
    const struct argus_thread *t = &view->threads[thread];
    const struct argus_process *process = &view->processes[t->process];
    if (process->main_thread == thread || t->tid == process->pid)
        snprintf(buffer, bytes, "%s's main thread", process->name);
    else if (strcmp(t->name, process->name) == 0)
        snprintf(buffer, bytes, "thread %llu of %s", (unsigned long long)t->tid, process->name);
    else
        snprintf(buffer, bytes, "thread %s of %s", t->name, process->name);
    return buffer;
}

const char *text_image(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

/* To add a library: how the names of its files begin. '[' marks the kernel and what it maps. */
bool is_base_library(const char *image)
{
    static const char *const beginnings[] = {"libc.",     "libc-", "libpthread", "ld-linux",
                                             "libstdc++", "libm.", "libm-",      "libgcc_s",
                                             "libz.",     "["};
    const char *name = text_image(image);
    for (size_t i = 0; name && i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return !name;
}

/* For a function of a script: "save (editor.py:12)". */
static const char *text_script(const struct argus_symbol *symbol, char *buffer, size_t bytes)
{
    const char *slash = strrchr(symbol->file, '/');
    snprintf(buffer, bytes, "%s (%s:%u)", symbol->function, slash ? slash + 1 : symbol->file,
             symbol->line);
    return buffer;
}

/* Whether a library has the name of the program, of which it then is a part: libmousepad.so. */
static bool is_part_of(const char *library, const char *program)
{
    size_t length = strlen(program);
    return strncmp(library, "lib", 3) == 0 && length > 0 &&
           strncmp(library + 3, program, length) == 0 &&
           (library[3 + length] == '.' || library[3 + length] == '-');
}

/* Libraries have ".so" in their file names, and macOS's ".dylib"; or they are the kernel's. */
static bool is_library(const char *image, const char *program)
{
    const char *name = text_image(image);
    if (!name || name[0] == '[')
        return true;
    return (strstr(name, ".so") || strstr(name, ".dylib")) && !is_part_of(name, program);
}

/* A stack whose frames are looked up. */
struct lookup {
    struct argus_symbols *symbols;
    uint32_t process;
    const char *program; /* its name */
    uint64_t time_ns;
    struct argus_stack stack;
    uint32_t count; /* frames that are code */
};

static struct lookup lookup_of(const struct view *view, struct argus_symbols *symbols,
                               uint32_t vertex, uint32_t stack)
{
    const struct argus_vertex *v = &view->vertices[vertex];
    struct lookup lookup = {.symbols = symbols,
                            .process = view->threads[v->thread].process,
                            .program = timeline_process(view, vertex)->name,
                            .time_ns = v->end_ns,
                            .stack = argus_graph_stack(view->graph, stack)};
    while (lookup.count < lookup.stack.count &&
           lookup.stack.frames[lookup.count] >= ARGUS_FRAME_ENDS)
        lookup.count++;
    return lookup;
}

static struct argus_symbol symbol_at(const struct lookup *lookup, uint32_t at)
{
    return argus_symbols_find(lookup->symbols, lookup->process, lookup->time_ns,
                              lookup->stack.frames[at], at > 0);
}

/* The innermost frame of the program's own files; ARGUS_NONE: there is none. Not that of main(), or
 * of a thread's first function, which the C library calls: nearly every stack has it. */
static uint32_t find_own_frame(const struct lookup *lookup)
{
    for (uint32_t i = 0; i + 1 < lookup->count; i++)
        if (!is_library(symbol_at(lookup, i).image, lookup->program))
            return is_base_library(symbol_at(lookup, i + 1).image) ? ARGUS_NONE : i;
    return ARGUS_NONE;
}

/* The function that the program's frame `own` called, or nearly so, if that has no name. NULL: all
 * frames further in are the C library's, or have no name. */
static const char *find_called(const struct lookup *lookup, uint32_t own)
{
    for (uint32_t i = own; i > 0; i--) {
        struct argus_symbol symbol = symbol_at(lookup, i - 1);
        if (symbol.function && !is_base_library(symbol.image))
            return symbol.function;
    }
    return NULL;
}

const char *text_callers(const struct view *view, struct argus_symbols *symbols, uint32_t vertex,
                         uint32_t stack, char *buffer, size_t bytes)
{
    char name[256];
    const char *function = text_function(view, symbols, vertex, stack, name, sizeof(name));
    snprintf(buffer, bytes, "%s%s", function ? ", in " : "", function ? function : "");
    if (!function)
        return buffer;
    struct lookup lookup = lookup_of(view, symbols, vertex, stack);
    struct argus_symbol script;
    if (argus_symbols_script(symbols, lookup.process, lookup.time_ns, lookup.stack, &script) !=
        ARGUS_NONE)
        return buffer;
    uint32_t own = find_own_frame(&lookup);
    const char *called = own == ARGUS_NONE ? NULL : find_called(&lookup, own);
    const char *caller = own == ARGUS_NONE ? NULL : symbol_at(&lookup, own).function;
    if (called)
        snprintf(buffer, bytes, ", in %s%s%s", called, caller ? ", called by " : "",
                 caller ? caller : "");
    return buffer;
}

const char *text_function(const struct view *view, struct argus_symbols *symbols, uint32_t vertex,
                          uint32_t stack, char *buffer, size_t bytes)
{
    if (!symbols || stack == ARGUS_NONE)
        return NULL;
    const struct argus_vertex *v = &view->vertices[vertex];
    struct argus_stack frames = argus_graph_stack(view->graph, stack);
    struct argus_symbol script;
    if (argus_symbols_script(symbols, view->threads[v->thread].process, v->end_ns, frames,
                             &script) != ARGUS_NONE)
        return text_script(&script, buffer, bytes);
    for (uint32_t i = 0; i < frames.count && frames.frames[i] >= ARGUS_FRAME_ENDS; i++) {
        struct argus_symbol symbol = argus_symbols_show(symbols, view->threads[v->thread].process,
                                                        v->end_ns, frames.frames[i], i > 0);
        if (!symbol.function || is_base_library(symbol.image))
            continue;
        snprintf(buffer, bytes, "%s", symbol.function);
        return buffer;
    }
    return NULL;
}

char *text_print(const char *format, ...)
{
    va_list arguments;
    char *text;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return length < 0 ? NULL : text;
}
