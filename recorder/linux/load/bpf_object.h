/* The compiled BPF programs (bpf/argus.bpf.c), embedded in this program by the build.
 *
 * There are two builds of the same source. One reads kernel structures through bpf_rdonly_cast()
 * (Linux 6.2); the other uses a helper that every kernel has. Both are needed: a kernel without
 * bpf_rdonly_cast() refuses each program that mentions it, even if the call is unreachable.
 */
#ifndef ARGUS_RECORDER_LINUX_BPF_OBJECT_H
#define ARGUS_RECORDER_LINUX_BPF_OBJECT_H

struct bpf_image {
    const char *name;
    const char *kernel_function; /* required of the running kernel; NULL: none */
    const char *begin, *end;
};

/* Best first. */
#define BPF_IMAGES 2
extern const struct bpf_image bpf_images[BPF_IMAGES];

/* The compiler: "clang 19.1.7". */
extern const char bpf_compiler[];

#endif
