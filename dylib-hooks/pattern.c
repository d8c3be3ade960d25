#include "pattern.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_byte(const char *text)
{
    return (text[0] == '?' && text[1] == '?') ||
           (isxdigit((unsigned char)text[0]) && isxdigit((unsigned char)text[1]));
}

/* Two digits or question marks, a space, and so on. */
static bool parse_bytes(const char *text, struct pattern *ret)
{
    while (*text && ret->count < PATTERN_MOST) {
        if (!is_byte(text) || (text[2] && text[2] != ' '))
            return false;
        char digits[3] = {text[0], text[1], '\0'};
        ret->masks[ret->count] = *text == '?' ? 0 : 0xff;
        ret->bytes[ret->count++] = *text == '?' ? 0 : (uint8_t)strtoul(digits, NULL, 16);
        text += 2;
        text += strspn(text, " ");
    }
    return !*text && ret->count > 0;
}

static bool parse_texts(struct pattern *ret)
{
    char *rest = ret->copy, *part;
    while ((part = strsep(&rest, ";")) != NULL) {
        part += strspn(part, " ");
        for (size_t length = strlen(part); length && part[length - 1] == ' ';)
            part[--length] = '\0';
        if (!*part || ret->count == PATTERN_MOST)
            return false;
        ret->texts[ret->count++] = part;
    }
    return true;
}

struct argus_error *pattern_parse(const char *text, struct pattern *ret)
{
    *ret = (struct pattern){0};
    if (parse_bytes(text, ret))
        return NULL;
    *ret = (struct pattern){.is_text = true, .copy = strdup(text)};
    if (!ret->copy)
        return argus_error_memory();
    if (parse_texts(ret))
        return NULL;
    pattern_deinit(ret);
    return argus_error_create(
        ARGUS_ERROR_USAGE, "the pattern \"%s\" has an empty instruction, or more than %d of them",
        text, PATTERN_MOST);
}

void pattern_deinit(struct pattern *pattern)
{
    free(pattern->copy);
    pattern->copy = NULL;
}

/* Only * is special: operands of memory have brackets. */
static bool fits_text(const char *pattern, const char *text)
{
    const char *star = NULL, *retry = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            retry = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star;
            text = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

static uint32_t fit_bytes(const struct pattern *pattern, const uint8_t *code, size_t bytes)
{
    uint32_t fit = 0;
    if (bytes < pattern->count)
        return 0;
    for (uint32_t i = 0; i < pattern->count; i++)
        fit += ((code[i] ^ pattern->bytes[i]) & pattern->masks[i]) == 0;
    return fit;
}

uint32_t pattern_fit(const struct pattern *pattern, struct decoder *decoder, const uint8_t *code,
                     size_t bytes, uint64_t address)
{
    uint32_t fit = 0;
    if (!pattern->is_text)
        return fit_bytes(pattern, code, bytes);
    for (uint32_t i = 0; i < pattern->count; i++) {
        struct insn insn;
        if (!decoder_next(decoder, code, bytes, address, &insn))
            return fit;
        if (fits_text(pattern->texts[i], insn.text))
            fit++;
        else if (i == 0) /* code is similar to a pattern only if it begins in the same way */
            return 0;
        code += insn.length;
        bytes -= insn.length;
        address += insn.length;
    }
    return fit;
}
