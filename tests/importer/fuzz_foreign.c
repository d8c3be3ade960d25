/* The importer's own readers (perf.data, Perfetto, ftrace's text) against any bytes. Those that hand
 * the bytes to a library are left out: argus-import is a process of its own because of them. */
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
    static const struct format *const formats[] = {
        &format_perf_data,
#ifdef WITH_PROTOBUF
        &format_perfetto,
#endif
        &format_systrace,  &format_atrace, &format_chrome, &format_ftrace_text,
    };
    const char *path = fuzz_file(data, size);
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        if (!formats[i]->matches(path, data, size < 4096 ? size : 4096))
            continue;
        struct sink *sink = sink_create();
        if (!sink)
            abort();
        argus_error_destroy(formats[i]->read(path, sink));
        write_nowhere(sink);
        sink_destroy(sink);
    }
    return 0;
}
