#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>

void text_add(struct text *text, const char *format, ...)
{
    va_list args;
    if (text->length + 1 >= text->bytes)
        return;
    va_start(args, format);
    int added = vsnprintf(text->buffer + text->length, text->bytes - text->length, format, args);
    va_end(args);
    if (added > 0)
        text->length += (size_t)added;
    if (text->length >= text->bytes)
        text->length = text->bytes - 1;
}
