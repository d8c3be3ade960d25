#include "image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lower_bound.h"
#include "likeness_of_names.h"

/* By the first four bytes, little-endian. To add a format: a row and a reader. */
static const struct {
    uint32_t magic;
    enum image_format format;
    struct argus_error *(*read)(struct image *image, enum hook_arch arch);
} formats[] = {
#if defined(__linux__)
    {0x464c457f, IMAGE_ELF, elf_image_read},
#endif
    {0xfeedfacf, IMAGE_MACHO, macho_image_read},
    {0xbebafeca, IMAGE_MACHO, macho_image_read}, /* universal */
};

static struct argus_error *map_file(struct image *image)
{
    struct stat status;
    int fd = open(image->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return argus_error_os(errno, "cannot open %s", image->path);
    if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size < 64) {
        close(fd);
        return argus_error_create(ARGUS_ERROR_FORMAT, "%s is neither a library nor a program",
                                  image->path);
    }
    image->file_bytes = (size_t)status.st_size;
    /* MAP_SHARED, because uprobes insert their int3 into private mappings, even read-only ones. */
    void *file = mmap(NULL, image->file_bytes, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (file == MAP_FAILED)
        return argus_error_os(errno, "cannot map %s", image->path);
    image->file = file;
    return NULL;
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static int compare_functions(const void *a, const void *b)
{
    const struct image_function *left = a, *right = b;
    if (left->address != right->address)
        return left->address < right->address ? -1 : 1;
    return strcmp(left->name, right->name);
}

static struct argus_error *sort_tables(struct image *image)
{
    for (size_t i = 0; i < image->functions.length; i++)
        if (!vec_push(&image->starts, image->functions.data[i].address))
            return argus_error_memory();
    if (image->functions.data)
        qsort(image->functions.data, image->functions.length, sizeof(*image->functions.data),
              compare_functions);
    if (image->starts.data)
        qsort(image->starts.data, image->starts.length, sizeof(uint64_t), compare_numbers);
    if (image->pointers.data)
        qsort(image->pointers.data, image->pointers.length, sizeof(uint64_t), compare_numbers);
    bool done = image->arch == HOOK_ARCH_ARM64 || image_find_far_branches(image);
    return done ? NULL : argus_error_memory();
}

static struct argus_error *read_format(struct image *image, enum hook_arch arch)
{
    uint32_t magic;
    memcpy(&magic, image->file, sizeof(magic));
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        if (formats[i].magic != magic)
            continue;
        image->format = formats[i].format;
        return formats[i].read(image, arch);
    }
    return argus_error_create(ARGUS_ERROR_FORMAT,
                              "it is neither an ELF nor a Mach-O file of 64 bits");
}

struct argus_error *image_open(const char *path, enum hook_arch arch, struct image **ret)
{
    struct image *image = calloc(1, sizeof(*image));
    if (!image || !(image->path = strdup(path))) {
        free(image);
        return argus_error_memory();
    }
    struct argus_error *error = map_file(image);
    if (!error && image->file) {
        error = read_format(image, arch);
        if (error && error->code != ARGUS_ERROR_MEMORY)
            error = argus_error_context(error, "%s", path);
    }
    if (!error)
        error = sort_tables(image);
    if (error)
        image_close(image);
    else
        *ret = image;
    return error;
}

void image_close(struct image *image)
{
    if (!image)
        return;
    for (size_t i = 0; i < image->functions.length; i++)
        free(image->functions.data[i].name);
    vec_deinit(&image->segments);
    vec_deinit(&image->functions);
    vec_deinit(&image->starts);
    vec_deinit(&image->pointers);
    vec_deinit(&image->far_branches);
    if (image->file)
        munmap((void *)image->file, image->file_bytes);
    free(image->path);
    free(image->name);
    free(image);
}

bool image_add_segment(struct image *image, uint64_t address, uint64_t offset, uint64_t bytes,
                       bool is_code)
{
    if (offset > image->file_bytes || bytes > image->file_bytes - offset ||
        address + bytes < address)
        return true; /* a segment outside the file cannot be read; a later use of it reports that */
    return vec_push(&image->segments, (struct image_segment){.address = address,
                                                             .bytes = bytes,
                                                             .data = image->file + offset,
                                                             .is_code = is_code});
}

bool image_add_function(struct image *image, const char *name, size_t length, uint64_t address)
{
    struct image_function function = {.name = strndup(name, length), .address = address};
    if (function.name && vec_push(&image->functions, function))
        return true;
    free(function.name);
    return false;
}

const uint8_t *image_bytes(const struct image *image, uint64_t address, size_t count)
{
    for (size_t i = 0; i < image->segments.length; i++) {
        const struct image_segment *segment = &image->segments.data[i];
        if (address >= segment->address && address - segment->address <= segment->bytes &&
            count <= segment->bytes - (address - segment->address))
            return segment->data + (address - segment->address);
    }
    return NULL;
}

const struct image_segment *image_code(const struct image *image, uint64_t address)
{
    for (size_t i = 0; i < image->segments.length; i++) {
        const struct image_segment *segment = &image->segments.data[i];
        if (segment->is_code && address >= segment->address &&
            address - segment->address < segment->bytes)
            return segment;
    }
    return NULL;
}

/* Symbols of ELF may have a version behind an @. */
static bool is_named(const struct image_function *function, const char *name)
{
    size_t length = strlen(name);
    return strncmp(function->name, name, length) == 0 &&
           (!function->name[length] || function->name[length] == '@');
}

struct argus_error *image_find_function(const struct image *image, const char *name,
                                        const struct image_function **ret)
{
    struct like_names like = {.wanted = name};
    const struct image_function *found = NULL;
    for (size_t i = 0; i < image->functions.length; i++) {
        const struct image_function *function = &image->functions.data[i];
        like_names_look(&like, function->name);
        if (!is_named(function, name))
            continue;
        if (found && found->address != function->address)
            return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                      "%s has several functions %s, at 0x%llx and 0x%llx: write "
                                      "the address",
                                      image->path, name, (unsigned long long)found->address,
                                      (unsigned long long)function->address);
        found = function;
    }
    *ret = found;
    if (found)
        return NULL;
    if (!image->functions.length)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "%s has no symbols (it is stripped): write the place as an "
                                  "address, 0x…, or install its debug symbols",
                                  image->path);
    char near[200];
    like_names_say(&like, sizeof(near), near);
    return argus_error_create(ARGUS_ERROR_NOT_FOUND, "%s has no function %s%s", image->path, name,
                              near);
}

bool image_function_range(const struct image *image, uint64_t address, uint64_t *ret_first,
                          uint64_t *ret_end)
{
    const struct image_segment *code = image_code(image, address);
    size_t behind;
    LOWER_BOUND(behind, image->starts.length, image->starts.data[behind] <= address);
    if (!code || behind == 0 || image->starts.data[behind - 1] < code->address)
        return false;
    *ret_first = image->starts.data[behind - 1];
    *ret_end = code->address + code->bytes;
    if (behind < image->starts.length && image->starts.data[behind] < *ret_end)
        *ret_end = image->starts.data[behind];
    return true;
}

const char *image_function_name(const struct image *image, uint64_t address, uint64_t *ret_start)
{
    const struct image_function *found = NULL;
    for (size_t i = 0; i < image->functions.length; i++) {
        if (image->functions.data[i].address > address)
            break;
        if (!found || found->address != image->functions.data[i].address)
            found = &image->functions.data[i];
    }
    if (found)
        *ret_start = found->address;
    return found ? found->name : NULL;
}
