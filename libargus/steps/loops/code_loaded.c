#include "steps/loops/code_loaded.h"

#include <stdlib.h>

enum knowledge { NO_WAY, ONE_ADDRESS, UNKNOWN };

/* What the register has on the ways found so far. */
struct content {
    uint64_t address;
    enum knowledge knowledge; /* never goes back */
};

struct search {
    const struct code_function *function;
    uint8_t reg;
    struct content *before; /* owned; by node */
    uint32_t *open;         /* owned: nodes whose `before` has changed */
    bool *is_open;          /* owned; by node */
    uint32_t count;
};

bool code_loads_address(const struct instruction *at, uint8_t reg)
{
    return at->is_sum && !at->reads && at->writes == REGISTER_BIT(reg);
}

static void join(struct search *search, uint32_t node, struct content content)
{
    struct content *before = &search->before[node];
    if (content.knowledge == NO_WAY || before->knowledge == UNKNOWN)
        return;
    if (before->knowledge == ONE_ADDRESS && content.knowledge == ONE_ADDRESS &&
        before->address == content.address)
        return;
    if (before->knowledge == ONE_ADDRESS)
        content.knowledge = UNKNOWN;
    *before = content;
    if (!search->is_open[node])
        search->open[search->count++] = node;
    search->is_open[node] = true;
}

static struct content content_after(const struct search *search, uint32_t node)
{
    const struct instruction *at = &search->function->nodes.data[node];
    uint64_t writes = at->writes;
    if (code_loads_address(at, search->reg))
        return (struct content){(uint64_t)at->addend, ONE_ADDRESS};
    if (code_is_call(at))
        writes |= code_clobbered(search->function);
    if (writes & REGISTER_BIT(search->reg))
        return (struct content){.knowledge = UNKNOWN};
    return search->before[node];
}

/* Each node is looked at three times at the most: `knowledge` never goes back. */
static void follow(struct search *search)
{
    struct code_way way;
    join(search, 0, (struct content){.knowledge = UNKNOWN});
    while (search->count) {
        uint32_t node = search->open[--search->count];
        search->is_open[node] = false;
        struct content after = content_after(search, node);
        for (uint32_t k = 0; code_function_way(search->function, node, k, &way); k++)
            if (way.to != CODE_NONE)
                join(search, way.to, after);
    }
}

bool code_loaded_address(const struct code_function *function, uint32_t node, uint8_t reg,
                         uint64_t *ret)
{
    size_t count = function->nodes.length;
    struct search search = {.function = function,
                            .reg = reg,
                            .before = calloc(count, sizeof(*search.before)),
                            .open = calloc(count, sizeof(*search.open)),
                            .is_open = calloc(count, sizeof(*search.is_open))};
    bool found = search.before && search.open && search.is_open;
    if (found) {
        follow(&search);
        *ret = search.before[node].address;
        found = search.before[node].knowledge == ONE_ADDRESS;
    }
    free(search.before);
    free(search.open);
    free(search.is_open);
    return found;
}
