#include "protection.h"

#include <sys/mman.h>
#include <unistd.h>

#ifdef __APPLE__
#include <libkern/OSCacheControl.h>
#include <mach/mach.h>
#else
#include <inttypes.h>
#include <stdio.h>
#endif

#ifdef __APPLE__

/* Code is mapped read and execute; VM_PROT_COPY makes the page private before it becomes writable. Apple silicon refuses pages
 * that are writable and executable at once, so there the page is not executable for a moment. */
bool protection_open(uint64_t address, size_t bytes, struct opened_pages *ret)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), first = address & ~(page - 1);
    vm_prot_t wanted = VM_PROT_READ | VM_PROT_WRITE | VM_PROT_COPY;
#if !defined(__aarch64__)
    wanted |= VM_PROT_EXECUTE;
#endif
    *ret = (struct opened_pages){.first = (void *)first,
                                 .bytes = ((address + bytes + page - 1) & ~(page - 1)) - first,
                                 .before = VM_PROT_READ | VM_PROT_EXECUTE};
    return vm_protect(mach_task_self(), first, ret->bytes, 0, wanted) == KERN_SUCCESS;
}

bool protection_close(const struct opened_pages *pages)
{
    return vm_protect(mach_task_self(), (vm_address_t)pages->first, pages->bytes, 0,
                      pages->before) == KERN_SUCCESS;
}

#else

/* The protection of the mapping that has `address`; false: nothing is mapped there. */
static bool read_protection(uint64_t address, int *ret)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512], mode[5];
    uint64_t first, end;
    bool found = false;
    while (maps && !found && fgets(line, sizeof(line), maps))
        found = sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &first, &end, mode) == 3 &&
                address >= first && address < end;
    if (maps)
        fclose(maps);
    if (found)
        *ret = (mode[0] == 'r' ? PROT_READ : 0) | (mode[1] == 'w' ? PROT_WRITE : 0) |
               (mode[2] == 'x' ? PROT_EXEC : 0);
    return found;
}

bool protection_open(uint64_t address, size_t bytes, struct opened_pages *ret)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), first = address & ~(page - 1);
    *ret = (struct opened_pages){.first = (void *)first,
                                 .bytes = ((address + bytes + page - 1) & ~(page - 1)) - first};
    return read_protection(address, &ret->before) &&
           mprotect(ret->first, ret->bytes, ret->before | PROT_WRITE) == 0;
}

bool protection_close(const struct opened_pages *pages)
{
    return mprotect(pages->first, pages->bytes, pages->before) == 0;
}

#endif
