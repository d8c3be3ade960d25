/* A flag in shared memory, by the file that is mapped: "/dev/shm/state+0x40". */
#ifndef ARGUS_PLUGIN_FLAG_MAPPINGS_H
#define ARGUS_PLUGIN_FLAG_MAPPINGS_H

#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"

#define FLAG_MAPPINGS_MAX 16

struct flag_mapping {
    uint32_t pid;
    uint64_t address;
};

struct flag_mappings {
    struct flag_mapping all[FLAG_MAPPINGS_MAX]; /* one for each process */
    size_t count, left_out;                     /* more processes than there is room for */
    uint32_t unreadable;                        /* processes of other users */
};

/* Finds the processes that map this byte of the file with MAP_SHARED. NOT_FOUND: there are none. */
struct argus_error *flag_mappings_find(const char *text, struct flag_mappings *ret);

#endif
