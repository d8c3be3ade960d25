#include "tep_fields.h"

#include <stdlib.h>
#include <string.h>

#include "argus/record.h"
#include "kernel_events.h"

static bool lies_within(const struct tep_format_field *field, const struct tep_record *record)
{
    return field->offset >= 0 && field->size >= 0 && record->size >= 0 &&
           field->offset <= record->size && field->size <= record->size - field->offset;
}

static bool number(const struct foreign_event *event, const char *name, uint64_t *ret)
{
    const struct tep_source *source = event->source;
    struct tep_format_field *field = tep_find_any_field(source->event, name);
    unsigned long long value;
    if (!field || !lies_within(field, source->record) ||
        tep_read_number_field(field, source->record->data, &value))
        return false;
    *ret = field->flags & TEP_FIELD_IS_SIGNED && field->size == 4
               ? (uint64_t)(int64_t)(int32_t)value
               : value;
    return true;
}

/* Where a text begins. A text of variable length is a word (offset, length) that points to it. */
static bool text_place(const struct tep_format_field *field, const struct tep_record *record,
                       size_t *ret_offset, size_t *ret_length)
{
    const char *data = record->data;
    uint32_t place;
    *ret_offset = (size_t)field->offset;
    *ret_length = (size_t)field->size;
    if (!(field->flags & TEP_FIELD_IS_DYNAMIC))
        return true;
    if (field->size < (int)sizeof(place))
        return false;
    memcpy(&place, data + field->offset, sizeof(place));
    *ret_offset = place & 0xffff;
    *ret_length = place >> 16;
    if (field->flags & TEP_FIELD_IS_RELATIVE)
        *ret_offset += (size_t)field->offset + (size_t)field->size;
    return *ret_offset <= (size_t)record->size && *ret_length <= (size_t)record->size - *ret_offset;
}

static const char *text(const struct foreign_event *event, const char *name)
{
    const struct tep_source *source = event->source;
    const struct tep_format_field *field = tep_find_any_field(source->event, name);
    const char *data = source->record->data;
    size_t offset, length;
    if (!field || !(field->flags & (TEP_FIELD_IS_STRING | TEP_FIELD_IS_ARRAY)) ||
        !lies_within(field, source->record) || !text_place(field, source->record, &offset, &length))
        return NULL;
    return memchr(data + offset, '\0', length) ? data + offset : NULL;
}

/* raw_syscalls:sys_enter has an array `args`; syscalls:sys_enter_X has a field for each argument
 * behind __syscall_nr. */
static bool argument(const struct foreign_event *event, unsigned index, uint64_t *ret)
{
    const struct tep_source *source = event->source;
    struct tep_format_field *field = tep_find_field(source->event, "args");
    if (field) {
        size_t at = (size_t)field->offset + index * sizeof(*ret);
        if (at + sizeof(*ret) > (size_t)field->offset + (size_t)field->size ||
            !lies_within(field, source->record))
            return false;
        memcpy(ret, (const char *)source->record->data + at, sizeof(*ret));
        return true;
    }
    for (field = source->event->format.fields; field; field = field->next) {
        unsigned long long value;
        if (strcmp(field->name, "__syscall_nr") == 0 || strcmp(field->name, "nr") == 0)
            continue;
        if (index-- > 0)
            continue;
        if (!lies_within(field, source->record) ||
            tep_read_number_field(field, source->record->data, &value))
            return false;
        *ret = value;
        return true;
    }
    return false;
}

const struct foreign_fields tep_fields = {number, text, argument};

bool tep_event_of(struct tep_handle *tep, struct tep_record *record, struct tep_source *ret_source,
                  struct foreign_event *ret)
{
    struct tep_event *event = tep_find_event_by_record(tep, record);
    if (!event || !event->name)
        return false;
    *ret_source = (struct tep_source){event, record};
    *ret = (struct foreign_event){.name = event->name,
                                  .time_ns = record->ts,
                                  .tid = (uint64_t)tep_data_pid(tep, record),
                                  .cpu = (uint32_t)record->cpu,
                                  .context =
                                      kernel_events_context((uint32_t)tep_data_flags(tep, record)),
                                  .fields = &tep_fields,
                                  .source = ret_source};
    return true;
}
