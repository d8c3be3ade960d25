#include "steps/places.h"

#include <stdlib.h>
#include <string.h>

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static struct module *module_of_path(struct places *places, const char *path)
{
    for (size_t i = 0; i < places->modules.length; i++)
        if (strcmp(places->modules.data[i].path, path) == 0)
            return &places->modules.data[i];
    return NULL;
}

/* Finds the address of the module's address 0, and its end. Without the file, it is taken for a
 * file whose first segment has address 0 at offset 0, as linkers produce for everything that is
 * position-independent. */
static void measure(struct module *module, const struct argus_step_image *image)
{
    uint64_t address = image->file_offset;
    if (module->elf)
        elf_file_address(module->elf, image->file_offset, &address);
    module->base = image->start - address;
    if (module->elf)
        module->end = module->base + elf_file_end(module->elf);
    if (module->end < image->end)
        module->end = image->end;
}

static bool add_module(struct places *places, const struct argus_step_image *images, uint32_t image)
{
    const struct argus_step_image *first = &images[image];
    struct elf_identity identity = {.build_id_bytes = first->build_id_bytes};
    struct module module = {.path = first->path, .name = last_part(first->path), .image = image};
    memcpy(identity.build_id, first->build_id, sizeof(identity.build_id));
    module.elf = elf_file_open(first->path, &identity, &module.is_stale);
    measure(&module, first);
    if (vec_push(&places->modules, module))
        return true;
    elf_file_close(module.elf);
    return false;
}

/* Data files and shared memory are mapped as well, but contain nothing that has a name. */
static bool has_code(const struct argus_step_image *images, size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++)
        if (images[i].executable && strcmp(images[i].path, path) == 0)
            return true;
    return false;
}

static int by_base(const void *left, const void *right)
{
    const struct module *a = left, *b = right;
    return a->base < b->base ? -1 : a->base > b->base;
}

struct argus_error *places_create(const struct argus_steps *steps, struct places **ret)
{
    const struct argus_step_image *images;
    size_t count = argus_steps_images(steps, &images);
    struct places *places = calloc(1, sizeof(*places));
    if (!places)
        return argus_error_memory();
    places->steps = steps;
    for (size_t i = 0; i < count; i++) {
        struct module *module = module_of_path(places, images[i].path);
        if (!module && !has_code(images, count, images[i].path))
            continue;
        if (module && images[i].end > module->end)
            module->end = images[i].end;
        else if (!module && images[i].path[0] == '/' && !add_module(places, images, (uint32_t)i)) {
            places_destroy(places);
            return argus_error_memory();
        }
    }
    if (places->modules.length)
        qsort(places->modules.data, places->modules.length, sizeof(*places->modules.data), by_base);
    *ret = places;
    return NULL;
}

void places_destroy(struct places *places)
{
    if (!places)
        return;
    for (size_t i = 0; i < places->modules.length; i++)
        elf_file_close(places->modules.data[i].elf);
    vec_deinit(&places->modules);
    free(places);
}

static bool has_other_build(const struct places *left, const struct module *a,
                            const struct places *right, const struct module *b)
{
    const struct argus_step_image *images;
    argus_steps_images(left->steps, &images);
    const struct argus_step_image *first = &images[a->image];
    argus_steps_images(right->steps, &images);
    const struct argus_step_image *second = &images[b->image];
    return first->build_id_bytes != second->build_id_bytes ||
           memcmp(first->build_id, second->build_id, first->build_id_bytes) != 0;
}

void places_compare(struct places *left, struct places *right)
{
    for (size_t i = 0; i < left->modules.length; i++)
        for (size_t j = 0; j < right->modules.length; j++) {
            struct module *a = &left->modules.data[i], *b = &right->modules.data[j];
            if (strcmp(a->name, b->name) == 0 && has_other_build(left, a, right, b))
                a->differs = b->differs = true;
        }
}

const struct module *places_module(const struct places *places, uint64_t address)
{
    for (size_t i = 0; i < places->modules.length; i++) {
        const struct module *module = &places->modules.data[i];
        if (address >= module->base && address < module->end)
            return module;
    }
    return NULL;
}

const char *places_function(const struct places *places, uint64_t address, uint64_t *ret_offset)
{
    const struct module *module = places_module(places, address);
    return module && module->elf
               ? elf_file_function(module->elf, address - module->base, ret_offset)
               : NULL;
}

const char *places_line(const struct places *places, uint64_t address, uint32_t *ret_line)
{
    const struct module *module = places_module(places, address);
    return module && module->elf ? elf_file_line(module->elf, address - module->base, ret_line)
                                 : NULL;
}
