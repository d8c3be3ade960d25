/* Mach messages with IDs: MACH_IPC_msg_send, _recv (osfmk/ipc/ipc_kmsg.c:3221, 3729) of kernels of
 * Intel Macs and of development kernels, and kmsg_sent, _received of kernels with Argus's patch.
 * Every receive names its send, so the pairs are exact. Messages without IDs are guessed
 * (darwin_guesses.c).
 */
#include "event/darwin/darwin.h"

#define KEPT_BYTES 0xffffffffu

static bool is_mach_msg(uint32_t call)
{
    return call == DARWIN_TRAP + DARWIN_MSC_MACH_MSG ||
           call == DARWIN_TRAP + DARWIN_MSC_MACH_MSG_OVERWRITE ||
           call == DARWIN_TRAP + DARWIN_MSC_MACH_MSG2;
}

bool darwin_sends(const struct darwin_thread *thread)
{
    return is_mach_msg(thread->call) && (thread->arg[1] & DARWIN_MACH_SEND);
}

bool darwin_receives(const struct darwin *darwin, const struct darwin_thread *thread)
{
    const struct argus_trace_header *header = argus_trace_header(darwin->trace);
    if (thread->call == ARGUS_NONE)
        return false;
    if (is_mach_msg(thread->call))
        return thread->arg[1] & DARWIN_MACH_RCV;
    return syscall_row(header->os, header->arch, thread->call)->flags & SYSCALL_EVENTS;
}

static uint64_t keep_bytes(uint64_t bytes)
{
    return bytes && bytes < KEPT_BYTES ? bytes : 1;
}

/* In the older traps, the third argument is the size. */
uint64_t darwin_bytes_sent(const struct darwin_thread *thread)
{
    bool second = thread->call == DARWIN_TRAP + DARWIN_MSC_MACH_MSG2;
    return keep_bytes(second ? thread->arg[2] >> 32 : (uint32_t)thread->arg[2]);
}

void darwin_emit_message(struct darwin *darwin, const struct darwin_cpu *cpu,
                         const struct argus_record *record, const struct darwin_message *message)
{
    const struct darwin_thread *thread = darwin_current(darwin, cpu);
    /* Only the receiver shows to which process a port belongs. */
    bool receives = message->flags & ARGUS_MESSAGE_RECEIVE;
    uint64_t bytes = message->bytes;
    if (receives) {
        uint32_t sent = idmap_get(&darwin->size_by_message, message->id);
        bytes = sent == IDMAP_NONE ? 1 : sent;
    } else {
        darwin_put(darwin, &darwin->size_by_message, message->id, (uint32_t)bytes);
    }
    const uint64_t arg[4] = {
        receives && thread && thread->has_pid ? thread->pid : 0,
        ARGUS_MESSAGE_WHAT(bytes, ARGUS_CHANNEL_MACH, message->flags | ARGUS_MESSAGE_POSITION),
        message->id, message->behalf};
    darwin_emit(darwin, cpu, record, ARGUS_ID_MESSAGE, arg);
}

static void send(struct darwin *darwin, const struct darwin_cpu *cpu,
                 const struct argus_record *record, uint64_t bytes, uint64_t voucher)
{
    struct darwin_message message = {.id = record->arg[0], .bytes = keep_bytes(bytes)};
    if (!cpu->tid || !message.id)
        return;
    message.behalf = darwin_voucher_sent(darwin, cpu, record, voucher);
    darwin_emit_message(darwin, cpu, record, &message);
}

static void receive(struct darwin *darwin, const struct darwin_cpu *cpu,
                    const struct argus_record *record, uint64_t voucher)
{
    struct darwin_message message = {.id = record->arg[0], .flags = ARGUS_MESSAGE_RECEIVE};
    if (!cpu->tid || !message.id)
        return;
    message.behalf = darwin_voucher_received(darwin, cpu, record, voucher);
    darwin_emit_message(darwin, cpu, record, &message);
}

void darwin_on_msg_send(struct darwin *darwin, struct darwin_cpu *cpu,
                        const struct argus_record *record)
{
    const struct darwin_thread *thread = darwin_current(darwin, cpu);
    darwin->has_messages = true;
    if (thread && !darwin->is_patched)
        send(darwin, cpu, record, darwin_sends(thread) ? darwin_bytes_sent(thread) : 1,
             record->arg[3]);
}

void darwin_on_msg_receive(struct darwin *darwin, struct darwin_cpu *cpu,
                           const struct argus_record *record)
{
    darwin->has_messages = true;
    if (!darwin->is_patched)
        receive(darwin, cpu, record, record->arg[3]);
}

/* --- from a patched kernel, which writes these on every build, with the size, and also for
 * messages that the kernel itself sends. If the stock records exist too, they are used only until
 * the first of these. --- */

/* The voucher, which is in the record `names` that follows. */
static uint64_t voucher_behind(const struct darwin *darwin, const struct argus_record *record,
                               uint32_t names)
{
    for (size_t i = 0; i < darwin->ahead_count; i++) {
        const struct argus_record *next = &darwin->ahead[i];
        if (next->tid == record->tid && ARGUS_DEBUGID_EVENT(next->debugid) == names)
            return next->arg[0] == record->arg[0] ? next->arg[2] : 0;
    }
    return 0;
}

void darwin_on_kmsg_sent(struct darwin *darwin, struct darwin_cpu *cpu,
                         const struct argus_record *record)
{
    darwin->has_messages = darwin->is_patched = true;
    send(darwin, cpu, record, record->arg[3] & 0xffffffffu,
         voucher_behind(darwin, record, DARWIN_ID_KMSG_SENT_NAMES));
}

void darwin_on_kmsg_received(struct darwin *darwin, struct darwin_cpu *cpu,
                             const struct argus_record *record)
{
    darwin->has_messages = darwin->is_patched = true;
    receive(darwin, cpu, record, voucher_behind(darwin, record, DARWIN_ID_KMSG_RECEIVED_NAMES));
}
