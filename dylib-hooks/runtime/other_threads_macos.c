/* The number of threads. macOS does not tell which signals they block. */
#include "other_threads.h"

#include <mach/mach.h>

struct threads_seen threads_look(void)
{
    struct threads_seen seen = {.blocks_traps = true};
    thread_act_array_t threads;
    mach_msg_type_number_t count;
    if (task_threads(mach_task_self(), &threads, &count) != KERN_SUCCESS)
        return seen;
    seen.count = count;
    for (mach_msg_type_number_t i = 0; i < count; i++)
        mach_port_deallocate(mach_task_self(), threads[i]);
    vm_deallocate(mach_task_self(), (vm_address_t)threads, count * sizeof(*threads));
    return seen;
}
