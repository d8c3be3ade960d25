#include "rates.h"

uint64_t rates_span_ns(uint64_t started_ns, uint64_t first_ns, bool all, uint64_t now_ns)
{
    uint64_t from_ns = all ? started_ns : first_ns;
    uint64_t span_ns = now_ns > from_ns ? now_ns - from_ns : 0;
    if (all && span_ns < RATES_RECORDS_SPAN_NS)
        return RATES_RECORDS_SPAN_NS;
    return span_ns ? span_ns : 1;
}

bool rates_cpu_share(uint64_t cpu_ns, uint64_t span_ns, double *ret)
{
    if (span_ns < RATES_CPU_SPAN_NS)
        return false;
    *ret = (double)cpu_ns / (double)span_ns;
    return true;
}
