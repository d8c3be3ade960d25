#include "report/phrases.h"

#include <stdio.h>
#include <string.h>

#include "argus/symbols.h"
#include "diagnose/file_locks.h"
#include "diagnose/hangs/habits.h"
#include "diagnose/words.h"
#include "event/names/short_names.h"
#include "graph/text/object_name.h"

#define MINOR_BITS 20 /* of a device's number, as in struct lock_tries */

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

/* For a function of a script: "save (editor.py:12)". */
static const char *text_script(const struct argus_symbol *symbol, char *buffer, size_t bytes)
{
    const char *slash = strrchr(symbol->file, '/');
    const char *file = slash ? slash + 1 : symbol->file;
    if (symbol->line)
        snprintf(buffer, bytes, "%s (%s:%u)", symbol->function, file, symbol->line);
    else
        snprintf(buffer, bytes, "%s (%s)", symbol->function, file);
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

/* Libraries have ".so" in their file names, and macOS's ".dylib"; or they are the kernel's, or code
 * that was made at run time ("//anon"). */
static bool is_library(const char *image, const char *program)
{
    const char *name = text_image(image);
    if (!name || name[0] == '[' || strncmp(image, "//", 2) == 0)
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

#define FUNCTION_BYTES  256
#define LONG_NAME_BYTES 4096

/* The program's own function that called a library, and the library's function. */
struct call {
    char called[FUNCTION_BYTES]; /* "": only the C library's */
    char caller[FUNCTION_BYTES]; /* "": there is none */
};

/* The function of the last frame of `walk`, shortened, or by its start if it has no name. */
static void write_function(const struct walk *walk, const struct argus_symbol *symbol, char *ret)
{
    char name[LONG_NAME_BYTES];
    uint32_t frame = walk->frame - 1;
    argus_symbols_function_text(walk->symbols, walk->process, walk->time_ns,
                                walk->stack.frames[frame], frame > 0, symbol, name, sizeof(name));
    short_name(name);
    snprintf(ret, FUNCTION_BYTES, "%.*s", FUNCTION_BYTES - 1, name);
}

/* The function that the program called is the outermost one of the libraries that has a name. The
 * caller is the innermost function of the program's own files. Not main(), or a thread's first
 * function, which the C library calls: nearly every stack has it. */
static struct call find_call(struct walk walk, const char *program)
{
    struct call call = {"", ""};
    struct argus_symbol symbol, next;
    bool named = false;
    while (walk_next(&walk, &symbol) && is_library(symbol.image, program)) {
        bool is_file = symbol.image && symbol.image[0] == '/' && symbol.image[1] != '/';
        if (is_base_library(symbol.image) || (!symbol.function && (named || !is_file)))
            continue;
        named = symbol.function != NULL;
        write_function(&walk, &symbol, call.called);
    }
    struct walk caller = walk;
    if (!walk_next(&walk, &next) || is_base_library(next.image))
        return (struct call){"", ""};
    write_function(&caller, &symbol, call.caller);
    return call;
}

/* Whether the last frame of `walk` is that of main(), or of a thread's first function. */
static bool is_outermost(struct walk walk)
{
    struct argus_symbol next;
    return !walk_next(&walk, &next) || is_base_library(next.image);
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
    if (*call.called)
        snprintf(buffer, bytes, ", in %s%s%s", call.called, *call.caller ? ", called by " : "",
                 call.caller);
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
    char name[FUNCTION_BYTES];
    const char *program = timeline_process(view, vertex)->name;
    while (walk_next(&walk, &symbol)) {
        if (is_base_library(symbol.image) ||
            (!symbol.function && (is_library(symbol.image, program) || is_outermost(walk))))
            continue;
        write_function(&walk, &symbol, name);
        snprintf(buffer, bytes, "%s", name);
        return buffer;
    }
    return NULL;
}

/* --- locks, loops, connections --- */

static const char *text_lock_name(const struct view *view, uint64_t identity, char *buffer,
                                  size_t bytes)
{
    const struct argus_lock_name *names;
    size_t count = argus_graph_lock_names(view->graph, &names), i = 0;
    while (i < count && names[i].inode != identity)
        i++;
    snprintf(buffer, bytes, "%s", i < count && *names[i].path ? names[i].path : "of unknown path");
    return buffer;
}

static const char *text_lock_file(const struct view *view, uint32_t thread,
                                  const struct lock_tries *tries, char *buffer, size_t bytes)
{
    if (tries->is_name)
        return text_lock_name(view, tries->inode, buffer, bytes);
    const struct argus_image_entry *images;
    uint32_t major = tries->device >> MINOR_BITS;
    uint32_t minor = tries->device & ((1u << MINOR_BITS) - 1);
    size_t count = argus_trace_images(argus_graph_trace(view->graph), &images), i = 0;
    while (i < count && (images[i].inode != tries->inode || images[i].dev_major != major ||
                         images[i].dev_minor != minor))
        i++;
    const char *path = i < count ? images[i].path : file_path_of(view->graph, tries->inode, thread);
    if (path)
        snprintf(buffer, bytes, "%s", path);
    else
        snprintf(buffer, bytes, "inode %llu of device %u:%u", (unsigned long long)tries->inode,
                 major, minor);
    return buffer;
}

/* "package [20]": locks are of processes. */
const char *text_process_of(const struct view *view, uint32_t thread, char *buffer, size_t bytes)
{
    const struct argus_process *process = &view->processes[view->threads[thread].process];
    snprintf(buffer, bytes, "%s [%llu]", process->name, (unsigned long long)process->pid);
    return buffer;
}

const char *text_lock_tries(const struct view *view, uint32_t thread, uint64_t start_ns,
                            uint64_t end_ns, char *buffer, size_t bytes)
{
    struct lock_tries tries;
    char file[256], holder[128] = "";
    if (!lock_tries_find(view, thread, start_ns, end_ns, &tries))
        return NULL;
    if (tries.holder != ARGUS_NONE)
        text_process_of(view, tries.holder, holder, sizeof(holder));
    const char *what = tries.is_name ? "create the lock file" : "lock";
    text_lock_file(view, thread, &tries, file, sizeof(file));
    if (tries.count == 1)
        snprintf(buffer, bytes, "tried once in vain to %s %s%s%s, and got it at the next try", what,
                 file, *holder ? ", held by " : "", holder);
    else
        snprintf(buffer, bytes, "tried to %s %s%s%s, %llu times in a row", what, file,
                 *holder ? ", held by " : "", holder, (unsigned long long)tries.count);
    return buffer;
}

const char *text_polled_object(const struct view *view, uint32_t vertex)
{
    return asks_for_children(view, vertex) ? "the end of a child" : "a data flag";
}

const char *text_remote(const struct view *view, uint32_t remote, char *buffer, size_t bytes)
{
    const struct argus_remote *remotes;
    char address[64];
    argus_graph_remotes(view->graph, &remotes);
    snprintf(buffer, bytes, "%s (%s)", remote_text(&remotes[remote], address, sizeof(address)),
             remote_protocol_text(&remotes[remote]));
    return buffer;
}
