/* Finds the function that a vertex ran, as a place in a file.
 *
 * The stack is that of the vertex's wait, or, if it never waited, of its last sample. The innermost
 * frame in the application's own code is the function that called the waiting library. Stacks are
 * walked by frame pointers, which C libraries do not keep. Then the function that called the
 * library is missing, and the next frame is its caller. The call before that frame's return address
 * helps: if it calls a function of the same file, that function is the missing one.
 */
#include <stdio.h>
#include <string.h>

#include "event/binary/function_range.h"
#include "plugin/steps/step_place.h"

struct own_frame {
    const struct argus_image_entry *image;
    uint64_t offset; /* in its file */
    uint64_t address;
    bool is_return;
    bool is_innermost; /* of the whole stack */
};

static uint32_t stack_of(const struct argus_graph *graph, const struct argus_vertex *vertex)
{
    const struct argus_sample *samples;
    argus_graph_samples(graph, &samples);
    if (vertex->wait.user_stack != ARGUS_NONE)
        return vertex->wait.user_stack;
    for (uint32_t i = vertex->sample_count; i-- > 0;)
        if (samples[vertex->first_sample + i].user_stack != ARGUS_NONE)
            return samples[vertex->first_sample + i].user_stack;
    return ARGUS_NONE;
}

static uint32_t process_of(const struct argus_graph *graph, const struct argus_vertex *vertex)
{
    const struct argus_thread *threads;
    argus_graph_threads(graph, &threads);
    return threads[vertex->thread].process;
}

/* The frame with number `wanted` among the application's own frames. */
static bool find_own_frame(const struct analysis *analysis, const struct argus_vertex *vertex,
                           uint64_t wanted, const char *skip, const char *into,
                           struct own_frame *ret)
{
    struct argus_stack stack =
        argus_graph_stack(analysis->graph, stack_of(analysis->graph, vertex));
    uint32_t process = process_of(analysis->graph, vertex);
    for (uint32_t i = 0; i < stack.count; i++) {
        *ret = (struct own_frame){
            .address = stack.frames[i], .is_return = i > 0, .is_innermost = i == 0};
        ret->image = argus_symbols_mapping(analysis->report.symbols, process, vertex->end_ns,
                                           stack.frames[i] - ret->is_return, &ret->offset);
        if (!ret->image || !step_patterns_stepped(skip, into, ret->image->path))
            continue;
        ret->offset += ret->is_return;
        if (wanted-- == 0)
            return true;
    }
    return false;
}

static struct argus_error *no_frame(const struct analysis *analysis, uint32_t id,
                                    const struct argus_vertex *vertex, uint64_t frame)
{
    if (stack_of(analysis->graph, vertex) == ARGUS_NONE)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "v%u has no call stack, so what it ran is not known: give the "
                                  "function to begin at with --function",
                                  id);
    return argus_error_create(
        ARGUS_ERROR_NOT_FOUND,
        "the stack of v%u has %s of the program's own code: give the function to begin at with "
        "--function, or a library to step into with --step-into",
        id, frame ? "no such frame" : "nothing");
}

/* Names the thread. The main thread corresponds to the main thread of another process; others are
 * identified by name. */
static void name_thread(const struct analysis *analysis, const struct argus_vertex *vertex,
                        struct step_origin *ret)
{
    const struct argus_thread *threads;
    const struct argus_process *processes;
    argus_graph_threads(analysis->graph, &threads);
    argus_graph_processes(analysis->graph, &processes);
    const struct argus_thread *thread = &threads[vertex->thread];
    if (processes[thread->process].main_thread != vertex->thread)
        snprintf(ret->comm, sizeof(ret->comm), "%.15s", thread->name);
}

static bool is_spin(const struct argus_vertex *vertex)
{
    enum argus_vertex_type type = argus_vertex_type(vertex, 2000000000u);
    return vertex->repeat > 1 || type == ARGUS_TYPE_REPEATED_YIELD ||
           type == ARGUS_TYPE_LONG_RUNNING || vertex->wait.user_stack == ARGUS_NONE;
}

static void label_function(const struct analysis *analysis, const struct argus_vertex *vertex,
                           const struct own_frame *frame, struct step_origin *ret)
{
    uint64_t address = frame->address - frame->offset + ret->place.offset;
    struct argus_symbol symbol =
        argus_symbols_show(analysis->report.symbols, process_of(analysis->graph, vertex),
                           vertex->end_ns, address, false);
    const char *slash = strrchr(frame->image->path, '/');
    const char *name = slash ? slash + 1 : frame->image->path;
    ret->stale = symbol.stale;
    if (symbol.function)
        snprintf(ret->label, sizeof(ret->label), "%s in %s", symbol.function, name);
    else
        snprintf(ret->label, sizeof(ret->label), "%s+0x%llx", name,
                 (unsigned long long)ret->place.offset);
}

/* For a program without frame pointers that was recorded without --unwind, the stack is only the
 * system call. The thread comes back to the place after it in every turn, and from there to the
 * code of interest. */
static bool find_library_frame(const struct analysis *analysis, const struct argus_vertex *vertex,
                               struct step_origin *ret)
{
    struct own_frame own = {.is_innermost = true};
    struct argus_stack stack =
        argus_graph_stack(analysis->graph, stack_of(analysis->graph, vertex));
    if (stack.count == 0 || vertex->wait.user_stack == ARGUS_NONE)
        return false;
    own.address = stack.frames[0];
    own.image = argus_symbols_mapping(analysis->report.symbols, process_of(analysis->graph, vertex),
                                      vertex->end_ns, own.address, &own.offset);
    if (!own.image || own.image->path[0] != '/')
        return false;
    snprintf(ret->place.path, sizeof(ret->place.path), "%s", own.image->path);
    ret->place.offset = own.offset;
    ret->in_library = true;
    ret->spins = true;
    name_thread(analysis, vertex, ret);
    label_function(analysis, vertex, &own, ret);
    return true;
}

/* Compilers put functions of the standard libraries of C++ and Rust into the program:
 * std::this_thread::sleep_for(), std::thread::sleep(). Such a function returns in every turn, and
 * shows nothing of the loop that calls it. */
static bool is_of_language(const char *label)
{
    static const char *const spaces[] = {
        "std::", "core::", "alloc::", "__gnu_cxx::", "<std::", "<core::", "__gthread_"};
    for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++)
        if (strncmp(label, spaces[i], strlen(spaces[i])) == 0)
            return true;
    /* a template's name begins with its result: "void std::this_thread::sleep_for<…>(…)" */
    const char *blank = strchr(label, ' '), *bracket = strpbrk(label, "(<");
    return blank && bracket && blank < bracket && is_of_language(blank + 1);
}

/* Whether the stack has the function that the call before the return address of `own` calls: as its
 * next inner frame. */
static bool has_called(const struct own_frame *inner, const struct own_frame *own, uint64_t called)
{
    uint64_t start, bytes, within = inner ? inner->offset - inner->is_return : 0;
    return inner && strcmp(inner->image->path, own->image->path) == 0 &&
           function_range_find(own->image->path, called, &start, &bytes) && within - start < bytes;
}

/* The function of `own`; `inner`: the next inner frame of the application, or NULL. NOT_FOUND: it
 * is not known where it begins. */
static struct argus_error *take_frame(const struct analysis *analysis,
                                      const struct argus_vertex *vertex,
                                      const struct own_frame *own, const struct own_frame *inner,
                                      struct step_origin *ret)
{
    uint64_t called, start, bytes;
    const char *path = own->image->path;
    snprintf(ret->place.path, sizeof(ret->place.path), "%s", path);
    bool missing = own->is_return && function_range_called(path, own->offset, &called) &&
                   !has_called(inner, own, called);
    uint64_t within = missing ? called : own->offset - own->is_return;
    ret->place.offset = within;
    label_function(analysis, vertex, own, ret);
    if (!function_range_find(path, within, &start, &bytes))
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "where the function at offset 0x%llx of %s begins is not known: "
                                  "give the function to begin at with --function",
                                  (unsigned long long)within, path);
    ret->place.offset = start;
    ret->place.function_bytes = bytes;
    if (!missing && own->is_return && vertex->repeat <= 1) {
        ret->wait = ret->place;
        ret->wait.offset = own->offset;
    }
    ret->spins = is_spin(vertex);
    name_thread(analysis, vertex, ret);
    label_function(analysis, vertex, own, ret);
    return NULL;
}

static void note_passed(const struct step_origin *from, bool is_unknown, struct step_origin *ret)
{
    if (!ret->passed++) {
        snprintf(ret->passed_label, sizeof(ret->passed_label), "%s", from->label);
        ret->is_beginning_unknown = is_unknown;
    }
}

struct argus_error *step_origin_find(const struct analysis *analysis, uint32_t id, uint64_t frame,
                                     bool climbs, const char *skip, const char *into,
                                     struct step_origin *ret)
{
    const struct argus_vertex *vertices;
    struct own_frame own;
    struct argus_error *first_error = NULL;
    argus_graph_vertices(analysis->graph, &vertices);
    const struct argus_vertex *vertex = &vertices[id];
    struct step_origin innermost = {0};
    memset(ret, 0, sizeof(*ret));
    if (!find_own_frame(analysis, vertex, frame, skip, into, &own))
        return frame == 0 && find_library_frame(analysis, vertex, ret)
                   ? NULL
                   : no_frame(analysis, id, vertex, frame);
    for (uint64_t at = frame; find_own_frame(analysis, vertex, at, skip, into, &own); at++) {
        struct step_origin one = {.passed = ret->passed,
                                  .is_beginning_unknown = ret->is_beginning_unknown};
        memcpy(one.passed_label, ret->passed_label, sizeof(one.passed_label));
        *ret = one;
        struct own_frame inner;
        bool has_inner = at > 0 && find_own_frame(analysis, vertex, at - 1, skip, into, &inner);
        struct argus_error *error =
            take_frame(analysis, vertex, &own, has_inner ? &inner : NULL, ret);
        if (!error && at == frame)
            innermost = *ret;
        if (!error && !(climbs && is_of_language(ret->label))) {
            argus_error_destroy(first_error);
            return NULL;
        }
        note_passed(ret, error != NULL, ret);
        if (first_error)
            argus_error_destroy(error);
        else
            first_error = error;
        if (!climbs)
            return first_error;
    }
    if (first_error)
        return first_error;
    *ret = innermost; /* there are no other functions */
    return NULL;
}
