/* The compiled BPF programs (bpf/argus.bpf.c), as the build put them into this program.
 *
 * There are two builds of the same source. In one, kernel structures are read through bpf_rdonly_cast(), which Linux has since
 * 6.2; in the other by a helper that every kernel has. Both are needed: a kernel without that function refuses each program that
 * mentions it, even where the verifier could tell that the call is never reached.
 */
#ifndef ARGUS_RECORDER_LINUX_BPF_OBJECT_H
#define ARGUS_RECORDER_LINUX_BPF_OBJECT_H

struct bpf_image {
    const char *name;
    const char *kernel_function; /* that the running kernel must have; NULL: none */
    const char *begin, *end;
};

/* Best first. */
#define BPF_IMAGES 2
extern const struct bpf_image bpf_images[BPF_IMAGES];

/* What compiled them: "clang 19.1.7". */
extern const char bpf_compiler[];

#endif
