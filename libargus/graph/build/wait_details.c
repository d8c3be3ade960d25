/* Facts about a wait that do not fit into one number: a chain of details for each wait.
 *
 * A wait that continues after a short check (rules/rewait.c) can involve many disk requests; these
 * are added up.
 */
#include "graph/build/wait_details.h"

#include "graph/build/thread_state.h"
#include "graph/build/vertex.h"

/* More details of one wait would not help anybody. */
enum { MOST_DETAILS = 32 };

/* Adds a request to the previous one, if device, operation and file are the same. */
static bool add_up(struct argus_wait_detail *last, enum argus_detail_kind kind,
                   const uint64_t arg[4])
{
    if (kind != ARGUS_DETAIL_BLOCK || last->kind != ARGUS_DETAIL_BLOCK || last->arg[0] != arg[0] ||
        last->arg[3] != arg[3])
        return false;
    last->arg[1] += arg[1];
    last->arg[2] += arg[2];
    return true;
}

void wait_add_detail_to(struct builder *builder, uint32_t slot, enum argus_detail_kind kind,
                        const uint64_t arg[4])
{
    struct argus_graph *graph = builder->graph;
    if (!vec_reserve(&graph->details, 1)) {
        builder->no_memory = true;
        return;
    }
    uint32_t *place = &slot_at(builder, slot)->wait.first_detail;
    for (int count = 0; *place != ARGUS_NONE; count++) {
        struct argus_wait_detail *detail = &graph->details.data[*place];
        if (add_up(detail, kind, arg) || count == MOST_DETAILS)
            return;
        place = &detail->next;
    }
    uint32_t index = (uint32_t)graph->details.length;
    struct argus_wait_detail made = {.next = ARGUS_NONE, .kind = (uint8_t)kind};
    for (int i = 0; i < 4; i++)
        made.arg[i] = arg[i];
    if (index >= ARGUS_NONE - 1) {
        builder->full = true;
        return;
    }
    *place = index;
    graph->details.data[graph->details.length++] = made;
}

void wait_add_detail(struct builder *builder, uint32_t thread, enum argus_detail_kind kind,
                     const uint64_t arg[4])
{
    uint32_t slot = waiting_slot(thread_at(builder, thread));
    if (slot != ARGUS_NONE)
        wait_add_detail_to(builder, slot, kind, arg);
}
