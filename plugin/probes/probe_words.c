#include <string.h>

#include "argus/graph.h"
#include "base/scan.h"
#include "plugin/probes/probe_table.h"

static bool take_value(const char **at, struct probe_value *ret)
{
    struct argus_place place;
    if (!argus_place_parse(at, &place))
        return false;
    *ret = probe_value_of(&place);
    return true;
}

struct probe_value probe_value_of(const struct argus_place *place)
{
    struct probe_value value = {
        .base = place->argument,
        .steps = place->steps,
        .bytes = place->bytes,
        .is_signed = place->is_signed,
    };
    memcpy(value.offsets, place->offsets, sizeof(value.offsets));
    return value;
}

bool probe_word_value(const char *text, struct probe_value *ret)
{
    return take_value(&text, ret) && !*text;
}

bool probe_word_condition(const char *text, struct probe_condition *ret)
{
    *ret = (struct probe_condition){0};
    if (!take_value(&text, &ret->value))
        return false;
    if (scan_text(&text, ">="))
        ret->compare = PROBE_COMPARE_ATLEAST;
    else if (scan_text(&text, "<"))
        ret->compare = PROBE_COMPARE_LESS;
    else if (scan_text(&text, "="))
        ret->compare = PROBE_COMPARE_EQUAL;
    return ret->compare && scan_number(&text, UINT64_MAX, &ret->than) && !*text;
}

/* Names of events contain spaces; words of the table contain underscores instead. */
static bool is_event_word(const char *word, size_t length, const char *name)
{
    for (size_t i = 0; i < length; i++)
        if (!name[i] || word[i] != (name[i] == ' ' ? '_' : name[i]))
            return false;
    return !name[length];
}

static bool take_event(const char **at, uint32_t *ret)
{
    size_t length = strcspn(*at, ",");
    for (uint32_t i = 0; i < ARGUS_UI_EVENTS; i++) {
        if (!is_event_word(*at, length, argus_ui_event_name(i)))
            continue;
        *at += length;
        *ret = i;
        return true;
    }
    return false;
}

bool probe_word_kinds(const char *text, struct probe_spec *ret)
{
    do {
        uint64_t number;
        if (ret->kind_count == PROBE_KINDS || !scan_number(&text, UINT32_MAX, &number) ||
            !scan_text(&text, ":"))
            return false;
        struct probe_kind *kind = &ret->kinds[ret->kind_count++];
        kind->number = (uint32_t)number;
        if (!take_event(&text, &kind->kind))
            return false;
    } while (scan_text(&text, ","));
    return !*text;
}

bool probe_word_shape(const char *text, uint32_t *ret)
{
    for (uint32_t i = ARGUS_PROBE_QUEUE; i <= ARGUS_PROBE_NOTE;
         i++) { /* those behind: hooks only */
        if (strcmp(argus_probe_shape_name(i), text) != 0)
            continue;
        *ret = i;
        return true;
    }
    return false;
}

bool probe_word_symbol(const char *text, struct probe_symbol *ret)
{
    *ret = (struct probe_symbol){.is_pointer = *text == '*'};
    text += ret->is_pointer;
    size_t length = ret->is_pointer ? strcspn(text, "+") : strlen(text);
    const char *behind = text + length;
    if (length == 0 || (*behind && (!scan_text(&behind, "+") ||
                                    !scan_number(&behind, 1 << 20, &ret->offset) || *behind)))
        return false;
    ret->name = strndup(text, length);
    return ret->name != NULL;
}
