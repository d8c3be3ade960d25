#include "server/backend.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_LIMIT 1000 /* a note that differs each time must not fill the memory */

static bool may_try_next(const struct argus_error *error)
{
    return error->code == ARGUS_ERROR_UNSUPPORTED || error->code == ARGUS_ERROR_PERMISSION;
}

static void note_switched_off(struct backend *backend, uint32_t categories)
{
    for (int category = 0; category < CATEGORY_COUNT; category++) {
        if (!(categories & CATEGORY_BIT(category)))
            backend_note(backend, "recorded without %s: %s", category_name(category),
                         category_lost_without(category));
    }
}

/* `*error`: why the previous backend of the table cannot record. */
static void finish_create(struct backend *backend, const struct backend_ops *ops,
                          const struct backend_options *options, struct argus_error **error)
{
    if (*error)
        backend_note(backend, "recorded by %s, because %s", ops->title, (*error)->message);
    else if (options->kind != BACKEND_ANY && ops != backend_table[0])
        backend_note(backend, "recorded by %s, because --backend=%s asked for it", ops->title,
                     ops->name);
    argus_error_destroy(*error);
    *error = NULL;
    note_switched_off(backend, options->categories);
    bool without = !ops->snapshot || !(options->categories & CATEGORY_BIT(CATEGORY_STACKS));
    if (options->unwind_count && without)
        backend_note(backend, "no stacks are copied for --unwind: %s",
                     ops->snapshot ? "stacks are switched off" : "only BPF programs can do it");
    for (size_t i = 0; options->probes && i < options->probes->absent.length; i++)
        backend_note(backend, "probes: %s", options->probes->absent.data[i]);
    if (options->probes && options->probes->probes.length && !ops->write_probes)
        backend_note(backend, "%s cannot listen to libraries: no callbacks and no user input",
                     ops->title);
}

/* Joins both errors in one sentence. The preferred backend's error comes first and says what to do.
 * Takes both. */
static struct argus_error *both_failed(struct argus_error *first, const struct backend_ops *second,
                                       struct argus_error *failed)
{
    struct argus_error *error =
        argus_error_create(first->code, "%s; and %s does not work either: %s", first->message,
                           second->title, failed->message);
    argus_error_destroy(first);
    argus_error_destroy(failed);
    return error;
}

static struct argus_error *no_limit(const struct backend_ops *ops)
{
    return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                              "%s cannot leave out categories for --max-overhead", ops->title);
}

struct argus_error *backend_create(const struct backend_options *options, struct backend **ret)
{
    struct argus_error *error = NULL;
    for (const struct backend_ops *const *ops = backend_table; *ops; ops++) {
        if (options->kind != BACKEND_ANY && options->kind != (*ops)->kind)
            continue;
        struct argus_error *failed = options->may_leave_out && !(*ops)->leave_out
                                         ? no_limit(*ops)
                                         : (*ops)->create(options, ret);
        if (!failed) {
            finish_create(*ret, *ops, options, &error);
            return NULL;
        }
        error = error ? both_failed(error, *ops, failed) : failed;
        if (!may_try_next(error))
            return error;
    }
    return error ? error
                 : argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                      "this recorder was built without that backend");
}

void backend_destroy(struct backend *backend)
{
    if (!backend)
        return;
    for (size_t i = 0; i < backend->notes.length; i++)
        free(backend->notes.data[i]);
    vec_deinit(&backend->notes);
    backend->ops->destroy(backend);
}

void backend_detach(struct backend *backend)
{
    backend->ops->detach(backend);
}

void backend_release(struct backend *backend)
{
    if (backend->ops->release)
        backend->ops->release(backend);
    else
        backend->ops->detach(backend);
}

struct argus_error *backend_header(const struct backend *backend, struct argus_trace_header *ret)
{
    return backend->ops->header(backend, ret);
}

uint32_t backend_cpu_count(const struct backend *backend)
{
    return backend->ops->cpu_count(backend);
}

uint64_t backend_ring_bytes(const struct backend *backend)
{
    return backend->ops->ring_bytes(backend);
}

uint64_t backend_emitted(const struct backend *backend, uint32_t cpu)
{
    return backend->ops->emitted(backend, cpu);
}

size_t backend_read(struct backend *backend, uint32_t cpu, struct argus_record *records,
                    size_t room, uint64_t *ret_lost)
{
    return backend->ops->read(backend, cpu, records, room, ret_lost);
}

uint64_t backend_unread(const struct backend *backend, uint32_t cpu)
{
    return backend->ops->unread(backend, cpu);
}

size_t backend_peek(const struct backend *backend, uint32_t cpu, bool oldest,
                    struct argus_record *records, size_t room)
{
    return backend->ops->peek(backend, cpu, oldest, records, room);
}

size_t backend_read_at(const struct backend *backend, uint32_t cpu, uint64_t *next,
                       struct argus_record *records, size_t room, uint64_t *ret_lost)
{
    return backend->ops->read_at(backend, cpu, next, records, room, ret_lost);
}

struct argus_error *backend_collect(struct backend *backend)
{
    return backend->ops->collect(backend);
}

size_t backend_stack(struct backend *backend, uint64_t id, uint64_t *frames)
{
    return backend->ops->stack(backend, id, frames);
}

bool backend_snapshot(struct backend *backend, uint64_t id, struct argus_snapshot *ret)
{
    return backend->ops->snapshot && backend->ops->snapshot(backend, id, ret);
}

struct argus_error *backend_write_threads(struct backend *backend, struct argus_writer *writer)
{
    return backend->ops->write_threads(backend, writer);
}

struct argus_error *backend_write_images(struct backend *backend, struct argus_writer *writer,
                                         bool all)
{
    return backend->ops->write_images(backend, writer, all);
}

struct argus_error *backend_renew_names(struct backend *backend, uint64_t taken_ns,
                                        struct argus_writer *writer)
{
    return backend->ops->renew_names(backend, taken_ns, writer);
}

struct argus_error *backend_write_probes(struct backend *backend, struct argus_writer *writer)
{
    return backend->ops->write_probes ? backend->ops->write_probes(backend, writer) : NULL;
}

struct argus_error *backend_write_code(struct backend *backend, struct argus_writer *writer)
{
    return backend->ops->write_code ? backend->ops->write_code(backend, writer) : NULL;
}

struct argus_error *backend_write_kernel_symbols(struct backend *backend, uint64_t *addresses,
                                                 size_t count, struct argus_writer *writer)
{
    return backend->ops->write_kernel_symbols(backend, addresses, count, writer);
}

struct argus_error *backend_pollers(struct backend *backend, struct backend_poller *ret,
                                    size_t room, size_t *ret_count)
{
    if (!backend->ops->pollers)
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED, "%s cannot tell which threads poll",
                                  backend->ops->title);
    return backend->ops->pollers(backend, ret, room, ret_count);
}

static struct argus_error *no_flags(const struct backend *backend)
{
    return argus_error_create(ARGUS_ERROR_UNSUPPORTED, "%s cannot watch data flags",
                              backend->ops->title);
}

struct argus_error *backend_flag_add(struct backend *backend, const struct request_flag *wanted,
                                     uid_t owner, uint32_t *ret_number)
{
    return backend->ops->flag_add ? backend->ops->flag_add(backend, wanted, owner, ret_number)
                                  : no_flags(backend);
}

struct argus_error *backend_flag_remove(struct backend *backend, uint32_t number)
{
    return backend->ops->flag_remove ? backend->ops->flag_remove(backend, number)
                                     : no_flags(backend);
}

bool backend_flag_get(const struct backend *backend, uint32_t number, struct reply_flag *ret)
{
    return backend->ops->flag_get && backend->ops->flag_get(backend, number, ret);
}

bool backend_flags_awaited(const struct backend *backend)
{
    return backend->ops->flags_awaited && backend->ops->flags_awaited(backend);
}

struct argus_error *backend_write_flags(struct backend *backend, struct argus_writer *writer)
{
    return backend->ops->write_flags ? backend->ops->write_flags(backend, writer) : NULL;
}

struct argus_error *backend_look_at_waits(struct backend *backend)
{
    return backend->ops->look_at_waits ? backend->ops->look_at_waits(backend) : NULL;
}

struct argus_error *backend_write_waits(const struct backend *backend, struct argus_writer *writer)
{
    return backend->ops->write_waits ? backend->ops->write_waits(backend, writer) : NULL;
}

struct argus_error *backend_read_last(const struct backend *backend, record_list *ret)
{
    bool done = !backend->ops->read_last || backend->ops->read_last(backend, ret);
    return done ? NULL : argus_error_memory();
}

struct argus_error *backend_held_locks(const struct backend *backend, record_list *ret)
{
    bool done = !backend->ops->held_locks || backend->ops->held_locks(backend, ret);
    return done ? NULL : argus_error_memory();
}

struct argus_error *backend_take_shared(struct backend *backend, record_list *ret)
{
    bool done = !backend->ops->take_shared || backend->ops->take_shared(backend, ret);
    return done ? NULL : argus_error_memory();
}

struct argus_error *backend_leave_out(struct backend *backend, uint32_t categories)
{
    return backend->ops->leave_out(backend, categories);
}

void backend_cost(const struct backend *backend, uint64_t ret_ns[CATEGORY_COUNT])
{
    backend->ops->cost(backend, ret_ns);
}

bool backend_copies_hurry(const struct backend *backend)
{
    return backend->ops->copies_hurry && backend->ops->copies_hurry(backend);
}

bool backend_is_overloaded(const struct backend *backend)
{
    return backend->ops->is_overloaded && backend->ops->is_overloaded();
}

static bool is_said(const struct backend *backend, const char *text)
{
    for (size_t i = 0; i < backend->notes.length; i++) {
        if (strcmp(backend->notes.data[i], text) == 0)
            return true;
    }
    return false;
}

void backend_note(struct backend *backend, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    va_end(args);
    if (!text)
        return;
    if (backend->notes.length >= NOTE_LIMIT || is_said(backend, text) ||
        !vec_push(&backend->notes, text))
        free(text);
}

size_t backend_notes(const struct backend *backend, const char *const **ret)
{
    *ret = (const char *const *)backend->notes.data;
    return backend->notes.length;
}

size_t backend_counters(const struct backend *backend, struct argus_counter *ret, size_t room)
{
    return backend->ops->counters(backend, ret, room);
}

struct argus_error *backend_search_name(struct backend *backend, struct name_search *search)
{
    if (!backend->ops->offer_names)
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED, "this backend keeps no names");
    return backend->ops->offer_names(backend, search);
}
