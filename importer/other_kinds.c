#include "other_kinds.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash64.h"

/* A hostile file can have a new name in each line. */
enum { MOST_KINDS = 1024, MOST_NAME_BYTES = 48, SHOWN = 3 };

void other_kinds_deinit(struct other_kinds *kinds)
{
    for (size_t i = 0; i < kinds->kinds.length; i++)
        free(kinds->kinds.data[i].name);
    vec_deinit(&kinds->kinds);
    idmap_deinit(&kinds->place_of_name);
    *kinds = (struct other_kinds){0};
}

bool other_kinds_add(struct other_kinds *kinds, const char *name, uint64_t count)
{
    uint64_t id = hash64(0, name, strlen(name));
    uint32_t place = idmap_get(&kinds->place_of_name, id);
    kinds->count += count;
    if (place != IDMAP_NONE) {
        kinds->kinds.data[place].count += count;
        return true;
    }
    if (kinds->kinds.length == MOST_KINDS)
        return true;
    place = (uint32_t)kinds->kinds.length;
    struct other_kind kind = {strndup(name, MOST_NAME_BYTES), count};
    if (!kind.name || !vec_push(&kinds->kinds, kind)) {
        free(kind.name);
        return false;
    }
    return idmap_put(&kinds->place_of_name, id, place);
}

/* The most frequent one that comes after `before` in the order of counts, and of places if these
 * are equal; NULL: none. */
static const struct other_kind *next_kind(const struct other_kinds *kinds,
                                          const struct other_kind *before)
{
    const struct other_kind *found = NULL;
    for (size_t i = 0; i < kinds->kinds.length; i++) {
        const struct other_kind *kind = &kinds->kinds.data[i];
        if (before &&
            (kind->count > before->count || (kind->count == before->count && kind <= before)))
            continue;
        if (!found || kind->count > found->count)
            found = kind;
    }
    return found;
}

void other_kinds_write(const struct other_kinds *kinds, char *ret, size_t room)
{
    size_t at = 0, shown = 0;
    ret[0] = '\0';
    for (const struct other_kind *kind = next_kind(kinds, NULL); kind && shown < SHOWN && at < room;
         kind = next_kind(kinds, kind), shown++)
        at += (size_t)snprintf(ret + at, room - at, "%s%s (%" PRIu64 ")", shown ? ", " : "",
                               kind->name, kind->count);
    size_t rest = kinds->kinds.length - shown;
    if (rest && at < room)
        snprintf(ret + at, room - at, " and %zu%s other kind%s", rest,
                 kinds->kinds.length == MOST_KINDS ? " or more" : "", rest == 1 ? "" : "s");
}
