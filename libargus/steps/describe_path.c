/* The parts of a pointer path in words. */
#include "steps/describe_path.h"

const char *describe_offsets(struct describer *describer, const struct pointer_path *path,
                             const char *root)
{
    const char *text = root;
    for (uint32_t i = 0; i < path->links; i++)
        text = describe_text(
            describer, "%s->%s0x%llx", text, path->offsets[i] < 0 ? "-" : "",
            (unsigned long long)(path->offsets[i] < 0 ? -path->offsets[i] : path->offsets[i]));
    return text;
}

const char *describe_register_name(const struct describer *describer, unsigned number)
{
    static const char *const names[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                        "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
    static const char *const arm[] = {"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",
                                      "x8",  "x9",  "x10", "x11", "x12", "x13", "x14", "x15",
                                      "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
                                      "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp"};
    return instruction_decoder_machine(describer->run->decoder) == INSTRUCTION_ARM64 ? arm[number]
           : number < 16                                                             ? names[number]
                                                                                     : "?";
}

/* Which argument a register carries, from 1; 0: none. */
static unsigned argument_of(const struct describer *describer, unsigned number)
{
    static const uint8_t x86[] = {REGISTER_RDI, REGISTER_RSI, REGISTER_RDX,
                                  REGISTER_RCX, REGISTER_R8,  REGISTER_R9};
    if (instruction_decoder_machine(describer->run->decoder) == INSTRUCTION_ARM64)
        return number < 8 ? number + 1 : 0;
    for (unsigned i = 0; i < sizeof(x86); i++)
        if (x86[i] == number)
            return i + 1;
    return 0;
}

const char *describe_register(struct describer *describer, unsigned number)
{
    const struct run *run = describer->run;
    bool begins = argus_steps_about(run->steps)->begin == ARGUS_STEP_BEGIN_PLACE;
    unsigned argument = begins ? argument_of(describer, number) : 0;
    if (argument)
        return describe_text(
            describer, "in an object that argument %u of %s (register %s) leads to", argument,
            describe_function(describer, run->pcs[0]), describe_register_name(describer, number));
    return describe_text(describer, "in an object to which register %s led when the trace began",
                         describe_register_name(describer, number));
}

const char *describe_skipped(struct describer *describer, uint32_t step)
{
    const struct argus_step_event *events;
    uint32_t event = describer->run->skip_of[step];
    argus_steps_events(describer->run->steps, &events);
    return describe_function(describer, events[event].address);
}
