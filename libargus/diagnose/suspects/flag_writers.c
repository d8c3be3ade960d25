/* A function on the waiter's own stack is no writer that could end the loop: it waits, too. Nor is
 * a function that writes only a constant with which the loop continues. If the loop's comparisons
 * do not tell (loop_tests.h), the constants that functions on the waiter's stack write before they
 * wait (`did_reconfigure = 0`) are such. What remains may end the loop. */
#include "diagnose/suspects/flag_writers.h"

#include <stdlib.h>
#include <string.h>

#include "diagnose/suspects/code_place.h"
#include "diagnose/suspects/code_ranges.h"
#include "diagnose/suspects/shared_writers.h"
#include "steps/loops/code_order.h"

/* --- writers --- */

/* The files that name the variable, and the functions of each that write it. */
struct written {
    struct flag_uses uses;
    struct code_writers writers[FLAG_USES_MAX];
    uint32_t count; /* of functions, in all files */
    bool is_cut;    /* there may be more */
};

/* The frame that is in the function which writes; NULL. */
static const struct loop_frame *frame_of(const struct loop_stack *stack,
                                         const struct elf_file *file,
                                         const struct code_writer *writer)
{
    for (uint32_t i = 0; i < stack->count; i++)
        if (stack->frames[i].file == file &&
            stack->frames[i].address - writer->start < writer->bytes)
            return &stack->frames[i];
    return NULL;
}

/* The constants that functions on the stack write before they wait: a loop that waits for one of
 * them would not wait. */
static void find_resets(const struct loop_stack *stack, bool is_arm64, const struct written *all,
                        struct reset_values *ret)
{
    struct code_order *order = code_order_create(is_arm64);
    ret->count = 0;
    for (uint32_t i = 0; i < all->uses.count; i++)
        for (uint32_t k = 0; k < all->writers[i].count; k++) {
            const struct code_writer *writer = &all->writers[i].all[k];
            struct elf_file *file = all->uses.all[i].flag.file;
            const struct loop_frame *frame = frame_of(stack, file, writer);
            if (frame && writer->has_value && ret->count < RESET_VALUES_MAX &&
                code_may_lead(order, file, writer->address, frame->address))
                ret->all[ret->count++] = writer->value;
        }
    code_order_destroy(order);
}

bool flag_write_continues(const struct loop_flag *flag, const struct reset_values *resets,
                          const struct code_writer *writer)
{
    enum loop_end end =
        writer->has_value ? loop_tests_decide(&flag->tests, writer->value) : LOOP_END_UNKNOWN;
    bool is_reset = false;
    for (uint32_t i = 0; writer->has_value && i < resets->count; i++)
        is_reset |= resets->all[i] == writer->value;
    return end == LOOP_END_UNKNOWN ? is_reset : end == LOOP_CONTINUES;
}

/* Leaves those that may end the loop. */
static void keep_enders(const struct loop_stack *stack, const struct loop_flag *flag,
                        const struct reset_values *resets, struct written *written)
{
    written->count = 0;
    for (uint32_t i = 0; i < written->uses.count; i++) {
        struct code_writers *kept = &written->writers[i];
        uint32_t count = kept->count;
        kept->count = 0;
        for (uint32_t k = 0; k < count; k++) {
            const struct code_writer writer = kept->all[k];
            if (!frame_of(stack, written->uses.all[i].flag.file, &writer) &&
                !flag_write_continues(flag, resets, &writer))
                kept->all[kept->count++] = writer;
        }
        written->count += kept->count;
    }
}

/* `code`: of the loop. */
static void find_written(struct diagnoser *d, const struct loop_stack *stack,
                         const struct loop_flag *flag, uint64_t code,
                         struct reset_values *ret_resets, struct written *ret)
{
    const struct argus_trace_header *header = argus_trace_header(argus_graph_trace(d->view.graph));
    bool is_arm64 = header->arch == ARGUS_ARCH_AARCH64;
    flag_uses_find(d, &d->view.vertices[stack->vertex], flag, &ret->uses);
    ret->is_cut = ret->uses.is_cut;
    for (uint32_t i = 0; i < ret->uses.count; i++) {
        (void)code_writers_find(&ret->uses.all[i].flag, is_arm64, &ret->writers[i]);
        ret->is_cut |= ret->writers[i].is_cut;
    }
    find_resets(stack, is_arm64, ret, ret_resets);
    keep_enders(stack, flag, ret_resets, ret);
    if (ret->count || !ret->uses.count)
        return;
    similar_writers_find(d, &d->view.vertices[stack->vertex], flag, ret->uses.all[0].bias, code,
                         stack->similar, &ret->writers[0]);
    ret->is_cut |= ret->writers[0].is_cut;
    keep_enders(stack, flag, ret_resets, ret);
}

/* Several functions may call the one that writes. */
static struct argus_flag_writer *find_told(const struct argus_loop_variable *variable,
                                           const struct argus_flag_writer *writer)
{
    for (size_t i = 0; writer->place && i < variable->writer_count; i++) {
        struct argus_flag_writer *told = &variable->writers[i];
        if (told->process == writer->process && told->value == writer->value &&
            told->has_value == writer->has_value && strcmp(told->place, writer->place) == 0)
            return told;
    }
    return NULL;
}

bool flag_writer_add(struct argus_loop_variable *variable, const struct argus_flag_writer *writer)
{
    struct argus_flag_writer *told = find_told(variable, writer);
    if (told) {
        told->is_possible &= writer->is_possible;
        told->signals |= writer->signals;
        free(writer->place);
        return true;
    }
    struct argus_flag_writer *more =
        writer->place
            ? realloc(variable->writers, (variable->writer_count + 1) * sizeof(*variable->writers))
            : NULL;
    if (!more) {
        free(writer->place);
        return false;
    }
    variable->writers = more;
    variable->writers[variable->writer_count++] = *writer;
    return true;
}

static bool tell_writers(struct diagnoser *d, const struct loop_stack *stack,
                         const struct written *written, struct argus_loop_variable *ret)
{
    bool good = true;
    const struct argus_vertex *v = &d->view.vertices[stack->vertex];
    ret->has_more_writers = written->is_cut;
    for (uint32_t i = 0; i < written->uses.count; i++)
        for (uint32_t k = 0; good && k < written->writers[i].count; k++) {
            const struct code_writer *writer = &written->writers[i].all[k];
            char *place = text_writer_place(d, d->view.threads[v->thread].process, v->end_ns,
                                            written->uses.all[i].bias, writer);
            good = flag_writer_add(ret,
                                   &(struct argus_flag_writer){.place = place,
                                                               .process = ARGUS_NONE,
                                                               .value = writer->value,
                                                               .has_value = writer->has_value,
                                                               .signals = writer->signals,
                                                               .is_possible = writer->is_possible});
        }
    return good;
}

static bool find_threads(struct diagnoser *d, const struct argus_vertex *v,
                         const struct written *written, struct argus_loop_variable *ret)
{
    struct code_ranges ranges = {.count = 0};
    struct mapped_files files = mapped_files_of(d, v);
    for (uint32_t i = 0; i < written->uses.count; i++)
        if (written->writers[i].count)
            code_ranges_take(&files, &written->uses.all[i], &written->writers[i], &ranges);
    return code_ranges_find_threads(d, v->thread, files.process, &ranges, ret);
}

bool flag_writers_find(struct diagnoser *d, const struct loop_stack *stack,
                       const struct loop_flag *flag, uint64_t code, struct argus_loop_variable *ret)
{
    struct written written;
    struct reset_values resets;
    const struct argus_vertex *v = &d->view.vertices[stack->vertex];
    find_written(d, stack, flag, code, &resets, &written);
    return tell_writers(d, stack, &written, ret) && find_threads(d, v, &written, ret) &&
           shared_writers_find(d, v, flag, &resets, ret);
}

void flag_writers_free(struct argus_loop_variable *variable)
{
    for (size_t i = 0; i < variable->writer_count; i++)
        free(variable->writers[i].place);
    free(variable->writers);
    free(variable->threads);
}
