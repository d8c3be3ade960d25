/* Appends text to a buffer of fixed size. What does not fit is cut off. */
#ifndef ARGUS_BASE_TEXT_H
#define ARGUS_BASE_TEXT_H

#include <stddef.h>

struct text {
    char *buffer; /* borrowed */
    size_t bytes, length;
};

__attribute__((format(printf, 2, 3))) void text_add(struct text *text, const char *format, ...);

#endif
