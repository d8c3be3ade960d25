#include "context/builds.h"

#include <ctype.h>
#include <string.h>

#include "base/plain_names.h"
#include "context/contexts_data.h"

/* The names of one side that matter here: interned strings, so equal addresses mean equal texts. */
typedef VEC(const char *) name_vec;

static const char *label(const char *name, bool is_program)
{
    return is_program ? name : contexts_base_name(name);
}

static bool collect(const struct argus_contexts *contexts, bool programs, name_vec *ret)
{
    const struct argus_context_function *functions;
    size_t count = argus_contexts_functions(contexts, &functions);
    struct idmap seen = {0};
    bool good = true;
    for (size_t i = 0; good && i < count; i++) {
        const char *image = functions[i].image;
        const char *name = programs ? functions[i].name : image;
        bool wanted = programs ? !strcmp(image, "[program]") : image[0] == '/';
        if (wanted && idmap_get(&seen, (uintptr_t)name) == IDMAP_NONE)
            good = idmap_put(&seen, (uintptr_t)name, 1) && vec_push(ret, name);
    }
    idmap_deinit(&seen);
    return good;
}

/* The same path, or else one with the same label; NULL: none. */
static const char *same_label(const name_vec *names, const char *name, bool is_program)
{
    const char *found = NULL;
    for (size_t i = 0; i < names->length; i++) {
        if (!strcmp(names->data[i], name))
            return names->data[i];
        if (!found && !strcmp(label(names->data[i], is_program), label(name, is_program)))
            found = names->data[i];
    }
    return found;
}

/* The only one of `names` with this plain name that is not among `others`; NULL: none, or
 * several. */
static const char *only_plain(const name_vec *names, const name_vec *others, const char *plain,
                              bool is_program)
{
    const char *found = NULL;
    char text[256];
    for (size_t i = 0; i < names->length; i++) {
        const char *name = names->data[i];
        if (strcmp(plain_file_name(name, text, sizeof(text)), plain) != 0 ||
            same_label(others, name, is_program))
            continue;
        if (found)
            return NULL;
        found = name;
    }
    return found;
}

/* The image of this file; NULL: none with a build ID. */
static const struct argus_image_entry *image_of(const struct argus_contexts *contexts,
                                                const char *path)
{
    const struct argus_image_entry *images;
    size_t count = argus_trace_images(argus_graph_trace(argus_contexts_graph(contexts)), &images);
    for (size_t i = 0; i < count; i++)
        if (images[i].build_id_bytes && strcmp(images[i].path, path) == 0)
            return &images[i];
    return NULL;
}

static bool differs(const struct argus_contexts *contexts, const struct argus_contexts *base,
                    const struct build_pair *pair)
{
    const struct argus_image_entry *here = image_of(contexts, pair->here);
    const struct argus_image_entry *there = here ? image_of(base, pair->there) : NULL;
    return there && (here->build_id_bytes != there->build_id_bytes ||
                     memcmp(here->build_id, there->build_id, here->build_id_bytes) != 0);
}

/* A plain name without a letter says nothing: ":" is left of "kworker/0:1". */
static bool has_letter(const char *plain)
{
    for (; *plain; plain++)
        if (isalpha((unsigned char)*plain) || (unsigned char)*plain >= 0x80)
            return true;
    return false;
}

static bool pair_names(const struct argus_contexts *contexts, const struct argus_contexts *base,
                       bool is_program, build_pair_vec *ret)
{
    name_vec here = {0}, there = {0};
    bool good = collect(contexts, is_program, &here) && collect(base, is_program, &there);
    for (size_t i = 0; good && i < here.length; i++) {
        struct build_pair pair = {.here = here.data[i], .is_program = is_program};
        char plain[256];
        plain_file_name(pair.here, plain, sizeof(plain));
        pair.there = same_label(&there, pair.here, is_program);
        if (!pair.there && has_letter(plain) && only_plain(&here, &there, plain, is_program)) {
            pair.there = only_plain(&there, &here, plain, is_program);
            pair.is_renamed = pair.there != NULL;
        }
        if (!pair.there)
            continue;
        pair.is_other = pair.is_renamed || (!is_program && differs(contexts, base, &pair));
        good = vec_push(ret, pair);
    }
    vec_deinit(&here);
    vec_deinit(&there);
    return good;
}

bool builds_pair(const struct argus_contexts *contexts, const struct argus_contexts *base,
                 build_pair_vec *ret)
{
    return pair_names(contexts, base, false, ret) && pair_names(contexts, base, true, ret);
}
