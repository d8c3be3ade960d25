#include "plugin/lldb/packet_steps.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace
{

constexpr size_t MOST_BYTES = 512; /* of memory in one packet */

enum {
    MOST_REGISTERS = 64, /* that the stub is asked for */
    TRAP = 5,
    MOST_SIGNALS = 16, /* before one instruction */
};

/* Sends a packet. Returns its answer, which lives until the next one; "" if there is none. LLDB would
 * keep each text that GetOutput() returns until it ends, so it writes into memory instead. */
const char *send(struct packet_steps *steps, const char *packet)
{
    static const char answer[] = "response: ";
    char command[128];
    lldb::SBCommandReturnObject result;
    snprintf(command, sizeof(command), "process plugin packet send %s", packet);
    rewind(steps->output);
    result.SetImmediateOutputFile(steps->output, false);
    steps->debugger.GetCommandInterpreter().HandleCommand(command, result, false);
    fputc('\0', steps->output);
    if (fflush(steps->output) != 0 || !result.Succeeded())
        return "";
    const char *found = strstr(steps->text, answer);
    return found ? found + sizeof(answer) - 1 : "";
}

/* The name in "name:rax;bitsize:64;…" is `name`. */
bool is_named(const char *answer, const char *name)
{
    size_t length = strlen(name);
    return strncmp(answer, "name:", 5) == 0 && strncmp(answer + 5, name, length) == 0 &&
           answer[5 + length] == ';';
}

/* Asks for the number of each register. */
bool find_numbers(struct packet_steps *steps)
{
    uint32_t found = 0, wanted = host_register_count();
    for (uint32_t i = 0; i < wanted; i++)
        steps->numbers[i] = -1;
    for (int32_t number = 0; number < MOST_REGISTERS && found < wanted; number++) {
        char packet[32];
        snprintf(packet, sizeof(packet), "qRegisterInfo%x", static_cast<unsigned>(number));
        const char *answer = send(steps, packet);
        for (uint32_t i = 0; i < wanted; i++) {
            if (steps->numbers[i] >= 0 || !is_named(answer, host_register_name_in_lldb(i)))
                continue;
            steps->numbers[i] = number;
            found++;
        }
    }
    return found == wanted;
}

int digit(char character)
{
    const char *digits = "0123456789abcdef";
    const char *found = character ? strchr(digits, character) : nullptr;
    return found ? static_cast<int>(found - digits) : -1;
}

/* Two digits; -1: they are not. */
int byte_at(const char *text)
{
    int high = digit(text[0]);
    int low = high < 0 ? -1 : digit(text[1]);
    return low < 0 ? -1 : high << 4 | low;
}

/* The bytes of a register, the least significant one first. */
uint64_t value_at(const char *text)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < sizeof(value); i++, text += 2) {
        int byte = byte_at(text);
        if (byte < 0)
            break;
        value |= static_cast<uint64_t>(byte) << 8 * i;
    }
    return value;
}

/* The value of `key` in "T05thread:1a2b;00:…;reason:trace;", behind the signal; nullptr. */
const char *find_value(const char *answer, const char *key)
{
    size_t length = strlen(key);
    for (const char *at = answer + 3; *at;) {
        if (strncmp(at, key, length) == 0 && at[length] == ':')
            return at + length + 1;
        const char *end = strchr(at, ';');
        if (!end)
            break;
        at = end + 1;
    }
    return nullptr;
}

/* Takes the registers out of the answer to a step; false: one is missing. */
bool take_registers(struct packet_steps *steps, const char *answer)
{
    for (uint32_t i = 0; i < host_register_count(); i++) {
        char key[8];
        snprintf(key, sizeof(key), "%02x", static_cast<unsigned>(steps->numbers[i]));
        const char *value = find_value(answer, key);
        if (!value)
            return false;
        steps->registers[i] = value_at(value);
    }
    return true;
}

/* Whether answers to steps will have all registers: the answer to "why did it stop?" has them, too. */
bool tells_registers(struct packet_steps *steps)
{
    const char *answer = send(steps, "?");
    return answer[0] == 'T' && take_registers(steps, answer);
}

bool is_of_step(const char *answer)
{
    const char *reason = find_value(answer, "reason");
    return reason && strncmp(reason, "trace;", 6) == 0;
}

/* W00, X09: the process has ended. */
void take_end(struct packet_steps *steps, const char *answer)
{
    int number = byte_at(answer + 1);
    steps->has_ended = true;
    snprintf(steps->end, sizeof(steps->end),
             answer[0] == 'W' ? "the process ended (exit status %d)"
                              : "the process was ended by signal %d",
             number);
}

/* The packet that executes an instruction and delivers `signal`, if LLDB is set to. */
void write_packet(struct packet_steps *steps, int signal, char *ret, size_t room)
{
    bool delivers = signal > 0 && !steps->signals.GetShouldSuppress(signal);
    auto tid = static_cast<unsigned long long>(steps->tid);
    if (delivers)
        snprintf(ret, room, "vCont;S%02x:%llx", static_cast<unsigned>(signal), tid);
    else
        snprintf(ret, room, "vCont;s:%llx", tid);
}

/* A fault comes again when LLDB executes the instruction; then LLDB knows of it. */
bool is_fault(const struct packet_steps *steps, int signal)
{
    static const char *const faults[] = {"SIGILL", "SIGBUS", "SIGFPE", "SIGSEGV"};
    const char *name = steps->signals.GetSignalAsCString(signal);
    for (const char *fault : faults)
        if (name && strcmp(name, fault) == 0)
            return true;
    return false;
}

} // namespace

void packet_steps_begin(struct packet_steps *steps, lldb::SBDebugger &debugger,
                        lldb::SBTarget &target, lldb::SBThread &thread)
{
    lldb::SBProcess process = target.GetProcess();
    const char *plugin = process.GetPluginName();
    steps->debugger = debugger;
    steps->signals = process.GetUnixSignals();
    steps->tid = thread.GetThreadID();
    steps->output = open_memstream(&steps->text, &steps->text_bytes);
    steps->is_usable = steps->output && plugin && strcmp(plugin, "gdb-remote") == 0 &&
                       target.GetNumWatchpoints() == 0 && find_numbers(steps) &&
                       tells_registers(steps);
}

void packet_steps_end(struct packet_steps *steps)
{
    if (steps->output)
        fclose(steps->output);
    free(steps->text);
    steps->output = nullptr;
    steps->text = nullptr;
}

bool packet_steps_step(struct packet_steps *steps, const uint64_t registers[STEP_REGISTERS_MOST])
{
    int signal = 0;
    uint64_t pc = host_pc(registers);
    for (unsigned i = 0; i < MOST_SIGNALS; i++) {
        char packet[48];
        write_packet(steps, signal, packet, sizeof(packet));
        const char *answer = send(steps, packet);
        if (answer[0] == 'W' || answer[0] == 'X') {
            take_end(steps, answer);
            return false;
        }
        if (answer[0] != 'T' || !take_registers(steps, answer)) {
            steps->has_ended = true; /* nothing is known of the thread any more */
            snprintf(steps->end, sizeof(steps->end), "the debugger does not answer");
            return false;
        }
        steps->is_ahead = true;
        signal = byte_at(answer + 1);
        /* at a breakpoint, the instruction is not executed */
        if (signal == TRAP || is_fault(steps, signal))
            return is_of_step(answer) && host_pc(steps->registers) != pc;
    }
    return false;
}

size_t packet_steps_read(struct packet_steps *steps, uint64_t address, void *ret, size_t bytes)
{
    auto *to = static_cast<uint8_t *>(ret);
    size_t done = 0;
    while (done < bytes) {
        char packet[64];
        size_t wanted = bytes - done < MOST_BYTES ? bytes - done : MOST_BYTES, taken = 0;
        snprintf(packet, sizeof(packet), "m%llx,%zx",
                 static_cast<unsigned long long>(address + done), wanted);
        const char *answer = send(steps, packet);
        for (; taken < wanted && byte_at(answer) >= 0; taken++, answer += 2)
            to[done + taken] = static_cast<uint8_t>(byte_at(answer));
        done += taken;
        if (taken < wanted)
            break;
    }
    return done;
}
