/* Pipes and FIFOs. A pipe is a ring of buffers, numbered by `head` (the next to be written) and
 * `tail` (the one that is read), which only grow. So "buffer number and place in it" orders all
 * bytes of a pipe, at both ends alike.
 *
 * The position is read after the call has unlocked the pipe, when it wakes a reader or returns.
 * Another writer may have written since, and then the position is that writer's. So the last
 * position that any writer read is kept for each pipe (`pipe_lasts`): if the distance from it is
 * not the number of bytes written, the record is marked doubtful. The other writer's record may be
 * wrong, too: its position is then the same, or does not follow from the previous one, which the
 * reader of the trace can detect.
 */
#ifndef ARGUS_BPF_MESSAGE_PIPE_H
#define ARGUS_BPF_MESSAGE_PIPE_H

#include "message_record.h"

#define PIPE_INDEX_SHIFT 20 /* a buffer is a page, of 64 KiB at most */
#define PIPE_PLACE_MASK  ((1ull << PIPE_INDEX_SHIFT) - 1)
#define PIPE_LASTS       4096 /* a power of two */

/* Where the buffer's data begin and end, in the lower and the upper half. A reader moves both, one
 * after the other; between the two the end is wrong, so they are read until they are the same
 * twice. */
static __always_inline uint64_t pipe_buffer_range(const void *pipe, uint32_t index)
{
    uint64_t buffers = kernel_word(kernel_place(pipe_inode_info, pipe, bufs));
    uint32_t mask = kernel_read(pipe_inode_info, pipe, ring_size) - 1;
    const void *buffer =
        (void *)(buffers + (uint64_t)(index & mask) * bpf_core_type_size(struct pipe_buffer));
    const void *place = kernel_place(pipe_buffer, buffer, offset);
    uint64_t range = kernel_word(place);
    for (uint64_t i = 0; i < 3; i++) {
        uint64_t again = kernel_word(place);
        if (again == range)
            break;
        range = again;
    }
    uint32_t offset = (uint32_t)range, length = range >> 32;
    return offset | (uint64_t)(offset + length) << 32;
}

static __always_inline uint64_t pipe_written(const void *pipe)
{
    uint32_t index = kernel_read(pipe_inode_info, pipe, head) - 1;
    return (uint64_t)index << PIPE_INDEX_SHIFT | pipe_buffer_range(pipe, index) >> 32;
}

/* A writer shows the number of a new buffer before it has filled in offset and length (fs/pipe.c,
 * pipe_write()): then they are those of the buffer's last use, which has no bytes left, and nothing
 * of the new one was read. With several readers it may also be the buffer that another one has just
 * emptied, so the record is doubtful. */
static __always_inline uint64_t pipe_taken(const void *pipe, uint32_t *ret_flags)
{
    uint32_t tail = kernel_read(pipe_inode_info, pipe, tail);
    uint64_t place = (uint64_t)tail << PIPE_INDEX_SHIFT;
    if (kernel_read(pipe_inode_info, pipe, head) == tail)
        return place;
    uint64_t range = pipe_buffer_range(pipe, tail);
    if ((uint32_t)range != range >> 32)
        return place | (uint32_t)range;
    *ret_flags |= ARGUS_MESSAGE_DOUBTFUL;
    return place;
}

/* Where the last recorded write to a pipe ended. The inode tells a new pipe from the one that was
 * at its address. */
struct pipe_last {
    uint64_t pipe;
    uint64_t inode;
    uint64_t position;
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, PIPE_LASTS);
    __type(key, uint32_t);
    __type(value, struct pipe_last);
} pipe_lasts SEC(".maps");

/* The position of the write that has just ended; `ret_before`: that of the previous write; 0:
 * unknown. */
static __always_inline uint64_t pipe_exchange_last(const void *pipe, uint64_t inode,
                                                   uint64_t *ret_before)
{
    uint64_t position = pipe_written(pipe);
    uint32_t key = ((uint64_t)pipe * 0x9e3779b97f4a7c15ull >> 40) & (PIPE_LASTS - 1);
    struct pipe_last *last = bpf_map_lookup_elem(&pipe_lasts, &key);
    *ret_before = 0;
    if (!last)
        return position;
    if (last->pipe == (uint64_t)pipe && last->inode == inode)
        *ret_before = __sync_lock_test_and_set(&last->position, position);
    else
        *last = (struct pipe_last){(uint64_t)pipe, inode, position};
    return position;
}

/* Whether a write of `bytes` that began at `from` ends at `to`: what is left over from whole pages
 * goes into the last buffer if it fits, or into a new one at the end; whole pages go into new ones
 * (fs/pipe.c, pipe_write()). */
static __always_inline bool pipe_write_fits(uint64_t from, uint64_t to, uint64_t bytes)
{
    uint64_t page = settings.page_bytes, part = bytes & (page - 1), pages = bytes / page;
    uint64_t buffers = (uint32_t)((to >> PIPE_INDEX_SHIFT) - (from >> PIPE_INDEX_SHIFT));
    uint64_t begin = from & PIPE_PLACE_MASK, end = to & PIPE_PLACE_MASK;
    bool joined = part && buffers == pages && end == (pages ? page : begin + part);
    bool fresh = buffers == pages + (part ? 1 : 0) && end == (part ? part : page);
    return joined || fresh;
}

/* The current thread has written, in `call`, has let go of the pipe and wakes a reader, who may run
 * before the call returns: so where the write ended is noted now. */
static __always_inline void message_pipe_note(const struct moment *now, const struct call *call,
                                              const void *pipe, uint64_t inode)
{
    uint32_t operation = operation_of_call(call->number);
    struct message_slot *slot = message_slot(now->tid);
    if (!slot || (operation != MESSAGE_WRITE && operation != MESSAGE_WRITEV))
        return;
    bool again = slot->tid == now->tid && slot->pipe == (uint64_t)pipe;
    uint64_t before = 0, position = pipe_exchange_last(pipe, inode, &before);
    *slot = (struct message_slot){
        .tid = now->tid,
        .pipe = (uint64_t)pipe,
        .pipe_position = position,
        .pipe_before = again ? slot->pipe_before : before,
    };
}

/* The writer has to wait, so its write has not ended: the wake-up came from the pipe's lock. Or the
 * call has failed. */
static __always_inline void message_pipe_forget(const struct moment *now)
{
    struct message_slot *slot = message_slot(now->tid);
    if (slot && slot->tid == now->tid)
        slot->pipe = 0;
}

static __always_inline void message_pipe_sent(const struct moment *now, const void *pipe,
                                              uint64_t inode, bool spliced, struct message *message)
{
    struct message_slot *slot = message_slot(now->tid);
    uint64_t before;
    if (slot && slot->tid == now->tid && slot->pipe == (uint64_t)pipe) {
        slot->pipe = 0;
        message->position = slot->pipe_position;
        before = slot->pipe_before;
    } else {
        message->position = pipe_exchange_last(pipe, inode, &before);
    }
    if (before && !spliced)
        message->flags |= pipe_write_fits(before, message->position, message->bytes)
                              ? ARGUS_MESSAGE_CERTAIN
                              : ARGUS_MESSAGE_DOUBTFUL;
}

static __always_inline void message_pipe(struct moment *now, const struct inode *inode,
                                         const void *pipe, uint64_t bytes, uint32_t flags,
                                         bool spliced)
{
    struct message message = {
        .channel = message_inode(inode),
        .bytes = bytes,
        .kind = ARGUS_CHANNEL_PIPE,
        .flags = flags | ARGUS_MESSAGE_POSITION,
    };
    if (flags & ARGUS_MESSAGE_RECEIVE)
        message.position = pipe_taken(pipe, &message.flags);
    else
        message_pipe_sent(now, pipe, kernel_read(inode, inode, i_ino), spliced, &message);
    message_emit_read(now, &message);
}

#endif
