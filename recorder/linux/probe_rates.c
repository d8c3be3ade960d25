#include "linux/probe_rates.h"

#define LOOK_NS 1000000000ull

static uint64_t rate_of(struct probe_rates *rates, const struct probes *probes,
                        const struct probe *probe, uint64_t passed_ns)
{
    uint64_t hits = probes_hits(probes, probe), *before = &rates->hits[probe->entry.number];
    uint64_t more = hits - *before;
    *before = hits;
    return (uint64_t)((double)more * 1e9 / (double)passed_ns);
}

struct argus_error *probe_rates_look(struct probe_rates *rates, struct probes *probes,
                                     uint64_t now_ns, probe_rates_taken_out taken_out,
                                     probes_refused refused, void *context)
{
    uint64_t passed_ns = now_ns - rates->looked_ns;
    bool first = rates->looked_ns == 0;
    if (!probes || (!first && passed_ns < LOOK_NS))
        return NULL;
    rates->looked_ns = now_ns;
    const struct probe_list *list = probes_list(probes);
    struct argus_error *error = NULL;
    for (size_t i = 0; i < list->probes.length && !first && !error; i++) {
        const struct probe *probe = &list->probes.data[i];
        if (!(probe->spec.flags & PROBE_SPARABLE) || !probes_is_attached(probes, probe))
            continue;
        uint64_t rate = rate_of(rates, probes, probe, passed_ns);
        if (rate <= PROBE_RATE_MOST)
            continue;
        error = probes_take_out(probes, probe, refused, context);
        taken_out(context, probe, rate);
    }
    return error;
}
