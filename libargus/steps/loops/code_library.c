#include <stdlib.h>

#include "steps/loops/code_slice.h"

struct code_library {
    struct instruction_decoder *decoder;   /* borrowed */
    VEC(struct code_image *) images;       /* owned */
    VEC(struct code_function *) functions; /* owned */
};

struct code_library *code_library_create(struct instruction_decoder *decoder)
{
    struct code_library *library = calloc(1, sizeof(*library));
    if (library)
        library->decoder = decoder;
    return library;
}

void code_library_destroy(struct code_library *library)
{
    if (!library)
        return;
    for (size_t i = 0; i < library->functions.length; i++) {
        code_function_deinit(library->functions.data[i]);
        free(library->functions.data[i]);
    }
    for (size_t i = 0; i < library->images.length; i++) {
        elf_slots_deinit(&library->images.data[i]->slots);
        free(library->images.data[i]);
    }
    vec_deinit(&library->functions);
    vec_deinit(&library->images);
    free(library);
}

const struct code_image *code_library_image(struct code_library *library, struct elf_file *file)
{
    for (size_t i = 0; i < library->images.length; i++)
        if (library->images.data[i]->file == file)
            return library->images.data[i];
    struct code_image *image = calloc(1, sizeof(*image));
    if (!image || !vec_push(&library->images, image)) {
        free(image);
        return NULL;
    }
    image->file = file;
    elf_slots_init(&image->slots, file);
    return image;
}

const struct code_function *code_library_function(struct code_library *library,
                                                  const struct code_image *image, uint64_t address)
{
    for (size_t i = 0; i < library->functions.length; i++) {
        const struct code_function *known = library->functions.data[i];
        if (known->image == image && known->start <= address &&
            address - known->start < known->bytes)
            return known;
    }
    struct code_function *function = calloc(1, sizeof(*function));
    if (!function)
        return NULL;
    if (!code_function_init(function, image, library->decoder, address) ||
        !vec_push(&library->functions, function)) {
        code_function_deinit(function);
        free(function);
        return NULL;
    }
    return function;
}
