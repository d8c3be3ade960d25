#include "linux/interpreter_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/process_owner.h"
#include "server/clocks.h"

/* Sizes of the maps: processes that run an interpreter, their stacks, and code objects. The least
 * recently used entry is dropped. */
enum { MOST_PROCESSES = 4096, MOST_STACKS = 8192, MOST_CODES = 4096 };

/* The process whose memory interpreter_walk.h reads. */
struct interpreter_reader {
    pid_t pid;
};

static int read_memory(const struct interpreter_reader *reader, void *to, size_t bytes,
                       uint64_t from)
{
    struct iovec local = {to, bytes}, remote = {(void *)(uintptr_t)from, bytes};
    return process_vm_readv(reader->pid, &local, 1, &remote, 1, 0) != (ssize_t)bytes;
}

static uint32_t copy_memory(const struct interpreter_reader *reader, void *to, uint64_t bytes,
                            uint64_t most, uint64_t from)
{
    uint64_t wanted = bytes < most ? bytes : most;
    return !wanted || read_memory(reader, to, wanted, from) ? 0 : (uint32_t)wanted;
}

#define INTERPRETER_READ(reader, to, bytes, from)       read_memory((reader), (to), (bytes), (from))
#define INTERPRETER_COPY(reader, to, bytes, most, from) copy_memory(reader, to, bytes, most, from)
#define bounded(index, size)                            ((index) & ((size)-1))
#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

#include "linux/interpreter_walk.h"

/* --- before loading --- */

static const struct probe_list *list_of(const struct backend_options *options)
{
    bool wanted = options->probes && options->categories & CATEGORY_BIT(CATEGORY_STACKS) &&
                  (options->late_ns || options->unwind_count);
    return wanted && options->probes->interpreters.length ? options->probes : NULL;
}

void interpreters_configure(struct bpf_object *object, const struct backend_options *options,
                            struct bpf_settings *settings)
{
    static const struct {
        const char *map;
        uint32_t entries;
    } maps[] = {
        {"interpreters", MOST_PROCESSES},
        {"interpreted", MOST_STACKS},
        {"codes", MOST_CODES},
    };
    const struct probe_list *list = list_of(options);
    if (!list)
        return;
    settings->interpreters = (uint32_t)list->interpreters.length;
    for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
        bpf_map__set_max_entries(bpf_object__find_map_by_name(object, maps[i].map),
                                 maps[i].entries);
}

void interpreters_init(struct interpreters *interpreters, struct bpf_object *object,
                       const struct backend_options *options)
{
    *interpreters = (struct interpreters){
        .list = list_of(options),
        .processes_fd = bpf_object__find_map_fd_by_name(object, "interpreters"),
        .frames_fd = bpf_object__find_map_fd_by_name(object, "interpreted"),
        .codes_fd = bpf_object__find_map_fd_by_name(object, "codes"),
        .additions_fd = bpf_object__find_map_fd_by_name(object, "interpreter_additions"),
    };
}

/* --- processes --- */

static bool is_meant(const struct interpreter_spec *spec, const struct argus_image_entry *image,
                     const char *path)
{
    if (image->file_offset != spec->code_offset)
        return false;
    if (image->build_id_bytes && spec->build_id_bytes)
        return image->build_id_bytes == spec->build_id_bytes &&
               memcmp(image->build_id, spec->build_id, spec->build_id_bytes) == 0;
    return strcmp(path, spec->image) == 0;
}

/* The layout, which the client sent, says what is read: so only of the client's own processes. The
 * BPF programs ask again at each read. */
static bool may_read(const struct interpreters *interpreters, uint32_t pid)
{
    struct argus_error *error = process_check_owner("read", pid, interpreters->list->client);
    argus_error_destroy(error);
    return !error;
}

/* The BPF programs remember which processes have none, until one is added (bpf/interpreter.h). */
static void count_addition(const struct interpreters *interpreters)
{
    uint32_t zero = 0;
    uint64_t count = 0;
    bpf_map_lookup_elem(interpreters->additions_fd, &zero, &count);
    count++;
    bpf_map_update_elem(interpreters->additions_fd, &zero, &count, BPF_ANY);
}

void interpreters_on_image(const struct interpreters *interpreters,
                           const struct argus_image_entry *image, const char *path)
{
    size_t count = interpreters->list ? interpreters->list->interpreters.length : 0;
    for (size_t i = 0; i < count; i++) {
        const struct interpreter_spec *spec = &interpreters->list->interpreters.data[i];
        uint32_t pid = (uint32_t)image->pid;
        if (!is_meant(spec, image, path) || !may_read(interpreters, pid))
            continue;
        const struct bpf_interpreter found = {
            .runtime = image->start + spec->runtime,
            .code_type = image->start + spec->code_type,
            .text_type = image->start + spec->text_type,
            .bytes_type = image->start + spec->bytes_type,
            .function = image->start + spec->function,
            .layout = spec->layout,
        };
        bpf_map_update_elem(interpreters->processes_fd, &pid, &found, BPF_ANY);
        count_addition(interpreters);
    }
}

void interpreters_on_exec(const struct interpreters *interpreters, uint32_t pid)
{
    if (interpreters->list)
        bpf_map_delete_elem(interpreters->processes_fd, &pid);
}

/* --- frames --- */

bool interpreters_frames(const struct interpreters *interpreters, uint64_t id,
                         struct bpf_stack *ret)
{
    return interpreters->list && bpf_map_lookup_elem(interpreters->frames_fd, &id, ret) == 0;
}

/* Reads a code object, all but its process and time. Returns its key; 0: it is none. */
static uint64_t read_code(const struct interpreter_reader *reader,
                          const struct bpf_interpreter *interpreter, struct interpreter_walk *walk,
                          uint64_t address, struct bpf_code *ret)
{
    const struct interpreter_layout *layout = &interpreter->layout;
    uint32_t pid = (uint32_t)reader->pid;
    if (layout->kind == INTERPRETER_ZEND) {
        if (!zend_read_code(reader, layout, walk, address))
            return 0;
        zend_copy_code(reader, layout, &walk->block, &walk->text, &walk->zend, ret);
        return zend_code_key(layout, &walk->block, pid);
    }
    if (layout->kind == INTERPRETER_YARV) {
        if (!yarv_read_code(reader, layout, walk, address))
            return 0;
        yarv_copy_code(reader, layout, walk, ret);
        return yarv_code_key(layout, &walk->block, pid);
    }
    if (!interpreter_read_code(reader, interpreter, &walk->block, address))
        return 0;
    interpreter_copy_code(reader, interpreter, &walk->block, &walk->text, address, ret);
    return interpreter_code_key(layout, &walk->block, pid, address);
}

/* False: an entry's code object is no longer in the map. */
static bool note_code(const struct interpreters *interpreters,
                      const struct interpreter_reader *reader,
                      const struct bpf_interpreter *interpreter, struct interpreter_walk *walk)
{
    for (uint64_t i = 0; i < walk->stack.count; i++) {
        struct bpf_code code = {.pid = (uint32_t)reader->pid, .time_ns = clock_ns(TRACE_CLOCK)};
        uint64_t address = walk->codes[i];
        if (!address)
            continue;
        uint64_t key = read_code(reader, interpreter, walk, address, &code);
        if (!key)
            return false;
        bpf_map_update_elem(interpreters->codes_fd, &key, &code, BPF_NOEXIST);
    }
    return true;
}

/* walk->place.frame stays 0 if the thread has no frames. */
static void read_first(const struct interpreter_reader *reader,
                       const struct bpf_interpreter *interpreter, struct interpreter_walk *walk,
                       uint64_t thread_pointer)
{
    uint64_t found;
    if (interpreter->layout.kind == INTERPRETER_ZEND)
        zend_begin(reader, interpreter, walk);
    else if (interpreter->layout.kind == INTERPRETER_YARV)
        yarv_begin(reader, interpreter, walk, thread_pointer);
    else if ((found = interpreter_thread(reader, interpreter, &walk->block, thread_pointer)))
        interpreter_begin(reader, interpreter, walk, found);
}

/* False: it was the last frame. */
static bool read_next(const struct interpreter_reader *reader,
                      const struct bpf_interpreter *interpreter, struct interpreter_walk *walk)
{
    uint32_t pid = (uint32_t)reader->pid;
    if (interpreter->layout.kind == INTERPRETER_ZEND)
        return zend_read_frame(reader, &interpreter->layout, walk) &&
               zend_step_over(reader, interpreter, walk, pid);
    if (interpreter->layout.kind == INTERPRETER_YARV)
        return yarv_read_frame(reader, &interpreter->layout, walk) &&
               yarv_step_over(reader, interpreter, walk, pid);
    return interpreter_step_over(reader, interpreter, walk, pid);
}

void interpreters_read(const struct interpreters *interpreters, const struct bpf_waiting *waiting,
                       struct bpf_stack *ret)
{
    struct interpreter_reader reader = {(pid_t)waiting->pid};
    struct bpf_interpreter interpreter;
    struct interpreter_walk walk = {0};
    ret->count = 0;
    if (!interpreters->list ||
        bpf_map_lookup_elem(interpreters->processes_fd, &waiting->pid, &interpreter) < 0 ||
        !may_read(interpreters, waiting->pid))
        return;
    read_first(&reader, &interpreter, &walk, waiting->thread_pointer);
    for (uint64_t i = 0; i < 2 * BPF_STACK_FRAMES && walk.place.frame; i++)
        if (!read_next(&reader, &interpreter, &walk))
            break;
    if (note_code(interpreters, &reader, &interpreter, &walk))
        *ret = walk.stack;
}

/* --- names --- */

static bool is_printable(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return false;
    return true;
}

/* Joins class and function. The code of a file, or of an executed text, has no name. */
static bool name_zend(struct bpf_code *code)
{
    char joined[sizeof(code->scope) + sizeof(code->name) + 4];
    const char *name = code->name[0] ? code->name : "{main}";
    snprintf(joined, sizeof(joined), "%s%s%s", code->scope, code->scope[0] ? "::" : "", name);
    code->name_bytes = (uint32_t)strnlen(joined, sizeof(code->name) - 1);
    memcpy(code->name, joined, code->name_bytes);
    code->name[code->name_bytes] = '\0';
    return is_printable(code->name) && is_printable(code->file);
}

/* NUL-terminates the texts, and joins them. */
static bool is_sound(struct bpf_code *code)
{
    if (code->name_bytes > INTERPRETER_NAME_BYTES || code->file_bytes > INTERPRETER_FILE_BYTES ||
        code->scope_bytes > INTERPRETER_SCOPE_BYTES || code->table_bytes > INTERPRETER_TABLE_BYTES)
        return false;
    code->name[code->name_bytes] = code->file[code->file_bytes] = '\0';
    code->scope[code->scope_bytes] = '\0';
    if (code->kind == INTERPRETER_YARV)
        return code->name_bytes && is_printable(code->name) && is_printable(code->file);
    return code->kind != INTERPRETER_ZEND || name_zend(code);
}

typedef VEC(struct bpf_code) code_list;

/* The table may change meanwhile, so the walk may start again: bound it. */
static bool read_codes(const struct interpreters *interpreters, code_list *ret)
{
    uint64_t key, next;
    const uint64_t *before = NULL;
    struct bpf_code code;
    for (size_t i = 0; i < 2 * MOST_CODES; i++) {
        if (bpf_map_get_next_key(interpreters->codes_fd, before, &next) < 0)
            break;
        key = next;
        before = &key;
        if (bpf_map_lookup_elem(interpreters->codes_fd, &key, &code) == 0 && is_sound(&code) &&
            !vec_push(ret, code))
            return false;
    }
    return true;
}

static struct argus_error *write_codes(const code_list *codes, struct argus_writer *writer)
{
    struct argus_code_entry *entries = calloc(codes->length + 1, sizeof(*entries));
    if (!entries)
        return argus_error_memory();
    for (size_t i = 0; i < codes->length; i++) {
        const struct bpf_code *code = &codes->data[i];
        entries[i] = (struct argus_code_entry){
            .pid = code->pid,
            .start = code->start,
            .bytes = code->bytes,
            .seen_ticks = code->time_ns,
            .line = code->line,
            .function = code->name,
            .source = code->file,
            .table = code->table,
            .table_bytes = code->table_bytes,
        };
    }
    struct argus_error *error = argus_writer_code(writer, entries, codes->length);
    free(entries);
    return error;
}

struct argus_error *interpreters_write(const struct interpreters *interpreters,
                                       struct argus_writer *writer)
{
    code_list codes = {0};
    if (!interpreters->list)
        return NULL;
    struct argus_error *error =
        read_codes(interpreters, &codes) ? write_codes(&codes, writer) : argus_error_memory();
    vec_deinit(&codes);
    return error;
}
