# The backends of Linux: BPF programs, and perf_event where those cannot be.
include(linux/bpf/programs.cmake)

target_sources(argus_recorder PRIVATE
  linux/bpf_backend.c linux/bpf_object.c linux/compat_calls.c linux/cpu_overload.c linux/cpu_watch.c linux/epoll_sets.c linux/flag_check.c linux/flag_memory.c linux/flag_plans.c linux/flag_threads.c linux/flags.c linux/held_locks.c linux/open_ends.c linux/interpreter_frames.c linux/image_events.c linux/image_maps.c linux/mapped_images.c linux/kallsyms.c linux/pollers.c
  linux/kernel_btf.c linux/host_header.c linux/probe_rates.c linux/probes.c linux/program_load.c linux/program_table.c linux/programs.c linux/rings.c linux/snapshot_store.c linux/snapshots.c linux/syscall_bitmaps.c linux/threads.c
  linux/thread_map.c linux/event_format.c linux/online_cpus.c linux/own_timer.c linux/pid_namespace.c linux/self_tracepoint.c linux/perf_backend.c linux/perf_events.c linux/perf_on_machine.c linux/perf_on_thread.c linux/perf_rows.c linux/perf_translate.c
  linux/poll_set_ready.c linux/proc_stat.c
  linux/step_arrive.c linux/step_attach.c linux/step_breakpoint.c linux/step_check.c linux/step_inside.c linux/step_release.c linux/step_code.c linux/step_instruction.c linux/step_loop.c linux/step_main.c linux/step_maps.c linux/step_move.c linux/step_output.c linux/step_settle.c linux/step_thread.c linux/step_wait.c
  linux/seen_threads.c linux/stack_table.c linux/tracefs.c linux/waiting.c linux/windows.c)
target_link_libraries(argus_recorder PUBLIC PkgConfig::LIBBPF)
set_source_files_properties(linux/bpf_object.c PROPERTIES
  COMPILE_DEFINITIONS "ARGUS_BPF_CASTS=\"${bpf_casts}\";ARGUS_BPF_PLAIN=\"${bpf_plain}\";ARGUS_BPF_COMPILER=\"${bpf_compiler}\""
  OBJECT_DEPENDS "${bpf_casts};${bpf_plain}")
