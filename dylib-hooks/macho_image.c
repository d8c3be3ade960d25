#include "image.h"
struct argus_error *macho_image_read(struct image *image, enum hook_arch arch)
{
    (void)image, (void)arch;
    return argus_error_memory();
}
