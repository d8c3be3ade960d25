/* A program's event thread asks for the spinning cursor: CGSConnectionSetSpinning(connection, 1),
 * reported with its values by the hook of share/hooks/macos/CoreGraphics.conf (paper, sections 4.1
 * and 6.2; indicator_stack.c finds the same function in call stacks that have symbols). The
 * program's main thread has then left an event unread for some seconds. The call with 0 says that
 * the main thread has read it; it is no sign. */
#include <string.h>

#include "diagnose/hangs/finder.h"

static bool told_by_hook(struct finder *finder)
{
    const struct view *view = finder->view;
    const struct argus_ping *pings;
    size_t count = argus_graph_pings(view->graph, &pings);
    bool done = true;
    for (size_t i = 0; done && i < count; i++) {
        const struct argus_probe_entry *probe = argus_graph_probe(view->graph, pings[i].probe);
        struct sign sign = {.time_ns = pings[i].time_ns,
                            .process = view->threads[pings[i].thread].process,
                            .indicator = ARGUS_INDICATOR_SPINNING_STACK};
        if (pings[i].to && probe && strcmp(probe->label, ARGUS_LABEL_SPINNING) == 0)
            done = finder_add_sign(finder, &sign);
    }
    return done;
}

bool indicator_spinning(struct finder *finder)
{
    return indicator_stack(finder) && told_by_hook(finder);
}
