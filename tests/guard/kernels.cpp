// Runs kernels of the guarded device, with the host's memory closed.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <pthread.h>
#include <ucontext.h>
#include <unistd.h>

#include "guard/parts.hpp"

namespace guard {
namespace detail {
namespace {

constexpr std::size_t stack_bytes = std::size_t{8} << 20;

// All of it in variables of the program: a kernel cannot reach the heap or the host's stack, nor
// can what runs it.
alignas(64) char argument_memory[argument_bytes];
Kernel kernel;
std::int64_t call = 0;
volatile int thread = 0;
bool both_orders = true;
enum class Order { backwards, forwards, shuffled };
bool abandoned = false;
Range closed;
ucontext_t host, device;
char const* label = "";
void (*hear)(Launch const&) = nullptr;

/// The stack of the thread that loaded the program, as far as it is used: from here to its end.
Range used_stack() {
  static pthread_t const owner = pthread_self();
  static char* const end = [] {
    pthread_attr_t attributes;
    void* low = nullptr;
    std::size_t bytes = 0;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &low, &bytes);
    pthread_attr_destroy(&attributes);
    return static_cast<char*>(low) + bytes / page * page;
  }();
  if (!pthread_equal(owner, pthread_self())) return {};  // of another thread it stays open
  auto* const here = static_cast<char*>(__builtin_frame_address(0));
  return {here + (page - reinterpret_cast<std::uintptr_t>(here) % page), end};
}

/// A step by which `count` numbers, in a circle, are each reached once, neighbours far apart.
std::int64_t shuffling_step(std::int64_t count) {
  auto const common = [](std::int64_t a, std::int64_t b) {
    while (b != 0) {
      std::int64_t const rest = a % b;
      a = b;
      b = rest;
    }
    return a;
  };
  std::int64_t step = count * 5 / 8 + 1;
  while (common(step, count) != 1) ++step;
  return step;
}

void make_calls(Order order) {
  void* const at = argument_memory;
  if (kernel.begin != nullptr) kernel.begin(at);
  std::int64_t const step = order == Order::shuffled ? shuffling_step(kernel.count) : 1;
  std::int64_t next = order == Order::shuffled ? kernel.count / 3 : 0;
  for (std::int64_t k = 0; k < kernel.count; ++k) {
    call = order == Order::backwards ? kernel.count - 1 - k : next;
    kernel.call(at, kernel.first + call);
    next = (next + step) % kernel.count;
  }
  if (kernel.end != nullptr) kernel.end(at);
}

/// What GUARD_ORDERS says: 1 runs each kernel once, from the last call to the first; 3 once more
/// after the two orders, in a third one.
char orders() {
  char const* const set = std::getenv("GUARD_ORDERS");
  return set != nullptr ? *set : '2';
}
bool const once = orders() == '1';
bool const shuffles = orders() == '3';

/// On the device's stack.
void run_on_device() {
  set_open(closed, false);
  set_open(heap(), false);
  make_calls(Order::backwards);
  if (both_orders) {
    rewind_touched();
    make_calls(Order::forwards);
    if (shuffles && first_difference() == nullptr) {
      rewind_touched();
      make_calls(Order::shuffled);
    }
  }
  open_host();
}

/// Kernels whose results depend on the order of their calls by intent: they add up by atomics, and
/// make lists of what they found.
bool order_decides(char const* type) {
  constexpr char const* free[] = {"AddRowsAtOnce", "AddAlongAtOnce", "ListAtOnce"};
  for (char const* const name : free)
    if (std::strstr(type, name) != nullptr) return true;
  return false;
}

/// GUARD_LAUNCHES=1 prints all launches.
void print_launch(Launch const& l) {
  std::fprintf(stderr, "guard: launch %s of %lld, touches %zu bytes\n", l.label,
               static_cast<long long>(l.length), l.bytes);
}
bool const prints = [] {
  char const* const set = std::getenv("GUARD_LAUNCHES");
  if (set != nullptr && *set == '1') hear = print_launch;
  return true;
}();

}  // namespace

Range closed_stack() { return closed; }
int kernel_thread() { return thread; }
Kernel const& last_kernel() { return kernel; }
std::int64_t last_call() { return call; }

void open_host() {
  set_open(heap(), true);
  set_open(closed, true);
  thread = 0;
}

void abandon_kernel() {
  abandoned = true;
  setcontext(&host);
  std::abort();
}

}  // namespace detail

using namespace detail;

void* argument() { return argument_memory; }

void run(Kernel const& k) {
  handle_faults();
  static char* const stack = [] {
    char* const low = reserve(stack_bytes, false);
    set_open({low + page, low + stack_bytes}, true);  // the first page stops what needs more
    return low;
  }();
  kernel = k;
  both_orders = !once && !order_decides(k.type);
  getcontext(&device);
  device.uc_stack.ss_sp = stack + page;
  device.uc_stack.ss_size = stack_bytes - page;
  device.uc_link = &host;
  makecontext(&device, run_on_device, 0);
  closed = used_stack();
  thread = gettid();
  swapcontext(&host, &device);
  if (abandoned) {
    report_frames("launched by");
    stop();
  }
  void const* const difference = both_orders ? first_difference() : nullptr;
  std::size_t const bytes = touched_bytes();
  if (difference != nullptr) {
    Place const place = place_of(difference);
    char what[160];
    std::snprintf(what, sizeof what,
                  "a kernel's result depends on the order of its calls, at byte %zu of %zu",
                  place.at, place.bytes);
    report(what, difference, true);
    stop();
  }
  close_touched();
  if (hear != nullptr) hear({label, kernel.type, kernel.count * kernel.threads, bytes});
  label = "";
}

void on_launch(void (*f)(Launch const&)) { hear = f; }
void label_next(char const* text) { label = text; }

}  // namespace guard
