/* How much a file may ask of the machine.
 *
 * A file can be small and its content large: compression makes a thousand bytes of one, and each of
 * them can be a thread with tables of its own. A recorded file is not like that. Its times alone
 * cannot be compressed further (the densest of 344 recordings has 0.9 bytes a record), and an
 * answer takes at most 40 bytes of memory for each byte of the file. So two bounds grow with the
 * file, and both are some times what a recording needs:
 *
 * - the records that its chunks claim, when it is opened;
 * - the memory that the process has taken since, measured while tables and records are read. All
 *   that a command builds, it builds from these; so no table needs a bound of its own.
 *
 * A debugger or another program that uses the library allocates for itself at the same time, so
 * there the second is not measured; instead, entries of tables count as records.
 *
 * The second is also bounded by the memory that the machine had left. ARGUS_MEMORY=SIZE replaces
 * both, for the rare file that was made by a program or that the user trusts.
 */
#ifndef ARGUS_TRACE_FILE_BOUND_H
#define ARGUS_TRACE_FILE_BOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "argus/error.h"

struct file_bound {
    uint64_t before_bytes; /* the process's memory when the file was opened */
    uint64_t most_bytes;   /* that may be added to it */
    uint64_t most_records;
    bool is_wanted; /* the user has set it */
    bool is_shared; /* the process has other work too: its memory says nothing about the file */
};

void file_bound_init(struct file_bound *bound, uint64_t file_bytes);

/* The error if the process has taken more than that, and is not shared; `offset_bytes` says where
 * reading is. Costs a microsecond: to be called once for some thousand entries. */
struct argus_error *file_bound_check_memory(const struct file_bound *bound, const char *path,
                                            uint64_t file_bytes, uint64_t offset_bytes);

/* The error if the chunks up to the one at `offset_bytes` claim too many records. */
struct argus_error *file_bound_check_records(const struct file_bound *bound, const char *path,
                                             uint64_t file_bytes, uint64_t offset_bytes,
                                             uint64_t records);

#endif
