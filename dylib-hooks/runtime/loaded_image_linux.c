/* Finds the image by the loader's name: the file name of the path from which it was loaded, or its
 * link name. An image with another name and the right build ID (a renamed original, see argus-hook
 * make --replace) is accepted, too.
 */
#include "loaded_image.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "running_hook.h"

struct search {
    const struct hook_plan *plan;
    const char *name;
    bool is_first;
    struct loaded_image result;
};

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The build id in a note segment; NULL: none. */
static const uint8_t *find_id(const uint8_t *notes, size_t bytes, uint32_t *ret_bytes)
{
    for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= bytes;) {
        const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)(notes + at);
        const uint8_t *name = notes + at + sizeof(*note);
        size_t name_bytes = (note->n_namesz + 3u) & ~3u;
        *ret_bytes = note->n_descsz;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0)
            return name + name_bytes;
        at += sizeof(*note) + name_bytes + ((note->n_descsz + 3u) & ~3u);
    }
    return NULL;
}

static const uint8_t *image_id(const struct dl_phdr_info *info, uint32_t *ret_bytes)
{
    const uint8_t *id = NULL;
    for (size_t i = 0; i < info->dlpi_phnum && !id; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_NOTE)
            id = find_id((const uint8_t *)(info->dlpi_addr + header->p_vaddr), header->p_filesz,
                         ret_bytes);
    }
    if (!id)
        *ret_bytes = 0;
    return id;
}

/* "/NAME" is a program: the loader does not report its path. */
static bool is_named(const struct search *search, const struct dl_phdr_info *info)
{
    char path[4096];
    if (*search->name != '/')
        return strcmp(file_name(info->dlpi_name), search->name) == 0;
    ssize_t length = search->is_first ? readlink("/proc/self/exe", path, sizeof(path) - 1) : -1;
    path[length > 0 ? length : 0] = '\0';
    return length > 0 && strcmp(file_name(path), search->name + 1) == 0;
}

/* Whether the code is where the plan says; checked before it is hashed. */
static bool has_text(const struct dl_phdr_info *info, const struct hook_plan *plan)
{
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_LOAD && header->p_vaddr == plan->text &&
            header->p_filesz == plan->text_bytes)
            return true;
    }
    return false;
}

static int visit(struct dl_phdr_info *info, size_t size, void *context)
{
    struct search *search = context;
    uint32_t id_bytes;
    const uint8_t *id = image_id(info, &id_bytes);
    bool named = is_named(search, info);
    (void)size;
    search->is_first = false;
    if (!named && !(search->plan->id_bytes && id_bytes))
        return 0;
    bool fits = has_text(info, search->plan) &&
                loaded_image_fits(search->plan, id, id_bytes,
                                  (const void *)(info->dlpi_addr + search->plan->text));
    search->result.found |= named || fits;
    if (!fits)
        return 0;
    search->result.is_right = true;
    search->result.slide = info->dlpi_addr;
    return 1;
}

struct loaded_image loaded_image_find(const struct hook_plan *plan)
{
    struct search search = {.plan = plan, .name = plan_at(plan, plan->image), .is_first = true};
    dl_iterate_phdr(visit, &search);
    return search.result;
}
