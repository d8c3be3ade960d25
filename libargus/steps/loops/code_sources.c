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
