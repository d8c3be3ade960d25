#include "event/syscalls.h"

#include <stdio.h>
#include <string.h>

#define SYSCALL(number, name, wait, flags) [number] = {#name, ARGUS_WAIT_##wait, flags},
static const struct syscall_row x86_64[] = {
#include "event/syscalls_x86_64.def"
};
static const struct syscall_row aarch64[] = {
#include "event/syscalls_aarch64.def"
};
#undef SYSCALL

static const struct syscall_row unknown = {.wait = ARGUS_WAIT_OTHER};

/* A new architecture is a row here and a .def file. */
static const struct {
    enum argus_arch arch;
    const struct syscall_row *rows;
    size_t count;
} linux_tables[] = {
    {ARGUS_ARCH_X86_64, x86_64, sizeof(x86_64) / sizeof(*x86_64)},
    {ARGUS_ARCH_AARCH64, aarch64, sizeof(aarch64) / sizeof(*aarch64)},
};

const struct syscall_row *syscall_row(enum argus_os os, enum argus_arch arch, uint32_t number)
{
    if (os != ARGUS_OS_LINUX)
        return &unknown;
    for (size_t i = 0; i < sizeof(linux_tables) / sizeof(*linux_tables); i++)
        if (linux_tables[i].arch == arch && number < linux_tables[i].count &&
            linux_tables[i].rows[number].name)
            return &linux_tables[i].rows[number];
    return &unknown;
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
    snprintf(buffer, buffer_bytes, "syscall_%u", number);
    return buffer;
}
