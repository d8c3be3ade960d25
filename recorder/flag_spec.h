/* A data flag: bytes of a process's memory whose reads and writes are recorded. The recorder, its
 * BPF program and the front end share this. */
#ifndef ARGUS_RECORDER_FLAG_SPEC_H
#define ARGUS_RECORDER_FLAG_SPEC_H

#define FLAG_LIMIT     16 /* watched at one time in one recording, in all processes */
#define FLAG_PLANS     8  /* plans: flags of future processes */
#define FLAG_REGISTERS 4  /* in one process: the debug registers of the processor */
#define FLAG_STEPS     4  /* pointers to follow to a flag */

/* Numbers of plans follow those of watched flags. */
#define FLAG_NUMBERS (FLAG_LIMIT + FLAG_PLANS)

enum flag_access {
    FLAG_WRITES = 1,
    FLAG_READS_AND_WRITES = 2, /* x86 has no register for reads alone */
};

#endif
