/* ARGUS_BPF_CASTS and ARGUS_BPF_PLAIN are the paths of the compiled programs, from CMake; 8-aligned
 * because libbpf reads ELF structures in place. */
#include "linux/load/bpf_object.h"

#include <stddef.h>

#define EMBED(name, path)                                                                          \
    __asm__(".pushsection .rodata, \"a\"\n"                                                        \
            ".balign 8\n"                                                                          \
            ".hidden " #name "_begin\n"                                                            \
            ".hidden " #name "_end\n"                                                              \
            ".globl " #name "_begin\n"                                                             \
            ".globl " #name "_end\n"                                                               \
            "" #name "_begin:\n"                                                                   \
            ".incbin \"" path "\"\n"                                                               \
            "" #name "_end:\n"                                                                     \
            ".byte 0\n"                                                                            \
            ".popsection\n");                                                                      \
    extern const char name##_begin[], name##_end[]

EMBED(bpf_casts, ARGUS_BPF_CASTS);
EMBED(bpf_plain, ARGUS_BPF_PLAIN);

const struct bpf_image bpf_images[BPF_IMAGES] = {
    {"casts", "bpf_rdonly_cast", bpf_casts_begin, bpf_casts_end},
    {"plain", NULL, bpf_plain_begin, bpf_plain_end},
};

const char bpf_compiler[] = ARGUS_BPF_COMPILER;
