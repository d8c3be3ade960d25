#include "library.h"
struct argus_error *macho_library_make(const struct library_options *options,
                                       struct library_bytes *ret)
{
    (void)options, (void)ret;
    return argus_error_memory();
}
