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

/* Goes through the functions that answers name in a stack, innermost first. */
struct walk {
    struct argus_symbols *symbols;
    uint32_t process;
    uint64_t time_ns;
    struct argus_stack stack;
    uint32_t frame;                   /* the next one */
    struct argus_functions functions; /* of the frame before */
    uint32_t level;                   /* the next one of them */
};

static struct walk walk_of(const struct view *view, struct argus_symbols *symbols, uint32_t vertex,
                           uint32_t stack)
{
    const struct argus_vertex *v = &view->vertices[vertex];
    return (struct walk){.symbols = symbols,
                         .process = view->threads[v->thread].process,
                         .time_ns = v->end_ns,
                         .stack = argus_graph_stack(view->graph, stack)};
}

/* False: there are no more that are code. */
static bool walk_next(struct walk *walk, struct argus_symbol *ret)
{
    if (walk->level == walk->functions.count) {
        if (walk->frame >= walk->stack.count || walk->stack.frames[walk->frame] < ARGUS_FRAME_ENDS)
            return false;
        argus_symbols_named(walk->symbols, walk->process, walk->time_ns,
                            walk->stack.frames[walk->frame], walk->frame > 0, &walk->functions);
        walk->frame++;
        walk->level = 0;
    }
    *ret = walk->functions.symbols[walk->level++];
    return true;
}

/* The program's own function that called a library, and the library's function. */
struct call {
    const char *called; /* NULL: only the C library's, or it has no name */
    const char *caller; /* NULL: it has no name */
};

/* The caller is the innermost function of the program's own files. Not main(), or a thread's first
 * function, which the C library calls: nearly every stack has it. */
static struct call find_call(struct walk walk, const char *program)
{
    struct call call = {NULL, NULL};
    struct argus_symbol symbol, next;
    while (walk_next(&walk, &symbol) && is_library(symbol.image, program))
        if (symbol.function && !is_base_library(symbol.image))
            call.called = symbol.function;
    if (!walk_next(&walk, &next) || is_base_library(next.image))
        return (struct call){NULL, NULL};
    call.caller = symbol.function;
    return call;
}

const char *text_callers(const struct view *view, struct argus_symbols *symbols, uint32_t vertex,
                         uint32_t stack, char *buffer, size_t bytes)
{
    char name[256];
    const char *function = text_function(view, symbols, vertex, stack, name, sizeof(name));
    snprintf(buffer, bytes, "%s%s", function ? ", in " : "", function ? function : "");
    if (!function)
        return buffer;
    struct walk walk = walk_of(view, symbols, vertex, stack);
    struct argus_symbol script;
    if (argus_symbols_script(symbols, walk.process, walk.time_ns, walk.stack, &script) !=
        ARGUS_NONE)
        return buffer;
    struct call call = find_call(walk, timeline_process(view, vertex)->name);
    if (call.called)
        snprintf(buffer, bytes, ", in %s%s%s", call.called, call.caller ? ", called by " : "",
                 call.caller ? call.caller : "");
    return buffer;
}

const char *text_function(const struct view *view, struct argus_symbols *symbols, uint32_t vertex,
                          uint32_t stack, char *buffer, size_t bytes)
{
    if (!symbols || stack == ARGUS_NONE)
        return NULL;
    struct walk walk = walk_of(view, symbols, vertex, stack);
    struct argus_symbol script, symbol;
    if (argus_symbols_script(symbols, walk.process, walk.time_ns, walk.stack, &script) !=
        ARGUS_NONE)
        return text_script(&script, buffer, bytes);
    while (walk_next(&walk, &symbol)) {
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
