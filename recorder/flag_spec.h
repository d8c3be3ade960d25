/* A data flag: bytes of a process's memory whose reads and writes are recorded. The recorder, its BPF program and the front end
 * share this. */
#ifndef ARGUS_RECORDER_FLAG_SPEC_H
#define ARGUS_RECORDER_FLAG_SPEC_H

#define FLAG_LIMIT     16 /* flags in one recording */
#define FLAG_REGISTERS 4  /* of one process: the processor has so many */

enum flag_access {
    FLAG_WRITES = 1,
    FLAG_READS_AND_WRITES = 2, /* x86 has no register for reads alone */
};

#endif
