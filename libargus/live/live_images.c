/* Executable mappings of living processes, their files, and the functions in them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "event/binary/live_file.h"
#include "event/names/demangle.h"
#include "event/names/short_names.h"
#include "live/live_images.h"

static void add_mapping(struct argus_live *live, uint32_t pid, const char *line)
{
    struct live_mapping mapping = {.pid = pid, .file = ARGUS_LIVE_NONE};
    char permissions[5], path[4096] = "";
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %4095[^\n]",
               &mapping.start, &mapping.end, permissions, &mapping.offset, &mapping.major,
               &mapping.minor, &mapping.inode, path) < 7 ||
        permissions[2] != 'x')
        return;
    mapping.path = live_text(live, path);
    if (!vec_push(&live->system->stacks.mappings, mapping))
        live->no_memory = true;
}

static void read_mappings(struct argus_live *live, uint32_t pid)
{
    char path[48], *line = NULL;
    size_t room = 0;
    for (size_t i = 0; i < live->system->stacks.pids.length; i++)
        if (live->system->stacks.pids.data[i] == pid)
            return;
    if (!vec_push(&live->system->stacks.pids, pid))
        live->no_memory = true;
    snprintf(path, sizeof(path), "/proc/%u/maps", pid);
    FILE *file = fopen(path, "re");
    while (file && getline(&line, &room, file) > 0)
        add_mapping(live, pid, line);
    if (file)
        fclose(file);
    free(line);
}

static struct live_mapping *find_mapping(struct argus_live *live, uint32_t pid, uint64_t address)
{
    read_mappings(live, pid);
    for (size_t i = 0; i < live->system->stacks.mappings.length; i++) {
        struct live_mapping *mapping = &live->system->stacks.mappings.data[i];
        if (mapping->pid == pid && address >= mapping->start && address < mapping->end)
            return mapping;
    }
    return NULL;
}

const struct live_mapping *live_mapping(struct argus_live *live, uint32_t pid, uint64_t address)
{
    return find_mapping(live, pid, address);
}

static uint32_t known_file(const struct argus_live *live, const struct live_mapping *mapping)
{
    for (uint32_t i = 0; i < live->system->stacks.files.length; i++)
        if (live->system->stacks.files.data[i]->inode == mapping->inode &&
            live->system->stacks.files.data[i]->path == mapping->path)
            return i;
    return ARGUS_LIVE_NONE;
}

/* The file is opened through /proc, so that it is the one that is executed, even if it was deleted
 * or is in another mount namespace. */
static uint32_t open_file(struct argus_live *live, const struct live_mapping *mapping)
{
    const struct argus_image_entry image = {.pid = mapping->pid,
                                            .start = mapping->start,
                                            .file_offset = mapping->offset,
                                            .inode = mapping->inode};
    const struct elf_identity any = {0};
    bool is_denied, is_stale;
    int fd = live_file_open(&image, &is_denied);
    struct elf_file *elf =
        fd < 0 ? NULL
               : elf_file_open_fd(fd, strtab_get(live->texts, mapping->path), &any, &is_stale);
    struct live_elf *file = elf ? calloc(1, sizeof(*file)) : NULL;
    if (!file || !vec_push(&live->system->stacks.files, file)) {
        live->no_memory |= elf != NULL;
        elf_file_close(elf);
        free(file);
        return ARGUS_LIVE_NONE;
    }
    *file = (struct live_elf){.elf = elf, .inode = mapping->inode, .path = mapping->path};
    cfi_init(&file->cfi, elf, elf_file_machine(elf) == ELF_MACHINE_AARCH64 ? 33 : 17);
    return (uint32_t)live->system->stacks.files.length - 1;
}

static struct live_elf *elf_of(struct argus_live *live, struct live_mapping *mapping,
                               uint64_t address, uint64_t *ret_in_file)
{
    if (!mapping->inode)
        return NULL;
    if (!mapping->is_opened) {
        mapping->is_opened = true;
        mapping->file = known_file(live, mapping);
        if (mapping->file == ARGUS_LIVE_NONE)
            mapping->is_left_out =
                live_device_may_hang(live, mapping->pid, mapping->major, mapping->minor,
                                     strtab_get(live->texts, mapping->path));
        if (mapping->file == ARGUS_LIVE_NONE && !mapping->is_left_out)
            mapping->file = open_file(live, mapping);
    }
    if (mapping->file == ARGUS_LIVE_NONE)
        return NULL;
    struct live_elf *file = live->system->stacks.files.data[mapping->file];
    uint64_t offset = address - mapping->start + mapping->offset;
    return elf_file_address(file->elf, offset, ret_in_file) ? file : NULL;
}

struct live_elf *live_elf(struct argus_live *live, uint32_t pid, uint64_t address,
                          uint64_t *ret_in_file)
{
    struct live_mapping *mapping = find_mapping(live, pid, address);
    return mapping ? elf_of(live, mapping, address, ret_in_file) : NULL;
}

struct live_elf *live_elf_at(struct argus_live *live, uint32_t pid, size_t index,
                             uint64_t *ret_bias)
{
    uint64_t in_file;
    read_mappings(live, pid);
    for (size_t i = 0; i < live->system->stacks.mappings.length; i++) {
        struct live_mapping *mapping = &live->system->stacks.mappings.data[i];
        uint64_t start = mapping->start;
        struct live_elf *file = mapping->pid == pid ? elf_of(live, mapping, start, &in_file) : NULL;
        if (!file || index--)
            continue;
        if (ret_bias)
            *ret_bias = start - in_file;
        return file;
    }
    return NULL;
}

void live_stacks_deinit(struct live_stacks *stacks)
{
    for (size_t i = 0; i < stacks->files.length; i++) {
        cfi_deinit(&stacks->files.data[i]->cfi);
        elf_file_close(stacks->files.data[i]->elf);
        free(stacks->files.data[i]);
    }
    vec_deinit(&stacks->files);
    vec_deinit(&stacks->mappings);
    vec_deinit(&stacks->pids);
}

void live_stack_name(struct argus_live *live, uint32_t pid, uint64_t address, bool is_return,
                     struct argus_live_frame *ret)
{
    uint64_t in_file, offset;
    const struct live_mapping *mapping = live_mapping(live, pid, address - is_return);
    *ret = (struct argus_live_frame){.address = address};
    if (mapping) {
        const char *path = strtab_get(live->texts, mapping->path), *slash = strrchr(path, '/');
        ret->image = live_text(live, slash ? slash + 1 : path);
    }
    struct live_elf *file = live_elf(live, pid, address - is_return, &in_file);
    ret->is_left_out = mapping && mapping->is_left_out;
    const char *function = file ? elf_file_function(file->elf, in_file, &offset) : NULL;
    if (function)
        ret->function = live_function_text(live, function);
    const char *source = file ? elf_file_line(file->elf, in_file, &ret->line) : NULL;
    if (source)
        ret->file = live_text(live, source);
}

uint64_t live_code_start(struct argus_live *live, uint32_t pid, uint64_t address)
{
    uint64_t in_file, start;
    struct live_elf *file = live_elf(live, pid, address - 1, &in_file);
    return file && elf_file_function_start(file->elf, in_file, &start)
               ? address - 1 - (in_file - start)
               : address;
}
