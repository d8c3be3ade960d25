#include "build_plan.h"

#include <stdio.h>
#include <string.h>

#include "base/hash64.h"

static struct argus_error *check_id(const struct image *image, const struct hook_row *row)
{
    char id[2 * HOOK_ID_MOST + 1] = "";
    for (uint32_t i = 0; i < image->id_bytes; i++)
        snprintf(id + 2 * i, 3, "%02x", image->id[i]);
    if (strcmp(id, row->id) == 0)
        return NULL;
    return argus_error_create(ARGUS_ERROR_USAGE,
                              "%s is another version: its build id is %s, the table is for %s",
                              image->path, *id ? id : "unknown", row->id);
}

static struct argus_error *check_overlap(const struct planned_hooks *hooks,
                                         const struct planned_hook *added)
{
    for (size_t i = 0; i < hooks->hooks.length; i++) {
        const struct planned_hook *other = &hooks->hooks.data[i];
        if (added->address < other->address + other->window.bytes &&
            other->address < added->address + added->window.bytes)
            return argus_error_create(
                ARGUS_ERROR_USAGE, "it covers an instruction that the hook of line %u covers too",
                other->row->line);
    }
    return NULL;
}

static struct argus_error *plan_row(const struct image *image, struct decoder *decoder,
                                    const struct hook_row *row, struct planned_hooks *hooks)
{
    struct planned_hook hook = {.row = row};
    struct function_code code = {0};
    struct argus_error *error = find_place(image, decoder, row, &hook.address);
    if (!error)
        error = function_code_create(image, decoder, hook.address, &code);
    if (!error)
        error = window_move(&code, hook.address, row->nounwind, &hook.window, &hook.trampoline);
    function_code_deinit(&code);
    if (!error)
        error = check_overlap(hooks, &hook);
    if (!error && !vec_push(&hooks->hooks, hook))
        return argus_error_memory();
    return error;
}

struct argus_error *plan_hooks(const struct image *image, struct decoder *decoder,
                               const struct hook_table *table, const char *image_name,
                               struct planned_hooks *ret)
{
    *ret = (struct planned_hooks){0};
    for (size_t i = 0; i < table->rows.length; i++) {
        const struct hook_row *row = &table->rows.data[i];
        if (strcmp(row->image, image_name) != 0)
            continue;
        struct argus_error *error =
            row->shape == ROW_ID ? check_id(image, row) : plan_row(image, decoder, row, ret);
        if (!error)
            continue;
        planned_hooks_deinit(ret);
        if (error->code == ARGUS_ERROR_MEMORY)
            return error;
        return argus_error_context(error, "%s, line %u: %s", table->name, row->line, row->place);
    }
    return NULL;
}

void planned_hooks_deinit(struct planned_hooks *hooks)
{
    vec_deinit(&hooks->hooks);
}

/* --- writing --- */

struct plan_text {
    VEC(uint8_t) bytes;
    bool no_memory;
};

static uint32_t add(struct plan_text *text, const void *data, size_t bytes)
{
    uint32_t at = (uint32_t)text->bytes.length;
    if (!vec_reserve(&text->bytes, bytes)) {
        text->no_memory = true;
        return at;
    }
    memcpy(text->bytes.data + at, data, bytes);
    text->bytes.length += bytes;
    return at;
}

static uint32_t add_string(struct plan_text *text, const char *string)
{
    return string ? add(text, string, strlen(string) + 1) : 0;
}

static void align(struct plan_text *text)
{
    static const uint8_t zeros[8];
    add(text, zeros, (8 - text->bytes.length % 8) % 8);
}

/* The same hook has the same number in every build of a table, so that traces can be compared. */
static uint32_t hook_number(const char *image, const struct hook_row *row)
{
    uint64_t hash = hash64(0, image, strlen(image) + 1);
    hash = hash64(hash, row->place, strlen(row->place) + 1);
    hash = hash64(hash, row->label, strlen(row->label) + 1);
    return HOOK_NUMBER_FIRST + (uint32_t)(hash % 0xff0000u);
}

static void fill_entry(struct plan_text *text, const char *image, const struct planned_hook *hook,
                       struct hook_entry *entry)
{
    const struct hook_row *row = hook->row;
    const struct trampoline_plan *trampoline = &hook->trampoline;
    *entry = (struct hook_entry){
        .victim = hook->address,
        .compare_with = row->compare_with,
        .number = hook_number(image, row),
        .shape = row->shape,
        .window_bytes = (uint8_t)hook->window.bytes,
        .start_count = (uint8_t)hook->window.count,
        .compare = (uint8_t)row->compare,
        .returns_inside = hook->window.returns_inside,
        .kind_count = (uint16_t)row->kind_count,
        .key = row->key,
        .function = row->function_value,
        .other = row->other,
        .when = row->when,
        .type = row->type,
    };
    memcpy(entry->kinds, row->kinds, sizeof(entry->kinds));
    for (uint32_t i = 0; i < hook->window.count; i++) {
        const struct insn *insn = &hook->window.insns[i];
        entry->starts[i] = (uint8_t)(insn->address - hook->address);
        entry->moved_to[i] = trampoline->moved_to[i];
        memcpy(entry->original + entry->starts[i], insn->bytes, insn->length);
    }
    align(text);
    entry->fixups =
        add(text, trampoline->fixups, trampoline->fixup_count * sizeof(*trampoline->fixups));
    entry->fixup_count = trampoline->fixup_count;
    entry->code = add(text, trampoline->code, trampoline->bytes);
    entry->code_bytes = trampoline->bytes;
    entry->label = add_string(text, row->label);
    entry->place = add_string(text, row->place);
    entry->shell = add_string(text, row->shell);
    entry->shell_library = add_string(text, row->shell_library);
}

static void fill_header(struct plan_text *text, const struct image *image, const char *loaded_name,
                        struct hook_plan *plan)
{
    *plan = (struct hook_plan){
        .magic = HOOK_PLAN_MAGIC, .arch = image->arch, .id_bytes = image->id_bytes};
    memcpy(plan->id, image->id, sizeof(plan->id));
    for (size_t i = 0; i < image->segments.length && !plan->text_bytes; i++) {
        const struct image_segment *segment = &image->segments.data[i];
        if (!segment->is_code)
            continue;
        plan->text = segment->address;
        plan->text_bytes = segment->bytes;
        plan->text_hash = hash64(0, segment->data, segment->bytes);
    }
    plan->image = add_string(text, loaded_name);
}

struct argus_error *plan_write(const struct image *image, const char *loaded_name,
                               const struct planned_hooks *hooks, uint8_t **ret, size_t *ret_bytes)
{
    struct plan_text text = {0};
    struct hook_plan plan = {0};
    size_t count = hooks->hooks.length;
    struct hook_entry *entries = calloc(count + 1, sizeof(*entries));
    if (!entries)
        return argus_error_memory();
    add(&text, &plan, sizeof(plan));
    fill_header(&text, image, loaded_name, &plan);
    for (size_t i = 0; i < count; i++)
        fill_entry(&text, loaded_name, &hooks->hooks.data[i], &entries[i]);
    align(&text);
    plan.entries = add(&text, entries, count * sizeof(*entries));
    plan.entry_count = (uint32_t)count;
    plan.bytes = (uint32_t)text.bytes.length;
    free(entries);
    if (text.no_memory) {
        vec_deinit(&text.bytes);
        return argus_error_memory();
    }
    memcpy(text.bytes.data, &plan, sizeof(plan));
    *ret = text.bytes.data;
    *ret_bytes = text.bytes.length;
    return NULL;
}
