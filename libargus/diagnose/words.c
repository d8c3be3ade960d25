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
