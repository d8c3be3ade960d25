#include "trace/kdebug_strings.h"

#include <string.h>

#include "base/utf8.h"

/* To add a tracepoint with text: a row. */
static const struct {
    uint32_t event, skipped;
} texts[] = {
    {KDEBUG_ID_STRING_GLOBAL, 16}, /* the tracepoint that the text is for, and its number */
    {ARGUS_ID_NAME_NEW, 0},
    {ARGUS_ID_NAME_EXEC, 0},
    {0x0701000c, 0}, /* TRACE_STRING_PROC_EXIT */
    {ARGUS_ID_NAME_THREAD, 0},
    {0x07010014, 0},       /* TRACE_STRING_THREADNAME_PREV */
    {KDEBUG_ID_LOOKUP, 8}, /* the vnode */
    {KDEBUG_ID_LOOKUP_DONE, 8},
    {KDEBUG_ID_LABEL, 0},
};

uint32_t kdebug_string_skips(uint32_t event)
{
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        if (texts[i].event == event)
            return texts[i].skipped;
    return UINT32_MAX;
}

/* The text that a thread has begun; created if there is none. NULL without memory. */
static struct kdebug_string *string_of(struct kdebug_strings *strings, uint64_t tid)
{
    uint32_t index = idmap_get(&strings->by_thread, tid);
    if (index != IDMAP_NONE)
        return &strings->open.data[index];
    index = strings->spare.length ? strings->spare.data[--strings->spare.length]
                                  : (uint32_t)strings->open.length;
    bool kept = index < strings->open.length || vec_push(&strings->open, (struct kdebug_string){0});
    if (!kept || !idmap_put(&strings->by_thread, tid, index)) {
        strings->no_memory = true;
        return NULL;
    }
    strings->open.data[index].event = 0;
    return &strings->open.data[index];
}

/* The text stays valid until the next one begins. */
static void give_back(struct kdebug_strings *strings, uint64_t tid)
{
    uint32_t index = idmap_get(&strings->by_thread, tid);
    if (!vec_push(&strings->spare, index) || !idmap_put(&strings->by_thread, tid, IDMAP_NONE))
        strings->no_memory = true;
}

static void add(struct kdebug_string *string, const struct argus_record *record, uint32_t skipped)
{
    const char *bytes = (const char *)record->arg + skipped;
    size_t length = strnlen(bytes, sizeof(record->arg) - skipped);
    size_t room = KDEBUG_STRING_BYTES - string->length;
    length = length < room ? length : room;
    memcpy(string->text + string->length, bytes, length);
    string->length += (uint32_t)length;
    string->records++;
}

static void begin(struct kdebug_string *string, const struct argus_record *record, uint32_t skipped)
{
    string->event = ARGUS_DEBUGID_EVENT(record->debugid);
    string->records = string->length = 0;
    string->number[0] = string->number[1] = 0;
    memcpy(string->number, record->arg, skipped);
}

const struct kdebug_string *kdebug_strings_feed(struct kdebug_strings *strings,
                                                const struct argus_record *record)
{
    uint32_t event = ARGUS_DEBUGID_EVENT(record->debugid), skipped = kdebug_string_skips(event);
    uint32_t func = ARGUS_DEBUGID_FUNC(record->debugid);
    struct kdebug_string *string = skipped == UINT32_MAX ? NULL : string_of(strings, record->tid);
    if (!string)
        return NULL;
    /* A name that fits into one record may lack the start and end bits. Any other piece without a
     * beginning belongs to a text whose beginning was lost. */
    bool goes_on = !(func & ARGUS_FUNC_START) && string->event == event;
    bool whole = func & ARGUS_FUNC_END || (!func && !goes_on);
    bool lost = !goes_on && !(func & ARGUS_FUNC_START) && (skipped || func);
    if (!goes_on)
        begin(string, record, skipped);
    if (!lost)
        add(string, record, goes_on ? 0 : skipped);
    if (!whole && !lost)
        return NULL;
    string->text[string->length] = 0;
    utf8_repair_name(string->text, string->length);
    give_back(strings, record->tid);
    return lost ? NULL : string;
}

void kdebug_strings_deinit(struct kdebug_strings *strings)
{
    vec_deinit(&strings->open);
    vec_deinit(&strings->spare);
    idmap_deinit(&strings->by_thread);
}
