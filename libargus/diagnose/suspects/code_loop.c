/* Which variable a loop waits for, read from the program's code: `while (!did_reconfigure) usleep(1500)`.
 *
 * The stack of one of its waits has the return address in the loop; of a loop that does not sleep, the stack of a sample (spin_loop.c). What decides the exits of that loop, steps/loops/loop_flags.h finds
 * out. Functions of the C library and other waiting functions have loops of their own, which say nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/suspects/flag_writers.h"
#include "diagnose/suspects/spin_loop.h"
#include "diagnose/words.h"
#include "graph/symbols_code.h"
#include "steps/watch_command.h"

/* How the names of functions begin that wait for their caller, also where they are linked into the program. To add one: a row. */
static bool is_waiting_function(const char *function)
{
    static const char *const beginnings[] = {
        "std::",       "core::",   "usleep",      "nanosleep",         "clock_nanosleep",
        "sched_yield", "g_usleep", "__nanosleep", "__clock_nanosleep", "__sched_yield",
        "SDL_Delay",   "g_poll",   "__poll"};
    for (size_t i = 0; function && i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
        if (strncmp(function, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* `at`: in the instruction that is looked at. `address` is the frame, which names its function. False: what comes is not known. */
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
    if (is_base_library(image) || is_waiting_function(function))
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

char *text_code_place(struct diagnoser *d, const struct argus_vertex *v, uint64_t address,
                      bool is_return)
{
    char name[256];
    struct argus_symbol symbol = argus_symbols_show(d->symbols, d->view.threads[v->thread].process,
                                                    v->end_ns, address, is_return);
    argus_symbol_text(&symbol, address, name, sizeof(name));
    return symbol.file ? text_print("%s (%s:%u)", name, text_image(symbol.file), symbol.line)
                       : text_print("%s", name);
}

static char *text_command(struct diagnoser *d, const struct argus_vertex *v, const char *image,
                          const struct loop_flag *flag, const char *name)
{
    char command[768], thread[32] = "";
    const struct argus_thread *t = &d->view.threads[v->thread];
    uint64_t place = flag->links ? (uint64_t)flag->offsets[flag->links - 1] : flag->address;
    if (flag->foreign)
        return text_print("%s", "");
    if (flag->is_thread_local)
        snprintf(thread, sizeof(thread), " --tid %llu", (unsigned long long)t->tid);
    watch_command_text(d->view.processes[t->process].pid, image, name,
                       watchable_bytes(place, flag->size_bytes), command, sizeof(command));
    return text_print("%s%s", command, thread);
}

static bool tell_variable(struct diagnoser *d, const struct argus_vertex *v, const char *image,
                          const struct loop_flag *flag, struct argus_loop_variable *ret)
{
    char name[512];
    bool is_named = loop_flag_text(flag, name, sizeof(name));
    const char *file = text_image(image);
    ret->name = text_print("%s", name);
    ret->image = text_print("%s", flag->foreign ? "" : file);
    /* An address that counts from the thread's block is none of the file. */
    ret->command = flag->is_thread_local && !is_named ? text_print("%s", "")
                                                      : text_command(d, v, image, flag, name);
    return ret->name && ret->image && ret->command;
}

void code_loop_free(struct argus_code_loop *loop)
{
    for (size_t i = 0; loop->variables && i < loop->variable_count; i++) {
        free(loop->variables[i].name);
        free(loop->variables[i].image);
        free(loop->variables[i].command);
        flag_writers_free(&loop->variables[i]);
    }
    free(loop->variables);
    free(loop->place);
    *loop = (struct argus_code_loop){0};
}

/* The path of the file that has the variable: of one of the frames. */
static const char *image_of(struct diagnoser *d, const struct argus_vertex *v,
                            const struct loop_stack *stack, const struct loop_flag *flag)
{
    uint32_t process = d->view.threads[v->thread].process, at = 0;
    while (at + 1 < stack->count && stack->frames[at].file != flag->file)
        at++;
    return argus_symbols_image(d->symbols, process, v->end_ns, stack->addresses[at], false);
}

static struct argus_error *tell(struct diagnoser *d, const struct loop_stack *stack,
                                const struct loop_flags *flags, struct argus_code_loop *ret)
{
    const struct argus_vertex *v = &d->view.vertices[stack->vertex];
    bool is_exact = flags->frame == 0 && stack->is_sample;
    ret->place = text_code_place(d, v, stack->addresses[flags->frame] + !is_exact, !is_exact);
    ret->is_whole = flags->is_whole;
    ret->variables = calloc(flags->count, sizeof(*ret->variables));
    bool good = ret->place && ret->variables;
    for (uint32_t i = 0; good && i < flags->count; i++) {
        ret->variable_count = i + 1;
        good = tell_variable(d, v, image_of(d, v, stack, &flags->all[i]), &flags->all[i],
                             &ret->variables[i]) &&
               flag_writers_find(d, stack, &flags->all[i], &ret->variables[i]);
    }
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
    take_frames(d, index, &stack);
    return loop_flags_find_spin(stack.frames, stack.count, is_arm64(d), ret);
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
    *ret = (struct argus_code_loop){0};
    if (!code_loop_is_readable(d) || index == ARGUS_NONE)
        return NULL;
    take_frames(d, index, &stack);
    if (!loop_flags_find(stack.frames, stack.count, is_arm64(d), &flags))
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
        if (loop->variables[i].command[0])
            return ARGUS_REASON_CODE_TELLS;
    return ARGUS_REASON_CODE_TELLS_STEPS;
}
