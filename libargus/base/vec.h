/* Growing arrays. Large data is flat: an array, its length, and 32-bit IDs that index it.
 *
 *     VEC(struct vertex) vertices = {0};
 *     if (!vec_push(&vertices, vertex))
 *         return argus_error_memory();
 *     vec_deinit(&vertices);
 *
 * `data` is valid up to `length`; pointers into it are valid until the next push.
 */
#ifndef ARGUS_BASE_VEC_H
#define ARGUS_BASE_VEC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define VEC(type)                                                                                  \
    struct {                                                                                       \
        type *data;                                                                                \
        size_t length, capacity;                                                                   \
    }

/* Makes room for `more` further elements; false without memory (the array is then unchanged). */
#define vec_reserve(v, more)                                                                       \
    vec_grow((void **)&(v)->data, &(v)->capacity, (v)->length, (more), sizeof(*(v)->data))

/* Appends one element; false without memory. */
#define vec_push(v, ...) (vec_reserve(v, 1) && ((v)->data[(v)->length++] = (__VA_ARGS__), true))

#define vec_deinit(v) (free((v)->data), (v)->data = NULL, (v)->length = (v)->capacity = 0, (void)0)

/* The function behind vec_reserve(). */
bool vec_grow(void **data, size_t *capacity, size_t length, size_t more, size_t element_bytes);

#endif
