#include "event/binary/elf_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/binary/elf_vdso.h"
#include "event/binary/live_file.h"

/* A 32-bit program has another vdso than this process. */
#define END_32_BIT (1ull << 32)

/* Whether the trace is from the current boot of this machine, so that its vdso is the current
 * one. */
static bool same_boot(const struct argus_trace *trace)
{
    static const uint8_t unknown[16];
    const uint8_t *wanted = argus_trace_header(trace)->boot_id;
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    char text[64] = "", expected[40];
    if (!file)
        return false;
    bool got = fgets(text, sizeof(text), file) != NULL;
    fclose(file);
    for (int i = 0, at = 0; i < 16; i++)
        at += snprintf(expected + at, sizeof(expected) - (size_t)at,
                       i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", wanted[i]);
    return got && memcmp(wanted, unknown, sizeof(unknown)) && !strncmp(text, expected, 36);
}

void elf_files_init(struct elf_files *files, const struct argus_trace *trace)
{
    uint64_t start_ns, end_ns;
    *files = (struct elf_files){.trace = trace};
    files->image_count = argus_trace_images(trace, &files->images);
    files->same_boot = same_boot(trace);
    argus_trace_time_range(trace, &start_ns, &end_ns);
    files->until_ns = argus_trace_ns_to_wall_ns(trace, end_ns);
}

void elf_files_deinit(struct elf_files *files)
{
    for (size_t i = 0; i < files->files.length; i++)
        elf_file_close(files->files.data[i].elf);
    vec_deinit(&files->files);
    idmap_deinit(&files->by_image);
}

/* A file with a build ID can be found at any path. */
static bool same_file(const struct argus_image_entry *a, const struct argus_image_entry *b)
{
    if (a->build_id_bytes || b->build_id_bytes)
        return a->build_id_bytes == b->build_id_bytes &&
               !memcmp(a->build_id, b->build_id, a->build_id_bytes);
    bool same_width = (a->start < END_32_BIT) == (b->start < END_32_BIT) || a->path[0] == '/';
    return same_width && !strcmp(a->path, b->path) && a->inode == b->inode &&
           a->dev_major == b->dev_major && a->dev_minor == b->dev_minor;
}

/* If the file is not at its path any more: opens it through a process that has it mapped, as long
 * as that process runs. */
static struct elf_file *open_live(const struct elf_files *files, uint32_t index,
                                  const struct elf_identity *identity, bool *ret_denied)
{
    enum { MOST_TRIES = 16 };
    const struct argus_image_entry *image = &files->images[index];
    struct elf_file *elf = NULL;
    unsigned tries = 0;
    for (size_t i = 0; i < files->image_count && !elf && tries < MOST_TRIES; i++) {
        bool denied, stale;
        if (i != index && !same_file(&files->images[i], image))
            continue;
        int fd = live_file_open(&files->images[i], &denied);
        tries++;
        *ret_denied |= denied;
        if (fd >= 0)
            elf = elf_file_open_fd(fd, image->path, identity, &stale);
    }
    return elf;
}

static struct elf_files_entry open_file(const struct elf_files *files, uint32_t index)
{
    const struct argus_image_entry *image = &files->images[index];
    struct elf_files_entry file = {.image = index};
    struct elf_identity identity = {
        .build_id_bytes = image->build_id_bytes,
        .unchanged_since_ns = files->until_ns,
        .inode = image->inode,
    };
    bool denied = false;
    memcpy(identity.build_id, image->build_id, sizeof(identity.build_id));
    if (image->path[0] == '/') {
        errno = 0;
        file.elf = elf_file_open(image->path, &identity, &file.stale);
        denied = !file.elf && !file.stale && errno == EACCES;
        if (!file.elf && files->same_boot)
            file.elf = open_live(files, index, &identity, &denied);
    } else if (!strcmp(image->path, "[vdso]") && files->same_boot) {
        file.elf = image->start < END_32_BIT ? elf_vdso_open_32_bit() : elf_vdso_open();
    }
    file.stale = file.stale && !file.elf;
    file.lack = file.elf     ? ARGUS_LACK_NONE
                : file.stale ? ARGUS_LACK_STALE
                : denied     ? ARGUS_LACK_DENIED
                             : ARGUS_LACK_GONE;
    return file;
}

uint32_t elf_files_number(const struct elf_files *files, uint32_t image)
{
    uint32_t index = idmap_get(&files->by_image, image);
    return index == IDMAP_NONE ? UINT32_MAX : index;
}

enum argus_lack elf_files_lack(const struct elf_files *files, uint32_t image)
{
    uint32_t index = idmap_get(&files->by_image, image);
    return index == IDMAP_NONE ? ARGUS_LACK_NONE : (enum argus_lack)files->files.data[index].lack;
}

struct elf_file *elf_files_get(struct elf_files *files, uint32_t image, bool *ret_stale)
{
    uint32_t index = idmap_get(&files->by_image, image);
    for (uint32_t i = 0; index == IDMAP_NONE && i < files->files.length; i++)
        if (same_file(&files->images[files->files.data[i].image], &files->images[image]))
            index = i;
    *ret_stale = false;
    if (index == IDMAP_NONE) {
        if (!vec_reserve(&files->files, 1))
            return NULL;
        index = (uint32_t)files->files.length;
        files->files.data[files->files.length++] = open_file(files, image);
    }
    idmap_put(&files->by_image, image, index); /* without memory it is looked up again later */
    *ret_stale = files->files.data[index].stale;
    return files->files.data[index].elf;
}
