/* The memory of this process and of this machine. */
#ifndef ARGUS_BASE_MEMORY_USE_H
#define ARGUS_BASE_MEMORY_USE_H

#include <stdint.h>

/* Memory of this process that is resident and not part of a file; 0: unknown (other systems than
 * Linux). Any thread may call it; it costs about a microsecond. */
uint64_t memory_used_bytes(void);

/* Memory that this process has asked for and may write, resident or not: what RLIMIT_DATA limits
 * (Linux 4.7 and later). 0: unknown. */
uint64_t memory_writable_bytes(void);

/* Memory that this machine could give without swapping; UINT64_MAX: unknown. */
uint64_t memory_available_bytes(void);

#endif
