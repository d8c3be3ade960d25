/* The shell functions of a hook. Compiled with -mgeneral-regs-only, and without any library call:
 * the victim may be inside malloc(), the loader or a signal handler.
 *
 * Memory is read unchecked: a table with rdi->8 where rdi is no pointer makes the program crash, as
 * a wrong debugger command would. Only impossible pointers (the first page, non-canonical
 * addresses) are skipped.
 */
#include "emit.h"
#include "running_hook.h"

#include "argus/record.h"

static uint64_t cut(uint64_t value, uint32_t bytes, bool is_signed)
{
    uint32_t unused = 64 - 8 * bytes;
    if (bytes == 0 || bytes >= 8)
        return value;
    value <<= unused;
    return is_signed ? (uint64_t)((int64_t)value >> unused) : value >> unused;
}

static uint64_t load(uint64_t address, uint32_t bytes)
{
    switch (bytes) {
    case 1:
        return *(const volatile uint8_t *)address;
    case 2:
        return *(const volatile uint16_t *)address;
    case 4:
        return *(const volatile uint32_t *)address;
    default:
        return *(const volatile uint64_t *)address;
    }
}

/* Linux gives a process the lower 47 bits on x86-64 and 48 on arm64, where the highest byte may be
 * a tag. */
static bool can_be_pointer(uint64_t address)
{
#if defined(__aarch64__)
    return address >= 4096 && (address & 0x00ffffffffffffffull) >> 48 == 0;
#else
    return address >= 4096 && address >> 47 == 0;
#endif
}

/* False: a value to follow is no pointer. */
static bool read_value(const struct hook_value *value, const struct argus_hook_context *context,
                       uint64_t *ret)
{
    uint64_t number = value->base ? context->registers[value->base - 1] : 0;
    for (uint32_t i = 0; i < value->steps; i++) {
        uint64_t place = number + (uint64_t)(int64_t)value->offsets[i];
        bool last = i + 1u == value->steps;
        if (!can_be_pointer(place))
            return false;
        number = load(place, last ? value->bytes : 8);
    }
    *ret = cut(number, value->bytes, value->is_signed);
    return true;
}

static uint64_t value_or_0(const struct hook_value *value, const struct argus_hook_context *context)
{
    uint64_t number;
    return read_value(value, context, &number) ? number : 0;
}

static bool applies(const struct hook_entry *entry, const struct argus_hook_context *context)
{
    uint64_t value;
    if (entry->compare == HOOK_ALWAYS)
        return true;
    if (!read_value(&entry->when, context, &value))
        return false;
    if (entry->compare == HOOK_EQUAL)
        return value == entry->compare_with;
    return entry->compare == HOOK_LESS ? value < entry->compare_with : value >= entry->compare_with;
}

/* As in recorder/linux/bpf/probe.h. */
static bool find_kind(const struct hook_entry *entry, uint64_t number, uint64_t *ret)
{
    *ret = 0;
    for (uint32_t i = 0; i < entry->kind_count; i++) {
        *ret = entry->kinds[i].kind;
        if (entry->kinds[i].number == number)
            return true;
    }
    return entry->kind_count == 0;
}

/* docs/man/argus-trace.5.md: address, size, and that a hook reported it. The value has the flag's
 * size. */
static void record_flag(const struct argus_hook *hook, uint32_t debugid, uint64_t address,
                        uint64_t value)
{
    uint64_t where = (hook->entry->victim + hook->slide) & 0xffffffffffffffull;
    uint64_t bytes = hook->entry->other.bytes;
    emit_record(debugid, address, value, where | bytes << 56 | 1ull << 60, 0);
}

static void record_ui(const struct hook_entry *entry, const struct argus_hook_context *context,
                      uint64_t sp)
{
    uint64_t type, kind;
    if (read_value(&entry->type, context, &type) && find_kind(entry, type, &kind))
        emit_record(ARGUS_ID_UI_EVENT, kind, 0, entry->number, sp);
}

void hook_record(const struct argus_hook *hook, struct argus_hook_context *context)
{
    const struct hook_entry *entry = hook->entry;
    uint64_t key, sp = context->registers[ARGUS_HOOK_SP];
    if (!applies(entry, context) || !read_value(&entry->key, context, &key))
        return;
    uint64_t function = value_or_0(&entry->function, context);
    uint64_t other = value_or_0(&entry->other, context);
    switch (entry->shape) {
    case ARGUS_PROBE_QUEUE:
        return emit_record(ARGUS_ID_CALLBACK_QUEUED, key, function, entry->number, 0);
    case ARGUS_PROBE_CANCEL:
        return emit_record(ARGUS_ID_CALLBACK_CANCELLED, key, 0, entry->number, 0);
    case ARGUS_PROBE_BEGIN:
        return emit_record(ARGUS_ID_CALLBACK | ARGUS_FUNC_START, key, function, entry->number, sp);
    case ARGUS_PROBE_END:
        return emit_record(ARGUS_ID_CALLBACK | ARGUS_FUNC_END, key, 0, entry->number, sp);
    case ARGUS_PROBE_TURN:
        return emit_record(ARGUS_ID_CALLBACK | ARGUS_FUNC_END, 0, 0, entry->number, sp);
    case ARGUS_PROBE_UI:
        return record_ui(entry, context, sp);
    case ARGUS_PROBE_READ:
        return record_ui(entry, context, 0);
    case ARGUS_PROBE_HANDLER:
        return emit_record(ARGUS_ID_HANDLER, function, other, entry->number, 0);
    case ARGUS_PROBE_FLAG_WRITE:
        return record_flag(hook, ARGUS_ID_FLAG_WRITE, key, other);
    case ARGUS_PROBE_FLAG_READ:
        return record_flag(hook, ARGUS_ID_FLAG_READ, key, other);
    default:
        return emit_record(ARGUS_ID_HOOK, key, function, entry->number, other);
    }
}

static __thread bool in_user_shell __attribute__((tls_model("initial-exec")));

void hook_call_user(const struct argus_hook *hook, struct argus_hook_context *context)
{
    if (in_user_shell)
        return;
    in_user_shell = true;
    hook->user_shell(hook, context);
    in_user_shell = false;
}

__attribute__((visibility("default"))) void argus_hook_emit(const struct argus_hook *hook,
                                                            uint32_t debugid, uint64_t arg1,
                                                            uint64_t arg2, uint64_t arg3)
{
    emit_record(debugid, arg1, arg2, hook->entry->number, arg3);
}

__attribute__((visibility("default"))) const char *argus_hook_label(const struct argus_hook *hook)
{
    return plan_at(hook->plan, hook->entry->label);
}

__attribute__((visibility("default"))) const char *argus_hook_place(const struct argus_hook *hook)
{
    return plan_at(hook->plan, hook->entry->place);
}
