/* Changes inputs of step_trace.h by their structure: whole steps are copied, moved, removed, and
 * idioms of several records are inserted, such as a wait with its wake-up. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "event/tracepoints.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

enum { STEP = 8, MOST_STEPS_OF_AN_IDIOM = 6, ME = 100, OTHER = 101 };

/* Each step: tracepoint, thread (ME, OTHER or 0), which (odd: the end), the indices of arguments. */
static const uint8_t idioms[][MOST_STEPS_OF_AN_IDIOM][6] = {
    {{TRACEPOINT_syscall, ME, 4, 0, 0, 0},
     {TRACEPOINT_switch, ME, 0, 1, 0, 0},
     {TRACEPOINT_make_runnable, OTHER, 0, ME, 0, 0},
     {TRACEPOINT_switch, 0, 0, 0, ME, 0},
     {TRACEPOINT_syscall, ME, 5, 0, 0, 0}},
    {{TRACEPOINT_syscall, ME, 16, 2, 1, 1},
     {TRACEPOINT_lock, ME, 0, 5, 2, OTHER},
     {TRACEPOINT_switch, ME, 0, 1, 0, 0},
     {TRACEPOINT_stack, ME, 0, 1, 0, 1},
     {TRACEPOINT_make_runnable, OTHER, 0, ME, 0, 0},
     {TRACEPOINT_switch, 0, 0, 0, ME, 0}},
    {{TRACEPOINT_callback_queued, ME, 0, 2, 1, 1},
     {TRACEPOINT_callback, OTHER, 0, 2, 1, 2},
     {TRACEPOINT_sample, OTHER, 0, 1, 0, 0},
     {TRACEPOINT_callback, OTHER, 1, 2, 1, 2}},
    {{TRACEPOINT_message, ME, 8, 1, 1, 8},
     {TRACEPOINT_make_runnable, ME, 0, OTHER, 0, 0},
     {TRACEPOINT_switch, 0, 0, 0, OTHER, 0},
     {TRACEPOINT_message, OTHER, 8, 1, 1, 9}},
    {{TRACEPOINT_flag_write, ME, 0, 4, 1, 0}, {TRACEPOINT_flag_read, OTHER, 0, 4, 1, 0}},
    {{TRACEPOINT_timer_armed, ME, 0, 1, 0, 0},
     {TRACEPOINT_left_out, 0, 0, 2, 2, 0},
     {TRACEPOINT_left_out, 0, 0, 0, 2, 0},
     {TRACEPOINT_timer_fired, OTHER, 0, 1, 0, 0}},
    {{TRACEPOINT_suspended, 0, 0, 10, 0, 0},
     {TRACEPOINT_memory_stall, ME, 0, 1, 2, 0},
     {TRACEPOINT_waiting, OTHER, 0, 7, 0, 0}},
};

static uint8_t thread_of(uint8_t role, unsigned seed)
{
    return role == ME ? 1 + seed % 4 : role == OTHER ? 1 + (seed + 1) % 4 : role;
}

static size_t insert_idiom(uint8_t *steps, size_t count, size_t most, size_t at, unsigned seed)
{
    const uint8_t(*idiom)[6] = idioms[seed % (sizeof(idioms) / sizeof(*idioms))];
    uint8_t made[MOST_STEPS_OF_AN_IDIOM][STEP];
    size_t length = 0;
    for (; length < MOST_STEPS_OF_AN_IDIOM && (!length || idiom[length][0]); length++) {
        const uint8_t *step = idiom[length];
        uint8_t pause = seed / 64 % 5 == 0 ? 250 : 3;
        uint8_t bytes[STEP] = {step[0],
                               (uint8_t)(seed / 8 % 2),
                               pause,
                               thread_of(step[1], seed / 16),
                               step[2],
                               thread_of(step[3], seed / 16),
                               thread_of(step[4], seed / 16),
                               thread_of(step[5], seed / 16)};
        memcpy(made[length], bytes, STEP);
    }
    if (count + length > most)
        return count;
    memmove(steps + (at + length) * STEP, steps + at * STEP, (count - at) * STEP);
    memcpy(steps + at * STEP, made, length * STEP);
    return count + length;
}

static size_t copy_range(uint8_t *steps, size_t count, size_t most, size_t at, unsigned seed)
{
    size_t length = 1 + seed % 8;
    size_t from = count > length ? seed / 8 % (count - length) : 0;
    if (count < length || count + length > most)
        return count;
    uint8_t copy[8 * STEP];
    memcpy(copy, steps + from * STEP, length * STEP);
    memmove(steps + (at + length) * STEP, steps + at * STEP, (count - at) * STEP);
    memcpy(steps + at * STEP, copy, length * STEP);
    return count + length;
}

static size_t remove_range(uint8_t *steps, size_t count, size_t at, unsigned seed)
{
    size_t length = 1 + seed % 16;
    if (at + length > count)
        return count;
    memmove(steps + at * STEP, steps + (at + length) * STEP, (count - at - length) * STEP);
    return count - length;
}

/* One field: the tracepoint, or a value that the step's meaning depends on. */
static void change_field(uint8_t *step, unsigned seed)
{
    if (seed % 4 == 0)
        step[0] = (uint8_t)(seed / 4 % TRACEPOINT_COUNT);
    else
        LLVMFuzzerMutate(step + 1 + seed / 4 % 7, 1, 1);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    size_t count = size ? (size - 1) / STEP : 0, room = most ? (most - 1) / STEP : 0;
    if (!count || seed % 8 == 0)
        return LLVMFuzzerMutate(data, size, most);
    size_t at = seed / 8 % count;
    unsigned rest = seed / 4099;
    switch (seed % 8) {
    case 1:
        count = copy_range(data + 1, count, room, at, rest);
        break;
    case 2:
        count = remove_range(data + 1, count, at, rest);
        break;
    case 3:
    case 4:
        count = insert_idiom(data + 1, count, room, at, rest);
        break;
    case 5:
        data[0] = (uint8_t)rest;
        break;
    default:
        change_field(data + 1 + at * STEP, rest);
        break;
    }
    return 1 + count * STEP;
}
