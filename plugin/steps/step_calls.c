/* Matches returns to calls: a return ends every call whose stack is then above the stack pointer.
 * This includes calls that a tail call or longjmp() left without a return of their own. */
#include "plugin/steps/step_calls.h"

#include <stdlib.h>
#include <string.h>

#include "event/unwind/live_stack.h"

#define MOST_FRAMES 256

/* --- frames --- */

static struct argus_error *push_frame(struct step_collector *collector, uint64_t return_address,
                                      uint64_t function)
{
    const struct argus_step_frame frame = {
        .return_address = return_address, .function = function, .caller = collector->frame};
    if (!vec_push(&collector->callers, collector->frame))
        return argus_error_memory();
    return argus_steps_writer_frame(collector->writer, &frame, &collector->frame);
}

/* Adds the stack of the first step, outermost frame first. */
static struct argus_error *put_first_stack(struct step_collector *collector,
                                           const uint64_t *registers)
{
#if defined(__aarch64__)
    uint64_t row[33];
    memcpy(row, registers, sizeof(row));
#else
    const uint64_t row[17] = {registers[ARGUS_X86_RAX],
                              registers[ARGUS_X86_RDX],
                              registers[ARGUS_X86_RCX],
                              registers[ARGUS_X86_RBX],
                              registers[ARGUS_X86_RSI],
                              registers[ARGUS_X86_RDI],
                              registers[ARGUS_X86_RBP],
                              registers[ARGUS_X86_RSP],
                              registers[8],
                              registers[9],
                              registers[10],
                              registers[11],
                              registers[12],
                              registers[13],
                              registers[14],
                              registers[15],
                              registers[ARGUS_X86_RIP]};
#endif
    const struct live_stack stack = {.pid = (uint32_t)collector->about.pid,
                                     .tid = (uint32_t)collector->about.tid,
                                     .registers = row,
                                     .address = collector->first_registers_stack,
                                     .bytes = collector->stack,
                                     .length = collector->stack_bytes};
    struct live_frame frames[MOST_FRAMES];
    struct argus_error *error = NULL;
    size_t count = live_stack_unwind(&stack, frames, MOST_FRAMES);
    for (size_t i = count; i-- > 0 && !error;)
        error = push_frame(collector, i + 1 < count ? frames[i + 1].pc : 0, frames[i].function);
    argus_steps_writer_first_frame(collector->writer, collector->frame);
    free(collector->stack);
    collector->stack = NULL;
    return error;
}

struct argus_error *step_collector_step(struct step_collector *collector,
                                        const struct step_said *said)
{
    uint64_t registers[STEP_REGISTERS_MOST] = {0};
    memcpy(registers, said->data, said->bytes);
    struct argus_error *error = collector->stack ? put_first_stack(collector, registers) : NULL;
    if (error)
        return error;
    collector->pc = registers[PC];
    bool wanted = collector->pc >= collector->from && collector->pc < collector->to;
    return argus_steps_writer_step(collector->writer, collector->pc, wanted ? registers : NULL);
}

/* --- events --- */

static struct argus_error *put_event(struct step_collector *collector,
                                     enum argus_step_event_kind kind, uint32_t frame,
                                     const struct step_item_event *item)
{
    uint32_t steps = argus_steps_writer_count(collector->writer);
    struct argus_step_event event = {.kind = (uint8_t)kind,
                                     .step = steps ? steps - 1 : 0,
                                     .frame = frame,
                                     .returned = item->returned,
                                     .address = item->address,
                                     .value = item->value};
    memcpy(event.arguments, item->arguments, sizeof(event.arguments));
    return steps ? argus_steps_writer_event(collector->writer, &event) : NULL;
}

/* On aarch64, a call does not move the stack pointer, so a return restores the same value. */
static bool has_ended(const struct step_open_call *call, uint64_t stack_pointer)
{
    return HOST_ARCH == ARGUS_ARCH_AARCH64 ? call->stack_pointer <= stack_pointer
                                           : call->stack_pointer < stack_pointer;
}

/* Ends the calls that have returned, innermost first. */
static struct argus_error *end_calls(struct step_collector *collector,
                                     const struct step_item_event *item, bool *ret_any)
{
    struct argus_error *error = NULL;
    *ret_any = false;
    while (!error && collector->calls.length) {
        const struct step_open_call *call = &collector->calls.data[collector->calls.length - 1];
        if (!has_ended(call, item->stack_pointer))
            break;
        error = put_event(collector, ARGUS_STEP_RETURN, call->frame, item);
        collector->frame = collector->callers.data[call->frame];
        collector->calls.length--;
        *ret_any = true;
    }
    return error;
}

struct argus_error *step_collector_event(struct step_collector *collector,
                                         const struct step_said *said)
{
    struct step_item_event item;
    struct argus_error *error = NULL;
    bool any;
    memcpy(&item, said->data, sizeof(item));
    switch ((enum step_item_kind)said->kind) {
    case STEP_ITEM_CALL:
        error = push_frame(collector, item.return_address, item.address);
        if (!error && !vec_push(&collector->calls,
                                (struct step_open_call){collector->frame, item.stack_pointer}))
            error = argus_error_memory();
        return error ? error : put_event(collector, ARGUS_STEP_CALL, collector->frame, &item);
    case STEP_ITEM_RETURN:
        error = end_calls(collector, &item, &any);
        if (error || any)
            return error;
        error = put_event(collector, ARGUS_STEP_RETURN, collector->frame, &item);
        /* return from the function in which the stepping began */
        if (collector->frame != ARGUS_NONE)
            collector->frame = collector->callers.data[collector->frame];
        return error;
    case STEP_ITEM_SKIP:
        error = put_event(collector, ARGUS_STEP_SKIP, collector->frame, &item);
        item.address = item.return_address;
        return error || !item.returned ? error : end_calls(collector, &item, &any);
    default:
        return put_event(collector, ARGUS_STEP_SIGNAL, collector->frame, &item);
    }
}
