/* On macOS the recorder places no probes. */
#include "server/probe_guard.h"

#include <stddef.h>

struct argus_error *probe_guard_check(struct probe_list *list, uid_t client,
                                      const struct outlet_waiter *waiter)
{
    (void)list, (void)client, (void)waiter;
    return NULL;
}
