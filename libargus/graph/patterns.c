/* Looking up a name may open a large file. So only frames that can match a pattern are looked up:
 * the innermost ones, and deeper ones in the libraries of images[]. Each address is looked up
 * once. */
#include "graph/patterns.h"

#include <fnmatch.h>
#include <string.h>

/* So many innermost frames are looked up in any file: those of the wait or wake-up and its
 * caller. */
enum { INNERMOST = 4 };

static const struct {
    uint32_t kind;
    const char *function;
} rows[] = {
#define PATTERN(kind, function) {PATTERN_##kind, function},
#include "graph/patterns.def"
#undef PATTERN
};

/* Beginnings of the names of files that contain patterns' functions. */
static const char *const images[] = {
    "[kernel]",   "libc.",      "libc-",    "libpthread",  "libglib-2.0", "libQt5Core",
    "libQt6Core", "libstdc++.", "libdbus-", "libwayland-", "libuv.",      "libev",
    "libsystemd", "Xorg",       "Xvfb",     "Xwayland",
};

static bool is_image(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *name = slash ? slash + 1 : path;
    for (size_t i = 0; name && i < sizeof(images) / sizeof(*images); i++)
        if (strncmp(name, images[i], strlen(images[i])) == 0)
            return true;
    return false;
}

static uint32_t match_name(const char *function)
{
    uint32_t found = 0;
    for (size_t i = 0; function && i < sizeof(rows) / sizeof(*rows); i++)
        if (fnmatch(rows[i].function, function, 0) == 0)
            found |= rows[i].kind;
    return found;
}

static bool prepare(struct patterns *patterns)
{
    if (patterns->symbols || patterns->no_memory)
        return patterns->symbols;
    struct argus_error *error = argus_symbols_create(patterns->graph, &patterns->symbols);
    if (error) {
        patterns->no_memory |= error->code == ARGUS_ERROR_MEMORY;
        patterns->symbols = NULL;
        argus_error_destroy(error);
    }
    return patterns->symbols;
}

/* The patterns that frame `at` of a stack matches. */
static uint32_t frame_patterns(struct patterns *patterns, const struct argus_stack *stack,
                               uint32_t at, uint32_t process, uint64_t time_ns)
{
    uint64_t address = stack->frames[at];
    bool is_innermost = at < INNERMOST;
    uint64_t key = (address << 1 | is_innermost) ^ (uint64_t)process * 0x9e3779b97f4a7c15u;
    uint32_t found = idmap_get(&patterns->by_address, key);
    if (found != IDMAP_NONE)
        return found;
    const char *image = argus_symbols_image(patterns->symbols, process, time_ns, address, at > 0);
    found = 0;
    if (image && (is_innermost || is_image(image)))
        found = match_name(
            argus_symbols_function(patterns->symbols, process, time_ns, address, at > 0));
    if (!idmap_put(&patterns->by_address, key, found))
        patterns->no_memory = true;
    return found;
}

/* Opens the stack and finds its process; false: nothing to examine. */
static bool open_stack(struct patterns *patterns, uint32_t stack, uint32_t thread,
                       struct argus_stack *ret_stack, uint32_t *ret_process)
{
    const struct argus_thread *threads;
    argus_graph_threads(patterns->graph, &threads);
    *ret_stack = argus_graph_stack(patterns->graph, stack);
    *ret_process = threads[thread].process;
    return ret_stack->count && prepare(patterns);
}

uint32_t patterns_innermost(struct patterns *patterns, uint32_t stack, uint32_t thread,
                            uint64_t time_ns, uint32_t wanted)
{
    struct argus_stack frames;
    uint32_t process;
    if (!open_stack(patterns, stack, thread, &frames, &process))
        return 0;
    for (uint32_t i = 0; i < frames.count; i++) {
        uint32_t found = frame_patterns(patterns, &frames, i, process, time_ns) & wanted;
        if (found)
            return found;
    }
    return 0;
}

bool patterns_parks(struct patterns *patterns, uint32_t stack, uint32_t thread, uint64_t time_ns)
{
    struct argus_stack frames;
    uint32_t process;
    if (!open_stack(patterns, stack, thread, &frames, &process))
        return false;
    for (uint32_t i = 0; i < frames.count; i++) {
        uint32_t found = frame_patterns(patterns, &frames, i, process, time_ns);
        if (found & PATTERN_PARKS)
            return true;
        /* The innermost frame is the system call, whose function has no name in a stripped
         * library. */
        if (i > 0 && !(found & (PATTERN_AWAITS | PATTERN_LOCKS | PATTERN_PLUMBING)))
            return false;
    }
    return false;
}

void patterns_deinit(struct patterns *patterns)
{
    argus_symbols_destroy(patterns->symbols);
    idmap_deinit(&patterns->by_address);
}
