/* The memory of a process in which a data flag is: whose it is, what it holds, where pointers lead. */
#ifndef ARGUS_RECORDER_LINUX_FLAG_MEMORY_H
#define ARGUS_RECORDER_LINUX_FLAG_MEMORY_H

#include <stdbool.h>
#include <sys/types.h>

#include "argus/error.h"
#include "protocol.h"

/* As with ptrace(2): root may watch everybody, everybody else their own processes. NOT_FOUND, PERMISSION. */
struct argus_error *flag_memory_check_owner(uint32_t pid, uid_t uid);

/* `bytes` (at most 8) at `address`. NOT_FOUND: no such process; USAGE: it has no memory there. */
struct argus_error *flag_memory_read(uint32_t pid, uint64_t address, uint32_t bytes, uint64_t *ret);

/* From wanted->address over its pointers to the flag. `*ret` is 0 where one of them is null still. USAGE: one leads nowhere, or the
 * place is not aligned to the flag's size. Other errors as above. */
struct argus_error *flag_memory_follow(const struct request_flag *wanted, uint64_t *ret);

#endif
