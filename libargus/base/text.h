/* Text that grows in a buffer, and is cut off at its end. */
#ifndef ARGUS_BASE_TEXT_H
#define ARGUS_BASE_TEXT_H

#include <stddef.h>

struct text {
    char *buffer; /* borrowed */
    size_t bytes, length;
};

__attribute__((format(printf, 2, 3))) void text_add(struct text *text, const char *format, ...);

#endif
