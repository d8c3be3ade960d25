#include "loaded_image.h"

#include <string.h>

#include "base/hash64.h"

bool loaded_image_fits(const struct hook_plan *plan, const void *id, uint32_t id_bytes,
                       const void *text)
{
    if (plan->id_bytes)
        return id_bytes == plan->id_bytes && memcmp(id, plan->id, id_bytes) == 0;
    return hash64(0, text, plan->text_bytes) == plan->text_hash;
}
