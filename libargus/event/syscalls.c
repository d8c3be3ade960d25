#include "event/syscalls.h"

#include <stdio.h>
#include <string.h>

#include "event/darwin/darwin.h"

#define SYSCALL(number, name, wait, flags) [number] = {#name, ARGUS_WAIT_##wait, flags},
static const struct syscall_row x86_64[] = {
#include "event/syscalls_x86_64.def"
};
static const struct syscall_row aarch64[] = {
#include "event/syscalls_aarch64.def"
};
static const struct syscall_row darwin[] = {
#include "event/syscalls_darwin.def"
};
static const struct syscall_row mach_traps[] = {
#include "event/syscalls_mach.def"
};
#undef SYSCALL

static const struct syscall_row unknown = {.wait = ARGUS_WAIT_OTHER};

/* To add an architecture or system: a row here and a .def file. `arch` 0: all. */
static const struct {
    enum argus_os os;
    enum argus_arch arch;
    uint32_t first; /* number of the first row */
    const struct syscall_row *rows;
    size_t count;
} tables[] = {
    {ARGUS_OS_LINUX, ARGUS_ARCH_X86_64, 0, x86_64, sizeof(x86_64) / sizeof(*x86_64)},
    {ARGUS_OS_LINUX, ARGUS_ARCH_AARCH64, 0, aarch64, sizeof(aarch64) / sizeof(*aarch64)},
    {ARGUS_OS_DARWIN, 0, 0, darwin, sizeof(darwin) / sizeof(*darwin)},
    {ARGUS_OS_DARWIN, 0, DARWIN_TRAP, mach_traps, sizeof(mach_traps) / sizeof(*mach_traps)},
};

const struct syscall_row *syscall_row(enum argus_os os, enum argus_arch arch, uint32_t number)
{
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
        bool ours = tables[i].os == os && (!tables[i].arch || tables[i].arch == arch);
        uint32_t at = number - tables[i].first;
        if (ours && number >= tables[i].first && at < tables[i].count && tables[i].rows[at].name)
            return &tables[i].rows[at];
    }
    return &unknown;
}

enum argus_wait_kind syscall_message_wait(uint64_t options)
{
    if (!(options & DARWIN_MACH_RCV))
        return ARGUS_WAIT_WRITE;
    return options & DARWIN_MACH_SEND ? ARGUS_WAIT_READ : ARGUS_WAIT_POLL;
}

bool syscall_polls_nothing(const struct syscall_row *row, const uint64_t arg[4])
{
    if (!row->name)
        return false;
    if (!strcmp(row->name, "poll") || !strcmp(row->name, "ppoll"))
        return arg[1] == 0;
    if (!strcmp(row->name, "select") || !strcmp(row->name, "pselect6"))
        return arg[0] == 0;
    return false;
}

const char *argus_syscall_name(const struct argus_trace *trace, uint32_t number, char *buffer,
                               size_t buffer_bytes)
{
    const struct argus_trace_header *header = argus_trace_header(trace);
    const struct syscall_row *row = syscall_row(header->os, header->arch, number);
    if (row->name)
        return row->name;
    bool is_trap = header->os == ARGUS_OS_DARWIN && DARWIN_IS_TRAP(number);
    snprintf(buffer, buffer_bytes, is_trap ? "mach_trap_%u" : "syscall_%u",
             is_trap ? number - DARWIN_TRAP : number);
    return buffer;
}
