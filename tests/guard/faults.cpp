// What a wrong access says before the program ends.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/parts.hpp"

namespace guard::detail {

namespace {

constexpr int most_frames = 64;
constexpr int shown_frames = 16;

std::string demangled(char const* name) {
  int status = 0;
  char* const text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string out = status == 0 ? text : name;
  std::free(text);
  if (out.size() > 200) out = out.substr(0, 200) + "...";
  return out;
}

/// The name and the address of the function of this program that holds the address `at`, from the
/// file's table of symbols, which has the local ones too; null if there is none.
struct Symbol {
  char const* name = nullptr;
  std::uintptr_t value = 0;
};
Symbol symbol_of_program(std::uintptr_t at) {
  static auto const* const file = [] {
    int const handle = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat status{};
    fstat(handle, &status);
    void* const all =
        mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, handle, 0);
    close(handle);
    return all == MAP_FAILED ? nullptr : static_cast<char const*>(all);
  }();
  if (file == nullptr) return {};
  auto const* const header = reinterpret_cast<ElfW(Ehdr) const*>(file);
  auto const* const sections = reinterpret_cast<ElfW(Shdr) const*>(file + header->e_shoff);
  for (int s = 0; s < header->e_shnum; ++s) {
    if (sections[s].sh_type != SHT_SYMTAB) continue;
    auto const* const symbols = reinterpret_cast<ElfW(Sym) const*>(file + sections[s].sh_offset);
    char const* const names = file + sections[sections[s].sh_link].sh_offset;
    for (std::size_t k = 0; k < sections[s].sh_size / sizeof *symbols; ++k)
      if (ELF64_ST_TYPE(symbols[k].st_info) == STT_FUNC && symbols[k].st_value <= at &&
          at < symbols[k].st_value + symbols[k].st_size)
        return {names + symbols[k].st_name, symbols[k].st_value};
  }
  return {};
}

/// One call of those that led here.
struct Frame {
  std::string function;  ///< and the offset in it
  std::string file;
};
Frame frame_at(void* address) {
  auto const at = reinterpret_cast<std::uintptr_t>(address);
  Dl_info info{};
  if (dladdr(address, &info) == 0) return {"?", "?"};
  Dl_info mine{};
  dladdr(reinterpret_cast<void*>(&demangled), &mine);
  auto const base = reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  char const* name = info.dli_sname;
  std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(info.dli_saddr);
  if (info.dli_fbase == mine.dli_fbase)
    if (Symbol const symbol = symbol_of_program(at - base); symbol.name != nullptr) {
      name = symbol.name;
      begin = base + symbol.value;
    }
  char offset[32];
  std::snprintf(offset, sizeof offset, "+0x%zx",
                static_cast<std::size_t>(at - (name != nullptr ? begin : base)));
  return {(name != nullptr ? demangled(name) : std::string()) + offset, info.dli_fname};
}

/// Whether a function is of the guard or of Kokkos: named so before its arguments.
bool is_machinery(std::string const& function) {
  std::string const name = function.substr(0, function.find_first_of("<("));
  return name.find("guard::") != std::string::npos || name.find("Kokkos::") != std::string::npos ||
         function.rfind("std::enable_if<Kokkos::", 0) == 0;
}

/// The calls that led here, up to main, without the machinery and signals.
struct Frames {
  Frame frame[most_frames];
  int count = 0;

  Frames() {
    void* addresses[most_frames];
    int const n = backtrace(addresses, most_frames);
    for (int k = 0; k < n; ++k) {
      Frame f = frame_at(addresses[k]);
      if (f.function.rfind("+0x", 0) == 0 && f.file.find("libc.so") != std::string::npos) continue;
      if (is_machinery(f.function)) continue;
      frame[count++] = std::move(f);
      if (frame[count - 1].function.rfind("main+", 0) == 0) break;
    }
  }
  bool in_mpi() const {
    return std::any_of(frame, frame + count, [](Frame const& f) {
      return f.function.rfind("MPI_", 0) == 0 || f.function.rfind("PMPI_", 0) == 0;
    });
  }
  std::string text(char const* title) const {
    std::string out;
    for (int k = 0; k < std::min(count, shown_frames); ++k) {
      auto const slash = frame[k].file.rfind('/');
      out += std::string(k == 0 ? title : "") + "\n    " + frame[k].function + " (" +
             frame[k].file.substr(slash == std::string::npos ? 0 : slash + 1) + ")";
    }
    return out + "\n";
  }
};

void print(std::string const& text) {
  // in one piece, because other ranks print too
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) _exit(fault_status);
}

std::string message(char const* what, void const* address, Frames const& frames, bool of_kernel) {
  std::string out = std::string("guard: ") + what;
  char number[64];
  if (address != nullptr) {
    std::snprintf(number, sizeof number, " (address %p)", address);
    out += number;
  }
  if (of_kernel) {
    std::snprintf(number, sizeof number, ", call %lld of %lld", static_cast<long long>(last_call()),
                  static_cast<long long>(last_kernel().count));
    out += "\n  kernel " + demangled(last_kernel().type) + number;
  }
  return out + frames.text("\n  in");
}

void stop_host(void const* address) {
  Frames const frames;
  char const* what = "the host follows a pointer to nothing";
  if (is_device(address))
    what = frames.in_mpi() ? "MPI reads or writes device memory"
                           : "the host reads or writes device memory";
  print(message(what, address, frames, false));
  stop();
}

void on_fault(int, siginfo_t* info, void*) {
  void* const at = info->si_addr;
  bool const closed_to_kernels = heap().has(at) || closed_stack().has(at);
  if (kernel_thread() == 0 || kernel_thread() != gettid()) {
    if (!closed_to_kernels) return stop_host(at);
    // a thread of MPI, say, which may go on when the kernel has ended
    while (kernel_thread() != 0) sched_yield();
    return;
  }
  if (is_device(at)) {
    if (touch(at)) return;
    return stop_kernel("a kernel leaves its allocation of device memory", at);
  }
  if (heap().has(at)) return stop_kernel("a kernel reads or writes the host's heap", at);
  if (closed_to_kernels) return stop_kernel("a kernel reads or writes the host's stack", at);
  stop_kernel("a kernel follows a pointer to nothing", at);
}

}  // namespace

void handle_faults() {
  // of this program, because Catch2's stack for signals is on the heap
  static char stack[std::size_t{256} << 10];
  stack_t other{};
  sigaltstack(nullptr, &other);
  if (other.ss_sp != stack) {
    other.ss_sp = stack;
    other.ss_size = sizeof stack;
    other.ss_flags = 0;
    sigaltstack(&other, nullptr);
    void* frame[1];
    backtrace(frame, 1);  // loads what it needs now
  }
  struct sigaction now{};
  sigaction(SIGSEGV, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_fault) return;
  struct sigaction ours{};
  ours.sa_sigaction = on_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &ours, nullptr);
  sigaction(SIGBUS, &ours, nullptr);
}

void report(char const* what, void const* address, bool of_kernel) {
  print(message(what, address, Frames(), of_kernel));
}
void stop_kernel(char const* what, void const* address) {
  open_host();
  report(what, address, true);
  abandon_kernel();
}
void report_frames(char const* title) { print(Frames().text((std::string("  ") + title).c_str())); }
void stop() { _exit(fault_status); }

}  // namespace guard::detail
