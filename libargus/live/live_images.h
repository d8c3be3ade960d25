/* Executable mappings and files of living processes, and what else only the code for Linux keeps.
 */
#ifndef ARGUS_LIVE_IMAGES_H
#define ARGUS_LIVE_IMAGES_H

#include "event/unwind/cfi.h"
#include "live/live_data.h"

/* An executable mapping. */
struct live_mapping {
    uint64_t start, end, offset, inode;
    uint32_t pid;
    uint32_t file;         /* index in `files`; ARGUS_LIVE_NONE: not opened, or no file */
    bool is_opened;        /* it was tried */
    uint32_t path;         /* string */
    unsigned major, minor; /* of its device */
    bool is_left_out;      /* its file system may not answer */
};

struct live_elf {
    struct elf_file *elf; /* owned */
    struct cfi cfi;
    uint64_t inode;
    uint32_t path;
};

/* Mappings and files that were needed so far. All zero is empty. */
struct live_stacks {
    VEC(struct live_mapping) mappings; /* those of a process are neighbours, by address */
    VEC(uint32_t) pids;                /* whose mappings were read */
    VEC(struct live_elf *) files;      /* owned */
};

void live_stacks_deinit(struct live_stacks *stacks);

/* A file system, by the device's numbers in /proc/PID/maps. */
struct live_device {
    unsigned major, minor;
    bool may_hang; /* a process that reads its files may wait without end */
};

/* The scheduler's clock of a CPU (live_last_ran.c). */
struct live_clock {
    unsigned cpu;
    bool is_known;
    uint64_t behind_ns; /* the monotonic clock */
};

struct live_system {
    struct live_stacks stacks;
    VEC(struct live_device) devices; /* those that were asked for */
    VEC(struct live_clock) clocks;   /* those that were asked for */
};

struct unwind_processor;

/* The processor of this machine. */
const struct unwind_processor *live_own_processor(void);

/* The mapping of an address; NULL: none that is executable. */
const struct live_mapping *live_mapping(struct argus_live *live, uint32_t pid, uint64_t address);
/* Its file, and the address in it; NULL: it cannot be opened. */
struct live_elf *live_elf(struct argus_live *live, uint32_t pid, uint64_t address,
                          uint64_t *ret_in_file);
/* The file of the process's mapping number `index` (of those with code of a file), and what has to
 * be added to its addresses. `ret_bias` may be NULL. NULL: there are no more. */
struct live_elf *live_elf_at(struct argus_live *live, uint32_t pid, size_t index,
                             uint64_t *ret_bias);

#endif
