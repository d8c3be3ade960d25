/* Added by tests/additions: an edge rule about wake-ups, those out of add_key(). */
#include <string.h>

#include "graph/rules/wakeup.h"

bool match_addition(const struct wakeup *wakeup)
{
    return wakeup->waker != ARGUS_NONE && wakeup->call->name &&
           strcmp(wakeup->call->name, "add_key") == 0;
}
