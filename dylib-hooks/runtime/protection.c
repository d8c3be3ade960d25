#include "protection.h"

#include <string.h>
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

static uint64_t page_bytes(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

#if !defined(__aarch64__)

/* Code is mapped read and execute; VM_PROT_COPY makes the page private before it becomes writable.
 */
bool protection_open(uint64_t address, size_t bytes, struct opened_pages *ret)
{
    uint64_t page = page_bytes(), first = address & ~(page - 1);
    *ret = (struct opened_pages){.first = (void *)first,
                                 .bytes = ((address + bytes + page - 1) & ~(page - 1)) - first,
                                 .before = VM_PROT_READ | VM_PROT_EXECUTE};
    return vm_protect(mach_task_self(), first, ret->bytes, 0,
                      VM_PROT_READ | VM_PROT_WRITE | VM_PROT_COPY | VM_PROT_EXECUTE) ==
           KERN_SUCCESS;
}

bool protection_close(const struct opened_pages *pages)
{
    return vm_protect(mach_task_self(), (vm_address_t)pages->first, pages->bytes, 0,
                      pages->before) == KERN_SUCCESS;
}

#else

/* Maps `copy` over the page at `first`: one call, after which the old page or the new one is there
 * (osfmk/vm/vm_map.c: vm_map_remap() with VM_FLAGS_OVERWRITE replaces entries under the map's
 * lock). */
static bool replace_page(vm_address_t first, vm_address_t copy, vm_size_t bytes)
{
    vm_prot_t now, most;
    return vm_protect(mach_task_self(), copy, bytes, 0, VM_PROT_READ | VM_PROT_EXECUTE) ==
               KERN_SUCCESS &&
           vm_remap(mach_task_self(), &first, bytes, 0, VM_FLAGS_FIXED | VM_FLAGS_OVERWRITE,
                    mach_task_self(), copy, TRUE, &now, &most, VM_INHERIT_COPY) == KERN_SUCCESS;
}

/* Apple silicon refuses pages that are writable and executable at once, and vm_protect() is code
 * too: if its own page (libsystem_kernel) stopped being executable, the call could not return. */
const char *protection_put_word(uint64_t address, uint32_t word)
{
    uint64_t bytes = page_bytes(), first = address & ~(bytes - 1);
    vm_address_t copy = 0;
    if (vm_allocate(mach_task_self(), &copy, bytes, VM_FLAGS_ANYWHERE) != KERN_SUCCESS)
        return "the system has no memory for a copy of its code";
    memcpy((void *)copy, (const void *)first, bytes);
    memcpy((void *)(copy + (address - first)), &word, sizeof(word));
    bool replaced = replace_page(first, copy, bytes);
    vm_deallocate(mach_task_self(), copy, bytes);
    sys_icache_invalidate((void *)address, sizeof(word));
    return replaced ? NULL : "the system does not let its code be changed";
}

#endif

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

#if defined(__aarch64__)
const char *protection_put_word(uint64_t address, uint32_t word)
{
    struct opened_pages pages;
    if (!protection_open(address, sizeof(word), &pages))
        return "the system does not let its code be changed";
    __atomic_store_n((uint32_t *)address, word, __ATOMIC_SEQ_CST);
    bool closed = protection_close(&pages);
    __builtin___clear_cache((char *)address, (char *)address + sizeof(word));
    return closed ? NULL : "its code stays writable: the system does not let it be protected again";
}
#endif

#endif
