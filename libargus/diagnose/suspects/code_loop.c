/* Which variable a loop waits for, read from the program's code: `while (!did_reconfigure)
 * usleep(1500)`.
 *
 * The stack of one of its waits has the return address in the loop; of a loop that does not sleep,
 * the stack of a sample (spin_loop.c). What decides the exits of that loop,
 * steps/loops/loop_flags.h finds out. Functions of the C library and other waiting functions have
 * loops of their own, which say nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/suspects/code_place.h"
#include "diagnose/suspects/flag_files.h"
#include "diagnose/suspects/flag_writers.h"
#include "diagnose/suspects/spin_loop.h"
#include "diagnose/words.h"
#include "graph/symbols_code.h"
#include "steps/loops/loop_frames.h"
#include "steps/watch_command.h"

enum { MOST_FUNCTIONS = 16 }; /* of other files, that one search looks for */

/* `at`: in the instruction that is looked at. `address` is the frame, which names its function.
 * False: what comes is not known. */
static bool take_frame(struct diagnoser *d, const struct argus_vertex *v, uint64_t address,
                       uint64_t at, bool is_return, struct loop_frame *ret)
{
    uint32_t process = d->view.threads[v->thread].process;
    const char *image = argus_symbols_image(d->symbols, process, v->end_ns, at, false);
    const char *function =
        argus_symbols_function(d->symbols, process, v->end_ns, address, is_return);
    *ret = (struct loop_frame){0};
    if (!image || address < ARGUS_FRAME_ENDS)
        return false;
    ret->is_spin_lock = function && strcmp(function, "pthread_spin_lock") == 0;
    if (is_base_library(image) || loop_is_waiting_function(function))
        return true;
    ret->file = symbols_code(d->symbols, process, v->end_ns, at, &ret->address);
    return ret->file != NULL;
}

/* A wait's innermost frame is behind the system call, the others are behind calls. */
static void take_frames(struct diagnoser *d, uint32_t index, struct loop_stack *ret)
{
    const struct argus_vertex *v = &d->view.vertices[ret->vertex];
    struct argus_stack stack = argus_graph_stack(d->view.graph, index);
    ret->count = 0;
    for (uint32_t i = 0; i < stack.count && i < LOOP_STACK_FRAMES; i++) {
        bool is_exact = i == 0 && ret->is_sample;
        ret->addresses[i] = stack.frames[i] - !is_exact;
        if (!take_frame(d, v, stack.frames[i], ret->addresses[i], i > 0, &ret->frames[i]))
            break;
        ret->count++;
    }
}

/* --- for the answer --- */

/* `address`: in the file that has the variable. */
static void choose_watch(struct diagnoser *d, const struct argus_vertex *v,
                         const struct loop_flag *flag, uint64_t address,
                         struct argus_loop_variable *ret)
{
    uint64_t place = flag->links ? (uint64_t)flag->offsets[flag->links - 1] : address;
    ret->watch_tid = flag->is_thread_local ? d->view.threads[v->thread].tid : 0;
    ret->watch_bytes = watchable_bytes(place, flag->size_bytes);
}

/* Without a size, the name does not lead to it: the variable is on a stack, in an object, or one of
 * an array. The loop itself leads there, while the thread is in it. */
static char *text_command(const char *image, const struct argus_loop_variable *variable)
{
    char command[768], thread[32] = "";
    if (variable->watch_tid)
        snprintf(thread, sizeof(thread), " --tid %llu", (unsigned long long)variable->watch_tid);
    if (variable->watch_bytes)
        watch_command_text(variable->watch_pid, image, variable->watch_name, variable->watch_bytes,
                           command, sizeof(command));
    else
        watch_loop_command_text(variable->watch_pid, command, sizeof(command));
    return text_print("%s%s", command, thread);
}

/* "store->guard", not "store->guard._M_mutex.__data.__lock": names that begin so are those of the C
 * and C++ libraries. */
static void drop_parts_of_lock(char *name)
{
    char *part = strstr(name, "._");
    if (part && part > name)
        *part = '\0';
}

static bool tell_variable(struct diagnoser *d, const struct argus_vertex *v, const char *image,
                          const struct loop_flag *flag, uint64_t code,
                          struct argus_loop_variable *ret)
{
    char name[512];
    struct elf_member member;
    uint64_t address = flag->address;
    bool is_named = loop_flag_text(flag, name, sizeof(name));
    bool is_known = !flag->foreign || flag_owner_find(d, v, flag, &image, &address);
    bool is_member = loop_flag_member(flag, code, &member);
    if (is_member && !member.skipped_bytes)
        snprintf(name, sizeof(name), "%s", member.text);
    is_named |= is_member;
    ret->name = text_print("%s", is_member ? member.text : name);
    ret->is_lock = flag->is_lock;
    if (ret->name && ret->is_lock)
        drop_parts_of_lock(ret->name);
    ret->image = text_print("%s", is_known ? text_image(image) : "");
    const struct argus_thread *t = &d->view.threads[v->thread];
    ret->watch_pid = d->view.processes[t->process].pid;
    ret->watch_tid = t->tid == ret->watch_pid ? 0 : t->tid;
    /* An address that counts from the thread's block, a mapping or the stack is none of the file.
     */
    if (is_known && !flag->is_mapped && !flag->local.is_local && !flag->elements &&
        (is_named || !flag->is_thread_local))
        choose_watch(d, v, flag, address, ret);
    ret->watch_name = text_print("%s", name);
    ret->command = ret->watch_name ? text_command(image, ret) : NULL;
    return ret->name && ret->image && ret->command;
}

void code_loop_free(struct argus_code_loop *loop)
{
    for (size_t i = 0; loop->variables && i < loop->variable_count; i++) {
        free(loop->variables[i].name);
        free(loop->variables[i].image);
        free(loop->variables[i].command);
        free(loop->variables[i].watch_name);
        flag_writers_free(&loop->variables[i]);
    }
    free(loop->variables);
    free(loop->place);
    *loop = (struct argus_code_loop){0};
}

/* The path of the file whose code names the variable. */
static const char *image_of(struct diagnoser *d, const struct argus_vertex *v,
                            const struct loop_flag *flag)
{
    struct mapped_file mapped;
    struct mapped_files files = mapped_files_of(d, v);
    while (mapped_files_next(&files, &mapped))
        if (mapped.file == flag->file)
            return mapped.path;
    return "";
}

/* How likely another thread sets it. */
static unsigned rank_of(const struct argus_loop_variable *variable)
{
    return 2 * (variable->thread_count > 0) + (variable->writer_count > 0);
}

/* Those first that another thread is known to set: `while (read_at == write_at)` waits for the
 * one that the reader does not set itself. */
static void sort_variables(struct argus_code_loop *loop)
{
    for (size_t i = 1; i < loop->variable_count; i++)
        for (size_t k = i; k > 0; k--) {
            struct argus_loop_variable *at = &loop->variables[k], later = at[0];
            if (rank_of(&at[-1]) >= rank_of(&later))
                break;
            at[0] = at[-1];
            at[-1] = later;
        }
}

static struct argus_error *tell(struct diagnoser *d, struct loop_stack *stack,
                                const struct loop_flags *flags, struct argus_code_loop *ret)
{
    struct similar_starts similar = {.file = NULL};
    const struct argus_vertex *v = &d->view.vertices[stack->vertex];
    bool is_exact = flags->frame == 0 && stack->is_sample;
    uint64_t bias = stack->addresses[flags->frame] - stack->frames[flags->frame].address;
    ret->place = text_loop_place(d, v, stack->addresses[flags->frame] + !is_exact, !is_exact,
                                 flags->head + bias);
    ret->is_whole = flags->is_whole;
    ret->variables = calloc(flags->count, sizeof(*ret->variables));
    stack->similar = &similar;
    bool good = ret->place && ret->variables;
    for (uint32_t i = 0; good && i < flags->count; i++) {
        ret->variable_count = i + 1;
        good = tell_variable(d, v, image_of(d, v, &flags->all[i]), &flags->all[i], flags->head,
                             &ret->variables[i]) &&
               flag_writers_find(d, stack, &flags->all[i], flags->head, &ret->variables[i]);
    }
    stack->similar = NULL;
    sort_variables(ret);
    if (good)
        return NULL;
    code_loop_free(ret);
    return argus_error_memory();
}

static bool is_arm64(const struct diagnoser *d)
{
    return argus_trace_header(argus_graph_trace(d->view.graph))->arch == ARGUS_ARCH_AARCH64;
}

bool code_loop_is_readable(const struct diagnoser *d)
{
    return d->symbols && argus_trace_header(argus_graph_trace(d->view.graph))->os == ARGUS_OS_LINUX;
}

bool code_loop_find_spin(struct diagnoser *d, uint32_t vertex, uint32_t index,
                         struct loop_flags *ret)
{
    struct loop_stack stack = {.vertex = vertex, .is_sample = true};
    struct function_search search = {d, &d->view.vertices[vertex], MOST_FUNCTIONS};
    const struct code_files files = {&search, mapped_function_find};
    take_frames(d, index, &stack);
    return loop_flags_find_spin(stack.frames, stack.count, is_arm64(d), &files, ret);
}

struct argus_error *code_loop_tell_spin(struct diagnoser *d, uint32_t vertex, uint32_t index,
                                        const struct loop_flags *flags, struct argus_code_loop *ret)
{
    struct loop_stack stack = {.vertex = vertex, .is_sample = true};
    take_frames(d, index, &stack);
    return tell(d, &stack, flags, ret);
}

struct argus_error *read_code_loop(struct diagnoser *d, uint32_t vertex, struct window part,
                                   struct argus_code_loop *ret)
{
    struct loop_flags flags;
    struct loop_stack stack = {.vertex = vertex, .is_sample = is_loop_of_yields(&d->view, vertex)};
    uint32_t index = find_loop_stack(d, vertex, part);
    struct function_search search = {d, &d->view.vertices[vertex], MOST_FUNCTIONS};
    const struct code_files files = {&search, mapped_function_find};
    *ret = (struct argus_code_loop){0};
    if (!code_loop_is_readable(d) || index == ARGUS_NONE)
        return NULL;
    take_frames(d, index, &stack);
    if (!loop_flags_find(stack.frames, stack.count, is_arm64(d), &files, &flags))
        return NULL;
    return tell(d, &stack, &flags, ret);
}

const char *loop_variable_name(const struct argus_loop_variable *variable, char *buffer,
                               size_t bytes)
{
    bool is_address = variable->name[0] == '0';
    snprintf(buffer, bytes, "%s%s%s", is_address ? variable->image : "", is_address ? "+" : "",
             variable->name);
    return buffer;
}

enum argus_reason_kind code_loop_reason(const struct argus_code_loop *loop)
{
    if (!loop->variable_count)
        return ARGUS_REASON_FLAG_UNKNOWN;
    for (size_t i = 0; i < loop->variable_count; i++)
        if (loop->variables[i].watch_bytes)
            return ARGUS_REASON_CODE_TELLS;
    return ARGUS_REASON_CODE_TELLS_STEPS;
}
