#include "server/record_copy.h"

#include <stdlib.h>

struct argus_error *record_copy_init(struct record_copy *copy, size_t count)
{
    struct argus_record *memory = malloc(count ? count * sizeof(*memory) : 1);
    *copy = (struct record_copy){0};
    if (!memory)
        return argus_error_memory();
    *copy = (struct record_copy){.records = memory, .count = count, .memory = memory};
    return NULL;
}

void record_copy_deinit(struct record_copy *copy)
{
    free(copy->memory);
    *copy = (struct record_copy){0};
}
