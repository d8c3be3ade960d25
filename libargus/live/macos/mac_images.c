/* The files whose code a process has loaded, as its dyld lists them in its memory.
 *
 * The layout is that of <mach-o/dyld_images.h> (dyld-1378): a version, the number of images, and the
 * address of an array with three words for each image: where it is loaded, its path, its date. While
 * dyld changes the array, the address is 0. The header of each image, which is in memory as well,
 * has the UUID by which event/macos/own_cache.h finds the system's libraries. */
#include <stdlib.h>
#include <string.h>

#include "event/binary/elf_file.h"
#include "live/macos/mac_state.h"

enum {
    MOST_IMAGES = 8192,
    ENTRY_BYTES = 24,
    HEADER_BYTES = 32,
    MOST_COMMAND_BYTES = 65536,
    MAGIC_64 = (int)0xfeedfacf,
    SEGMENT_64 = 0x19, /* LC_SEGMENT_64, LC_UUID */
    UUID = 0x1b,
    UUID_AT = 8,
    SEGMENT_NAME_AT = 8,
    SEGMENT_SIZE_AT = 32,
    LEAST_SEGMENT_BYTES = 72,
    LEAST_UUID_BYTES = 24,
};

void mac_images_deinit(struct live_system *system)
{
    for (size_t i = 0; i < system->images.length; i++)
        elf_file_close(system->images.data[i].file);
    vec_deinit(&system->images);
    vec_deinit(&system->image_processes);
}

static uint32_t word_at(const uint8_t *bytes)
{
    uint32_t word;
    memcpy(&word, bytes, sizeof(word));
    return word;
}

static void take_command(const uint8_t *command, uint32_t bytes, struct mac_image *image)
{
    uint64_t size;
    if (word_at(command) == UUID && bytes >= LEAST_UUID_BYTES) {
        memcpy(image->uuid, command + UUID_AT, sizeof(image->uuid));
        image->has_uuid = true;
    } else if (word_at(command) == SEGMENT_64 && bytes >= LEAST_SEGMENT_BYTES &&
               memcmp(command + SEGMENT_NAME_AT, "__TEXT", sizeof("__TEXT")) == 0) {
        memcpy(&size, command + SEGMENT_SIZE_AT, sizeof(size));
        image->end = image->start + size;
    }
}

/* The memory of another process is not trusted. */
static bool read_header(uint32_t pid, struct mac_image *image)
{
    uint8_t header[HEADER_BYTES];
    if (!mac_memory(pid, image->start, header, sizeof(header)) ||
        word_at(header) != (uint32_t)MAGIC_64)
        return false;
    uint32_t count = word_at(header + 16), bytes = word_at(header + 20), at = 0;
    uint8_t *commands = bytes && bytes <= MOST_COMMAND_BYTES ? malloc(bytes) : NULL;
    if (!commands || !mac_memory(pid, image->start + HEADER_BYTES, commands, bytes))
        count = 0;
    for (uint32_t i = 0; i < count && bytes - at >= 8; i++) {
        uint32_t length = word_at(commands + at + 4);
        if (length < 8 || length > bytes - at)
            break;
        take_command(commands + at, length, image);
        at += length;
    }
    free(commands);
    return image->end > image->start;
}

/* A NUL-terminated string may end just before memory that is not readable. */
static bool read_text(uint32_t pid, uint64_t address, char ret[MAC_PATH_BYTES])
{
    enum { PIECE = 64 };
    size_t length = 0;
    while (length + PIECE < MAC_PATH_BYTES) {
        size_t bytes = PIECE - (address + length) % PIECE;
        if (!mac_memory(pid, address + length, ret + length, bytes))
            return false;
        if (memchr(ret + length, '\0', bytes))
            return true;
        length += bytes;
    }
    return false;
}

static int by_address(const void *left, const void *right)
{
    const struct mac_image *a = left, *b = right;
    return a->start < b->start ? -1 : a->start > b->start;
}

static void add_image(struct argus_live *live, uint32_t process, const uint64_t entry[3])
{
    uint32_t pid = live->processes.data[process].pid;
    struct mac_image image = {.process = process, .start = entry[0]};
    char path[MAC_PATH_BYTES];
    if (!read_header(pid, &image))
        return;
    if (read_text(pid, entry[1], path))
        image.path = live_text(live, path);
    if (!vec_push(&live->system->images, image))
        live->no_memory = true;
}

static void read_images(struct argus_live *live, uint32_t process)
{
    uint32_t pid = live->processes.data[process].pid;
    uint64_t at = mac_images_address(pid), list[2] = {0};
    size_t first = live->system->images.length;
    if (!at || !mac_memory(pid, at, list, sizeof(list)))
        return;
    uint32_t count = (uint32_t)(list[0] >> 32);
    for (uint32_t i = 0; list[1] && i < count && i < MOST_IMAGES; i++) {
        uint64_t entry[ENTRY_BYTES / sizeof(uint64_t)];
        if (mac_memory(pid, list[1] + (uint64_t)i * ENTRY_BYTES, entry, sizeof(entry)))
            add_image(live, process, entry);
    }
    if (live->system->images.length > first)
        qsort(live->system->images.data + first, live->system->images.length - first,
              sizeof(struct mac_image), by_address);
}

static void read_once(struct argus_live *live, uint32_t process)
{
    for (size_t i = 0; i < live->system->image_processes.length; i++)
        if (live->system->image_processes.data[i] == process)
            return;
    if (!vec_push(&live->system->image_processes, process))
        live->no_memory = true;
    read_images(live, process);
}

struct mac_image *mac_image(struct argus_live *live, uint32_t process, uint64_t address)
{
    read_once(live, process);
    for (size_t i = 0; i < live->system->images.length; i++) {
        struct mac_image *image = &live->system->images.data[i];
        if (image->process == process && address >= image->start && address < image->end)
            return image;
    }
    return NULL;
}

static struct elf_file *file_of(struct argus_live *live, struct mac_image *image)
{
    struct elf_identity identity = {.build_id_bytes = image->has_uuid ? sizeof(image->uuid) : 0};
    bool is_stale;
    memcpy(identity.build_id, image->uuid, sizeof(image->uuid));
    if (!image->is_opened)
        image->file = elf_file_open(strtab_get(live->texts, image->path), &identity, &is_stale);
    image->is_opened = true;
    return image->file;
}

void live_stack_name(struct argus_live *live, uint32_t pid, uint64_t address, bool is_return,
                     struct argus_live_frame *ret)
{
    uint32_t process = idmap_get(&live->by_pid, pid);
    struct mac_image *image =
        process == IDMAP_NONE ? NULL : mac_image(live, process, address - is_return);
    uint64_t in_file, offset;
    *ret = (struct argus_live_frame){.address = address};
    if (!image)
        return;
    const char *path = strtab_get(live->texts, image->path), *slash = strrchr(path, '/');
    ret->image = live_text(live, slash ? slash + 1 : path);
    struct elf_file *file = file_of(live, image);
    const char *function =
        file && elf_file_address(file, address - is_return - image->start, &in_file)
            ? elf_file_function(file, in_file, &offset)
            : NULL;
    if (function)
        ret->function = live_function_text(live, function);
}

uint64_t live_code_start(struct argus_live *live, uint32_t pid, uint64_t address)
{
    uint32_t process = idmap_get(&live->by_pid, pid);
    struct mac_image *image = process == IDMAP_NONE ? NULL : mac_image(live, process, address - 1);
    struct elf_file *file = image ? file_of(live, image) : NULL;
    uint64_t in_file, start;
    return file && elf_file_address(file, address - 1 - image->start, &in_file) &&
                   elf_file_function_start(file, in_file, &start)
               ? address - 1 - (in_file - start)
               : address;
}
