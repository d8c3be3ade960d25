/* The compiled BPF programs (bpf/argus.bpf.c), as the build put them into this program. */
#ifndef ARGUS_RECORDER_LINUX_BPF_OBJECT_H
#define ARGUS_RECORDER_LINUX_BPF_OBJECT_H

extern const char bpf_object_bytes[], bpf_object_end[];

#endif
