/* Access to the process that has a data flag: permission, memory contents, following pointers. */
#ifndef ARGUS_RECORDER_LINUX_FLAG_MEMORY_H
#define ARGUS_RECORDER_LINUX_FLAG_MEMORY_H

#include <stdbool.h>
#include <sys/types.h>

#include "argus/error.h"
#include "argus/record.h"
#include "protocol.h"

/* Reads `bytes` (at most 8) at `address`. NOT_FOUND: no such process; USAGE: `address` is not
 * mapped. */
struct argus_error *flag_memory_read(uint32_t pid, uint64_t address, uint32_t bytes, uint64_t *ret);

/* Fills in the record (ARGUS_ID_FLAG_SHARED) that says which shared memory the flag is in; false:
 * no other process can have it, or there is no such process. The time is left to the caller. */
bool flag_memory_shared(uint32_t pid, uint64_t address, struct argus_record *ret);

/* Follows the pointers from wanted->address to the flag. `*ret` is 0 if one of them is still null.
 * USAGE: a pointer is invalid, or the result is not aligned to the flag's size. Other errors as
 * above. */
struct argus_error *flag_memory_follow(const struct request_flag *wanted, uint64_t *ret);

#endif
