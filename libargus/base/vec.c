#include "base/vec.h"

bool vec_grow(void **data, size_t *capacity, size_t length, size_t more, size_t element_bytes)
{
    if (*capacity - length >= more)
        return true;
    size_t wanted;
    if (__builtin_add_overflow(length, more, &wanted))
        return false;
    size_t doubled = *capacity + *capacity / 2;
    if (wanted < doubled)
        wanted = doubled;
    if (wanted < 16)
        wanted = 16;
    size_t bytes;
    if (__builtin_mul_overflow(wanted, element_bytes, &bytes) || bytes > PTRDIFF_MAX)
        return false;
    void *grown = realloc(*data, bytes);
    if (!grown)
        return false;
    *data = grown;
    *capacity = wanted;
    return true;
}
