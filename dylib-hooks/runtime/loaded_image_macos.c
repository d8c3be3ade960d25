/* Finds the image by UUID under any name: a renamed original keeps its UUID. */
#include "loaded_image.h"

#include <mach-o/dyld.h>
#include <mach-o/loader.h>
#include <string.h>

#include "running_hook.h"

static const uint8_t *image_id(const struct mach_header_64 *header)
{
    const uint8_t *at = (const uint8_t *)(header + 1);
    for (uint32_t i = 0; i < header->ncmds; i++) {
        const struct load_command *command = (const struct load_command *)at;
        if (command->cmd == LC_UUID)
            return ((const struct uuid_command *)command)->uuid;
        at += command->cmdsize;
    }
    return NULL;
}

struct loaded_image loaded_image_find(const struct hook_plan *plan)
{
    struct loaded_image result = {0};
    const char *name = plan_at(plan, plan->image);
    for (uint32_t i = 0; i < _dyld_image_count(); i++) {
        const struct mach_header_64 *header =
            (const struct mach_header_64 *)_dyld_get_image_header(i);
        if (!header || header->magic != MH_MAGIC_64)
            continue;
        const uint8_t *id = image_id(header);
        bool named = *name ? strcmp(_dyld_get_image_name(i), name) == 0 : i == 0;
        bool fits = id && plan->id_bytes && loaded_image_fits(plan, id, 16, NULL);
        result.found |= named || fits;
        if (!fits)
            continue;
        result.is_right = true;
        result.slide = (uint64_t)_dyld_get_image_vmaddr_slide(i);
        return result;
    }
    return result;
}
