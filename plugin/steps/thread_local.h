/* Where a thread's own copy of a thread-local variable is. */
#ifndef ARGUS_PLUGIN_THREAD_LOCAL_H
#define ARGUS_PLUGIN_THREAD_LOCAL_H

#include "argus/data_symbols.h"

/* Stops thread `tid` of process `pid` for a moment (ptrace), to read where its storage is. `*ret`: the address of `symbol`, which
 * is_thread_local. UNSUPPORTED: the library does not say which module it is, or the thread has not touched it yet; BUSY: a
 * debugger has the thread; PERMISSION: it may not be looked at. */
struct argus_error *thread_local_address(uint32_t pid, uint32_t tid,
                                         const struct argus_data_symbol *symbol, uint64_t *ret);

#endif
