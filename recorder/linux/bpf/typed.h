/* Keys that were typed for programs in a terminal, and who reads them: for a recorder that watches
 * for hangs (poller.h).
 *
 * A terminal's window writes keys to one end of a pseudo-terminal, and programs read them from the
 * other. A program that has read keys itself, and for which more have been typed since, is awaited.
 * The terminal's state cannot tell: while a program works, its terminal mostly takes whole lines,
 * and the kernel does not offer an unfinished one to anybody.
 */
#ifndef ARGUS_BPF_TYPED_H
#define ARGUS_BPF_TYPED_H

#include "kernel_read.h"
#include "poller.h"

/* Documentation/admin-guide/devices.txt; a device is its major number << 20 | minor number. */
#define DEVICE_PTMX     (5u << 20 | 2)
#define MAJOR_PTS_FIRST 136
#define MAJOR_PTS_LAST  143

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, BPF_TERMINALS);
    __type(key, uint64_t); /* the end from which programs read: struct tty_struct */
    __type(value, struct bpf_terminal);
} terminals SEC(".maps");

static __always_inline struct bpf_terminal *find_terminal(uint64_t end)
{
    const struct bpf_terminal new = {};
    struct bpf_terminal *found = bpf_map_lookup_elem(&terminals, &end);
    if (found)
        return found;
    bpf_map_update_elem(&terminals, &end, &new, BPF_ANY);
    return bpf_map_lookup_elem(&terminals, &end);
}

static __always_inline void terminal_read(uint32_t tid, uint64_t end)
{
    struct bpf_terminal *terminal = find_terminal(end);
    struct bpf_poller *poller = bpf_map_lookup_elem(&pollers, &tid);
    if (terminal)
        terminal->read_ns = bpf_ktime_get_ns();
    if (poller)
        poller->terminal = end;
}

/* Thread `tid` has read or written a character device; `data`: the file's private data. */
static __always_inline void terminal_used(uint32_t tid, const struct inode *inode, const void *data,
                                          bool receive)
{
    if (!settings.watch_polls || !bpf_core_type_exists(struct tty_file_private))
        return;
    uint32_t device = kernel_read(inode, inode, i_rdev);
    bool is_slave = device >> 20 >= MAJOR_PTS_FIRST && device >> 20 <= MAJOR_PTS_LAST;
    if (receive ? !is_slave : device != DEVICE_PTMX)
        return;
    uint64_t end = kernel_word(kernel_place(tty_file_private, data, tty));
    if (receive) {
        terminal_read(tid, end);
        return;
    }
    end = kernel_word(kernel_place(tty_struct, (const void *)end, link));
    struct bpf_terminal *terminal = find_terminal(end);
    if (terminal)
        terminal->typed_ns = bpf_ktime_get_ns();
}

#endif
