#include <string.h>

#include "steps/loops/code_paths.h"

bool code_path_is_same(const struct code_path *a, const struct code_path *b)
{
    if (a->root != b->root || a->links != b->links || a->root == CODE_UNKNOWN)
        return false;
    if (code_path_is_local(a) &&
        (a->slot.reg != b->slot.reg || a->slot.displacement != b->slot.displacement ||
         a->function != b->function))
        return false;
    if (a->root == CODE_FOREIGN && strcmp(a->name, b->name) != 0)
        return false;
    return a->address == b->address && a->image == b->image &&
           memcmp(a->offsets, b->offsets, a->links * sizeof(a->offsets[0])) == 0;
}

/* What is behind the last link. */
static int64_t *last_offset(struct code_path *path)
{
    if (path->links)
        return &path->offsets[path->links - 1];
    return path->root == CODE_STACK ? &path->slot.displacement : (int64_t *)&path->address;
}

bool code_path_is_beside(const struct code_path *path, const struct code_path *other, int64_t *ret)
{
    struct code_path moved = *path, wanted = *other;
    *ret = *last_offset(&moved) - *last_offset(&wanted);
    *last_offset(&moved) = *last_offset(&wanted);
    return code_path_is_same(&moved, &wanted);
}

bool code_path_leads_to(const struct code_path *pointed, const struct code_path *flag,
                        int64_t most_bytes)
{
    struct code_path cut = *flag;
    int64_t distance;
    if (pointed->links > cut.links)
        return false;
    cut.links = pointed->links;
    return code_path_is_beside(pointed, &cut, &distance) && distance <= 0 && distance > -most_bytes;
}
