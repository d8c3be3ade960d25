#include "linux/flags/flag_memory.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

struct argus_error *flag_memory_read(uint32_t pid, uint64_t address, uint32_t bytes, uint64_t *ret)
{
    char path[32];
    *ret = 0;
    snprintf(path, sizeof(path), "/proc/%u/mem", pid);
    FILE *memory = fopen(path, "re");
    if (!memory)
        return errno == ENOENT
                   ? argus_error_create(ARGUS_ERROR_NOT_FOUND, "there is no process %u", pid)
                   : argus_error_os(errno, "cannot look at the memory of process %u", pid);
    setvbuf(memory, NULL, _IONBF, 0);
    bool there =
        fseeko(memory, (off_t)address, SEEK_SET) == 0 && fread(ret, 1, bytes, memory) == bytes;
    fclose(memory);
    if (there)
        return NULL;
    return argus_error_create(ARGUS_ERROR_USAGE, "process %u has no memory at 0x%llx", pid,
                              (unsigned long long)address);
}

bool flag_memory_shared(uint32_t pid, uint64_t address, struct argus_record *ret)
{
    char line[PATH_MAX + 128], may[5];
    bool found = false;
    snprintf(line, sizeof(line), "/proc/%u/maps", pid);
    FILE *maps = fopen(line, "re");
    while (maps && !found && fgets(line, sizeof(line), maps)) {
        unsigned long long start, end, offset, inode;
        unsigned major, minor;
        if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu", &start, &end, may, &offset, &major,
                   &minor, &inode) != 7 ||
            address < start || address >= end || may[3] != 's' || !inode)
            continue;
        *ret = (struct argus_record){
            .tid = pid,
            .debugid = ARGUS_ID_FLAG_SHARED,
            .arg = {address, inode, (uint64_t)major << 32 | minor, offset + (address - start)}};
        found = true;
    }
    if (maps)
        fclose(maps);
    return found;
}

struct argus_error *flag_memory_follow(const struct request_flag *wanted, uint64_t *ret)
{
    uint64_t address = wanted->address;
    *ret = 0;
    for (uint32_t i = 0; i < wanted->step_count; i++) {
        uint64_t pointer;
        struct argus_error *error = flag_memory_read(wanted->pid, address, 8, &pointer);
        if (error)
            return error;
        if (!pointer)
            return NULL;
        address = pointer + wanted->steps[i];
    }
    if (address % wanted->bytes)
        return argus_error_create(
            ARGUS_ERROR_USAGE, "0x%llx is not aligned: %u bytes can be watched at multiples of %u",
            (unsigned long long)address, wanted->bytes, wanted->bytes);
    *ret = address;
    return NULL;
}
