/* ARGUS_BPF_OBJECT is the path of the compiled programs, from CMake; 8-aligned because libbpf reads ELF structures in
 * place. */
#include "linux/bpf_object.h"

__asm__(".pushsection .rodata, \"a\"\n"
        ".balign 8\n"
        ".hidden bpf_object_bytes\n"
        ".hidden bpf_object_end\n"
        ".globl bpf_object_bytes\n"
        ".globl bpf_object_end\n"
        "bpf_object_bytes:\n"
        ".incbin \"" ARGUS_BPF_OBJECT "\"\n"
        "bpf_object_end:\n"
        ".byte 0\n"
        ".popsection\n");
