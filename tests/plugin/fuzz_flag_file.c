/* Saved flags (argus-flags(5)), which one user can send to another: any text gives wishes or an
 * error, and each wish is one that the next stage accepts. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "plugin/flags/flag_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct flag_wishes wishes = {0};
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    struct argus_error *error = flag_wishes_parse(&wishes, "fuzz", text);
    for (size_t i = 0; i < wishes.wishes.length; i++) {
        const struct flag_wish *wish = &wishes.wishes.data[i];
        if (wish->bytes > 8 || wish->semantics >= ARGUS_FLAG_SEMANTICS ||
            wish->build_id_bytes > sizeof(wish->build_id) ||
            strlen(wish->image) >= sizeof(wish->image) || !flag_semantics_name(wish->semantics))
            abort();
    }
    argus_error_destroy(error);
    flag_wishes_deinit(&wishes);
    free(text);
    return 0;
}
