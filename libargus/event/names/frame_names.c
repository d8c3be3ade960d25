/* Every place in code that occurs in the trace's records is looked up once: in its file or, for
 * code made at run time, in the list of functions that its process wrote. Places are written in
 * sorted order, because an entry of the file can refer to the previous one.
 *
 * Three things are bounded: the number of places (used_frames.c), the time for lookups, and the
 * share of a ring file that names may take. Inlined functions have less time than names, since the
 * debug information of a large program is large.
 */
#include "argus/frame_names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "event/binary/elf_files.h"
#include "event/binary/elf_inlines.h"
#include "event/binary/elf_names.h"
#include "event/images.h"
#include "event/names/interpreted.h"
#include "event/names/jit_dump.h"
#include "event/names/jit_map.h"
#include "event/names/used_frames.h"

enum { MOST_SECONDS = 30, MOST_INLINED_SECONDS = 10, LOOK_EVERY = 256, RING_SHARE = 8 };

struct entries {
    struct argus_name_entry *data; /* owned; a VEC */
    size_t length, capacity;
};

struct naming {
    struct argus_trace *trace;
    struct used_frames used;
    struct images images;
    struct elf_files files;
    struct readable_names names;
    struct strtab *texts; /* source files, and names of code made at run time; owned */
    struct entries entries, inlined;
    uint64_t inlined_ns; /* time spent on inlined functions */
    struct argus_names_totals totals;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static const char *keep_text(struct naming *naming, const char *text)
{
    uint32_t id = 0;
    argus_error_destroy(strtab_intern(naming->texts, text, strlen(text), &id));
    return strtab_get(naming->texts, id);
}

static void find_called(struct naming *naming, struct elf_file *elf, uint64_t offset,
                        struct argus_name_entry *ret)
{
    const char *symbol = elf_called(elf, offset);
    if (symbol)
        ret->called = readable_name(&naming->names, symbol);
}

/* Adds the functions that were inlined at `place`. False without memory. */
static bool add_inlined(struct naming *naming, struct elf_file *elf, uint64_t address,
                        const struct argus_name_entry *place)
{
    struct elf_inline inlines[ELF_INLINES_MAX];
    bool added = true;
    if (naming->inlined_ns / 1000000000u >= MOST_INLINED_SECONDS)
        return true;
    uint64_t begin_ns = now_ns();
    size_t count = elf_file_inlines(elf, address, inlines);
    for (size_t i = 0; i < count && added; i++) {
        struct argus_name_entry entry = *place;
        entry.function = readable_name(&naming->names, inlines[i].function);
        entry.source = inlines[i].source ? keep_text(naming, inlines[i].source) : "";
        entry.line = inlines[i].line;
        entry.level = (uint32_t)i + 1;
        added = vec_push(&naming->inlined, entry);
    }
    naming->inlined_ns += now_ns() - begin_ns;
    return added;
}

static void find_in_elf(struct naming *naming, struct elf_file *elf, struct argus_name_entry *ret)
{
    uint64_t address, start;
    ret->lack = ARGUS_LACK_SYMBOL;
    if (!elf_file_address(elf, ret->place, &address))
        return;
    const char *symbol = elf_file_function(elf, address, &ret->distance);
    if (symbol) {
        ret->function = readable_name(&naming->names, symbol);
        ret->lack = ARGUS_LACK_NONE;
        ret->has_start = true;
    } else if (elf_file_function_start(elf, address, &start) && start <= address) {
        ret->distance = address - start;
        ret->has_start = true;
    }
    const char *source = elf_file_line(elf, address, &ret->line);
    if (source)
        ret->source = keep_text(naming, source);
}

/* Mappings without a file, or with one that is only memory: their code was made at run time. */
static bool is_memory(const struct argus_image_entry *image)
{
    static const char *const memory[] = {"//anon", "/memfd:", "/dev/zero", "/SYSV",
                                         "/anon_hugepage"};
    if (image->path[0] != '/')
        return strcmp(image->path, "[vdso]") != 0;
    for (size_t i = 0; i < sizeof(memory) / sizeof(*memory); i++)
        if (strncmp(image->path, memory[i], strlen(memory[i])) == 0)
            return true;
    return false;
}

/* A program can also be executed from such memory, as container launchers do: then it is a file
 * that can be opened. */
static bool is_file(struct naming *naming, uint32_t index)
{
    bool stale;
    return !is_memory(&naming->images.entries[index]) ||
           (naming->images.entries[index].path[0] == '/' &&
            elf_files_get(&naming->files, index, &stale));
}

static bool name_in_file(struct naming *naming, const struct used_frame *frame, uint32_t index)
{
    bool stale;
    const struct argus_image_entry *image = &naming->images.entries[index];
    struct elf_file *elf = elf_files_get(&naming->files, index, &stale);
    uint32_t number = elf_files_number(&naming->files, index);
    struct argus_name_entry entry = {
        .file = number == UINT32_MAX
                    ? image
                    : &naming->images.entries[naming->files.files.data[number].image],
        .place = frame->address - image->start + image->file_offset,
        .function = "",
        .source = "",
        .called = "",
    };
    uint64_t address;
    if (elf && elf_file_address(elf, entry.place, &address) &&
        !add_inlined(naming, elf, address, &entry))
        return false;
    if (elf)
        find_in_elf(naming, elf, &entry);
    else
        entry.lack = (uint8_t)elf_files_lack(&naming->files, index);
    if (elf && frame->is_caller)
        find_called(naming, elf, entry.place + 1, &entry);
    return vec_push(&naming->entries, entry);
}

static bool name_frame(struct naming *naming, const struct used_frame *frame)
{
    uint32_t index = images_find(&naming->images, frame->process, frame->time_ns, frame->address);
    if (index != UINT32_MAX && is_file(naming, index))
        return name_in_file(naming, frame, index);
    struct argus_name_entry entry = {
        .pid = naming->used.machine.processes.data[frame->process].pid,
        .place = frame->address,
        .function = "",
        .source = "",
        .called = "",
        .lack = ARGUS_LACK_JIT,
    };
    return vec_push(&naming->entries, entry);
}

static struct argus_error *name_all(struct naming *naming, argus_progress progress, void *context)
{
    size_t count = naming->used.frames.length;
    uint64_t begin_ns = now_ns();
    for (size_t i = 0; i < count; i++) {
        if (i % LOOK_EVERY == 0 && progress &&
            !progress(context, "looking up names", (double)i / (double)count))
            return argus_error_create(ARGUS_ERROR_INTERRUPTED, "interrupted");
        if (i % LOOK_EVERY == 0 && (now_ns() - begin_ns) / 1000000000u > MOST_SECONDS) {
            naming->totals.left_out += count - i;
            break;
        }
        if (!name_frame(naming, &naming->used.frames.data[i]))
            return argus_error_memory();
    }
    return NULL;
}

/* --- order --- */

/* By owner (files before processes), place and level; the entry with the most information first. */
static int compare_entries(const void *left, const void *right)
{
    const struct argus_name_entry *a = left, *b = right;
    if (a->file != b->file)
        return !a->file ? 1 : !b->file ? -1 : a->file < b->file ? -1 : 1;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    if (a->level != b->level)
        return a->level < b->level ? -1 : 1;
    return !a->called[0] - !b->called[0];
}

/* Sorts, and removes duplicates. */
static void settle(struct entries *list)
{
    struct argus_name_entry *entries = list->data;
    size_t kept = 0, count = list->length;
    if (count)
        qsort(entries, count, sizeof(*entries), compare_entries);
    for (size_t i = 0; i < count; i++) {
        const struct argus_name_entry *last = kept ? &entries[kept - 1] : NULL;
        if (!last || last->file != entries[i].file || last->pid != entries[i].pid ||
            last->place != entries[i].place || last->level != entries[i].level)
            entries[kept++] = entries[i];
    }
    list->length = kept;
}

/* --- code made at run time --- */

/* When the last life of `pid` began. An older map belongs to another process. */
static uint64_t born_s(const struct naming *naming, uint64_t pid)
{
    uint64_t start_ns = 0;
    for (size_t i = 0; i < naming->used.machine.processes.length; i++)
        if (naming->used.machine.processes.data[i].pid == pid)
            start_ns = naming->used.machine.processes.data[i].start_ns;
    return start_ns ? argus_trace_ns_to_wall_ns(naming->trace, start_ns) / 1000000000u : 0;
}

static struct argus_error *read_dumps(struct naming *naming, struct argus_name_entry *entries,
                                      size_t count)
{
    const struct argus_image_entry *images;
    size_t image_count = argus_trace_images(naming->trace, &images);
    struct argus_error *error = NULL;
    for (size_t i = 0; i < image_count && !error; i++) {
        FILE *dump = images[i].pid == entries->pid ? jit_dump_open(&images[i]) : NULL;
        if (!dump)
            continue;
        error = jit_dump_read(dump, entries, count, naming->texts);
        fclose(dump);
    }
    return error;
}

/* `entries`: places of one process that are not in a file. */
static struct argus_error *name_of_process(struct naming *naming, struct argus_name_entry *entries,
                                           size_t count)
{
    struct argus_error *error = NULL;
    FILE *map = jit_map_open(entries->pid, born_s(naming, entries->pid));
    if (map) {
        error = jit_map_read(map, entries, count, naming->texts);
        fclose(map);
    }
    if (!error)
        error = read_dumps(naming, entries, count);
    return error ? error : interpreted_name(naming->trace, entries, count, naming->texts);
}

static struct argus_error *name_made_code(struct naming *naming)
{
    struct argus_name_entry *entries = naming->entries.data;
    size_t count = naming->entries.length, end;
    struct argus_error *error = NULL;
    for (size_t i = 0; i < count && !error; i = end) {
        for (end = i + 1; end < count && entries[end].file == entries[i].file &&
                          entries[end].pid == entries[i].pid;)
            end++;
        if (!entries[i].file)
            error = name_of_process(naming, entries + i, end - i);
    }
    return error;
}

/* --- writing --- */

typedef struct argus_error *write_entries(struct argus_writer *writer,
                                          const struct argus_name_entry *entries, size_t count);

/* Writes up to `until_bytes` of the file. Returns in `ret_rest` how many entries had no room. */
static struct argus_error *write_list(const struct entries *list, write_entries *write,
                                      struct argus_writer *writer, uint64_t until_bytes,
                                      size_t *ret_rest)
{
    /* so that names do not take much more than their share of a small ring */
    enum { AT_ONCE = 512 };
    struct argus_error *error = NULL;
    *ret_rest = list->length;
    while (*ret_rest && !error && argus_writer_bytes(writer) <= until_bytes) {
        size_t count = *ret_rest < AT_ONCE ? *ret_rest : AT_ONCE;
        error = write(writer, list->data + (list->length - *ret_rest), count);
        *ret_rest -= count;
    }
    return error;
}

/* Answers print notes that begin with "recorded" once. */
static struct argus_error *note_missing(struct naming *naming, struct argus_writer *writer)
{
    struct argus_error *error = NULL;
    for (size_t i = 0; i < naming->files.files.length && !error; i++) {
        struct elf_file *elf = naming->files.files.data[i].elf;
        const char *path = naming->images.entries[naming->files.files.data[i].image].path;
        const char *slash = strrchr(path, '/');
        char text[1024], others[64] = "";
        size_t count;
        const char *missing = elf ? elf_file_missing_split(elf, &count) : NULL;
        if (!missing)
            continue;
        if (count > 1)
            snprintf(others, sizeof(others), " and %zu other file%s", count - 1,
                     count > 2 ? "s" : "");
        snprintf(text, sizeof(text),
                 "recorded without the inlined functions of %s: its debug information is in "
                 "%s%s, which %s missing",
                 slash ? slash + 1 : path, missing, others, count > 1 ? "are" : "is");
        error = argus_writer_note(writer, text);
    }
    return error;
}

static struct argus_error *write_to(struct naming *naming, struct argus_writer *writer)
{
    uint64_t ring_bytes = argus_trace_header(naming->trace)->ring_bytes;
    uint64_t before_bytes = argus_writer_bytes(writer);
    uint64_t until_bytes = ring_bytes ? before_bytes + ring_bytes / RING_SHARE : UINT64_MAX;
    size_t rest, rest_inlined;
    struct argus_error *error =
        write_list(&naming->entries, argus_writer_names, writer, until_bytes, &rest);
    if (!error)
        error =
            write_list(&naming->inlined, argus_writer_inlined, writer, until_bytes, &rest_inlined);
    if (!error)
        error = note_missing(naming, writer);
    /* older readers do not know that these chunks may follow the end */
    if (!error && rest_inlined < naming->inlined.length && argus_trace_complete(naming->trace))
        error = argus_writer_end(writer, NULL, 0);
    naming->totals.left_out += rest;
    naming->totals.bytes = argus_writer_bytes(writer) - before_bytes;
    return error;
}

static struct argus_error *append(struct naming *naming, const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return argus_error_os(errno, "cannot add names to %s", path);
    struct argus_writer *writer = NULL;
    struct argus_error *error = argus_writer_append(fd, &writer);
    if (!error)
        error = write_to(naming, writer);
    argus_writer_destroy(writer);
    close(fd);
    return error;
}

static void count(struct naming *naming)
{
    naming->totals.left_out += naming->used.left_out;
    naming->totals.frames = naming->entries.length;
    for (size_t i = 0; i < naming->entries.length; i++)
        naming->totals.named += naming->entries.data[i].function[0] != '\0';
}

static struct argus_error *look_up(struct naming *naming, argus_progress progress, void *context)
{
    const struct machine *machine = &naming->used.machine;
    naming->texts = strtab_create();
    naming->names.names = strtab_create();
    if (!naming->texts || !naming->names.names)
        return argus_error_memory();
    struct argus_error *error = images_init(&naming->images, naming->trace, machine->processes.data,
                                            machine->processes.length);
    if (!error)
        error = name_all(naming, progress, context);
    if (error)
        return error;
    settle(&naming->entries);
    settle(&naming->inlined);
    return name_made_code(naming);
}

struct argus_error *argus_names_append(const char *path, argus_progress progress, void *context,
                                       struct argus_names_totals *ret)
{
    struct naming naming = {0};
    struct argus_error *error = argus_trace_open(path, &naming.trace);
    if (!error) {
        elf_files_init(&naming.files, naming.trace);
        error = used_frames_read(&naming.used, naming.trace, progress, context);
    }
    if (!error)
        error = look_up(&naming, progress, context);
    if (!error) {
        count(&naming);
        error = naming.entries.length ? append(&naming, path) : NULL;
    }
    if (ret)
        *ret = naming.totals;
    if (naming.trace) {
        vec_deinit(&naming.entries);
        vec_deinit(&naming.inlined);
        readable_names_deinit(&naming.names);
        strtab_destroy(naming.texts);
        elf_files_deinit(&naming.files);
        images_deinit(&naming.images);
        used_frames_deinit(&naming.used);
    }
    argus_trace_close(naming.trace);
    return error;
}
