#include "event/binary/elf_fetched.h"

#include <stdlib.h>
#include <string.h>

void elf_fetched_deinit(struct elf_fetched *fetched)
{
    for (size_t i = 0; i < fetched->entries.length; i++)
        for (int kind = 0; kind < DEBUGINFOD_KINDS; kind++)
            elf_file_close(fetched->entries.data[i].file[kind]);
    vec_deinit(&fetched->entries);
    debuginfod_destroy(fetched->servers);
}

void elf_fetched_renew(struct elf_fetched *fetched)
{
    if (!fetched->servers)
        return;
    debuginfod_renew(fetched->servers);
    for (size_t i = 0; i < fetched->entries.length; i++)
        memset(fetched->entries.data[i].asked, 0, sizeof(fetched->entries.data[i].asked));
}

static struct elf_fetched_entry *entry_of(struct elf_fetched *fetched, uint32_t number)
{
    while (number != UINT32_MAX && fetched->entries.length <= number)
        if (!vec_push(&fetched->entries, (struct elf_fetched_entry){0}))
            return NULL;
    return number == UINT32_MAX ? NULL : &fetched->entries.data[number];
}

/* A server's reply is not trusted: the file must have the right build ID. */
static struct elf_file *fetch(struct debuginfod *servers, const struct argus_image_entry *image,
                              enum debuginfod_kind kind)
{
    const char *slash = strrchr(image->path, '/');
    struct elf_identity identity = {.build_id_bytes = image->build_id_bytes};
    memcpy(identity.build_id, image->build_id, sizeof(identity.build_id));
    bool stale;
    char *path;
    int fd = debuginfod_fetch(servers, kind, image->build_id, image->build_id_bytes,
                              slash ? slash + 1 : image->path, &path);
    struct elf_file *file =
        fd < 0 ? NULL : elf_file_open_fd(fd, path ? path : "", &identity, &stale);
    free(path);
    return file;
}

struct elf_file *elf_fetched_get(struct elf_fetched *fetched, const struct elf_files *files,
                                 uint32_t image, enum debuginfod_kind kind)
{
    struct elf_fetched_entry *entry =
        fetched->servers ? entry_of(fetched, elf_files_number(files, image)) : NULL;
    if (!entry)
        return NULL;
    if (!entry->file[kind] && !entry->asked[kind])
        entry->file[kind] = fetch(fetched->servers, &files->images[image], kind);
    entry->asked[kind] = true;
    return entry->file[kind];
}
