/* The only list of backends. To add one: an ops table in its own folder, a number in enum
 * backend_kind, a row here. */
#include "server/backend.h"
#ifdef __APPLE__
#include "macos/kdebug_backend.h"
#else
#include "linux/bpf_backend.h"
#include "linux/perf/perf_backend.h"
#endif

const struct backend_ops *const backend_table[] = {
#ifdef __APPLE__
    &kdebug_backend_ops,
#else
    &bpf_backend_ops,
    &perf_backend_ops,
#endif
    NULL,
};
