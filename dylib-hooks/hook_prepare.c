#include "hook_command.h"

#include <string.h>
#include <unistd.h>

#include "image_path.h"

/* The `index`th image that the table names. */
static const char *image_name(const struct hook_table *table, size_t index, bool *ret_more)
{
    const char *found = NULL;
    size_t seen = 0;
    *ret_more = false;
    for (size_t i = 0; i < table->rows.length; i++) {
        bool is_first = true;
        for (size_t k = 0; k < i; k++)
            is_first &= strcmp(table->rows.data[i].image, table->rows.data[k].image) != 0;
        if (!is_first)
            continue;
        if (seen == index)
            found = table->rows.data[i].image;
        *ret_more |= seen++ > index;
    }
    return found;
}

/* --image names a file. A name that is no file is searched for, as one in a table. */
static struct argus_error *find_file(const char *file, const char *name, char **ret)
{
    if (!file || access(file, R_OK) != 0)
        return image_path_find(file ? file : name, ret);
    *ret = strdup(file);
    return *ret ? NULL : argus_error_memory();
}

/* Reads the table twice: the names of registers depend on the architecture, hence on the image,
 * which the table names. */
static struct argus_error *read_twice(const struct hook_options *options, const char *path,
                                      size_t index, struct prepared *ret, bool *ret_more)
{
    enum hook_arch arch = options->arch ? options->arch : HOOK_ARCH_X86_64;
    struct hook_table first = {0};
    struct argus_error *error = hook_table_read(path, arch, &first);
    if (error && !options->arch) {
        argus_error_destroy(error);
        error = hook_table_read(path, HOOK_ARCH_ARM64, &first);
    }
    const char *name = error ? NULL : image_name(&first, index, ret_more);
    ret->name = name ? strdup(name) : NULL;
    hook_table_deinit(&first);
    if (error)
        return options->arch ? error
                             : (argus_error_destroy(error), hook_table_read(path, arch, &first));
    if (!ret->name)
        return argus_error_memory();
    char *file = NULL;
    error = find_file(options->image, ret->name, &file);
    if (!error)
        error = image_open(file, options->arch, &ret->image);
    free(file);
    return error ? error : hook_table_read(path, ret->image->arch, &ret->table);
}

struct argus_error *prepare(const struct hook_options *options, const char *path, size_t index,
                            struct prepared *ret, bool *ret_more)
{
    struct prepared prepared = {0};
    struct argus_error *error = read_twice(options, path, index, &prepared, ret_more);
    if (!error)
        error = decoder_create(prepared.image->arch, &prepared.decoder);
    if (!error)
        error = plan_hooks(prepared.image, prepared.decoder, &prepared.table, prepared.name,
                           &prepared.hooks);
    if (error)
        prepared_deinit(&prepared);
    else
        *ret = prepared;
    return error;
}

void prepared_deinit(struct prepared *prepared)
{
    planned_hooks_deinit(&prepared->hooks);
    decoder_destroy(prepared->decoder);
    image_close(prepared->image);
    hook_table_deinit(&prepared->table);
    free(prepared->name);
}
