/* Programs that do nothing, on the same tracepoints as the recorder's most frequent ones: the cost
 * of tracing itself, a lower bound for every recorder. */
#include <stddef.h>
#include <stdint.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#define EMPTY(name)                                                                                \
    SEC("raw_tp/" #name) int on_##name(void *context)                                              \
    {                                                                                              \
        (void)context;                                                                             \
        return 0;                                                                                  \
    }

EMPTY(sys_enter)
EMPTY(sys_exit)
EMPTY(sched_switch)
EMPTY(sched_waking)

char LICENSE[] SEC("license") = "Dual BSD/GPL";
