#include "probe_check.h"

#include <stdbool.h>
#include <string.h>

#include "argus/record.h"

#define FARTHEST_OFFSET (1 << 20) /* of a field in a structure */

static bool good_value(const struct probe_value *value)
{
    bool good = value->base < PROBE_BASES && value->steps <= PROBE_STEPS && value->is_signed <= 1;
    for (uint32_t i = 0; i < PROBE_STEPS; i++)
        good &= value->offsets[i] >= -FARTHEST_OFFSET && value->offsets[i] <= FARTHEST_OFFSET;
    uint32_t bytes = value->bytes;
    return good && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 ||
                    (bytes == 0 && value->base == PROBE_BASE_NONE));
}

static bool good_spec(const struct probe_spec *spec)
{
    bool good = spec->shape >= ARGUS_PROBE_QUEUE && spec->shape < ARGUS_PROBE_SHAPES &&
                (spec->shape <= ARGUS_PROBE_NOTE || spec->flags & PROBE_HOOK) &&
                !(spec->flags & ~PROBE_FLAGS) && spec->kind_count <= PROBE_KINDS &&
                spec->when.compare <= PROBE_COMPARE_ATLEAST &&
                spec->stack_bytes <= PROBE_STACK_MOST;
    for (uint32_t i = 0; i < PROBE_KINDS && good; i++)
        good = spec->kinds[i].kind < ARGUS_UI_EVENTS;
    return good && good_value(&spec->key) && good_value(&spec->function) &&
           good_value(&spec->other) && good_value(&spec->type) && good_value(&spec->when.value);
}

static bool has_end(const char *text, size_t room)
{
    return memchr(text, '\0', room) != NULL;
}

struct argus_error *probe_request_check(const struct request_probe *request)
{
    bool is_hook = request->spec.flags & PROBE_HOOK;
    if (is_hook && request->number < PROBE_HOOK_FIRST)
        return argus_error_create(ARGUS_ERROR_FORMAT, "there is no hook with number %u",
                                  request->number);
    if (!is_hook && request->number >= PROBE_LIMIT)
        return argus_error_create(ARGUS_ERROR_USAGE, "more than %u probes are not possible",
                                  PROBE_LIMIT);
    if (!good_spec(&request->spec))
        return argus_error_create(ARGUS_ERROR_FORMAT, "probe %u is invalid", request->number);
    if (!has_end(request->library, sizeof(request->library)) ||
        !has_end(request->symbol, sizeof(request->symbol)) ||
        !has_end(request->label, sizeof(request->label)))
        return argus_error_create(ARGUS_ERROR_FORMAT, "a name of probe %u is not terminated",
                                  request->number);
    return NULL;
}
