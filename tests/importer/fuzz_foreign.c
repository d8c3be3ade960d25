/* The importer's own readers against any bytes. Those that hand the bytes to a library are left out:
 * argus-import is a process of its own because of them. */
#include <stdlib.h>
#include <unistd.h>

#include "formats.h"
#include "fuzz.h"
#include "fuzz_file.h"

static void write_nowhere(struct sink *sink)
{
    FILE *out = tmpfile();
    if (!out)
        abort();
    argus_error_destroy(sink_write(sink, fileno(out)));
    fclose(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    const struct format *format;
    for (size_t i = 0; (format = format_at(i)); i++) {
        if (format->is_of_a_library || !format->matches(path, data, size < 4096 ? size : 4096))
            continue;
        struct sink *sink = sink_create();
        if (!sink)
            abort();
        argus_error_destroy(format->read(path, sink));
        write_nowhere(sink);
        sink_destroy(sink);
    }
    return 0;
}
