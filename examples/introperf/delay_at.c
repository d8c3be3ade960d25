/* Makes a function slow that no other file can take the place of (a static one, a method, one of the program itself), as a debugger
 * would: by a breakpoint.
 *
 *     DELAY_AT=mariadbd+0xbef3c0 DELAY_MS=20 LD_PRELOAD=./libdelay.so mariadbd …
 *
 * The file is named by a part of its path, the address is that in the file (nm). Its first byte becomes int3; the handler of SIGTRAP
 * delays, puts the byte back, lets the processor execute one instruction, and sets the breakpoint again. A thread that comes by
 * meanwhile is not delayed. Files that are loaded later are looked for whenever one is.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

#ifdef __x86_64__
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "delay.h"

#define INT3      0xcc
#define TRAP_FLAG 0x100

static unsigned char *point, original;

static void on_trap(int number, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    (void)number;
    if (info->si_code == TRAP_TRACE) { /* after the one instruction */
        *point = INT3;
        registers[REG_EFL] &= ~TRAP_FLAG;
        return;
    }
    registers[REG_RIP] = (greg_t)point;
    delay();
    *point = original;
    registers[REG_EFL] |= TRAP_FLAG;
}

static bool set_point(unsigned char *at)
{
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_RESTART};
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *begin = (void *)((size_t)at & ~(page - 1));
    if (mprotect(begin, page, PROT_READ | PROT_WRITE | PROT_EXEC) != 0 ||
        sigaction(SIGTRAP, &action, NULL) != 0)
        return false;
    original = *at;
    point = at;
    *at = INT3;
    return true;
}

static int look(struct dl_phdr_info *info, size_t bytes, void *setting)
{
    char own[4096] = "";
    const char *path = info->dlpi_name, *address = strrchr(setting, '+');
    (void)bytes;
    if (!*path && readlink("/proc/self/exe", own, sizeof(own) - 1) > 0)
        path = own;
    char *file = address ? strndup(setting, (size_t)(address - (char *)setting)) : NULL;
    bool found = file && strstr(path, file);
    free(file);
    return found && set_point((unsigned char *)info->dlpi_addr + strtoul(address, NULL, 0));
}

static void look_everywhere(void)
{
    char *setting = getenv("DELAY_AT");
    if (setting && !point)
        dl_iterate_phdr(look, setting);
}
#else
static void look_everywhere(void)
{
}
#endif

__attribute__((constructor)) static void on_start(void)
{
    look_everywhere();
}

void *dlopen(const char *path, int flags)
{
    static void *(*next)(const char *, int);
    if (!next)
        next = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    void *handle = next(path, flags);
    look_everywhere();
    return handle;
}
