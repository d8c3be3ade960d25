/* The only list of backends. To add one: an ops table in its own folder, a number in enum backend_kind, a row here. */
#include "backend.h"
#include "linux/bpf_backend.h"
#include "linux/perf_backend.h"

const struct backend_ops *const backend_table[] = {
    &bpf_backend_ops,
    &perf_backend_ops,
    NULL,
};
