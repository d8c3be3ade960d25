/* Single steps by packets of the gdb-remote protocol, for `argus step` inside LLDB.
 *
 * SBThread::StepInstruction() costs two or three times what lldb-server needs for a step: LLDB
 * unwinds the stack, asks for the other threads and tells its listeners at each stop, and every
 * register that is read becomes a value object. The reply to the packet vCont;s has all general
 * registers already. `process plugin packet send` sends such a packet, in all versions of LLDB.
 *
 * LLDB does not notice such a step: what it has cached of the thread is of the last stop that it
 * knows of. So the thread is *ahead* of LLDB, and before LLDB does anything else with it, its pc
 * must be set and one step must be made by LLDB itself.
 *
 * Sources: LLDB's docs/lldb-gdb-remote.txt; GDBRemoteCommunicationServerLLGS.cpp (the stop reply).
 */
#ifndef ARGUS_PLUGIN_LLDB_PACKET_STEPS_H
#define ARGUS_PLUGIN_LLDB_PACKET_STEPS_H

#include <lldb/API/LLDB.h>

#include <cstdio>

#include "plugin/steps/host_registers.h"
#include "recorder/step_protocol.h"

struct packet_steps {
    lldb::SBDebugger debugger;
    lldb::SBUnixSignals signals;
    uint64_t tid;
    bool is_usable;
    bool is_ahead;  /* of LLDB, as far as `registers` tell */
    bool has_ended; /* the process; `end` says how */
    bool is_lost;   /* no useful reply; `end` says so. The process may live */
    int pending;    /* signal that the next packet delivers; 0: none */
    FILE *output;   /* owned; where LLDB writes a reply: into `text` */
    char *text;     /* owned */
    size_t text_bytes;
    int32_t numbers[STEP_REGISTERS_MOST]; /* of each register in packets */
    uint64_t registers[STEP_REGISTERS_MOST];
    char end[80];
};

/* Prepares steps of `thread`, which is stopped. Not usable if the process is not reached by that
 * protocol, has watchpoints, whose hits LLDB must see, or if replies say neither all registers nor
 * why the thread has stopped. Then packet_steps_end(). */
void packet_steps_begin(struct packet_steps *steps, lldb::SBDebugger &debugger,
                        lldb::SBTarget &target, lldb::SBThread &thread);
void packet_steps_end(struct packet_steps *steps);

/* Nothing more can be asked of the thread: has_ended or is_lost. */
bool packet_steps_are_over(const struct packet_steps *steps);

/* Executes one instruction of the thread, which is at `registers`. It must not wait in the kernel.
 * A signal that comes is delivered, unless LLDB is set to suppress it; then the next instruction is
 * that of its handler. False: it was not executed, LLDB must do it (is_ahead is right in this case,
 * too), or has_ended, or is_lost. */
bool packet_steps_step(struct packet_steps *steps, const uint64_t registers[STEP_REGISTERS_MOST]);

/* Delivers the signal that packet_steps_step() has kept for the next packet, if there is one:
 * before LLDB steps, which does not know of it. */
void packet_steps_deliver(struct packet_steps *steps);

/* Reads memory past LLDB's cache. Returns the number of bytes read. */
size_t packet_steps_read(struct packet_steps *steps, uint64_t address, void *ret, size_t bytes);

#endif
