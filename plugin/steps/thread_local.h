/* Finds a thread's copy of a thread-local variable. */
#ifndef ARGUS_PLUGIN_THREAD_LOCAL_H
#define ARGUS_PLUGIN_THREAD_LOCAL_H

#include "argus/data_symbols.h"

/* Stops thread `tid` of process `pid` briefly (ptrace) to read where its storage is. `*ret`: the
 * address of `symbol`, which is_thread_local. UNSUPPORTED: the library does not tell which module
 * it is, or the thread has not used it yet; BUSY: a debugger is attached to the thread; PERMISSION:
 * access denied. */
struct argus_error *thread_local_address(uint32_t pid, uint32_t tid,
                                         const struct argus_data_symbol *symbol, uint64_t *ret);

#endif
