/* Programs that do nothing, on the same tracepoints as the recorder's most frequent ones: the cost
 * of tracing itself, a lower bound for every recorder. With READ_CLOCK they read the clock, which
 * every record needs. */
#include <stddef.h>
#include <stdint.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#ifdef READ_CLOCK
#define RESULT ((int)bpf_ktime_get_ns()) /* of such programs the kernel ignores it */
#else
#define RESULT 0
#endif

#define EMPTY(name)                                                                                \
    SEC("raw_tp/" #name) int on_##name(void *context)                                              \
    {                                                                                              \
        (void)context;                                                                             \
        return RESULT;                                                                             \
    }

EMPTY(sys_enter)
EMPTY(sys_exit)
EMPTY(sched_switch)
EMPTY(sched_waking)

char LICENSE[] SEC("license") = "Dual BSD/GPL";
