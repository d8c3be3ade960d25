/* Between mac_libproc.c and mac_tasks.c. */
#ifndef ARGUS_MAC_THREAD_STATE_H
#define ARGUS_MAC_THREAD_STATE_H

#include "live/macos/mac_kernel.h"

/* Adds IDs, suspend counts and registers to the threads of a process, by their handles; not without
 * a right to the task. */
void mac_add_registers(uint32_t pid, struct mac_thread *threads, size_t count);

#endif
