#include <stdlib.h>

#include "base/idmap.h"
#include "steps/loops/code_slice.h"

/* An image, and its functions. Those that cannot be decoded are remembered, too. */
struct own_image {
    struct code_image image;
    struct idmap starts;                   /* where functions begin → number in `functions` */
    VEC(struct code_function *) functions; /* owned; NULL: it cannot be decoded */
};

struct code_library {
    struct instruction_decoder *decoder; /* borrowed */
    VEC(struct own_image *) images;      /* owned */
};

struct code_library *code_library_create(struct instruction_decoder *decoder)
{
    struct code_library *library = calloc(1, sizeof(*library));
    if (library)
        library->decoder = decoder;
    return library;
}

static void destroy_image(struct own_image *own)
{
    for (size_t i = 0; i < own->functions.length; i++) {
        if (own->functions.data[i])
            code_function_deinit(own->functions.data[i]);
        free(own->functions.data[i]);
    }
    vec_deinit(&own->functions);
    idmap_deinit(&own->starts);
    elf_slots_deinit(&own->image.slots);
    free(own);
}

void code_library_destroy(struct code_library *library)
{
    if (!library)
        return;
    for (size_t i = 0; i < library->images.length; i++)
        destroy_image(library->images.data[i]);
    vec_deinit(&library->images);
    free(library);
}

const struct code_image *code_library_image(struct code_library *library, struct elf_file *file)
{
    for (size_t i = 0; i < library->images.length; i++)
        if (library->images.data[i]->image.file == file)
            return &library->images.data[i]->image;
    struct own_image *own = calloc(1, sizeof(*own));
    if (!own || !vec_push(&library->images, own)) {
        free(own);
        return NULL;
    }
    own->image.file = file;
    elf_slots_init(&own->image.slots, file);
    return &own->image;
}

static struct own_image *own_of(const struct code_library *library, const struct code_image *image)
{
    for (size_t i = 0; i < library->images.length; i++)
        if (&library->images.data[i]->image == image)
            return library->images.data[i];
    return NULL;
}

/* NULL: it cannot be decoded. */
static struct code_function *decode(const struct code_library *library, const struct own_image *own,
                                    uint64_t address)
{
    struct code_function *function = calloc(1, sizeof(*function));
    if (function && !code_function_init(function, &own->image, library->decoder, address)) {
        free(function);
        return NULL;
    }
    return function;
}

const struct code_function *code_library_function(struct code_library *library,
                                                  const struct code_image *image, uint64_t address)
{
    uint64_t start = address, bytes;
    struct own_image *own = own_of(library, image);
    uint32_t known = own ? idmap_get(&own->starts, address) : IDMAP_NONE;
    if (known == IDMAP_NONE && own && elf_file_function_range(image->file, address, &start, &bytes))
        known = idmap_get(&own->starts, start);
    else if (known == IDMAP_NONE)
        return NULL;
    if (known != IDMAP_NONE)
        return own->functions.data[known];
    struct code_function *function = decode(library, own, address);
    if (!vec_push(&own->functions, function)) {
        if (function)
            code_function_deinit(function);
        free(function);
        return NULL;
    }
    (void)idmap_put(&own->starts, start, (uint32_t)(own->functions.length - 1));
    return function;
}
