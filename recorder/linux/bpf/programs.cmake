# The BPF programs: two files, built from one source (bpf_object.h says why), which bpf_object.c puts into the program.
# Sets bpf_casts and bpf_plain, their paths, and bpf_compiler, what made them. CO-RE types are our own (kernel_types.h), so neither
# bpftool nor a vmlinux.h is needed.
#
# A source tarball of scripts/release brings the files along, built once by the pinned compiler and tried on the kernels of
# docs/kernels.md (scripts/bpf-objects); they are taken as they are. Otherwise any clang from 14 on makes them, the pinned one first.
find_program(ARGUS_BPF_CLANG NAMES clang-14 clang-19 clang-18 clang-17 clang-16 clang-15 clang)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(bpf_arch arm64)
else()
  set(bpf_arch x86)
endif()

function(argus_bpf_object output)
  get_filename_component(name ${output} NAME)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${ARGUS_BPF_CLANG} -target bpf -mcpu=v3 -g -O2 -ffreestanding -Wall -Wextra -Werror
            -D__TARGET_ARCH_${bpf_arch} ${ARGN} -I${PROJECT_SOURCE_DIR}/libargus/include
            ${ARGUS_BPF_HEADERS}
            -MD -MF ${output}.d -MT ${name}
            -c ${PROJECT_SOURCE_DIR}/recorder/linux/bpf/argus.bpf.c -o ${output}
    DEPENDS ${PROJECT_SOURCE_DIR}/recorder/linux/bpf/argus.bpf.c
    DEPFILE ${output}.d
    COMMENT "Building the BPF programs"
    VERBATIM)
endfunction()

set(bpf_shipped ${PROJECT_SOURCE_DIR}/bpf-objects/${bpf_arch})
if(EXISTS ${bpf_shipped}/compiler)
  set(bpf_casts ${bpf_shipped}/argus.casts.bpf.o)
  set(bpf_plain ${bpf_shipped}/argus.plain.bpf.o)
  file(STRINGS ${bpf_shipped}/compiler bpf_compiler LIMIT_COUNT 1)
elseif(ARGUS_BPF_CLANG)
  set(bpf_casts ${CMAKE_CURRENT_BINARY_DIR}/argus.casts.bpf.o)
  set(bpf_plain ${CMAKE_CURRENT_BINARY_DIR}/argus.plain.bpf.o)
  argus_bpf_object(${bpf_casts} -DARGUS_CASTS)
  argus_bpf_object(${bpf_plain})
  argus_version_of_clang(${ARGUS_BPF_CLANG} bpf_compiler)
else()
  message(FATAL_ERROR "clang 14 or later is needed for the BPF programs (Debian: apt-get install clang-14)")
endif()
set_property(GLOBAL PROPERTY ARGUS_BPF_COMPILER "${bpf_compiler}") # for argus_built_with()
