#include "plugin/steps/host_stepper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "argus/steps.h"
#include "base/code_address.h"
#include "plugin/steps/host_registers.h"
#include "recorder/linux/step/step_instruction.h"

#if defined(__aarch64__) || defined(__arm64__)
#define DECODE             step_instruction_aarch64
#define RETURN_IN_REGISTER true
#else
#define DECODE             step_instruction_x86_64
#define RETURN_IN_REGISTER false
#endif

enum { MOST_CALLS = 1024, MOST_PAGES = 256, MOST_FRAMES = 1024 };

struct code_page {
    uint64_t address;
    size_t bytes;
    uint8_t code[STEP_CODE_BYTES];
};

/* A call that has not returned: the stack pointer at its first instruction, and the return
 * address. */
struct open_call {
    uint64_t stack_pointer, return_address;
};

/* The state of one run. */
struct run {
    const struct step_debugger *debugger;
    const struct step_request *request;
    const struct step_listener *listener;
    uint64_t registers[STEP_REGISTERS_MOST];
    uint64_t first_stack_pointer;
    struct code_page *pages; /* MOST_PAGES */
    struct open_call calls[MOST_CALLS];
    size_t depth;
    size_t page_count;
    uint64_t started_ns;
    uint32_t end;
    char text[300];
    bool has_maps;
    bool is_before_last; /* the limit of instructions will be reached after this one */
};

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void finish(struct run *run, uint32_t end, const char *text)
{
    if (run->end)
        return;
    run->end = end;
    snprintf(run->text, sizeof(run->text), "%s", text);
}

static void say_with(struct run *run, uint32_t kind, const void *head, size_t head_bytes,
                     const void *tail, size_t tail_bytes)
{
    if (!run->listener->on_item(run->listener->context, kind, head, (uint32_t)head_bytes, tail,
                                (uint32_t)tail_bytes))
        finish(run, STEP_END_USER, "interrupted");
}

static void say(struct run *run, uint32_t kind, const void *head, size_t head_bytes)
{
    say_with(run, kind, head, head_bytes, NULL, 0);
}

/* --- the thread --- */

static bool read_registers(struct run *run)
{
    if (run->debugger->read_registers(run->debugger->data, run->registers))
        return true;
    if (!run->end) {
        run->end = run->debugger->write_end(run->debugger->data, run->text, sizeof(run->text));
    }
    return false;
}

static size_t read_memory(struct run *run, uint64_t address, void *ret, size_t bytes)
{
    size_t done = run->debugger->read_memory(run->debugger->data, address, ret, bytes);
    return done <= bytes ? done : 0;
}

static uint64_t return_address(struct run *run)
{
#if defined(__aarch64__) || defined(__arm64__)
    /* in the middle of a function, the link register may be signed */
    return code_address_arm64(run->registers[ARGUS_ARM64_X30]);
#else
    uint64_t word = 0;
    size_t done = read_memory(run, host_stack_pointer(run->registers), &word, sizeof(word));
    return done == sizeof(word) ? word : 0;
#endif
}

/* --- code --- */

static bool is_stepped(struct run *run, uint64_t address)
{
    char path[STEP_PATH_BYTES];
    const struct step_debugger *debugger = run->debugger;
    if (!debugger->path_at(debugger->data, address, path, sizeof(path)))
        return debugger->is_executable(debugger->data, address); /* generated code, or no code */
    return step_patterns_stepped(run->request->skip, run->request->into, path);
}

/* The page of code at `address`, which is read and reported once; NULL: not readable. */
static const struct code_page *page_of(struct run *run, uint64_t address)
{
    address -= address % STEP_CODE_BYTES;
    for (size_t i = 0; i < run->page_count; i++)
        if (run->pages[i].address == address)
            return &run->pages[i];
    if (run->page_count == MOST_PAGES)
        return NULL;
    struct code_page *page = &run->pages[run->page_count++];
    page->address = address;
    page->bytes = read_memory(run, address, page->code, sizeof(page->code));
    if (page->bytes)
        say_with(run, STEP_ITEM_CODE, &address, sizeof(address), page->code, page->bytes);
    return page;
}

static struct step_instruction instruction_here(struct run *run)
{
    uint8_t code[STEP_INSTRUCTION_ROOM] = {0};
    uint64_t pc = host_pc(run->registers), offset = pc % STEP_CODE_BYTES;
    const struct code_page *page = page_of(run, pc);
    if (page && offset + sizeof(code) <= page->bytes)
        return DECODE(page->code + offset, sizeof(code));
    size_t bytes = read_memory(run, pc, code, sizeof(code));
    return bytes ? DECODE(code, bytes) : (struct step_instruction){0};
}

static void say_map(void *context, struct step_item_map *item, const char *path)
{
    struct run *run = context;
    if (item->flags & STEP_MAP_EXECUTABLE && is_stepped(run, item->start))
        item->flags |= STEP_MAP_STEPPED;
    item->is_first = !run->has_maps;
    run->has_maps = true;
    say_with(run, STEP_ITEM_MAP, item, sizeof(*item), path, strlen(path));
}

/* --- running the process --- */

static bool go_to(struct run *run, uint64_t address, uint64_t stack_pointer)
{
    enum host_stop stop = run->debugger->go(run->debugger->data);
    if (stop == HOST_STOP_FAILED) {
        finish(run, STEP_END_ERROR, "the process cannot continue");
        return false;
    }
    if (!read_registers(run))
        return false;
    bool arrived =
        host_pc(run->registers) == address && host_stack_pointer(run->registers) > stack_pointer;
    if (!arrived && stop != HOST_STOP_BREAKPOINT)
        finish(run, STEP_END_ERROR, "the process stopped for another reason, which LLDB shows");
    return arrived;
}

/* Lets the process run until this thread reaches `address` with a stack pointer above
 * `stack_pointer`. */
static bool run_to(struct run *run, uint64_t address, uint64_t stack_pointer)
{
    const struct step_debugger *debugger = run->debugger;
    int breakpoint = debugger->set_breakpoint(debugger->data, address);
    bool arrived = false;
    while (!arrived && !run->end)
        arrived = go_to(run, address, stack_pointer);
    debugger->delete_breakpoint(debugger->data, breakpoint);
    return arrived;
}

static void drop_calls(struct run *run, uint64_t stack_pointer)
{
    while (run->depth && run->calls[run->depth - 1].stack_pointer < stack_pointer)
        run->depth--;
}

static void push_call(struct run *run, uint64_t stack_pointer, uint64_t address)
{
    drop_calls(run, stack_pointer + 1);
    if (run->depth < MOST_CALLS)
        run->calls[run->depth++] = (struct open_call){stack_pointer, address};
}

/* The return address, found as the ptrace engine finds it (recorder/linux/step/step_loop.c,
 * find_return()). */
static uint64_t find_return(struct run *run, bool by_jump)
{
    uint64_t stack_pointer = host_stack_pointer(run->registers);
    drop_calls(run, stack_pointer);
    const struct open_call *call = run->depth ? &run->calls[run->depth - 1] : NULL;
    bool is_its_jump = by_jump && !RETURN_IN_REGISTER && call &&
                       call->stack_pointer - stack_pointer <= 2 * sizeof(uint64_t);
    return is_its_jump ? call->return_address : return_address(run);
}

static void skip(struct run *run, bool by_jump)
{
    struct step_item_event item = {.address = host_pc(run->registers),
                                   .stack_pointer = host_stack_pointer(run->registers),
                                   .return_address = find_return(run, by_jump)};
    host_arguments(run->registers, item.arguments);
    /* With the return address in a register, a call leaves the stack pointer as it is. */
    uint64_t least = item.stack_pointer - RETURN_IN_REGISTER;
    if (!is_stepped(run, item.return_address))
        finish(run, STEP_END_ERROR,
               "the thread left the application, and its return address is not known");
    else if (run_to(run, item.return_address, least)) {
        item.returned = 1;
        item.value = host_result(run->registers);
        item.stack_pointer = host_stack_pointer(run->registers);
        drop_calls(run, item.stack_pointer);
    }
    say(run, STEP_ITEM_SKIP, &item, sizeof(item));
}

static void after_call(struct run *run)
{
    struct step_item_event item = {.address = host_pc(run->registers),
                                   .stack_pointer = host_stack_pointer(run->registers)};
    if (!is_stepped(run, item.address)) {
        skip(run, false);
        return;
    }
    item.return_address = return_address(run);
    host_arguments(run->registers, item.arguments);
    push_call(run, item.stack_pointer, item.return_address);
    say(run, STEP_ITEM_CALL, &item, sizeof(item));
}

static void after_return(struct run *run)
{
    struct step_item_event item = {.address = host_pc(run->registers),
                                   .stack_pointer = host_stack_pointer(run->registers),
                                   .value = host_result(run->registers)};
    say(run, STEP_ITEM_RETURN, &item, sizeof(item));
    drop_calls(run, item.stack_pointer);
    if (run->request->flags & STEP_UNTIL_RETURN && item.stack_pointer > run->first_stack_pointer)
        finish(run, STEP_END_RETURN, "the function returned");
    else if (!is_stepped(run, item.address))
        finish(run, STEP_END_RETURN, "the application returned to the library that had called it");
}

/* A debugger steps into the handler of a signal that it passes on. This is recognized because no
 * other instruction uses so much stack and continues somewhere else. */
static bool is_in_handler(const struct run *run, uint64_t pc, uint64_t stack_pointer)
{
    uint64_t moved = host_pc(run->registers) - pc, now = host_stack_pointer(run->registers);
    return moved > 16 && now < stack_pointer && stack_pointer - now > 256;
}

/* Runs to the end of the handler, and reports a signal. */
static bool leave_handler(struct run *run)
{
    const struct step_item_event item = {0}; /* which signal it was is not known here */
    uint64_t interrupted = run->debugger->frame_pc(run->debugger->data, 2);
    say(run, STEP_ITEM_SIGNAL, &item, sizeof(item));
    if (interrupted)
        return run_to(run, interrupted, host_stack_pointer(run->registers));
    finish(run, STEP_END_ERROR, "a signal came, and where its handler returns to is not known");
    return false;
}

static bool is_plain(const struct step_instruction *instruction)
{
    return instruction->kind == STEP_PLAIN || instruction->kind == STEP_IS_CALL ||
           instruction->kind == STEP_IS_RETURN;
}

/* Whether the run ends after this instruction, as far as can be told. */
static bool is_last(struct run *run, const struct step_instruction *instruction)
{
    if (run->is_before_last || instruction->kind != STEP_IS_RETURN)
        return run->is_before_last;
    if (run->request->flags & STEP_UNTIL_RETURN)
        return host_stack_pointer(run->registers) >= run->first_stack_pointer;
    return run->depth <= 1 && !is_stepped(run, return_address(run));
}

/* False: the run is over, or the instruction was not executed. */
static bool step_one(struct run *run, const struct step_instruction *instruction)
{
    uint64_t pc = host_pc(run->registers), stack_pointer = host_stack_pointer(run->registers);
    run->debugger->step_instruction(run->debugger->data,
                                    is_plain(instruction) && !is_last(run, instruction));
    if (!read_registers(run))
        return false;
    if (!is_in_handler(run, pc, stack_pointer))
        return true;
    return leave_handler(run) && host_pc(run->registers) != pc;
}

static void advance(struct run *run)
{
    struct step_instruction instruction = instruction_here(run);
    bool is_run = instruction.kind == STEP_IS_REPEATED;
    uint64_t next = host_pc(run->registers) + instruction.length;
    if (!(is_run ? run_to(run, next, 0) : step_one(run, &instruction)))
        return;
    if (instruction.kind == STEP_IS_CALL)
        after_call(run);
    else if (instruction.kind == STEP_IS_RETURN)
        after_return(run);
    else if (!is_stepped(run, host_pc(run->registers)))
        skip(run, true);
}

/* --- the whole run --- */

/* Reports the readable stack from the stack pointer up, as needed for unwinding. */
static void say_stack(struct run *run)
{
    const struct step_item_stack item = {host_stack_pointer(run->registers)};
    uint8_t *stack = malloc(STEP_STACK_BYTES);
    size_t bytes = stack ? read_memory(run, item.address, stack, STEP_STACK_BYTES) : 0;
    if (bytes)
        say_with(run, STEP_ITEM_STACK, &item, sizeof(item), stack, bytes);
    free(stack);
}

static void say_begin(struct run *run)
{
    const struct step_debugger *debugger = run->debugger;
    struct host_thread thread = {0};
    debugger->describe(debugger->data, &thread);
    struct step_item_begin item = {.pid = thread.pid,
                                   .tid = thread.tid,
                                   .wall_ns = now_ns(CLOCK_REALTIME),
                                   .address = host_pc(run->registers)};
    snprintf(item.comm, sizeof(item.comm), "%.*s", (int)sizeof(item.comm) - 1, thread.comm);
    say(run, STEP_ITEM_BEGIN, &item, sizeof(item));
    debugger->each_map(debugger->data, say_map, run);
    say_stack(run);
}

static void say_end(struct run *run)
{
    const struct step_item_end item = {.end = run->end,
                                       .elapsed_ns = now_ns(CLOCK_MONOTONIC) - run->started_ns};
    say_with(run, STEP_ITEM_END, &item, sizeof(item), run->text, strlen(run->text));
}

/* The debugger may execute the next instruction after the end: it must not wait in the kernel. */
static bool may_end_here(struct run *run)
{
    struct step_instruction instruction = instruction_here(run);
    return is_plain(&instruction);
}

static void step_all(struct run *run)
{
    const struct step_request *request = run->request;
    run->started_ns = now_ns(CLOCK_MONOTONIC);
    run->first_stack_pointer = host_stack_pointer(run->registers);
    if (!(request->flags & STEP_FROM_ANYWHERE))
        push_call(run, run->first_stack_pointer, return_address(run));
    for (uint32_t steps = 0; !run->end; steps++) {
        page_of(run, host_pc(run->registers));
        say(run, STEP_ITEM_STEP, run->registers, host_register_count() * sizeof(uint64_t));
        uint64_t elapsed = now_ns(CLOCK_MONOTONIC) - run->started_ns;
        run->is_before_last = steps + 2 >= request->most_steps;
        if (steps + 1 >= request->most_steps)
            finish(run, STEP_END_MOST, "the limit of instructions was reached");
        else if (request->duration_ns && elapsed > request->duration_ns && may_end_here(run))
            finish(run, STEP_END_TIME, "the time limit was reached");
        else
            advance(run);
    }
    say_end(run);
}

/* Lets a thread that waits in a library return from it first. */
static struct argus_error *come_out(struct run *run)
{
    for (uint32_t i = 0; i < MOST_FRAMES; i++) {
        uint64_t pc = run->debugger->frame_pc(run->debugger->data, i);
        if (!pc)
            break;
        if (!is_stepped(run, pc))
            continue;
        if (i > 0)
            run_to(run, pc, host_stack_pointer(run->registers));
        return run->end ? argus_error_create(ARGUS_ERROR_NOT_FOUND, "%s", run->text) : NULL;
    }
    return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                              "the stack of the thread has no frame of the program's own code");
}

static struct argus_error *begin(struct run *run)
{
    if (!read_registers(run))
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "the process has ended");
    return run->request->flags & STEP_FROM_ANYWHERE ? come_out(run) : NULL;
}

struct argus_error *host_stepper_run(const struct step_debugger *debugger,
                                     const struct step_request *request,
                                     const struct step_listener *listener)
{
    struct run *run = calloc(1, sizeof(*run));
    struct code_page *pages = malloc(MOST_PAGES * sizeof(*pages));
    struct argus_error *error = run && pages ? NULL : argus_error_memory();
    if (!error) {
        *run = (struct run){
            .debugger = debugger, .request = request, .listener = listener, .pages = pages};
        error = begin(run);
    }
    if (!error) {
        say_begin(run);
        step_all(run);
    }
    free(pages);
    free(run);
    return error;
}
