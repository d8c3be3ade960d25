/* thread_local.h on macOS, where only a debugger may inspect the threads of another process. */
#include "plugin/steps/thread_local.h"

struct argus_error *thread_local_address(uint32_t pid, uint32_t tid,
                                         const struct argus_data_symbol *symbol, uint64_t *ret)
{
    (void)pid;
    (void)tid;
    (void)symbol;
    *ret = 0;
    return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                              "thread-local variables are found on Linux only: give an address");
}
