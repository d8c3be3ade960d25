#include "linux/load/kernel_btf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/btf.h>

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

struct argus_error *kernel_btf_load(struct btf **ret)
{
    if (access(KERNEL_BTF, F_OK) < 0)
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                  "this kernel has no type information (" KERNEL_BTF
                                  " is missing): use a kernel built with CONFIG_DEBUG_INFO_BTF=y");
    struct btf *btf = btf__load_vmlinux_btf();
    if (!btf)
        return argus_error_os(errno, "cannot read " KERNEL_BTF);
    *ret = btf;
    return NULL;
}

int kernel_btf_tracepoint_arguments(const struct btf *btf, const char *tracepoint)
{
    char name[128];
    snprintf(name, sizeof(name), "btf_trace_%s", tracepoint);
    int id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
    if (id < 0)
        return -1;
    const struct btf_type *type = btf__type_by_id(btf, btf__type_by_id(btf, id)->type);
    if (type && btf_is_ptr(type))
        type = btf__type_by_id(btf, type->type);
    return type && btf_is_func_proto(type) ? btf_vlen(type) - 1 : -1;
}

bool kernel_btf_has_helper(const struct btf *btf, const char *name)
{
    int id = btf__find_by_name_kind(btf, "bpf_func_id", BTF_KIND_ENUM);
    if (id < 0)
        return false;
    const struct btf_type *type = btf__type_by_id(btf, id);
    const struct btf_enum *values = btf_enum(type);
    for (uint16_t i = 0; i < btf_vlen(type); i++)
        if (strcmp(btf__name_by_offset(btf, values[i].name_off), name) == 0)
            return true;
    return false;
}

/* The offset of a per-cpu variable in its section; -1 when BTF does not list it. */
static int64_t per_cpu_offset(const struct btf *btf, const char *name)
{
    int variable = btf__find_by_name_kind(btf, name, BTF_KIND_VAR);
    int section = btf__find_by_name_kind(btf, ".data..percpu", BTF_KIND_DATASEC);
    if (variable < 0 || section < 0)
        return -1;
    const struct btf_type *type = btf__type_by_id(btf, section);
    const struct btf_var_secinfo *info = btf_var_secinfos(type);
    for (uint16_t i = 0; i < btf_vlen(type); i++) {
        if (info[i].type == (uint32_t)variable)
            return info[i].offset;
    }
    return -1;
}

/* The offset in bytes of a direct member; -1 without it. */
static int64_t member_offset(const struct btf *btf, const char *structure, const char *member)
{
    int id = btf__find_by_name_kind(btf, structure, BTF_KIND_STRUCT);
    if (id < 0)
        return -1;
    const struct btf_type *type = btf__type_by_id(btf, id);
    for (uint32_t i = 0; i < btf_vlen(type); i++) {
        const struct btf_member *m = btf_members(type) + i;
        if (strcmp(btf__name_by_offset(btf, m->name_off), member) == 0)
            return btf_member_bit_offset(type, i) / 8;
        /* pcpu_hot wraps everything in a nameless union of a nameless struct */
        const struct btf_type *inner = btf__type_by_id(btf, m->type);
        if (m->name_off == 0 && btf_is_composite(inner)) {
            const struct btf_member *first = btf_members(inner);
            if (btf_vlen(inner) > 0 && first->name_off == 0)
                inner = btf__type_by_id(btf, first->type);
            for (uint32_t j = 0; btf_is_composite(inner) && j < btf_vlen(inner); j++) {
                const char *name = btf__name_by_offset(btf, btf_members(inner)[j].name_off);
                if (strcmp(name, member) == 0)
                    return (btf_member_bit_offset(type, i) + btf_member_bit_offset(inner, j)) / 8;
            }
        }
    }
    return -1;
}

/* The preemption count is a variable of its own, except in 6.2 to 6.14, where it is part of
 * pcpu_hot. */
static int64_t preempt_count_offset(const struct btf *btf)
{
    int64_t hot = per_cpu_offset(btf, "pcpu_hot");
    int64_t member = member_offset(btf, "pcpu_hot", "preempt_count");
    if (hot >= 0 && member >= 0)
        return hot + member;
    return per_cpu_offset(btf, "__preempt_count");
}

void kernel_btf_fill(const struct btf *btf, struct bpf_settings *settings)
{
    int64_t count = preempt_count_offset(btf), timers = per_cpu_offset(btf, "hrtimer_bases");
    settings->has_preempt_count = count >= 0 && timers >= 0;
    settings->preempt_count_offset = settings->has_preempt_count ? count - timers : 0;
    settings->state_is_argument = kernel_btf_tracepoint_arguments(btf, "sched_switch") >= 4;
    settings->has_data_ready = kernel_btf_tracepoint_arguments(btf, "sk_data_ready") >= 0;
    settings->has_socket_lengths = kernel_btf_tracepoint_arguments(btf, "sock_recv_length") >= 0;
    settings->drop_has_buffer = kernel_btf_tracepoint_arguments(btf, "udp_fail_queue_rcv_skb") >= 3;
}
