#include "plugin/steps/step_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event/binary/elf_file.h"

struct argus_error *step_collector_init(struct step_collector *collector,
                                        const struct argus_output *output, const char *registers)
{
    unsigned long long from, to;
    char rest;
    *collector = (struct step_collector){.output = *output, .registers = "all", .to = UINT64_MAX};
    collector->about.arch = HOST_ARCH;
    collector->about.engine = ARGUS_STEP_ENGINE_PTRACE;
    collector->about.vertex = ARGUS_NONE;
    collector->frame = ARGUS_NONE;
    if (!registers || strcmp(registers, "all") == 0)
        return NULL;
    if (strcmp(registers, "none") == 0) {
        collector->to = 0;
        return NULL;
    }
    if (sscanf(registers, "%llx-%llx%c", &from, &to, &rest) != 2 || from >= to)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "--registers takes all, none or addresses as 0x1000-0x2000, not "
                                  "'%s'",
                                  registers);
    collector->from = from;
    collector->to = to;
    return NULL;
}

static void clear_images(struct step_collector *collector)
{
    for (size_t i = 0; i < collector->images.length; i++)
        free((char *)collector->images.data[i].path);
    collector->images.length = 0;
}

void step_collector_deinit(struct step_collector *collector)
{
    clear_images(collector);
    vec_deinit(&collector->images);
    vec_deinit(&collector->callers);
    vec_deinit(&collector->calls);
    argus_steps_writer_destroy(collector->writer);
    collector->writer = NULL;
    free(collector->stack);
    collector->stack = NULL;
}

/* --- the beginning --- */

static struct argus_error *take_waiting(struct step_collector *collector,
                                        const struct step_said *said)
{
    struct step_item_waiting item;
    memcpy(&item, said->data, sizeof(item));
    collector->weak = item.weak;
    return NULL;
}

static struct argus_error *take_begin(struct step_collector *collector,
                                      const struct step_said *said)
{
    struct step_item_begin item;
    memcpy(&item, said->data, sizeof(item));
    memcpy(collector->comm, item.comm, sizeof(collector->comm));
    collector->comm[sizeof(collector->comm) - 1] = '\0';
    collector->about.comm = collector->comm;
    collector->about.pid = item.pid;
    collector->about.tid = item.tid;
    collector->about.wall_ns = item.wall_ns;
    collector->about.begin_address = item.address;
    char link[32], exe[4096];
    snprintf(link, sizeof(link), "/proc/%u/exe", item.pid);
    ssize_t length = readlink(link, exe, sizeof(exe) - 1);
    exe[length > 0 ? length : 0] = '\0';
    collector->about.exe = exe;
    struct argus_error *error =
        collector->writer ? NULL
                          : argus_steps_writer_create_into(&collector->output, &collector->about,
                                                           &collector->writer);
    collector->about.exe = NULL;
    collector->begun = !error;
    return error;
}

static struct argus_error *take_map(struct step_collector *collector, const struct step_said *said)
{
    struct step_item_map item;
    memcpy(&item, said->data, sizeof(item));
    if (item.is_first)
        clear_images(collector);
    char *path = strndup((const char *)said->data + sizeof(item), said->bytes - sizeof(item));
    struct argus_step_image image = {.start = item.start,
                                     .end = item.end,
                                     .file_offset = item.file_offset,
                                     .path = path,
                                     .executable = item.flags & STEP_MAP_EXECUTABLE,
                                     .writable = item.flags & STEP_MAP_WRITABLE,
                                     .stepped = item.flags & STEP_MAP_STEPPED};
    if (path && vec_push(&collector->images, image))
        return NULL;
    free(path);
    return argus_error_memory();
}

static struct argus_error *take_stack(struct step_collector *collector,
                                      const struct step_said *said)
{
    struct step_item_stack item;
    memcpy(&item, said->data, sizeof(item));
    collector->stack_bytes = said->bytes - sizeof(item);
    collector->first_registers_stack = item.address;
    free(collector->stack);
    collector->stack = malloc(collector->stack_bytes + 1);
    if (!collector->stack)
        return argus_error_memory();
    memcpy(collector->stack, said->data + sizeof(item), collector->stack_bytes);
    return NULL;
}

static struct argus_error *take_code(struct step_collector *collector, const struct step_said *said)
{
    uint64_t address;
    memcpy(&address, said->data, sizeof(address));
    return argus_steps_writer_code(collector->writer, address, said->data + sizeof(address),
                                   said->bytes - sizeof(address));
}

/* --- the end --- */

static void take_text(const struct step_said *said, size_t head, char *ret, size_t room)
{
    snprintf(ret, room, "%.*s", (int)(said->bytes - head), (const char *)said->data + head);
}

static struct argus_error *take_end(struct step_collector *collector, const struct step_said *said)
{
    struct step_item_end item;
    memcpy(&item, said->data, sizeof(item));
    take_text(said, sizeof(item), collector->end_text, sizeof(collector->end_text));
    collector->end =
        item.end <= STEP_END_ERROR ? (enum argus_step_end)item.end : ARGUS_STEP_END_ERROR;
    collector->elapsed_ns = item.elapsed_ns;
    collector->over = true;
    return NULL;
}

static struct argus_error *take_error(struct step_collector *collector,
                                      const struct step_said *said)
{
    struct step_item_error item;
    char text[1024];
    memcpy(&item, said->data, sizeof(item));
    take_text(said, sizeof(item), text, sizeof(text));
    collector->over = true;
    return argus_error_create(item.code <= ARGUS_ERROR_QUESTION ? (enum argus_error_code)item.code
                                                                : ARGUS_ERROR_IO,
                              "%s", text);
}

/* By enum step_item_kind: the smallest and largest size of an item in bytes. */
static const struct {
    struct argus_error *(*take)(struct step_collector *collector, const struct step_said *said);
    uint32_t least, most;
    bool needs_begin;
} items[] = {
    [STEP_ITEM_WAITING] = {take_waiting, sizeof(struct step_item_waiting), 4096, false},
    [STEP_ITEM_BEGIN] = {take_begin, sizeof(struct step_item_begin), 4096, false},
    [STEP_ITEM_MAP] = {take_map, sizeof(struct step_item_map), STEP_ITEM_BYTES, false},
    [STEP_ITEM_STACK] = {take_stack, sizeof(struct step_item_stack), STEP_ITEM_BYTES, true},
    [STEP_ITEM_CODE] = {take_code, 9, STEP_CODE_BYTES + 8, true},
    [STEP_ITEM_STEP] = {step_collector_step, 8 * (PC + 1), 8 * STEP_REGISTERS_MOST, true},
    [STEP_ITEM_CALL] = {step_collector_event, sizeof(struct step_item_event), 4096, true},
    [STEP_ITEM_RETURN] = {step_collector_event, sizeof(struct step_item_event), 4096, true},
    [STEP_ITEM_SKIP] = {step_collector_event, sizeof(struct step_item_event), 4096, true},
    [STEP_ITEM_SIGNAL] = {step_collector_event, sizeof(struct step_item_event), 4096, true},
    [STEP_ITEM_END] = {take_end, sizeof(struct step_item_end), 4096, true},
    [STEP_ITEM_ERROR] = {take_error, sizeof(struct step_item_error), 4096, false},
};

struct argus_error *step_collector_take(struct step_collector *collector,
                                        const struct step_said *said)
{
    if (!said->kind || collector->over)
        return NULL;
    if (said->kind >= sizeof(items) / sizeof(items[0]) || said->bytes < items[said->kind].least ||
        said->bytes > items[said->kind].most ||
        (items[said->kind].needs_begin && !collector->begun))
        return argus_error_create(
            ARGUS_ERROR_IO, "the stepper sent an invalid message: is it from another version?");
    if (said->kind <= STEP_ITEM_SIGNAL)
        collector->counts[said->kind]++;
    return items[said->kind].take(collector, said);
}

/* Finds the build IDs, once per file, because the mappings of a file are adjacent. */
static void find_build_ids(struct step_collector *collector)
{
    for (size_t i = 0; i < collector->images.length; i++) {
        struct argus_step_image *image = &collector->images.data[i];
        if (i > 0 && strcmp(image[-1].path, image->path) == 0) {
            memcpy(image->build_id, image[-1].build_id, sizeof(image->build_id));
            image->build_id_bytes = image[-1].build_id_bytes;
        } else if (image->path[0] == '/') {
            image->build_id_bytes = elf_file_build_id(image->path, 0, 0, image->build_id);
        }
    }
}

struct argus_error *step_collector_finish(struct step_collector *collector)
{
    struct argus_error *error = NULL;
    find_build_ids(collector);
    for (size_t i = 0; i < collector->images.length && !error; i++)
        error = argus_steps_writer_image(collector->writer, &collector->images.data[i]);
    return error ? error
                 : argus_steps_writer_end(collector->writer, collector->end, collector->end_text,
                                          collector->elapsed_ns);
}
