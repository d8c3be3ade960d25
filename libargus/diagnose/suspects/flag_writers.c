/* A function on the waiter's own stack is no writer that could end the loop: it waits, too. Nor is a
 * function that writes only a constant with which the loop continues. If the loop's comparisons do
 * not tell (loop_tests.h), the constants that functions on the waiter's stack write
 * (`did_reconfigure = 0` before the loop) are such. What remains may end the loop. Threads are told
 * by their stacks, of waits and samples, over the whole recording. */
#include "diagnose/suspects/flag_writers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/suspects/code_place.h"
#include "diagnose/suspects/flag_files.h"
#include "diagnose/words.h"
#include "steps/loops/code_writers.h"

enum {
    KNOWN = 1024, /* stacks that are remembered to have none of the functions */
    MOST_RANGES = 4 * (CODE_WRITERS_MAX + CODE_CALLERS_MAX),
};

/* Functions of a process, by the addresses in its memory. */
struct ranges {
    struct code_caller all[MOST_RANGES];
    uint32_t count;
};

static bool has_address(const struct ranges *ranges, uint64_t address)
{
    for (uint32_t i = 0; i < ranges->count; i++)
        if (address - ranges->all[i].start < ranges->all[i].bytes)
            return true;
    return false;
}

/* --- writers --- */

/* The files that name the variable, and the functions of each that write it. */
struct written {
    struct flag_uses uses;
    struct code_writers writers[FLAG_USES_MAX];
    uint32_t count; /* of functions, in all files */
};

static bool is_on_stack(const struct loop_stack *stack, const struct elf_file *file,
                        const struct code_writer *writer)
{
    for (uint32_t i = 0; i < stack->count; i++)
        if (stack->frames[i].file == file &&
            stack->frames[i].address - writer->start < writer->bytes)
            return true;
    return false;
}

/* Whether a function on the stack writes the same constant. */
static bool is_reset(const struct loop_stack *stack, const struct written *all,
                     const struct code_writer *writer)
{
    for (uint32_t i = 0; writer->has_value && i < all->uses.count; i++)
        for (uint32_t k = 0; k < all->writers[i].count; k++) {
            const struct code_writer *other = &all->writers[i].all[k];
            if (other->has_value && other->value == writer->value &&
                is_on_stack(stack, all->uses.all[i].flag.file, other))
                return true;
        }
    return false;
}

/* Whether the loop goes on with what it writes: by the loop's comparisons, else by what the waiter
 * writes. */
static bool continues(const struct loop_stack *stack, const struct loop_flag *flag,
                      const struct written *all, const struct code_writer *writer)
{
    enum loop_end end =
        writer->has_value ? loop_tests_decide(&flag->tests, writer->value) : LOOP_END_UNKNOWN;
    return end == LOOP_END_UNKNOWN ? is_reset(stack, all, writer) : end == LOOP_CONTINUES;
}

/* Leaves those that may end the loop. */
static void keep_enders(const struct loop_stack *stack, const struct loop_flag *flag,
                        struct written *written)
{
    const struct written all = *written;
    written->count = 0;
    for (uint32_t i = 0; i < all.uses.count; i++) {
        struct code_writers *kept = &written->writers[i];
        kept->count = 0;
        for (uint32_t k = 0; k < all.writers[i].count; k++) {
            const struct code_writer *writer = &all.writers[i].all[k];
            if (!is_on_stack(stack, all.uses.all[i].flag.file, writer) &&
                !continues(stack, flag, &all, writer))
                kept->all[kept->count++] = *writer;
        }
        written->count += kept->count;
    }
}

static void find_written(struct diagnoser *d, const struct loop_stack *stack,
                         const struct loop_flag *flag, struct written *ret)
{
    const struct argus_trace_header *header = argus_trace_header(argus_graph_trace(d->view.graph));
    flag_uses_find(d, &d->view.vertices[stack->vertex], flag, &ret->uses);
    for (uint32_t i = 0; i < ret->uses.count; i++)
        (void)code_writers_find(&ret->uses.all[i].flag, header->arch == ARGUS_ARCH_AARCH64,
                                &ret->writers[i]);
    keep_enders(stack, flag, ret);
}

static bool tell_writer(struct diagnoser *d, const struct loop_stack *stack, uint64_t bias,
                        const struct code_writer *writer, struct argus_loop_variable *ret)
{
    const struct argus_vertex *v = &d->view.vertices[stack->vertex];
    struct argus_flag_writer *told = &ret->writers[ret->writer_count++];
    *told = (struct argus_flag_writer){
        .place = text_code_place(d, v, writer->address + bias, false),
        .value = writer->value,
        .has_value = writer->has_value,
        .is_possible = writer->is_possible,
    };
    return told->place != NULL;
}

static bool tell_writers(struct diagnoser *d, const struct loop_stack *stack,
                         const struct written *written, struct argus_loop_variable *ret)
{
    ret->writers = calloc(written->count, sizeof(*ret->writers));
    bool good = ret->writers != NULL;
    for (uint32_t i = 0; i < written->uses.count; i++)
        for (uint32_t k = 0; good && k < written->writers[i].count; k++)
            good =
                tell_writer(d, stack, written->uses.all[i].bias, &written->writers[i].all[k], ret);
    return good;
}

/* --- threads --- */

static void add_range(struct ranges *ranges, uint64_t start, uint64_t bytes)
{
    if (ranges->count < MOST_RANGES)
        ranges->all[ranges->count++] = (struct code_caller){start, bytes};
}

/* Functions of other files that call those of `names`. */
static void take_importers(struct diagnoser *d, const struct argus_vertex *v,
                           const struct elf_file *writer, const char *const *names, uint32_t count,
                           struct ranges *ret)
{
    struct mapped_file mapped;
    struct code_caller callers[CODE_CALLERS_MAX];
    struct mapped_files files = mapped_files_of(d, v);
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

/* The writers of one file, and their callers in all files. */
static void take_ranges(struct diagnoser *d, const struct argus_vertex *v,
                        const struct flag_use *use, const struct code_writers *writers,
                        struct ranges *ret)
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
    take_importers(d, v, use->flag.file, names, named, ret);
}

static void take_all_ranges(struct diagnoser *d, const struct argus_vertex *v,
                            const struct written *written, struct ranges *ret)
{
    ret->count = 0;
    for (uint32_t i = 0; i < written->uses.count; i++)
        if (written->writers[i].count)
            take_ranges(d, v, &written->uses.all[i], &written->writers[i], ret);
}

struct looking {
    struct view view;
    const struct argus_sample *samples;
    const struct ranges *ranges;
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

static bool find_threads(struct diagnoser *d, uint32_t waiter, const struct ranges *ranges,
                         struct argus_loop_variable *ret)
{
    struct looking looking = {.view = d->view, .ranges = ranges};
    bool good = true;
    argus_graph_samples(d->view.graph, &looking.samples);
    memset(looking.known, 0xff, sizeof(looking.known)); /* ARGUS_NONE */
    for (uint32_t i = 0; good && i < d->view.thread_count; i++) {
        const struct argus_thread *thread = &d->view.threads[i];
        bool is_other = i != waiter && thread->process == d->view.threads[waiter].process;
        if (is_other && thread_has(&looking, thread))
            good = add_thread(ret, i);
    }
    return good;
}

/* --- all of it --- */

bool flag_writers_find(struct diagnoser *d, const struct loop_stack *stack,
                       const struct loop_flag *flag, struct argus_loop_variable *ret)
{
    struct written written;
    struct ranges ranges;
    find_written(d, stack, flag, &written);
    if (!written.count)
        return true;
    take_all_ranges(d, &d->view.vertices[stack->vertex], &written, &ranges);
    return tell_writers(d, stack, &written, ret) &&
           find_threads(d, d->view.vertices[stack->vertex].thread, &ranges, ret);
}

void flag_writers_free(struct argus_loop_variable *variable)
{
    for (size_t i = 0; i < variable->writer_count; i++)
        free(variable->writers[i].place);
    free(variable->writers);
    free(variable->threads);
}
