/* Steps application code instruction by instruction. Steps over other code by a breakpoint at its
 * return address. */
#include <stdio.h>
#include <string.h>

#include "linux/step/stepper.h"

#if defined(__aarch64__)
#define RETURN_IN_REGISTER true
#else
#define RETURN_IN_REGISTER false
#endif

static void say_event(struct stepper *stepper, enum step_item_kind kind,
                      const struct step_item_event *item)
{
    step_output_put(stepper->output, kind, item, sizeof(*item), NULL, 0);
}

static const char *image_name(struct stepper *stepper, uint64_t address)
{
    const struct step_map *map = step_maps_find(&stepper->maps, address);
    const char *slash = map ? strrchr(map->path, '/') : NULL;
    if (!map || !map->path[0])
        return "code without a file";
    return slash ? slash + 1 : map->path;
}

/* Drops the calls that have returned if the stack pointer is here. */
static void drop_calls(struct stepper *stepper, uint64_t stack_pointer)
{
    while (stepper->calls.length &&
           stepper->calls.data[stepper->calls.length - 1].stack_pointer < stack_pointer)
        stepper->calls.length--;
}

static void push_call(struct stepper *stepper, uint64_t stack_pointer, uint64_t return_address)
{
    const struct step_call call = {stack_pointer, return_address};
    drop_calls(stepper, stack_pointer + 1);
    if (!vec_push(&stepper->calls, call))
        step_end(stepper, STEP_END_ERROR, "out of memory");
}

/* The address at which a thread that has left application code returns to it. After a call: the
 * return address. After a jump (a tail call, or a stub of the linkage table, which pushes two words
 * if its function is not bound yet): the return address of the function that jumped. */
static bool find_return(struct stepper *stepper, uint64_t stack_pointer, bool by_jump,
                        uint64_t *ret)
{
    drop_calls(stepper, stack_pointer);
    size_t depth = stepper->calls.length;
    const struct step_call *call = depth ? &stepper->calls.data[depth - 1] : NULL;
    bool is_its_jump = by_jump && !RETURN_IN_REGISTER && call &&
                       call->stack_pointer - stack_pointer <= 2 * sizeof(uint64_t);
    if (is_its_jump)
        *ret = call->return_address;
    else if (!step_return_address(stepper->memory_fd, stepper->registers, ret))
        return false;
    return step_is_stepped(stepper, *ret);
}

/* Reports a library call that had not returned when stepping ended. */
static void say_unreturned(struct stepper *stepper, uint64_t address)
{
    bool has_reason = stepper->end == STEP_END_TIME || stepper->end == STEP_END_USER ||
                      stepper->end == STEP_END_EXIT;
    size_t length = strlen(stepper->end_text);
    if (has_reason)
        snprintf(stepper->end_text + length, sizeof(stepper->end_text) - length,
                 "; a call into %s had not returned", image_name(stepper, address));
}

/* Where on the stack the call has its return address. */
static struct step_call find_slot(struct stepper *stepper, const struct step_item_event *item)
{
    uint64_t word;
    size_t depth = stepper->calls.length;
    struct step_call found = {item->stack_pointer, item->return_address};
    if (RETURN_IN_REGISTER)
        return (struct step_call){0};
    if (depth && stepper->calls.data[depth - 1].return_address == item->return_address)
        found.stack_pointer = stepper->calls.data[depth - 1].stack_pointer;
    bool is_there = step_memory_read(stepper->memory_fd, found.stack_pointer, &word,
                                     sizeof(word)) == sizeof(word) &&
                    word == item->return_address;
    return is_there ? found : (struct step_call){0};
}

/* A loop calls from the same depth again, so the watchpoint is kept, disabled. */
static void watch_slot(struct stepper *stepper)
{
    struct step_breakpoint *watch = &stepper->over_watch;
    if (!stepper->over.stack_pointer)
        return;
    if (watch->tid && watch->address == stepper->over.stack_pointer) {
        step_breakpoint_enable(watch, true);
        return;
    }
    step_breakpoint_clear(watch);
    step_breakpoint_watch(stepper->tid, stepper->over.stack_pointer, watch);
}

/* Steps over the call. False: it did not return to where it was made. */
static bool step_over(struct stepper *stepper, const struct step_item_event *item, uint64_t least)
{
    stepper->over = find_slot(stepper, item);
    stepper->is_over_left = false;
    watch_slot(stepper);
    bool has_come = step_run_to(stepper, item->return_address, least, 0);
    if (stepper->over_watch.tid)
        step_breakpoint_enable(&stepper->over_watch, false);
    stepper->over = (struct step_call){0};
    return has_come && !stepper->is_over_left;
}

/* The write that told that a call was left may have been that of the next call: the thread is at
 * its function, or in a stub of the linkage table, which pushes up to two words. */
static void take_call_just_made(struct stepper *stepper)
{
    uint64_t words[3], stack_pointer = step_stack_pointer(stepper->registers);
    size_t count = step_memory_read(stepper->memory_fd, stack_pointer, words, sizeof(words)) /
                   sizeof(words[0]);
    for (size_t i = 0; i < count; i++)
        if (step_may_return_to(stepper, words[i], 0, UINT64_MAX)) {
            push_call(stepper, stack_pointer + i * sizeof(words[0]), words[i]);
            return;
        }
}

/* The call was left by an exception or longjmp(), and the thread is anywhere: stepping continues in
 * the code to which that led, or when the library function returns that the thread has called
 * since. */
static void go_on_after_leaving(struct stepper *stepper)
{
    uint64_t stack_pointer = step_stack_pointer(stepper->registers);
    stepper->is_over_left = false;
    drop_calls(stepper, stack_pointer);
    if (stepper->request->flags & STEP_UNTIL_RETURN &&
        stack_pointer > stepper->first_stack_pointer) {
        step_end(
            stepper, STEP_END_RETURN,
            "the function was left by an exception or longjmp(), out of a call into a library");
        return;
    }
    if (step_is_stepped(stepper, step_pc(stepper->registers))) {
        take_call_just_made(stepper);
        return;
    }
    uint64_t caller = step_find_caller(stepper, stepper->registers, 0, UINT64_MAX);
    if (!caller)
        step_end(stepper, STEP_END_ERROR, "where an exception or longjmp() led is not known");
    else if (caller == stepper->wait)
        step_end(stepper, STEP_END_WAIT, "the thread came to the wait that ended the vertex");
    else
        step_run_to(stepper, caller, stack_pointer, 0);
}

/* The thread has entered code that is not stepped. It continues to where the call returns. */
static void skip(struct stepper *stepper, bool by_jump)
{
    struct step_item_event item = {.address = step_pc(stepper->registers),
                                   .stack_pointer = step_stack_pointer(stepper->registers)};
    step_arguments(stepper->registers, item.arguments);
    if (!find_return(stepper, item.stack_pointer, by_jump, &item.return_address)) {
        step_end(stepper, STEP_END_ERROR,
                 "the thread left the application into %s, not by a call, and its return address "
                 "is not known",
                 image_name(stepper, item.address));
        return;
    }
    uint64_t least = item.stack_pointer;
#if defined(__aarch64__)
    least--; /* the return address is in a register: the stack pointer is the same after the call */
#endif
    if (stepper->wait && item.return_address == stepper->wait) {
        step_end(stepper, STEP_END_WAIT, "the thread came to the wait that ended the vertex");
    } else if (step_over(stepper, &item, least)) {
        item.returned = 1;
        item.value = step_result(stepper->registers);
        item.stack_pointer = step_stack_pointer(stepper->registers);
        drop_calls(stepper, item.stack_pointer);
    } else {
        say_unreturned(stepper, item.address);
    }
    say_event(stepper, STEP_ITEM_SKIP, &item);
    if (stepper->is_over_left)
        go_on_after_leaving(stepper);
}

static void after_call(struct stepper *stepper)
{
    struct step_item_event item = {.address = step_pc(stepper->registers),
                                   .stack_pointer = step_stack_pointer(stepper->registers)};
    if (!step_is_stepped(stepper, item.address)) {
        skip(stepper, false);
        return;
    }
    step_return_address(stepper->memory_fd, stepper->registers, &item.return_address);
    step_arguments(stepper->registers, item.arguments);
    push_call(stepper, item.stack_pointer, item.return_address);
    say_event(stepper, STEP_ITEM_CALL, &item);
}

static void after_return(struct stepper *stepper)
{
    struct step_item_event item = {.address = step_pc(stepper->registers),
                                   .stack_pointer = step_stack_pointer(stepper->registers),
                                   .value = step_result(stepper->registers)};
    say_event(stepper, STEP_ITEM_RETURN, &item);
    drop_calls(stepper, item.stack_pointer);
    bool is_out = item.stack_pointer > stepper->first_stack_pointer;
#if defined(__aarch64__)
    is_out =
        item.stack_pointer >= stepper->first_stack_pointer && item.address == stepper->first_return;
#endif
    if (stepper->request->flags & STEP_UNTIL_RETURN && is_out)
        step_end(stepper, STEP_END_RETURN, "the function returned");
    else if (!step_is_stepped(stepper, item.address))
        step_end(stepper, STEP_END_RETURN, "the application returned to %s, which had called it",
                 image_name(stepper, item.address));
}

/* Where an instruction that must not be single-stepped goes on; 0: it can be. */
static uint64_t next_place(struct stepper *stepper, uint64_t pc,
                           const struct step_instruction *instruction)
{
    uint64_t address = 0;
    if (instruction->length)
        return pc + instruction->length;
    if (instruction->kind == STEP_IS_IRET)
        step_return_address(stepper->memory_fd, stepper->registers, &address);
    return address;
}

/* Executes the thread's next instruction, and reports the outcome. */
static void advance(struct stepper *stepper)
{
    uint64_t pc = step_pc(stepper->registers);
    struct step_instruction instruction = step_instruction_at(stepper, pc);
    uint64_t next = next_place(stepper, pc, &instruction);
    bool done = next ? step_run_to(stepper, next, 0, 0) : step_one(stepper);
    if (!done)
        return;
    if (instruction.kind == STEP_IS_CALL)
        after_call(stepper);
    else if (instruction.kind == STEP_IS_RETURN)
        after_return(stepper);
    else if (!step_is_stepped(stepper, step_pc(stepper->registers)))
        skip(stepper, true); /* a jump: the linkage table, a tail call */
    else if (instruction.kind == STEP_IS_PUSHF)
        step_mend_pushf(stepper->memory_fd, stepper->registers);
}

static void say_end(struct stepper *stepper)
{
    const struct step_item_end item = {.end = stepper->end,
                                       .elapsed_ns = step_now_ns() - stepper->started_ns};
    step_output_put(stepper->output, STEP_ITEM_END, &item, sizeof(item), stepper->end_text,
                    strlen(stepper->end_text));
    step_output_flush(stepper->output);
}

void step_run(struct stepper *stepper)
{
    const struct step_request *request = stepper->request;
    stepper->started_ns = step_now_ns();
    stepper->deadline_ns = request->duration_ns ? stepper->started_ns + request->duration_ns : 0;
    stepper->first_stack_pointer = step_stack_pointer(stepper->registers);
    step_return_address(stepper->memory_fd, stepper->registers, &stepper->first_return);
    if (!(request->flags & (STEP_FROM_ANYWHERE | STEP_OUT_OF_LIBRARY)))
        push_call(stepper, stepper->first_stack_pointer, stepper->first_return);
    if (request->flags & STEP_UNTIL_RETURN &&
        step_breakpoint_set(stepper->tid, stepper->first_return, 2, true, &stepper->way_out) == 0)
        step_breakpoint_enable(&stepper->way_out, false);
    /* A thread that was stopped inside a system call repeats it, which is no step. */
    if (request->flags & STEP_FROM_ANYWHERE)
        step_one(stepper);
    while (!stepper->end) {
        step_output_put(stepper->output, STEP_ITEM_STEP, stepper->registers,
                        STEP_REGISTER_COUNT * sizeof(uint64_t), NULL, 0);
        stepper->steps++;
        if (stepper->steps >= request->most_steps)
            step_end(stepper, STEP_END_MOST, "the limit of %u instructions was reached",
                     request->most_steps);
        else
            advance(stepper);
        if (stepper->output->failed)
            step_end(stepper, STEP_END_USER, "argus does not read the steps any more");
    }
    step_leave(stepper);
    say_end(stepper);
}
