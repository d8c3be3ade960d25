/* argus step inside LLDB: SBThread::StepInstruction(), one to three thousand steps a second. During
 * that, the debugger is synchronous, so that it prints nothing by itself and each call returns when
 * the process has stopped again. */
#include "plugin/lldb/lldb_stepper.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "base/code_address.h"
#include "plugin/lldb/host.h"
#include "plugin/steps/host_registers.h"
#include "recorder/linux/step/step_instruction.h"

namespace
{

#if defined(__aarch64__) || defined(__arm64__)
enum { PC = 32, SP = 31, RESULT = 0, LINK = 30 };
const int argument_registers[] = {0, 1, 2, 3, 4, 5};
#define DECODE             step_instruction_aarch64
#define RETURN_IN_REGISTER true
#else
enum { PC = 16, SP = 4, RESULT = 0 };
const int argument_registers[] = {7, 6, 2, 1, 8, 9};
#define DECODE             step_instruction_x86_64
#define RETURN_IN_REGISTER false
#endif

enum { MOST_CALLS = 1024, MOST_PAGES = 256 };

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
    const struct step_request *request;
    const struct step_listener *listener;
    struct host_call *call;
    lldb::SBTarget target;
    lldb::SBProcess process;
    lldb::SBThread thread;
    uint64_t registers[STEP_REGISTERS_MOST];
    int places[STEP_REGISTERS_MOST]; /* index of each register in LLDB's set */
    bool mapped;                     /* `places` is valid */
    uint64_t first_stack_pointer;
    struct code_page *pages; /* MOST_PAGES */
    struct open_call calls[MOST_CALLS];
    size_t depth;
    size_t page_count;
    uint64_t started_ns;
    uint32_t end;
    char text[300];
};

uint64_t now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

void say(struct run *run, uint32_t kind, const void *head, size_t head_bytes,
         const void *tail = nullptr, size_t tail_bytes = 0)
{
    if (!run->listener->on_item(run->listener->context, kind, head,
                                static_cast<uint32_t>(head_bytes), tail,
                                static_cast<uint32_t>(tail_bytes)) &&
        !run->end) {
        run->end = STEP_END_USER;
        snprintf(run->text, sizeof(run->text), "interrupted");
    }
}

void finish(struct run *run, uint32_t end, const char *text)
{
    if (run->end)
        return;
    run->end = end;
    snprintf(run->text, sizeof(run->text), "%s", text);
}

/* --- the thread --- */

bool is_stopped(struct run *run)
{
    if (run->process.GetState() == lldb::eStateStopped && run->thread.IsValid())
        return true;
    char text[120];
    snprintf(text, sizeof(text), "the process ended (exit status %d)",
             run->process.GetExitStatus());
    finish(run, STEP_END_EXIT, text);
    return false;
}

/* Finds each register in LLDB's first set, the general ones. Registers that LLDB does not have stay
 * 0. */
void map_registers(struct run *run, lldb::SBValue &general)
{
    for (size_t i = 0; i < host_register_count(); i++)
        run->places[i] = -1;
    for (uint32_t k = 0; k < general.GetNumChildren(); k++) {
        const char *name = general.GetChildAtIndex(k).GetName();
        for (uint32_t i = 0; name && i < host_register_count(); i++)
            if (strcmp(name, host_register_name_in_lldb(i)) == 0)
                run->places[i] = static_cast<int>(k);
    }
    run->mapped = true;
}

bool read_registers(struct run *run)
{
    if (!is_stopped(run))
        return false;
    lldb::SBValue general = run->thread.GetFrameAtIndex(0).GetRegisters().GetValueAtIndex(0);
    if (!run->mapped)
        map_registers(run, general);
    for (size_t i = 0; i < host_register_count(); i++)
        run->registers[i] = run->places[i] < 0
                                ? 0
                                : general.GetChildAtIndex(static_cast<uint32_t>(run->places[i]))
                                      .GetValueAsUnsigned();
    return true;
}

#if defined(__aarch64__) || defined(__arm64__)
uint64_t return_address(struct run *run)
{
    /* in the middle of a function, the link register may be signed */
    return code_address_arm64(run->registers[LINK]);
}
#else
uint64_t return_address(struct run *run)
{
    lldb::SBError error;
    uint64_t word = 0;
    run->process.ReadMemory(run->registers[SP], &word, sizeof(word), error);
    return error.Success() ? word : 0;
}
#endif

/* --- code --- */

void path_of(const lldb::SBFileSpec &file, char *ret, size_t room)
{
    if (file.GetPath(ret, room) == 0)
        ret[0] = '\0';
}

bool is_stepped(struct run *run, uint64_t address)
{
    char path[STEP_PATH_BYTES];
    lldb::SBModule module = run->target.ResolveLoadAddress(address).GetModule();
    if (!module.IsValid()) { /* generated code, or no code */
        lldb::SBMemoryRegionInfo region;
        return run->process.GetMemoryRegionInfo(address, region).Success() && region.IsExecutable();
    }
    path_of(module.GetFileSpec(), path, sizeof(path));
    return step_patterns_stepped(run->request->skip, run->request->into, path);
}

/* The page of code at `address`, which is read and reported once; nullptr: not readable. */
const struct code_page *page_of(struct run *run, uint64_t address)
{
    lldb::SBError error;
    address -= address % STEP_CODE_BYTES;
    for (size_t i = 0; i < run->page_count; i++)
        if (run->pages[i].address == address)
            return &run->pages[i];
    if (run->page_count == MOST_PAGES)
        return nullptr;
    struct code_page *page = &run->pages[run->page_count++];
    page->address = address;
    page->bytes = run->process.ReadMemory(address, page->code, sizeof(page->code), error);
    if (page->bytes && page->bytes <= sizeof(page->code))
        say(run, STEP_ITEM_CODE, &address, sizeof(address), page->code, page->bytes);
    else
        page->bytes = 0;
    return page;
}

struct step_instruction instruction_here(struct run *run)
{
    uint8_t code[STEP_INSTRUCTION_ROOM] = {0};
    lldb::SBError error;
    uint64_t pc = run->registers[PC], offset = pc % STEP_CODE_BYTES;
    const struct code_page *page = page_of(run, pc);
    if (page && offset + sizeof(code) <= page->bytes)
        return DECODE(page->code + offset, sizeof(code));
    size_t bytes = run->process.ReadMemory(pc, code, sizeof(code), error);
    return bytes ? DECODE(code, bytes) : step_instruction{};
}

/* The file offset of the byte that is mapped at `address`. */
uint64_t file_offset(struct run *run, uint64_t address)
{
    lldb::SBAddress found = run->target.ResolveLoadAddress(address);
    lldb::SBSection section = found.GetSection();
    return section.IsValid() ? section.GetFileOffset() + found.GetOffset() : 0;
}

void say_maps(struct run *run)
{
    lldb::SBMemoryRegionInfoList regions = run->process.GetMemoryRegions();
    bool first = true;
    for (uint32_t i = 0; i < regions.GetSize(); i++) {
        lldb::SBMemoryRegionInfo region;
        if (!regions.GetMemoryRegionAtIndex(i, region) || !region.IsMapped())
            continue;
        const char *name = region.GetName();
        struct step_item_map item = {};
        item.start = region.GetRegionBase();
        item.end = region.GetRegionEnd();
        item.file_offset = name && name[0] == '/' ? file_offset(run, item.start) : 0;
        item.flags = (region.IsExecutable() ? STEP_MAP_EXECUTABLE : 0) |
                     (region.IsWritable() ? STEP_MAP_WRITABLE : 0);
        if (region.IsExecutable() && is_stepped(run, item.start))
            item.flags |= STEP_MAP_STEPPED;
        item.is_first = first;
        first = false;
        say(run, STEP_ITEM_MAP, &item, sizeof(item), name ? name : "", name ? strlen(name) : 0);
    }
}

/* --- running the process --- */

/* Lets the process run until this thread reaches `address` with a stack pointer above
 * `stack_pointer`. */
bool run_to(struct run *run, uint64_t address, uint64_t stack_pointer)
{
    lldb::SBBreakpoint breakpoint = run->target.BreakpointCreateByAddress(address);
    lldb::tid_t tid = run->thread.GetThreadID();
    breakpoint.SetThreadID(tid);
    bool arrived = false;
    while (!arrived && !run->end) {
        lldb::SBError error = run->process.Continue();
        run->thread = run->process.GetThreadByID(tid);
        if (error.Fail() || !read_registers(run)) {
            finish(run, STEP_END_ERROR, error.Fail() ? "the process cannot continue" : "it ended");
            break;
        }
        arrived = run->registers[PC] == address && run->registers[SP] > stack_pointer;
        if (!arrived && run->thread.GetStopReason() != lldb::eStopReasonBreakpoint)
            finish(run, STEP_END_ERROR, "the process stopped for another reason, which LLDB shows");
    }
    run->target.BreakpointDelete(breakpoint.GetID());
    return arrived;
}

void drop_calls(struct run *run, uint64_t stack_pointer)
{
    while (run->depth && run->calls[run->depth - 1].stack_pointer < stack_pointer)
        run->depth--;
}

void push_call(struct run *run, uint64_t stack_pointer, uint64_t return_address)
{
    drop_calls(run, stack_pointer + 1);
    if (run->depth < MOST_CALLS)
        run->calls[run->depth++] = {stack_pointer, return_address};
}

/* The return address, found as the ptrace engine finds it (recorder/linux/step/step_loop.c,
 * find_return()). */
uint64_t way_back(struct run *run, bool by_jump)
{
    uint64_t stack_pointer = run->registers[SP];
    drop_calls(run, stack_pointer);
    const struct open_call *call = run->depth ? &run->calls[run->depth - 1] : nullptr;
    bool is_its_jump =
        by_jump && !RETURN_IN_REGISTER && call && call->stack_pointer - stack_pointer <= 16;
    return is_its_jump ? call->return_address : return_address(run);
}

void skip(struct run *run, bool by_jump)
{
    struct step_item_event item = {};
    item.address = run->registers[PC];
    item.stack_pointer = run->registers[SP];
    item.return_address = way_back(run, by_jump);
    for (int i = 0; i < 6; i++)
        item.arguments[i] = run->registers[argument_registers[i]];
    uint64_t least = item.stack_pointer;
#if defined(__aarch64__) || defined(__arm64__)
    least--;
#endif
    if (!is_stepped(run, item.return_address))
        finish(run, STEP_END_ERROR,
               "the thread left the application, and its return address is not known");
    else if (run_to(run, item.return_address, least)) {
        item.returned = 1;
        item.value = run->registers[RESULT];
        item.stack_pointer = run->registers[SP];
        drop_calls(run, item.stack_pointer);
    }
    say(run, STEP_ITEM_SKIP, &item, sizeof(item));
}

void after_call(struct run *run)
{
    struct step_item_event item = {};
    item.address = run->registers[PC];
    if (!is_stepped(run, item.address)) {
        skip(run, false);
        return;
    }
    item.stack_pointer = run->registers[SP];
    item.return_address = return_address(run);
    for (int i = 0; i < 6; i++)
        item.arguments[i] = run->registers[argument_registers[i]];
    push_call(run, item.stack_pointer, item.return_address);
    say(run, STEP_ITEM_CALL, &item, sizeof(item));
}

void after_return(struct run *run)
{
    struct step_item_event item = {};
    item.address = run->registers[PC];
    item.stack_pointer = run->registers[SP];
    item.value = run->registers[RESULT];
    say(run, STEP_ITEM_RETURN, &item, sizeof(item));
    drop_calls(run, item.stack_pointer);
    if (run->request->flags & STEP_UNTIL_RETURN && item.stack_pointer > run->first_stack_pointer)
        finish(run, STEP_END_RETURN, "the function returned");
    else if (!is_stepped(run, item.address))
        finish(run, STEP_END_RETURN, "the application returned to the library that had called it");
}

/* LLDB steps into the handler of a signal that it passes on. This is recognized because no other
 * instruction uses so much stack and continues somewhere else. */
bool is_in_handler(const struct run *run, uint64_t pc, uint64_t stack_pointer)
{
    uint64_t moved = run->registers[PC] - pc;
    return moved > 16 && run->registers[SP] < stack_pointer &&
           stack_pointer - run->registers[SP] > 256;
}

/* Runs to the end of the handler, and reports a signal. */
bool leave_handler(struct run *run)
{
    const struct step_item_event item = {}; /* LLDB does not tell here which signal it was */
    uint64_t interrupted = run->thread.GetFrameAtIndex(2).GetPC();
    say(run, STEP_ITEM_SIGNAL, &item, sizeof(item));
    if (interrupted && interrupted != LLDB_INVALID_ADDRESS)
        return run_to(run, interrupted, run->registers[SP]);
    finish(run, STEP_END_ERROR, "a signal came, and where its handler returns to is not known");
    return false;
}

/* False: the run is over, or the instruction was not executed. */
bool step_one(struct run *run)
{
    uint64_t pc = run->registers[PC], stack_pointer = run->registers[SP];
    run->thread.StepInstruction(false);
    if (!read_registers(run))
        return false;
    if (!is_in_handler(run, pc, stack_pointer))
        return true;
    return leave_handler(run) && run->registers[PC] != pc;
}

void advance(struct run *run)
{
    struct step_instruction instruction = instruction_here(run);
    bool whole = instruction.kind == STEP_IS_REPEATED;
    if (whole) {
        if (!run_to(run, run->registers[PC] + instruction.length, 0))
            return;
    } else if (!step_one(run)) {
        return;
    }
    if (instruction.kind == STEP_IS_CALL)
        after_call(run);
    else if (instruction.kind == STEP_IS_RETURN)
        after_return(run);
    else if (!is_stepped(run, run->registers[PC]))
        skip(run, true);
}

/* --- the place to begin --- */

uint64_t address_in_section(struct run *run, lldb::SBSection section, uint64_t offset)
{
    uint64_t start = section.GetFileOffset();
    if (offset < start || offset - start >= section.GetFileByteSize())
        return LLDB_INVALID_ADDRESS;
    uint64_t load = section.GetLoadAddress(run->target);
    return load == LLDB_INVALID_ADDRESS ? load : load + (offset - start);
}

uint64_t address_of_place(struct run *run, const struct step_place *place)
{
    char path[STEP_PATH_BYTES];
    if (!place->path[0])
        return place->offset;
    for (uint32_t i = 0; i < run->target.GetNumModules(); i++) {
        lldb::SBModule module = run->target.GetModuleAtIndex(i);
        path_of(module.GetFileSpec(), path, sizeof(path));
        if (strcmp(path, place->path) != 0)
            continue;
        for (size_t k = 0; k < module.GetNumSections(); k++) {
            uint64_t found = address_in_section(run, module.GetSectionAtIndex(k), place->offset);
            if (found != LLDB_INVALID_ADDRESS)
                return found;
        }
    }
    return LLDB_INVALID_ADDRESS;
}

uint64_t address_of_function(struct run *run, const char *name)
{
    lldb::SBSymbolContextList found = run->target.FindFunctions(name);
    if (found.GetSize() == 0)
        found = run->target.FindSymbols(name);
    if (found.GetSize() == 0)
        return LLDB_INVALID_ADDRESS;
    lldb::SBSymbolContext context = found.GetContextAtIndex(0);
    lldb::SBAddress start = context.GetFunction().IsValid()
                                ? context.GetFunction().GetStartAddress()
                                : context.GetSymbol().GetStartAddress();
    return start.GetLoadAddress(run->target);
}

/* Runs until any thread reaches the place. */
struct argus_error *arrive(struct run *run, const char *function)
{
    if (run->request->flags & STEP_FROM_ANYWHERE)
        return nullptr;
    uint64_t address =
        function ? address_of_function(run, function) : address_of_place(run, &run->request->place);
    if (address == LLDB_INVALID_ADDRESS)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "the process has no code of %s",
                                  function ? function : run->request->place.path);
    lldb::SBBreakpoint breakpoint = run->target.BreakpointCreateByAddress(address);
    lldb::SBError error = run->process.Continue();
    run->thread = run->process.GetSelectedThread();
    bool arrived = error.Success() && run->process.GetState() == lldb::eStateStopped &&
                   run->thread.GetFrameAtIndex(0).GetPC() == address;
    run->target.BreakpointDelete(breakpoint.GetID());
    if (arrived)
        return nullptr;
    return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                              "the process stopped or ended before a thread came to that place");
}

/* Reports the readable stack from the stack pointer up, as needed for unwinding. */
void say_stack(struct run *run)
{
    struct step_item_stack item = {run->registers[SP]};
    auto *stack = static_cast<uint8_t *>(malloc(STEP_STACK_BYTES));
    lldb::SBError error;
    size_t bytes =
        stack ? run->process.ReadMemory(item.address, stack, STEP_STACK_BYTES, error) : 0;
    if (bytes && bytes <= STEP_STACK_BYTES)
        say(run, STEP_ITEM_STACK, &item, sizeof(item), stack, bytes);
    free(stack);
}

void say_begin(struct run *run)
{
    struct step_item_begin item = {};
    const char *name = run->thread.GetName();
    item.pid = static_cast<uint32_t>(run->process.GetProcessID());
    item.tid = static_cast<uint32_t>(run->thread.GetThreadID());
    item.wall_ns = now_ns(CLOCK_REALTIME);
    item.address = run->registers[PC];
    snprintf(item.comm, sizeof(item.comm), "%s", name ? name : "");
    say(run, STEP_ITEM_BEGIN, &item, sizeof(item));
    say_maps(run);
    say_stack(run);
}

void step_all(struct run *run)
{
    run->started_ns = now_ns(CLOCK_MONOTONIC);
    run->first_stack_pointer = run->registers[SP];
    if (!(run->request->flags & STEP_FROM_ANYWHERE))
        push_call(run, run->first_stack_pointer, return_address(run));
    for (uint32_t steps = 0; !run->end; steps++) {
        page_of(run, run->registers[PC]);
        say(run, STEP_ITEM_STEP, run->registers, host_register_count() * sizeof(uint64_t));
        uint64_t elapsed = now_ns(CLOCK_MONOTONIC) - run->started_ns;
        if (steps + 1 >= run->request->most_steps)
            finish(run, STEP_END_MOST, "the limit of instructions was reached");
        else if (run->request->duration_ns && elapsed > run->request->duration_ns)
            finish(run, STEP_END_TIME, "the time limit was reached");
        else
            advance(run);
    }
    struct step_item_end item = {};
    item.end = run->end;
    item.elapsed_ns = now_ns(CLOCK_MONOTONIC) - run->started_ns;
    say(run, STEP_ITEM_END, &item, sizeof(item), run->text, strlen(run->text));
}

/* Lets a thread that waits in a library return from it first. */
struct argus_error *come_out(struct run *run)
{
    for (uint32_t i = 0; i < run->thread.GetNumFrames(); i++) {
        uint64_t pc = run->thread.GetFrameAtIndex(i).GetPC();
        if (!is_stepped(run, pc))
            continue;
        if (i > 0)
            run_to(run, pc, run->registers[SP]);
        return run->end ? argus_error_create(ARGUS_ERROR_NOT_FOUND, "%s", run->text) : nullptr;
    }
    return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                              "the stack of the thread has no frame of the program's own code");
}

struct argus_error *step_all_of(struct run *run, const char *function)
{
    struct argus_error *error = arrive(run, function);
    if (!error && !read_registers(run))
        error = argus_error_create(ARGUS_ERROR_NOT_FOUND, "the process has ended");
    if (!error && run->request->flags & STEP_FROM_ANYWHERE)
        error = come_out(run);
    if (error)
        return error;
    say_begin(run);
    step_all(run);
    return nullptr;
}

} // namespace

struct argus_error *lldb_step(void *data, const struct step_request *request, const char *function,
                              const struct step_listener *listener)
{
    auto *call = static_cast<struct host_call *>(data);
    struct run run = {};
    run.request = request;
    run.listener = listener;
    run.call = call;
    run.target = call->debugger.GetSelectedTarget();
    run.process = run.target.GetProcess();
    run.thread = run.process.GetSelectedThread();
    if (!run.process.IsValid() || run.process.GetState() != lldb::eStateStopped ||
        !run.thread.IsValid())
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "step needs a process that is stopped in the debugger: 'process "
                                  "attach', or 'run' to a breakpoint");
    run.pages = static_cast<struct code_page *>(malloc(MOST_PAGES * sizeof(struct code_page)));
    if (!run.pages)
        return argus_error_memory();
    bool was_async = call->debugger.GetAsync();
    call->debugger.SetAsync(false);
    struct argus_error *error = step_all_of(&run, function);
    call->debugger.SetAsync(was_async);
    free(run.pages);
    return error;
}
