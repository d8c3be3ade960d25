/* Pipes and FIFOs. A pipe is a ring of buffers, numbered by `head` (the next to be written) and `tail` (the one that is
 * read), which only grow. So "buffer number and place in it" orders all bytes of a pipe, at both ends alike.
 *
 * It is read when the call has let go of the pipe and wakes a reader, or returns: another writer may have been there since,
 * and then the position is that one's. Every write has a position and no two have the same, so who reads the trace can see it: one position twice,
 * and a hole before it.
 */
#ifndef ARGUS_BPF_MESSAGE_PIPE_H
#define ARGUS_BPF_MESSAGE_PIPE_H

#include "message_record.h"

#define PIPE_INDEX_SHIFT 20 /* a buffer is a page, of 64 KiB at most */

/* Where the buffer's data begin and end, in the lower and the upper half. A reader moves both, one after the other;
 * between the two the end is wrong, so they are read until they are the same twice. */
static __always_inline uint64_t pipe_buffer_range(const void *pipe, uint32_t index)
{
    uint64_t buffers = kernel_word(kernel_place(pipe_inode_info, pipe, bufs));
    uint32_t mask = kernel_read(pipe_inode_info, pipe, ring_size) - 1;
    const void *buffer =
        (void *)(buffers + (uint64_t)(index & mask) * bpf_core_type_size(struct pipe_buffer));
    const void *place = kernel_place(pipe_buffer, buffer, offset);
    uint64_t range = kernel_word(place);
    for (uint32_t i = 0; i < 3; i++) {
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

static __always_inline uint64_t pipe_taken(const void *pipe)
{
    uint32_t tail = kernel_read(pipe_inode_info, pipe, tail);
    bool empty = kernel_read(pipe_inode_info, pipe, head) == tail;
    uint32_t offset = empty ? 0 : (uint32_t)pipe_buffer_range(pipe, tail);
    return (uint64_t)tail << PIPE_INDEX_SHIFT | offset;
}

/* The current thread has written, has let go of the pipe and wakes a reader, who may run before the call returns: so where the
 * write ended is noted now. */
static __always_inline void message_pipe_note(const struct moment *now, const void *pipe)
{
    uint32_t operation = message_operation(now->task);
    struct message_slot *slot = message_slot(now->tid);
    if (!slot || (operation != MESSAGE_WRITE && operation != MESSAGE_WRITEV))
        return;
    slot->tid = now->tid;
    slot->not_found = 0;
    slot->pipe_position = pipe_written(pipe);
    slot->pipe = (uint64_t)pipe;
}

/* It has to wait, so its write has not ended: what woke somebody was the pipe's lock. Or the call has failed. */
static __always_inline void message_pipe_forget(const struct moment *now)
{
    struct message_slot *slot = message_slot(now->tid);
    if (slot && slot->tid == now->tid)
        slot->pipe = 0;
}

static __always_inline uint64_t message_pipe_position(const struct moment *now, const void *pipe)
{
    struct message_slot *slot = message_slot(now->tid);
    if (!slot || slot->tid != now->tid || slot->pipe != (uint64_t)pipe)
        return pipe_written(pipe);
    slot->pipe = 0;
    return slot->pipe_position;
}

static __always_inline void message_pipe(const struct moment *now, const struct inode *inode,
                                         const void *pipe, uint64_t bytes, uint32_t flags)
{
    struct message message = {
        .channel = message_inode(inode),
        .bytes = bytes,
        .kind = ARGUS_CHANNEL_PIPE,
        .flags = flags | ARGUS_MESSAGE_POSITION,
        .position =
            flags & ARGUS_MESSAGE_RECEIVE ? pipe_taken(pipe) : message_pipe_position(now, pipe),
    };
    message_emit(now, &message);
}

#endif
