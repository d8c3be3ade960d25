/* An inlined function has the same number as its other instances, which are called: so two builds
 * of a program can be compared although the compiler decided differently. Which inlined functions
 * have one: argus_functions_keep_named().
 */
#include "context/inlined.h"

void inlined_deinit(struct inlined *inlined)
{
    vec_deinit(&inlined->functions);
    idmap_deinit(&inlined->by_address);
}

/* Appends the list of functions of an address. */
static void add(struct inlined *inlined, struct frames *frames, struct frame_space space,
                const struct argus_functions *functions)
{
    uint32_t count = functions->count - 1;
    bool kept = vec_push(&inlined->functions, count);
    for (uint32_t i = count; i-- > 0 && kept;) {
        const struct argus_symbol *symbol = &functions->symbols[i];
        uint32_t number = frames_named(frames, symbol->function, symbol->image,
                                       layers_of(&frames->layers, space.process, symbol->image));
        kept = number != ARGUS_NONE && vec_push(&inlined->functions, number);
    }
    frames->no_memory |= !kept;
}

static uint32_t find(struct inlined *inlined, struct frames *frames, struct frame_space space,
                     uint64_t address, bool is_return)
{
    struct argus_functions functions;
    uint32_t first = (uint32_t)inlined->functions.length;
    argus_symbols_find_all(frames->symbols, space.process, space.time_ns, address, is_return,
                           &functions);
    argus_functions_keep_named(&functions);
    add(inlined, frames, space, &functions);
    return frames->no_memory ? ARGUS_NONE : first;
}

/* Keys are those of frames_at(); what does not fit into one has no list. */
uint32_t inlined_at(struct inlined *inlined, struct frames *frames, struct frame_space space,
                    uint64_t address, bool is_return, const uint32_t **ret)
{
    uint64_t where = (uint64_t)space.process << 1 | space.is_later;
    if (address < ARGUS_FRAME_ENDS || address >> 48 || where >> 15)
        return 0;
    uint64_t key = where << 49 | address << 1 | is_return;
    uint32_t first = idmap_get(&inlined->by_address, key);
    if (first == IDMAP_NONE) {
        first = find(inlined, frames, space, address, is_return);
        if (first == ARGUS_NONE)
            return 0;
        frames->no_memory |= !idmap_put(&inlined->by_address, key, first);
    }
    *ret = &inlined->functions.data[first + 1];
    return inlined->functions.data[first];
}
