#include "event/unwind/live_stack.h"

#include <stdbool.h>
#include <string.h>

#include "event/binary/debug_file.h"

#if defined(__aarch64__)
enum { REGISTERS = 33, GENERAL = 32 };
#else
enum { REGISTERS = 17, GENERAL = 17 };
#endif

struct unwinding {
    const struct live_stack *stack;
    Dwfl *dwfl;
    struct live_frame *frames;
    size_t count, room;
};

static pid_t next_thread(Dwfl *dwfl, void *context, void **thread)
{
    struct unwinding *unwinding = context;
    (void)dwfl;
    if (*thread)
        return 0;
    *thread = unwinding;
    return (pid_t)unwinding->stack->tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *context, void **thread)
{
    (void)dwfl, (void)tid;
    *thread = context;
    return true;
}

static bool read_word(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret, void *context)
{
    const struct live_stack *stack = ((struct unwinding *)context)->stack;
    (void)dwfl;
    if (address < stack->address || stack->length < sizeof(*ret) ||
        address - stack->address > stack->length - sizeof(*ret))
        return false;
    memcpy(ret, stack->bytes + (address - stack->address), sizeof(*ret));
    return true;
}

static bool set_registers(Dwfl_Thread *thread, void *context)
{
    const struct live_stack *stack = ((struct unwinding *)context)->stack;
    if (!dwfl_thread_state_registers(thread, 0, GENERAL, stack->registers))
        return false;
    dwfl_thread_state_register_pc(thread, stack->registers[REGISTERS - 1]);
    return true;
}

static uint64_t function_of(Dwfl *dwfl, uint64_t pc)
{
    Dwfl_Module *module = dwfl_addrmodule(dwfl, pc);
    GElf_Off offset = 0;
    GElf_Sym symbol;
    if (!module || !dwfl_module_addrinfo(module, pc, &offset, &symbol, NULL, NULL, NULL))
        return 0;
    return pc - offset;
}

static int keep_frame(Dwfl_Frame *frame, void *context)
{
    struct unwinding *unwinding = context;
    Dwarf_Addr pc;
    bool is_activation;
    if (unwinding->count == unwinding->room || !dwfl_frame_pc(frame, &pc, &is_activation))
        return DWARF_CB_ABORT;
    unwinding->frames[unwinding->count++] = (struct live_frame){
        .pc = pc, .function = function_of(unwinding->dwfl, is_activation ? pc : pc - 1)};
    return DWARF_CB_OK;
}

size_t live_stack_unwind(const struct live_stack *stack, struct live_frame *ret, size_t room)
{
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                             .find_debuginfo = debug_file_find};
    static const Dwfl_Thread_Callbacks thread_callbacks = {.next_thread = next_thread,
                                                           .get_thread = get_thread,
                                                           .memory_read = read_word,
                                                           .set_initial_registers = set_registers};
    struct unwinding unwinding = {.stack = stack, .frames = ret, .room = room};
    unwinding.dwfl = dwfl_begin(&callbacks);
    if (!unwinding.dwfl)
        return 0;
    if (dwfl_linux_proc_report(unwinding.dwfl, (pid_t)stack->pid) == 0 &&
        dwfl_report_end(unwinding.dwfl, NULL, NULL) == 0 &&
        dwfl_attach_state(unwinding.dwfl, NULL, (pid_t)stack->pid, &thread_callbacks, &unwinding))
        dwfl_getthread_frames(unwinding.dwfl, (pid_t)stack->tid, keep_frame, &unwinding);
    dwfl_end(unwinding.dwfl);
    return unwinding.count;
}
