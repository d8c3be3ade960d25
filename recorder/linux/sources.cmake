# The backends of Linux: BPF programs, and perf_event where those cannot be.
find_program(ARGUS_BPF_CLANG NAMES clang-19 clang-18 clang-17 clang-16 clang-15 clang-14 clang REQUIRED)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(bpf_arch arm64)
else()
  set(bpf_arch x86)
endif()

# The BPF programs: one object, put into the program by bpf_object.c. CO-RE types are our own (bpf/kernel_types.h),
# so neither bpftool nor a vmlinux.h is needed.
set(bpf_object ${CMAKE_CURRENT_BINARY_DIR}/argus.bpf.o)
add_custom_command(
  OUTPUT ${bpf_object}
  COMMAND ${ARGUS_BPF_CLANG} -target bpf -mcpu=v3 -g -O2 -ffreestanding -Wall -Wextra -Werror
          -D__TARGET_ARCH_${bpf_arch} -I${PROJECT_SOURCE_DIR}/libargus/include
          ${ARGUS_BPF_HEADERS}
          -MD -MF ${bpf_object}.d -MT argus.bpf.o
          -c ${CMAKE_CURRENT_SOURCE_DIR}/linux/bpf/argus.bpf.c -o ${bpf_object}
  DEPENDS linux/bpf/argus.bpf.c
  DEPFILE ${bpf_object}.d
  COMMENT "Building the BPF programs"
  VERBATIM)

target_sources(argus_recorder PRIVATE
  linux/bpf_backend.c linux/bpf_object.c linux/cpu_watch.c linux/crowd.c linux/epoll_sets.c linux/flag_memory.c linux/flag_plans.c linux/flag_threads.c linux/flags.c linux/image_events.c linux/image_maps.c linux/mapped_images.c linux/kallsyms.c linux/pollers.c
  linux/kernel_btf.c linux/host_header.c linux/probes.c linux/programs.c linux/rings.c linux/snapshots.c linux/syscall_bitmaps.c linux/threads.c
  linux/thread_map.c linux/event_format.c linux/online_cpus.c linux/perf_backend.c linux/perf_events.c linux/perf_on_machine.c linux/perf_on_thread.c linux/perf_rows.c linux/perf_translate.c
  linux/proc_stat.c
  linux/step_arrive.c linux/step_attach.c linux/step_breakpoint.c linux/step_check.c linux/step_inside.c linux/step_release.c linux/step_code.c linux/step_instruction.c linux/step_loop.c linux/step_main.c linux/step_maps.c linux/step_move.c linux/step_output.c linux/step_thread.c linux/step_wait.c
  linux/seen_threads.c linux/stack_table.c linux/tracefs.c)
target_link_libraries(argus_recorder PUBLIC PkgConfig::LIBBPF)
set_source_files_properties(linux/bpf_object.c PROPERTIES
  COMPILE_DEFINITIONS ARGUS_BPF_OBJECT="${bpf_object}" OBJECT_DEPENDS ${bpf_object})
