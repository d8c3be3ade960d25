#include "macos/kdebug_pollers.h"

#define MACH_CALL(code) (0x010c0000u | (code) << 2) /* MSC_… */
#define BSD_CALL(code)  (0x040c0000u | (code) << 2) /* BSC_… */

/* MACH_SEND_MSG and MACH_RCV_MSG of <mach/message.h>, in the second argument of all three calls. */
#define SENDS    1u
#define RECEIVES 2u

#define MANY 4096u /* beyond this, a thread that is in no map has ended */

/* To watch another call: a row. Numbers are those of xnu's syscall_sw.c (Mach) and syscalls.master
 * (BSD). */
static const struct poll_call {
    uint32_t event;
    /* Counts only if it receives and sends nothing: otherwise it waits for a reply. */
    bool is_message;
} calls[] = {
    {MACH_CALL(31), true},  /* mach_msg_trap */
    {MACH_CALL(32), true},  /* mach_msg_overwrite_trap */
    {MACH_CALL(47), true},  /* mach_msg2_trap */
    {BSD_CALL(93), false},  /* select */
    {BSD_CALL(230), false}, /* poll */
    {BSD_CALL(363), false}, /* kevent */
    {BSD_CALL(368), false}, /* workq_kernreturn: a worker without work */
    {BSD_CALL(369), false}, /* kevent64 */
    {BSD_CALL(374), false}, /* kevent_qos */
    {BSD_CALL(375), false}, /* kevent_id */
    {BSD_CALL(394), false}, /* pselect */
    {BSD_CALL(395), false}, /* pselect_nocancel */
    {BSD_CALL(407), false}, /* select_nocancel */
    {BSD_CALL(417), false}, /* poll_nocancel */
};

static const struct poll_call *call_of(const struct argus_record *record)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (calls[i].event == ARGUS_DEBUGID_EVENT(record->debugid))
            return &calls[i];
    return NULL;
}

void kdebug_pollers_deinit(struct kdebug_pollers *pollers)
{
    vec_deinit(&pollers->all);
    idmap_deinit(&pollers->by_tid);
}

static struct kdebug_poller *poller_of(struct kdebug_pollers *pollers, uint64_t tid)
{
    uint32_t at = idmap_get(&pollers->by_tid, tid);
    struct kdebug_poller made = {.tid = tid};
    if (at != IDMAP_NONE)
        return &pollers->all.data[at];
    if (!vec_push(&pollers->all, made) ||
        !idmap_put(&pollers->by_tid, tid, (uint32_t)pollers->all.length - 1)) {
        pollers->no_memory = true;
        return NULL;
    }
    return &pollers->all.data[pollers->all.length - 1];
}

static void note_start(struct kdebug_pollers *pollers, const struct poll_call *call,
                       const struct argus_record *record)
{
    bool receives = (record->arg[1] & (SENDS | RECEIVES)) == RECEIVES;
    struct kdebug_poller *poller =
        call->is_message && !receives ? NULL : poller_of(pollers, record->tid);
    if (poller)
        poller->polling = true;
}

static void note_end(struct kdebug_pollers *pollers, const struct argus_record *record)
{
    uint32_t at = idmap_get(&pollers->by_tid, record->tid);
    struct kdebug_poller *poller = at == IDMAP_NONE ? NULL : &pollers->all.data[at];
    if (!poller || !poller->polling)
        return;
    poller->polling = false;
    poller->returned_ns = record->timestamp;
    poller->returns++;
}

void kdebug_pollers_note(struct kdebug_pollers *pollers, const struct argus_record *record)
{
    const struct poll_call *call = call_of(record);
    uint32_t func = ARGUS_DEBUGID_FUNC(record->debugid);
    if (call && func == ARGUS_FUNC_START)
        note_start(pollers, call, record);
    else if (call && func == ARGUS_FUNC_END)
        note_end(pollers, record);
}

static const struct kdebug_known_thread *known(const struct kdebug_threads *threads, uint64_t tid)
{
    uint32_t at = idmap_get(&threads->by_tid, tid);
    return at == IDMAP_NONE ? NULL : &threads->known.data[at];
}

bool kdebug_pollers_lack(const struct kdebug_pollers *pollers, const struct kdebug_threads *threads)
{
    for (size_t i = 0; i < pollers->all.length; i++)
        if (!known(threads, pollers->all.data[i].tid))
            return true;
    return false;
}

static void forget_unknown(struct kdebug_pollers *pollers, const struct kdebug_threads *threads)
{
    size_t kept = 0;
    idmap_clear(&pollers->by_tid);
    for (size_t i = 0; i < pollers->all.length; i++) {
        struct kdebug_poller poller = pollers->all.data[i];
        if (!known(threads, poller.tid))
            continue;
        pollers->all.data[kept] = poller;
        pollers->no_memory |= !idmap_put(&pollers->by_tid, poller.tid, (uint32_t)kept);
        kept++;
    }
    pollers->all.length = kept;
}

size_t kdebug_pollers_copy(struct kdebug_pollers *pollers, const struct kdebug_threads *threads,
                           struct backend_poller *ret, size_t room)
{
    size_t count = 0;
    if (pollers->all.length > MANY)
        forget_unknown(pollers, threads);
    for (size_t i = 0; i < pollers->all.length && count < room; i++) {
        const struct kdebug_poller *poller = &pollers->all.data[i];
        const struct kdebug_known_thread *thread = known(threads, poller->tid);
        if (thread && !thread->is_kernel)
            ret[count++] = (struct backend_poller){
                .tid = (uint32_t)poller->tid,
                .pid = thread->pid,
                .returned_ns = poller->returned_ns,
                .returns = poller->returns,
                .polling = poller->polling,
            };
    }
    return count;
}
