/* A function on the waiter's own stack is no writer that could end the loop: it waits, too. Nor is a
 * function that writes only a constant with which the loop continues. If the loop's comparisons do
 * not tell (loop_tests.h), the constants that functions on the waiter's stack write
 * (`did_reconfigure = 0` before the loop) are such. What remains may end the loop. Threads are told
 * by their stacks, of waits and samples, over the whole recording. */
#include "diagnose/suspects/flag_writers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/words.h"
#include "steps/loops/code_writers.h"

enum {
    KNOWN = 1024, /* stacks that are remembered to have none of the functions */
    MOST_RANGES = CODE_WRITERS_MAX + CODE_CALLERS_MAX,
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

static bool is_on_stack(const struct loop_stack *stack, const struct loop_flag *flag,
                        const struct code_writer *writer)
{
    for (uint32_t i = 0; i < stack->count; i++)
        if (stack->frames[i].file == flag->file &&
            stack->frames[i].address - writer->start < writer->bytes)
            return true;
    return false;
}

static bool is_reset(const struct loop_stack *stack, const struct loop_flag *flag,
                     const struct code_writers *writers, const struct code_writer *writer)
{
    for (uint32_t i = 0; writer->has_value && i < writers->count; i++) {
        const struct code_writer *other = &writers->all[i];
        if (other->has_value && other->value == writer->value && is_on_stack(stack, flag, other))
            return true;
    }
    return false;
}

/* Whether the loop goes on with what it writes: by the loop's comparisons, else by what the waiter
 * writes. */
static bool continues(const struct loop_stack *stack, const struct loop_flag *flag,
                      const struct code_writers *writers, const struct code_writer *writer)
{
    enum loop_end end =
        writer->has_value ? loop_tests_decide(&flag->tests, writer->value) : LOOP_END_UNKNOWN;
    return end == LOOP_END_UNKNOWN ? is_reset(stack, flag, writers, writer) : end == LOOP_CONTINUES;
}

/* Leaves those that may end the loop. */
static void keep_enders(const struct loop_stack *stack, const struct loop_flag *flag,
                        struct code_writers *writers)
{
    struct code_writers all = *writers;
    writers->count = 0;
    for (uint32_t i = 0; i < all.count; i++)
        if (!is_on_stack(stack, flag, &all.all[i]) && !continues(stack, flag, &all, &all.all[i]))
            writers->all[writers->count++] = all.all[i];
}

static bool tell_writers(struct diagnoser *d, const struct loop_stack *stack, uint64_t bias,
                         const struct code_writers *writers, struct argus_loop_variable *ret)
{
    const struct argus_vertex *v = &d->view.vertices[stack->vertex];
    ret->writers = calloc(writers->count, sizeof(*ret->writers));
    for (uint32_t i = 0; ret->writers && i < writers->count; i++) {
        const struct code_writer *writer = &writers->all[i];
        struct argus_flag_writer *told = &ret->writers[i];
        *told = (struct argus_flag_writer){
            .place = text_code_place(d, v, writer->address + bias, false),
            .value = writer->value,
            .has_value = writer->has_value,
            .is_possible = writer->is_possible,
        };
        ret->writer_count = i + 1;
        if (!told->place)
            return false;
    }
    return ret->writers != NULL;
}

/* --- threads --- */

static void take_ranges(const struct loop_flag *flag, const struct code_writers *writers,
                        uint64_t bias, struct ranges *ret)
{
    uint64_t starts[CODE_WRITERS_MAX];
    struct code_caller callers[CODE_CALLERS_MAX];
    ret->count = 0;
    for (uint32_t i = 0; i < writers->count; i++) {
        starts[i] = writers->all[i].start;
        ret->all[ret->count++] = (struct code_caller){starts[i] + bias, writers->all[i].bytes};
    }
    uint32_t count = code_callers_find(flag->file, starts, writers->count, callers);
    for (uint32_t i = 0; i < count; i++)
        ret->all[ret->count++] = (struct code_caller){callers[i].start + bias, callers[i].bytes};
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

/* What lies between the addresses of the file and those of the process. False: not known. */
static bool find_bias(const struct loop_stack *stack, const struct loop_flag *flag, uint64_t *ret)
{
    for (uint32_t i = 0; i < stack->count; i++) {
        if (stack->frames[i].file != flag->file)
            continue;
        *ret = stack->addresses[i] - stack->frames[i].address;
        return true;
    }
    return false;
}

bool flag_writers_find(struct diagnoser *d, const struct loop_stack *stack,
                       const struct loop_flag *flag, struct argus_loop_variable *ret)
{
    struct code_writers writers;
    struct ranges ranges;
    uint64_t bias;
    const struct argus_trace_header *header = argus_trace_header(argus_graph_trace(d->view.graph));
    if (!find_bias(stack, flag, &bias) ||
        !code_writers_find(flag, header->arch == ARGUS_ARCH_AARCH64, &writers))
        return true;
    keep_enders(stack, flag, &writers);
    if (!writers.count)
        return true;
    take_ranges(flag, &writers, bias, &ranges);
    return tell_writers(d, stack, bias, &writers, ret) &&
           find_threads(d, d->view.vertices[stack->vertex].thread, &ranges, ret);
}

void flag_writers_free(struct argus_loop_variable *variable)
{
    for (size_t i = 0; i < variable->writer_count; i++)
        free(variable->writers[i].place);
    free(variable->writers);
    free(variable->threads);
}
