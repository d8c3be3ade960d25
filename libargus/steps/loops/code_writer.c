#include <stdlib.h>

#include "steps/loops/code_writers.h"

struct code_writer code_writer_at(const struct code_scope *scope, uint32_t node,
                                  const struct code_function *outer)
{
    struct code_writer writer = {.start = outer->start, .bytes = outer->bytes};
    for (; scope; node = scope->call, scope = scope->caller) {
        writer.address = scope->function->nodes.data[node].address;
        writer.way_count += writer.way_count < CODE_WAY_MAX;
        writer.way[writer.way_count - 1] = writer.address;
        if (scope->function == outer)
            break;
    }
    return writer;
}

static int by_address(const void *left, const void *right)
{
    const struct code_writer *a = left, *b = right;
    return a->address < b->address ? -1 : a->address > b->address;
}

void code_writers_sort(struct code_writers *writers)
{
    qsort(writers->all, writers->count, sizeof(writers->all[0]), by_address);
}
