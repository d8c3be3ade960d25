/* The stepper of debuggers on a debugger that plays a script: a row is where the thread is after one
 * more step, or after the process went on. The code is x86-64's, so other processors skip it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "argus/steps.h"
#include "plugin/steps/host_registers.h"
#include "plugin/steps/host_stepper.h"

#define PROGRAM UINT64_C(0x401000)
#define LIBRARY UINT64_C(0x7f0000001000)
#define STACK   UINT64_C(0x7ffc00000000)

enum { CALL = 0xe8, RET = 0xc3 };

struct state {
    uint64_t pc, sp;
    uint8_t opcode; /* at the pc; 0: nop */
    uint64_t top;   /* the word at sp */
    enum host_stop stop;
};

struct script {
    const struct state *states;
    size_t count, at, plain_steps;
    int breakpoints, most_breakpoints;
    uint32_t said[64]; /* kinds of items */
    size_t said_count;
    struct step_item_event event; /* the last one */
    uint32_t end;
    char end_text[300];
    uint64_t frames[4];
};

static struct script *of(void *data)
{
    return data;
}

static bool read_registers(void *data, uint64_t ret[STEP_REGISTERS_MOST])
{
    struct script *script = of(data);
    if (script->at >= script->count)
        return false;
    memset(ret, 0, STEP_REGISTERS_MOST * sizeof(*ret));
    ret[ARGUS_X86_RIP] = script->states[script->at].pc;
    ret[ARGUS_X86_RSP] = script->states[script->at].sp;
    ret[ARGUS_X86_RAX] = 7;
    ret[ARGUS_X86_RDI] = 11;
    return true;
}

static uint32_t write_end(void *data, char *ret, size_t room)
{
    (void)data;
    snprintf(ret, room, "the process ended");
    return STEP_END_EXIT;
}

static void step_instruction(void *data, bool is_plain)
{
    of(data)->plain_steps += is_plain;
    of(data)->at++;
}

static int set_breakpoint(void *data, uint64_t address)
{
    (void)address;
    of(data)->most_breakpoints++;
    return ++of(data)->breakpoints;
}

static void delete_breakpoint(void *data, int breakpoint)
{
    assert_int_equal(breakpoint, of(data)->breakpoints);
    of(data)->breakpoints--;
}

static enum host_stop go(void *data)
{
    struct script *script = of(data);
    script->at++;
    return script->at < script->count ? script->states[script->at].stop : HOST_STOP_OTHERWISE;
}

static size_t read_memory(void *data, uint64_t address, void *ret, size_t bytes)
{
    const struct state *now = &of(data)->states[of(data)->at];
    if (address >= STACK) {
        memset(ret, 0, bytes);
        memcpy(ret, &now->top, bytes < 8 ? bytes : 8);
        return bytes;
    }
    if (address % STEP_CODE_BYTES == 0 && bytes == STEP_CODE_BYTES)
        return 0; /* not as a page: the bytes change from row to row */
    memset(ret, 0x90, bytes);
    *(uint8_t *)ret = now->opcode ? now->opcode : 0x90;
    return bytes;
}

static bool path_at(void *data, uint64_t address, char *ret, size_t room)
{
    (void)data;
    snprintf(ret, room, "%s", address >= LIBRARY ? "/usr/lib/libc.so.6" : "/usr/bin/program");
    return address != 0;
}

static bool is_executable(void *data, uint64_t address)
{
    (void)data;
    (void)address;
    return false;
}

static uint64_t frame_pc(void *data, uint32_t number)
{
    return number < 4 ? of(data)->frames[number] : 0;
}

static void each_map(void *data, void (*say)(void *, struct step_item_map *, const char *),
                     void *context)
{
    (void)data;
    for (int i = 0; i < 2; i++) {
        struct step_item_map item = {.start = i ? LIBRARY : PROGRAM, .flags = STEP_MAP_EXECUTABLE};
        say(context, &item, i ? "/usr/lib/libc.so.6" : "/usr/bin/program");
        assert_int_equal(item.is_first, !i);
        assert_int_equal(item.flags & STEP_MAP_STEPPED, i ? 0 : STEP_MAP_STEPPED);
    }
}

static void describe(void *data, struct host_thread *ret)
{
    (void)data;
    *ret = (struct host_thread){1, 2, "program"};
}

static bool on_item(void *context, uint32_t kind, const void *head, uint32_t head_bytes,
                    const void *tail, uint32_t tail_bytes)
{
    struct script *script = context;
    script->said[script->said_count++ % 64] = kind;
    if (head_bytes == sizeof(script->event))
        memcpy(&script->event, head, head_bytes);
    if (kind == STEP_ITEM_END) {
        script->end = ((const struct step_item_end *)head)->end;
        snprintf(script->end_text, sizeof(script->end_text), "%.*s", (int)tail_bytes,
                 (const char *)tail);
    }
    return true;
}

/* Steps through the script; returns how often an item of `kind` was reported. */
static size_t play(struct script *script, uint32_t flags, uint32_t most_steps, uint32_t kind)
{
    const struct step_debugger debugger = {
        script,   read_registers, write_end, step_instruction, set_breakpoint, delete_breakpoint,
        go,       read_memory,    path_at,   is_executable,    frame_pc,       each_map,
        describe,
    };
    struct step_request request = {.flags = flags, .most_steps = most_steps};
    snprintf(request.skip, sizeof(request.skip), "/usr/lib/*");
    const struct step_listener listener = {script, on_item};
    assert_null(host_stepper_run(&debugger, &request, &listener));
    assert_int_equal(script->breakpoints, 0);
    size_t count = 0;
    for (size_t i = 0; i < script->said_count; i++)
        count += script->said[i] == kind;
    return count;
}

#define SCRIPT(...)                                                                                \
    static const struct state states[] = {__VA_ARGS__};                                            \
    struct script script = {.states = states, .count = sizeof(states) / sizeof(*states)}

static void test_calls_and_returns(void **state)
{
    (void)state;
    SCRIPT({PROGRAM, STACK + 0x100, CALL, 1, 0}, {PROGRAM + 0x50, STACK + 0xf8, 0, PROGRAM + 5, 0},
           {PROGRAM + 0x51, STACK + 0xf8, RET, PROGRAM + 5, 0},
           {PROGRAM + 5, STACK + 0x100, 0, 0, 0});
    assert_int_equal(play(&script, 0, 4, STEP_ITEM_CALL), 1);
    assert_int_equal(script.end, STEP_END_MOST);
    assert_int_equal(script.event.value, 7);
    assert_int_equal(script.event.address, PROGRAM + 5);
}

/* Another thread stops at the same breakpoint deeper in the stack: that is not the return. */
static void test_a_library_is_stepped_over(void **state)
{
    (void)state;
    SCRIPT({PROGRAM, STACK + 0x100, CALL, 0, 0}, {LIBRARY, STACK + 0xf8, 0, PROGRAM + 5, 0},
           {PROGRAM + 5, STACK + 0x80, 0, 0, HOST_STOP_BREAKPOINT},
           {PROGRAM + 5, STACK + 0x100, 0, 0, HOST_STOP_BREAKPOINT});
    assert_int_equal(play(&script, 0, 2, STEP_ITEM_SKIP), 1);
    assert_int_equal(script.event.returned, 1);
    assert_int_equal(script.event.return_address, PROGRAM + 5);
    assert_int_equal(script.event.arguments[0], 11);
    assert_int_equal(script.most_breakpoints, 1);
}

/* A tail call: the word at the stack pointer is the return address of the function that jumped. */
static void test_a_jump_into_a_library_returns_to_the_caller(void **state)
{
    (void)state;
    SCRIPT({PROGRAM, STACK + 0x100, CALL, 0, 0}, {PROGRAM + 0x50, STACK + 0xf8, 0, PROGRAM + 5, 0},
           {LIBRARY, STACK + 0xf8, 0, 0x1234, 0},
           {PROGRAM + 5, STACK + 0x100, 0, 0, HOST_STOP_BREAKPOINT});
    assert_int_equal(play(&script, 0, 3, STEP_ITEM_SKIP), 1);
    assert_int_equal(script.event.return_address, PROGRAM + 5);
}

static void test_a_signal_handler_is_run_through(void **state)
{
    (void)state;
    SCRIPT({PROGRAM, STACK + 0x1000, 0, 0, 0}, {PROGRAM + 0x400, STACK + 0x800, 0, 0, 0},
           {PROGRAM + 1, STACK + 0x1000, 0, 0, HOST_STOP_BREAKPOINT});
    script.frames[2] = PROGRAM + 1;
    assert_int_equal(play(&script, 0, 2, STEP_ITEM_SIGNAL), 1);
    assert_int_equal(script.end, STEP_END_MOST);
}

/* After the last instruction, the debugger must know where the thread is. */
static void test_the_last_step_is_the_debuggers(void **state)
{
    (void)state;
    SCRIPT({PROGRAM, STACK + 0x100, 0, 0, 0}, {PROGRAM + 1, STACK + 0x100, 0, 0, 0},
           {PROGRAM + 2, STACK + 0x100, RET, PROGRAM + 9, 0},
           {PROGRAM + 9, STACK + 0x108, 0, 0, 0});
    play(&script, 0, 3, STEP_ITEM_STEP);
    assert_int_equal(script.end, STEP_END_MOST);
    assert_int_equal(script.plain_steps, 1);
    script.at = script.plain_steps = script.said_count = 0;
    play(&script, STEP_UNTIL_RETURN, 100, STEP_ITEM_STEP);
    assert_int_equal(script.end, STEP_END_RETURN);
    assert_int_equal(script.plain_steps, 2);
}

static void test_the_end_says_why(void **state)
{
    (void)state;
    SCRIPT({PROGRAM, STACK + 0x100, 0, 0, 0});
    play(&script, 0, 100, STEP_ITEM_STEP);
    assert_int_equal(script.end, STEP_END_EXIT);
    assert_string_equal(script.end_text, "the process ended");
}

static void test_another_stop_ends_it(void **state)
{
    (void)state;
    SCRIPT({PROGRAM, STACK + 0x100, CALL, 0, 0}, {LIBRARY, STACK + 0xf8, 0, PROGRAM + 5, 0},
           {LIBRARY + 8, STACK + 0x80, 0, 0, HOST_STOP_OTHERWISE});
    play(&script, 0, 100, STEP_ITEM_SKIP);
    assert_int_equal(script.end, STEP_END_ERROR);
    assert_int_equal(script.event.returned, 0);
}

/* A thread that waits in a library first returns to the program's own code. */
static void test_from_anywhere(void **state)
{
    (void)state;
    SCRIPT({LIBRARY, STACK + 0xf0, 0, 0, 0},
           {PROGRAM + 5, STACK + 0x100, 0, 0, HOST_STOP_BREAKPOINT});
    script.frames[0] = LIBRARY;
    script.frames[1] = PROGRAM + 5;
    assert_int_equal(play(&script, STEP_FROM_ANYWHERE, 1, STEP_ITEM_STEP), 1);
    assert_int_equal(script.end, STEP_END_MOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_and_returns),
        cmocka_unit_test(test_a_library_is_stepped_over),
        cmocka_unit_test(test_a_jump_into_a_library_returns_to_the_caller),
        cmocka_unit_test(test_a_signal_handler_is_run_through),
        cmocka_unit_test(test_the_last_step_is_the_debuggers),
        cmocka_unit_test(test_the_end_says_why),
        cmocka_unit_test(test_another_stop_ends_it),
        cmocka_unit_test(test_from_anywhere),
    };
#if !defined(__x86_64__)
    return 77;
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
