#include "event/binary/elf_words.h"
#include "steps/loops/code_slice.h"

bool code_path_is_constant(const struct code_path *path)
{
    return path->root == CODE_ADDRESS && path->links == 0 &&
           elf_word_is_constant(path->image->file, path->address);
}

void code_slice_add_source(struct code_slice *slice, const struct code_path *path, uint8_t level)
{
    if (code_path_is_constant(path))
        return;
    slice->found = true;
    for (uint32_t i = 0; i < slice->source_count; i++)
        if (code_path_is_same(&slice->sources[i], path)) {
            slice->sources[i].elements |= path->elements;
            slice->levels[i] = level < slice->levels[i] ? level : slice->levels[i];
            return;
        }
    if (slice->source_count == CODE_SOURCES_MAX) {
        slice->is_unknown = true;
        return;
    }
    slice->levels[slice->source_count] = level;
    slice->sources[slice->source_count++] = *path;
}

static bool is_limit(const struct code_slice *slice, const struct code_path *path)
{
    for (uint32_t i = 0; i < slice->limit_count; i++)
        if (code_path_is_same(&slice->limits[i], path))
            return true;
    return false;
}

void code_slice_add_limit(struct code_slice *slice, const struct code_path *path)
{
    if (slice->limit_count < CODE_SOURCES_MAX && !is_limit(slice, path))
        slice->limits[slice->limit_count++] = *path;
}

void code_slice_put_summed_first(struct code_slice *slice)
{
    for (uint32_t i = 1; slice->summed && i < slice->source_count; i++)
        for (uint32_t k = i; k > 0 && slice->levels[k] && !slice->levels[k - 1]; k--) {
            struct code_path path = slice->sources[k];
            uint8_t level = slice->levels[k];
            slice->sources[k] = slice->sources[k - 1];
            slice->levels[k] = slice->levels[k - 1];
            slice->sources[k - 1] = path;
            slice->levels[k - 1] = level;
        }
}

void code_slice_drop_limits(struct code_slice *slice)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < slice->source_count; i++)
        if (!is_limit(slice, &slice->sources[i])) {
            slice->levels[kept] = slice->levels[i];
            slice->sources[kept++] = slice->sources[i];
        }
    slice->source_count = kept;
}

/* Those that decide whether a constant is a limit are none. */
static void keep_limits(struct code_slice *slice, uint32_t first)
{
    for (uint32_t i = first; i < slice->source_count; i++)
        if (slice->levels[i] == slice->control)
            code_slice_add_limit(slice, &slice->sources[i]);
}

static void keep_summed(struct code_slice *slice, uint32_t first)
{
    uint32_t kept = first;
    for (uint32_t i = first; i < slice->source_count; i++)
        if (slice->levels[i] > slice->control) {
            slice->levels[kept] = slice->levels[i];
            slice->sources[kept++] = slice->sources[i];
        }
    slice->source_count = kept;
}

struct slice_side slice_side_begin(struct code_slice *slice)
{
    struct slice_side side = {slice->source_count, slice->cycled, slice->is_unknown, slice->timed,
                              slice->sums};
    slice->cycled = slice->timed = slice->sums = false;
    return side;
}

void slice_side_end(struct code_slice *slice, const struct slice_side *side)
{
    if (slice->timed)
        keep_limits(slice, side->source_count);
    if (slice->cycled || slice->timed) {
        slice->source_count = side->source_count;
        slice->is_unknown = side->is_unknown;
    } else if (slice->sums) {
        keep_summed(slice, side->source_count);
    }
    slice->counts |= slice->cycled;
    slice->waits_for_time |= slice->timed;
    slice->cycled = side->cycled;
    slice->timed = side->timed;
    slice->sums = side->sums;
}
