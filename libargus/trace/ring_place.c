#include "trace/ring_place.h"

#include <string.h>

#include "trace/layout.h"

void ring_init(struct ring_place *place, uint64_t ring_bytes)
{
    *place = (struct ring_place){
        .start = LAYOUT_AREA_START,
        .end = ring_bytes ? LAYOUT_AREA_START + ring_bytes : UINT64_MAX,
        .head = LAYOUT_AREA_START,
    };
}

void ring_deinit(struct ring_place *place)
{
    vec_deinit(&place->extents);
}

static bool is_stream(const struct ring_place *place)
{
    return place->end == UINT64_MAX;
}

bool ring_fits(const struct ring_place *place, uint64_t bytes)
{
    return bytes <= place->end - place->head;
}

uint64_t ring_rest(const struct ring_place *place)
{
    return place->end - place->head;
}

/* The extent `n` places after the oldest, if it is from the previous lap, that is, ahead of the
 * head.
 */
static const struct extent *ahead(const struct ring_place *place, size_t n)
{
    size_t at = place->oldest + n;
    if (at >= place->extents.length || place->extents.data[at].start < place->head)
        return NULL;
    return &place->extents.data[at];
}

/* Removes the extents that no longer exist once they are the majority. Amortized cost: constant per
 * chunk. */
bool ring_reserve(struct ring_place *place)
{
    if (is_stream(place))
        return true;
    if (place->oldest > place->extents.length / 2) {
        place->extents.length -= place->oldest;
        memmove(place->extents.data, place->extents.data + place->oldest,
                place->extents.length * sizeof(*place->extents.data));
        place->oldest = 0;
    }
    return vec_reserve(&place->extents, 1);
}

bool ring_wrap(struct ring_place *place)
{
    if (!ring_reserve(place))
        return false;
    while (ahead(place, 0))
        place->oldest++;
    if (ring_rest(place) >= sizeof(struct layout_chunk))
        place->extents.data[place->extents.length++] =
            (struct extent){place->head, place->end, UINT64_MAX};
    place->head = place->start;
    return true;
}

struct ring_plan ring_plan(const struct ring_place *place, uint64_t bytes)
{
    struct ring_plan plan = {
        .offset = place->head, .end = place->head + bytes, .first_ticks = UINT64_MAX};
    if (is_stream(place))
        return plan;
    uint64_t covered = plan.end; /* everything before it belongs to the new chunk or was given up */
    for (const struct extent *old; (old = ahead(place, plan.given_up)); plan.given_up++) {
        uint64_t rest = covered - plan.end;
        if (old->start >= plan.end && (rest == 0 || rest >= sizeof(struct layout_chunk)))
            break;
        covered = old->end > covered ? old->end : covered;
    }
    uint64_t rest = covered - plan.end;
    if (rest && rest < sizeof(struct layout_chunk)) /* the last piece of the area */
        rest = place->end - plan.end;
    plan.pad_bytes = rest >= sizeof(struct layout_chunk) ? rest : 0;
    return plan;
}

void ring_commit(struct ring_place *place, const struct ring_plan *plan)
{
    place->head = plan->end;
    if (is_stream(place))
        return;
    place->oldest += plan->given_up;
    if (plan->pad_bytes) /* takes the element of an extent that was given up */
        place->extents.data[--place->oldest] =
            (struct extent){plan->end, plan->end + plan->pad_bytes, UINT64_MAX};
    place->extents.data[place->extents.length++] =
        (struct extent){plan->offset, plan->end, plan->first_ticks};
}

uint64_t ring_oldest_ticks(const struct ring_place *place)
{
    uint64_t oldest = UINT64_MAX;
    for (size_t i = place->oldest; i < place->extents.length; i++)
        if (place->extents.data[i].first_ticks < oldest)
            oldest = place->extents.data[i].first_ticks;
    return oldest;
}
