#include "context/wait_pieces.h"

#include <string.h>

#define GAP_NS 1000000 /* after longer work, a wait is another one */

bool wait_pieces_go_on(const struct wait_pieces *pieces, const struct waits_place *place)
{
    return pieces->count && place->from_ns - pieces->end_ns < GAP_NS &&
           memcmp(pieces->node, place->node, sizeof(place->node)) == 0;
}

void wait_pieces_add(struct wait_pieces *pieces, const struct waits_place *place, uint64_t ns,
                     uint64_t end_ns)
{
    if (!wait_pieces_go_on(pieces, place)) {
        *pieces = (struct wait_pieces){.count = 0};
        memcpy(pieces->node, place->node, sizeof(place->node));
    }
    pieces->count++;
    pieces->ns += ns;
    pieces->squares += (double)ns * (double)ns;
    pieces->end_ns = end_ns;
}
