/* Records to answers: any records (tests/graph/step_trace.h), under a header of Linux or macOS,
 * through the whole analysis (analyse_trace.h). */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyse_trace.h"
#include "fuzz.h"
#include "graph/step_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[32];
    struct argus_trace *trace = NULL;
    int fd = memfd_create("fuzz_analysis", MFD_CLOEXEC);
    if (fd < 0)
        return 0;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    step_trace_write(fd, data, size);
    argus_error_destroy(argus_trace_open(path, &trace));
    if (trace)
        analyse_trace(trace, data, size);
    argus_trace_close(trace);
    close(fd);
    return 0;
}
