/* argus step inside LLDB: SBThread::StepInstruction(), one to three thousand steps a second. During
 * that, the debugger is synchronous, so that it prints nothing by itself and each call returns when
 * the process has stopped again. */
#include "plugin/lldb/lldb_stepper.h"

#include <cstdio>
#include <cstring>

#include "plugin/lldb/host.h"
#include "plugin/steps/host_registers.h"
#include "plugin/steps/host_stepper.h"

namespace
{

/* The thread that is stepped. */
struct stepped {
    lldb::SBTarget target;
    lldb::SBProcess process;
    lldb::SBThread thread;
    int places[STEP_REGISTERS_MOST]; /* index of each register in LLDB's set */
    bool mapped;                     /* `places` is valid */
};

stepped *of(void *data)
{
    return static_cast<stepped *>(data);
}

/* --- what the stepper asks of a debugger --- */

/* Finds each register in LLDB's first set, the general ones. Registers that LLDB does not have stay
 * 0. */
void map_registers(stepped *now, lldb::SBValue &general)
{
    for (size_t i = 0; i < host_register_count(); i++)
        now->places[i] = -1;
    for (uint32_t k = 0; k < general.GetNumChildren(); k++) {
        const char *name = general.GetChildAtIndex(k).GetName();
        for (uint32_t i = 0; name && i < host_register_count(); i++)
            if (strcmp(name, host_register_name_in_lldb(i)) == 0)
                now->places[i] = static_cast<int>(k);
    }
    now->mapped = true;
}

bool read_registers(void *data, uint64_t ret[STEP_REGISTERS_MOST])
{
    stepped *now = of(data);
    if (now->process.GetState() != lldb::eStateStopped || !now->thread.IsValid())
        return false;
    lldb::SBValue general = now->thread.GetFrameAtIndex(0).GetRegisters().GetValueAtIndex(0);
    if (!now->mapped)
        map_registers(now, general);
    for (size_t i = 0; i < host_register_count(); i++)
        ret[i] = now->places[i] < 0 ? 0
                                    : general.GetChildAtIndex(static_cast<uint32_t>(now->places[i]))
                                          .GetValueAsUnsigned();
    return true;
}

void write_end(void *data, char *ret, size_t room)
{
    snprintf(ret, room, "the process ended (exit status %d)", of(data)->process.GetExitStatus());
}

void step_instruction(void *data)
{
    of(data)->thread.StepInstruction(false);
}

int set_breakpoint(void *data, uint64_t address)
{
    lldb::SBBreakpoint breakpoint = of(data)->target.BreakpointCreateByAddress(address);
    breakpoint.SetThreadID(of(data)->thread.GetThreadID());
    return breakpoint.GetID();
}

void delete_breakpoint(void *data, int breakpoint)
{
    of(data)->target.BreakpointDelete(breakpoint);
}

enum host_stop go(void *data)
{
    stepped *now = of(data);
    lldb::tid_t tid = now->thread.GetThreadID();
    lldb::SBError error = now->process.Continue();
    now->thread = now->process.GetThreadByID(tid);
    if (error.Fail())
        return HOST_STOP_FAILED;
    return now->thread.GetStopReason() == lldb::eStopReasonBreakpoint ? HOST_STOP_BREAKPOINT
                                                                      : HOST_STOP_OTHERWISE;
}

size_t read_memory(void *data, uint64_t address, void *ret, size_t bytes)
{
    lldb::SBError error;
    return of(data)->process.ReadMemory(address, ret, bytes, error);
}

void path_of(const lldb::SBFileSpec &file, char *ret, size_t room)
{
    if (file.GetPath(ret, room) == 0)
        ret[0] = '\0';
}

bool path_at(void *data, uint64_t address, char *ret, size_t room)
{
    lldb::SBModule module = of(data)->target.ResolveLoadAddress(address).GetModule();
    if (module.IsValid())
        path_of(module.GetFileSpec(), ret, room);
    return module.IsValid();
}

bool is_executable(void *data, uint64_t address)
{
    lldb::SBMemoryRegionInfo region;
    return of(data)->process.GetMemoryRegionInfo(address, region).Success() &&
           region.IsExecutable();
}

uint64_t frame_pc(void *data, uint32_t number)
{
    if (number >= of(data)->thread.GetNumFrames())
        return 0;
    uint64_t pc = of(data)->thread.GetFrameAtIndex(number).GetPC();
    return pc == LLDB_INVALID_ADDRESS ? 0 : pc;
}

/* The file offset of the byte that is mapped at `address`. */
uint64_t file_offset(stepped *now, uint64_t address)
{
    lldb::SBAddress found = now->target.ResolveLoadAddress(address);
    lldb::SBSection section = found.GetSection();
    return section.IsValid() ? section.GetFileOffset() + found.GetOffset() : 0;
}

void each_map(void *data, void (*say)(void *context, struct step_item_map *item, const char *path),
              void *context)
{
    lldb::SBMemoryRegionInfoList regions = of(data)->process.GetMemoryRegions();
    for (uint32_t i = 0; i < regions.GetSize(); i++) {
        lldb::SBMemoryRegionInfo region;
        if (!regions.GetMemoryRegionAtIndex(i, region) || !region.IsMapped())
            continue;
        const char *name = region.GetName();
        struct step_item_map item = {};
        item.start = region.GetRegionBase();
        item.end = region.GetRegionEnd();
        item.file_offset = name && name[0] == '/' ? file_offset(of(data), item.start) : 0;
        item.flags = (region.IsExecutable() ? STEP_MAP_EXECUTABLE : 0) |
                     (region.IsWritable() ? STEP_MAP_WRITABLE : 0);
        say(context, &item, name ? name : "");
    }
}

void describe(void *data, struct host_thread *ret)
{
    const char *name = of(data)->thread.GetName();
    ret->pid = static_cast<uint32_t>(of(data)->process.GetProcessID());
    ret->tid = static_cast<uint32_t>(of(data)->thread.GetThreadID());
    snprintf(ret->comm, sizeof(ret->comm), "%s", name ? name : "");
}

struct step_debugger debugger_of(stepped *now)
{
    struct step_debugger debugger = {};
    debugger.data = now;
    debugger.read_registers = read_registers;
    debugger.write_end = write_end;
    debugger.step_instruction = step_instruction;
    debugger.set_breakpoint = set_breakpoint;
    debugger.delete_breakpoint = delete_breakpoint;
    debugger.go = go;
    debugger.read_memory = read_memory;
    debugger.path_at = path_at;
    debugger.is_executable = is_executable;
    debugger.frame_pc = frame_pc;
    debugger.each_map = each_map;
    debugger.describe = describe;
    return debugger;
}

/* --- the place to begin --- */

uint64_t address_in_section(stepped *now, lldb::SBSection section, uint64_t offset)
{
    uint64_t start = section.GetFileOffset();
    if (offset < start || offset - start >= section.GetFileByteSize())
        return LLDB_INVALID_ADDRESS;
    uint64_t load = section.GetLoadAddress(now->target);
    return load == LLDB_INVALID_ADDRESS ? load : load + (offset - start);
}

uint64_t address_of_place(stepped *now, const struct step_place *place)
{
    char path[STEP_PATH_BYTES];
    if (!place->path[0])
        return place->offset;
    for (uint32_t i = 0; i < now->target.GetNumModules(); i++) {
        lldb::SBModule module = now->target.GetModuleAtIndex(i);
        path_of(module.GetFileSpec(), path, sizeof(path));
        if (strcmp(path, place->path) != 0)
            continue;
        for (size_t k = 0; k < module.GetNumSections(); k++) {
            uint64_t found = address_in_section(now, module.GetSectionAtIndex(k), place->offset);
            if (found != LLDB_INVALID_ADDRESS)
                return found;
        }
    }
    return LLDB_INVALID_ADDRESS;
}

uint64_t address_of_function(stepped *now, const char *name)
{
    lldb::SBSymbolContextList found = now->target.FindFunctions(name);
    if (found.GetSize() == 0)
        found = now->target.FindSymbols(name);
    if (found.GetSize() == 0)
        return LLDB_INVALID_ADDRESS;
    lldb::SBSymbolContext context = found.GetContextAtIndex(0);
    lldb::SBAddress start = context.GetFunction().IsValid()
                                ? context.GetFunction().GetStartAddress()
                                : context.GetSymbol().GetStartAddress();
    return start.GetLoadAddress(now->target);
}

/* Runs until any thread reaches the place. */
struct argus_error *arrive(stepped *now, const struct step_request *request, const char *function)
{
    if (request->flags & STEP_FROM_ANYWHERE)
        return nullptr;
    uint64_t address =
        function ? address_of_function(now, function) : address_of_place(now, &request->place);
    if (address == LLDB_INVALID_ADDRESS)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "the process has no code of %s",
                                  function ? function : request->place.path);
    lldb::SBBreakpoint breakpoint = now->target.BreakpointCreateByAddress(address);
    lldb::SBError error = now->process.Continue();
    now->thread = now->process.GetSelectedThread();
    bool arrived = error.Success() && now->process.GetState() == lldb::eStateStopped &&
                   now->thread.GetFrameAtIndex(0).GetPC() == address;
    now->target.BreakpointDelete(breakpoint.GetID());
    if (arrived)
        return nullptr;
    return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                              "the process stopped or ended before a thread came to that place");
}

} // namespace

struct argus_error *lldb_step(void *data, const struct step_request *request, const char *function,
                              const struct step_listener *listener)
{
    auto *call = static_cast<struct host_call *>(data);
    stepped now = {};
    now.target = call->debugger.GetSelectedTarget();
    now.process = now.target.GetProcess();
    now.thread = now.process.GetSelectedThread();
    if (!now.process.IsValid() || now.process.GetState() != lldb::eStateStopped ||
        !now.thread.IsValid())
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "step needs a process that is stopped in the debugger: 'process "
                                  "attach', or 'run' to a breakpoint");
    bool was_async = call->debugger.GetAsync();
    call->debugger.SetAsync(false);
    const struct step_debugger debugger = debugger_of(&now);
    struct argus_error *error = arrive(&now, request, function);
    if (!error)
        error = host_stepper_run(&debugger, request, listener);
    call->debugger.SetAsync(was_async);
    return error;
}
