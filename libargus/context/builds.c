#include "context/builds.h"

#include <string.h>

#include "context/contexts_data.h"

/* The image of a trace whose file has this name and that has a build ID; NULL: none. */
static const struct argus_image_entry *image_named(const struct argus_contexts *contexts,
                                                   const char *name)
{
    const struct argus_image_entry *images;
    size_t count = argus_trace_images(argus_graph_trace(argus_contexts_graph(contexts)), &images);
    for (size_t i = 0; i < count; i++)
        if (images[i].build_id_bytes && strcmp(contexts_base_name(images[i].path), name) == 0)
            return &images[i];
    return NULL;
}

static bool differs(const struct argus_contexts *contexts, const struct argus_contexts *base,
                    const char *path)
{
    const char *name = contexts_base_name(path);
    const struct argus_image_entry *here = image_named(contexts, name);
    const struct argus_image_entry *there = here ? image_named(base, name) : NULL;
    return there && (here->build_id_bytes != there->build_id_bytes ||
                     memcmp(here->build_id, there->build_id, here->build_id_bytes) != 0);
}

size_t builds_that_differ(const struct argus_contexts *contexts, const struct argus_contexts *base,
                          const char **ret, size_t room)
{
    const struct argus_context_function *functions;
    size_t count = argus_contexts_functions(contexts, &functions), found = 0;
    struct idmap seen = {0};
    for (size_t i = 0; i < count; i++) {
        /* interned strings, so equal addresses mean equal paths */
        const char *path = functions[i].image;
        if (path[0] != '/' || idmap_get(&seen, (uintptr_t)path) != IDMAP_NONE)
            continue;
        if (!idmap_put(&seen, (uintptr_t)path, 1))
            break;
        if (!differs(contexts, base, path))
            continue;
        if (found < room)
            ret[found] = path;
        found++;
    }
    idmap_deinit(&seen);
    return found;
}
