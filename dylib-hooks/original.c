#include "original.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "hook_command.h"

#if defined(__linux__)
#include <gelf.h>

#define VERSIONS_MOST 250

static bool add_version(char **versions, size_t *count, const char *name)
{
    if (*count == VERSIONS_MOST || !name)
        return true;
    versions[*count] = strdup(name);
    return versions[(*count)++] != NULL;
}

/* The names in the section of version definitions: the first is the library's own. */
static bool read_definitions(Elf *elf, Elf_Data *data, const GElf_Shdr *header, char **versions)
{
    size_t count = 0;
    for (size_t at = 0; at < data->d_size && count < VERSIONS_MOST;) {
        GElf_Verdef definition;
        GElf_Verdaux name;
        if (!gelf_getverdef(data, (int)at, &definition) ||
            !gelf_getverdaux(data, (int)(at + definition.vd_aux), &name))
            return true;
        if (!add_version(versions, &count, elf_strptr(elf, header->sh_link, name.vda_name)))
            return false;
        if (!definition.vd_next)
            return true;
        at += definition.vd_next;
    }
    return true;
}

static bool read_versions(const struct image *image, struct original *ret)
{
    Elf *elf = elf_memory((char *)image->file, image->file_bytes);
    bool good = true;
    for (Elf_Scn *section = NULL; elf && good && (section = elf_nextscn(elf, section)) != NULL;) {
        GElf_Shdr header;
        Elf_Data *data;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_GNU_verdef || ret->versions ||
            !(data = elf_getdata(section, NULL)))
            continue;
        ret->versions = calloc(VERSIONS_MOST + 1, sizeof(*ret->versions));
        good = ret->versions && read_definitions(elf, data, &header, ret->versions);
    }
    elf_end(elf);
    return good;
}

#else

static bool read_versions(const struct image *image, struct original *ret)
{
    (void)image, (void)ret;
    return true;
}

#endif

struct argus_error *original_keep(const struct image *image, const char *folder,
                                  struct original *ret)
{
    char whole[PATH_MAX];
    const char *slash = strrchr(image->name, '/');
    if (mkdir(folder, 0755) < 0 && errno != EEXIST)
        return argus_error_os(errno, "cannot make the folder %s", folder);
    if (!realpath(folder, whole))
        return argus_error_os(errno, "cannot find the folder %s", folder);
    if (asprintf(&ret->name, "%s/%s.original", whole, slash ? slash + 1 : image->name) < 0) {
        ret->name = NULL;
        return argus_error_memory();
    }
    if (image->format == IMAGE_ELF && !read_versions(image, ret))
        return argus_error_memory();
    return write_file(ret->name, image->file, image->file_bytes);
}

void original_deinit(struct original *original)
{
    for (size_t i = 0; original->versions && original->versions[i]; i++)
        free(original->versions[i]);
    free(original->versions);
    free(original->name);
}
