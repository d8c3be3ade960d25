/* argus step inside LLDB: by packets (packet_steps.h), or by SBThread::StepInstruction() where
 * these cannot be used. During that, the debugger is synchronous, so that it prints nothing by
 * itself and each call returns when the process has stopped again. */
#include "plugin/lldb/lldb_stepper.h"

#include <cstdio>
#include <cstring>

#include "plugin/lldb/host.h"
#include "plugin/lldb/packet_steps.h"
#include "plugin/steps/host_registers.h"
#include "plugin/steps/host_stepper.h"

namespace
{

/* The thread that is stepped. */
struct stepped {
    struct host_call *call;
    lldb::SBTarget target;
    lldb::SBProcess process;
    lldb::SBThread thread;
    int places[STEP_REGISTERS_MOST]; /* index of each register in LLDB's set */
    bool mapped;                     /* `places` is valid */
    uint64_t awaited;                /* where the last breakpoint is */
    struct packet_steps packets;
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

/* LLDB executes one instruction, where it believes the thread to be. */
void step_by_lldb(stepped *now)
{
    now->thread.StepInstruction(false);
}

/* Makes LLDB know where the thread is, for which the thread executes one more instruction: only
 * when the process has run, LLDB reads everything again. */
void catch_up(stepped *now)
{
    if (now->packets.is_ahead && !packet_steps_are_over(&now->packets))
        packet_steps_deliver(&now->packets);
    if (!now->packets.is_ahead || packet_steps_are_over(&now->packets))
        return;
    now->thread.GetFrameAtIndex(0).SetPC(host_pc(now->packets.registers));
    step_by_lldb(now);
    now->packets.is_ahead = false;
}

bool read_registers(void *data, uint64_t ret[STEP_REGISTERS_MOST])
{
    stepped *now = of(data);
    if (packet_steps_are_over(&now->packets))
        return false;
    if (now->packets.is_ahead) {
        memcpy(ret, now->packets.registers, sizeof(now->packets.registers));
        return true;
    }
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

uint32_t write_end(void *data, char *ret, size_t room)
{
    stepped *now = of(data);
    if (packet_steps_are_over(&now->packets))
        snprintf(ret, room, "%s", now->packets.end);
    else
        snprintf(ret, room, "the process ended (exit status %d)", now->process.GetExitStatus());
    return now->packets.is_lost ? STEP_END_ERROR : STEP_END_EXIT;
}

/* LLDB passes the signal at which it has stopped on with its own next step; packets do not. */
bool can_use_packets(stepped *now)
{
    return now->packets.is_usable &&
           (now->packets.is_ahead || now->thread.GetStopReason() != lldb::eStopReasonSignal);
}

void step_instruction(void *data, bool is_plain)
{
    stepped *now = of(data);
    uint64_t registers[STEP_REGISTERS_MOST];
    bool by_packet = is_plain && can_use_packets(now) && read_registers(data, registers);
    if (by_packet && packet_steps_step(&now->packets, registers))
        return;
    if (packet_steps_are_over(&now->packets))
        return;
    if (now->packets.is_ahead)
        catch_up(now);
    else
        step_by_lldb(now);
}

int set_breakpoint(void *data, uint64_t address)
{
    lldb::SBBreakpoint breakpoint = of(data)->target.BreakpointCreateByAddress(address);
    of(data)->awaited = address;
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
    bool was_ahead = now->packets.is_ahead;
    catch_up(now);
    if (packet_steps_are_over(&now->packets) || now->process.GetState() != lldb::eStateStopped)
        return HOST_STOP_OTHERWISE; /* that step ended the process */
    if (was_ahead && now->thread.GetFrameAtIndex(0).GetPC() == now->awaited)
        return HOST_STOP_BREAKPOINT; /* that step led there */
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
    if (of(data)->packets.is_ahead)
        return packet_steps_read(&of(data)->packets, address, ret, bytes);
    return of(data)->process.ReadMemory(address, ret, bytes, error);
}

void path_of(const lldb::SBFileSpec &file, char *ret, size_t room)
{
    if (file.GetPath(ret, room) == 0)
        ret[0] = '\0';
}

/* LLDB 16 does not know where the dynamic linker's sections are; the kernel does. */
bool path_of_region(stepped *now, uint64_t address, char *ret, size_t room)
{
    lldb::SBMemoryRegionInfo region;
    if (!now->process.GetMemoryRegionInfo(address, region).Success())
        return false;
    const char *name = region.GetName();
    bool is_file = name && name[0] == '/';
    if (is_file)
        snprintf(ret, room, "%s", name);
    return is_file;
}

bool path_at(void *data, uint64_t address, char *ret, size_t room)
{
    lldb::SBModule module = of(data)->target.ResolveLoadAddress(address).GetModule();
    if (!module.IsValid())
        return path_of_region(of(data), address, ret, room);
    path_of(module.GetFileSpec(), ret, room);
    return true;
}

bool is_executable(void *data, uint64_t address)
{
    lldb::SBMemoryRegionInfo region;
    return of(data)->process.GetMemoryRegionInfo(address, region).Success() &&
           region.IsExecutable();
}

uint64_t frame_pc(void *data, uint32_t number)
{
    catch_up(of(data));
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

struct argus_error *run(stepped *now, const struct step_debugger *debugger,
                        const struct step_request *request, const struct step_listener *listener)
{
    packet_steps_begin(&now->packets, now->call->debugger, now->target, now->thread);
    struct argus_error *error = host_stepper_run(debugger, request, listener);
    if (!now->packets.has_ended)
        catch_up(now);
    if (now->packets.has_ended)
        now->process.Destroy(); /* LLDB has not seen the end */
    packet_steps_end(&now->packets);
    return error;
}

} // namespace

struct argus_error *lldb_step(void *data, const struct step_request *request, const char *function,
                              const struct step_listener *listener)
{
    auto *call = static_cast<struct host_call *>(data);
    stepped now = {};
    now.call = call;
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
        error = run(&now, &debugger, request, listener);
    call->debugger.SetAsync(was_async);
    return error;
}
