/* What TCP and UDP have in common: a channel is one direction between two addresses and ports, by a
 * hash of them that comes out the same at both ends.
 */
#ifndef ARGUS_BPF_MESSAGE_INET_H
#define ARGUS_BPF_MESSAGE_INET_H

#include "message_record.h"
#include "naming.h"

#define LOOPBACK_NET 127 /* first byte of an IPv4 address on the wire */

static __always_inline uint64_t mixed(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

/* One direction of a connection. IPv6 addresses are folded into 8 bytes; an IPv4 address in IPv6
 * form is the IPv4 one. */
struct flow {
    uint64_t from, to;
    uint16_t from_port, to_port; /* network order */
    uint16_t protocol;
};

static __always_inline uint64_t folded(const void *address)
{
    uint64_t high = kernel_word(address), low = kernel_word(address + 8);
    if (!high && (uint32_t)low == 0xffff0000) /* ::ffff:a.b.c.d, as a little-endian number */
        return low >> 32;
    return mixed(high, low) | 1ull << 63;
}

static __always_inline bool is_loopback(uint64_t address)
{
    return address < 1ull << 32 ? (address & 0xff) == LOOPBACK_NET
                                : address == (mixed(0, 1ull << 56) | 1ull << 63); /* ::1 */
}

/* Every network namespace has a loopback of its own; other addresses can be reached from another
 * one. */
static __always_inline uint64_t flow_channel(const struct flow *flow, uint64_t net)
{
    uint64_t hash = mixed(flow->protocol, flow->from);
    hash = mixed(hash, flow->to);
    hash = mixed(hash, (uint64_t)flow->from_port << 16 | flow->to_port);
    return is_loopback(flow->to) ? mixed(hash, net) : hash;
}

static __always_inline uint64_t sock_net(const struct sock *sock)
{
    return kernel_word(kernel_place(sock, sock, __sk_common.skc_net));
}

#endif
