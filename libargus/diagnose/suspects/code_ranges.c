/* Threads are told by their stacks, of waits and samples, over the whole recording. */
#include "diagnose/suspects/code_ranges.h"

#include <stdlib.h>
#include <string.h>

enum { KNOWN = 1024 }; /* stacks that are remembered to have none of the functions */

/* --- functions --- */

static bool has_address(const struct code_ranges *ranges, uint64_t address)
{
    for (uint32_t i = 0; i < ranges->count; i++)
        if (address - ranges->all[i].start < ranges->all[i].bytes)
            return true;
    return false;
}

static void add_range(struct code_ranges *ranges, uint64_t start, uint64_t bytes)
{
    if (ranges->count < CODE_RANGES_MAX)
        ranges->all[ranges->count++] = (struct code_caller){start, bytes};
}

/* Functions of other files that call those of `names`. */
static void take_importers(struct mapped_files files, const struct elf_file *writer,
                           const char *const *names, uint32_t count, struct code_ranges *ret)
{
    struct mapped_file mapped;
    struct code_caller callers[CODE_CALLERS_MAX];
    while (count && mapped_files_next(&files, &mapped)) {
        uint32_t found = mapped.file == writer
                             ? 0
                             : code_callers_find_imported(mapped.file, names, count, callers);
        for (uint32_t i = 0; i < found; i++)
            add_range(ret, callers[i].start + mapped.bias, callers[i].bytes);
    }
}

static const char *name_of(struct elf_file *file, uint64_t start)
{
    uint64_t offset;
    const char *name = elf_file_function(file, start, &offset);
    return name && offset == 0 ? name : NULL;
}

void code_ranges_take(const struct mapped_files *files, const struct flag_use *use,
                      const struct code_writers *writers, struct code_ranges *ret)
{
    enum { MOST = CODE_WRITERS_MAX + CODE_CALLERS_MAX };
    uint64_t starts[CODE_WRITERS_MAX];
    struct code_caller all[MOST];
    const char *names[MOST];
    uint32_t named = 0, count = writers->count;
    for (uint32_t i = 0; i < count; i++) {
        starts[i] = writers->all[i].start;
        all[i] = (struct code_caller){starts[i], writers->all[i].bytes};
    }
    count += code_callers_find(use->flag.file, starts, count, all + count);
    for (uint32_t i = 0; i < count; i++) {
        add_range(ret, all[i].start + use->bias, all[i].bytes);
        names[named] = name_of(use->flag.file, all[i].start);
        named += names[named] != NULL;
    }
    take_importers(*files, use->flag.file, names, named, ret);
}

/* --- threads --- */

struct looking {
    struct view view;
    const struct argus_sample *samples;
    const struct code_ranges *ranges;
    uint32_t known[KNOWN]; /* by the stack's index; ARGUS_NONE: none */
};

static bool stack_has(struct looking *looking, uint32_t index)
{
    if (index == ARGUS_NONE || looking->known[index % KNOWN] == index)
        return false;
    struct argus_stack stack = argus_graph_stack(looking->view.graph, index);
    for (uint32_t i = 0; i < stack.count; i++)
        if (has_address(looking->ranges, stack.frames[i] - (i > 0)))
            return true;
    looking->known[index % KNOWN] = index;
    return false;
}

static bool vertex_has(struct looking *looking, const struct argus_vertex *v)
{
    bool has = stack_has(looking, v->wait.user_stack);
    for (uint32_t i = 0; !has && i < v->sample_count; i++)
        has = stack_has(looking, looking->samples[v->first_sample + i].user_stack);
    return has;
}

static bool thread_has(struct looking *looking, const struct argus_thread *thread)
{
    bool has = false;
    for (uint32_t i = 0; !has && i < thread->vertex_count; i++)
        has = vertex_has(looking, &looking->view.vertices[thread->first_vertex + i]);
    return has;
}

static bool add_thread(struct argus_loop_variable *variable, uint32_t thread)
{
    uint32_t *more =
        realloc(variable->threads, (variable->thread_count + 1) * sizeof(*variable->threads));
    if (!more)
        return false;
    variable->threads = more;
    variable->threads[variable->thread_count++] = thread;
    return true;
}

bool code_ranges_find_threads(struct diagnoser *d, uint32_t waiter, uint32_t process,
                              const struct code_ranges *ranges, struct argus_loop_variable *ret)
{
    struct looking looking = {.view = d->view, .ranges = ranges};
    bool good = true;
    argus_graph_samples(d->view.graph, &looking.samples);
    memset(looking.known, 0xff, sizeof(looking.known)); /* ARGUS_NONE */
    for (uint32_t i = 0; good && ranges->count && i < d->view.thread_count; i++) {
        const struct argus_thread *thread = &d->view.threads[i];
        if (i != waiter && thread->process == process && thread_has(&looking, thread))
            good = add_thread(ret, i);
    }
    return good;
}
