#include "server/pace.h"

#define LOOK_NS 1000000u /* a rate over a shorter time is unreliable */

bool pace_is_fast(struct pace *pace, uint64_t now_ns, uint64_t emitted)
{
    if (now_ns < pace->looked_ns + LOOK_NS)
        return pace->fast;
    double seconds = (double)(now_ns - pace->looked_ns) / 1e9;
    pace->fast = (double)(emitted - pace->emitted) > PACE_RECORDS_PER_S * seconds;
    pace->looked_ns = now_ns;
    pace->emitted = emitted;
    return pace->fast;
}
