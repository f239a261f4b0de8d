// malloc and its kin in memory of their own, which closes while a kernel runs.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include <sys/mman.h>
#include <unistd.h>

#include "guard/parts.hpp"

namespace guard::detail {

namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 30;
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t step = 2 * huge_page;  ///< so much opens at a time

std::mutex mutex;
Range used;      ///< of the heap's addresses those that are open
char* next;      ///< of `used`, what was never given out
void* idle[64];  ///< blocks of 2^k bytes that were given back, as lists

/// What stands before the bytes of a block.
struct Header {
  void* block;
  std::size_t bytes;  ///< asked for
  std::size_t kind;   ///< the block has 2^kind bytes
  std::size_t unused;
};
static_assert(sizeof(Header) == 32);

Header& header_of(void* p) { return static_cast<Header*>(p)[-1]; }

/// A block of 2^kind bytes; null if there is none.
char* new_block(std::size_t kind) {
  std::size_t const bytes = std::size_t{1} << kind;
  if (used.begin == nullptr) {
    // huge pages, because opening and closing takes time per page
    char* const at = reserve(most_bytes + huge_page, false);
    std::size_t const off = reinterpret_cast<std::uintptr_t>(at) % huge_page;
    used.begin = used.end = next = at + (huge_page - off);
    madvise(used.begin, most_bytes, MADV_HUGEPAGE);
  }
  if (bytes > static_cast<std::size_t>(used.begin + most_bytes - next)) return nullptr;
  if (next + bytes > used.end) {
    char* const end =
        used.begin + rounded(static_cast<std::size_t>(next + bytes - used.begin), step);
    set_open({used.end, end}, true);
    used.end = end;
  }
  char* const block = next;
  next += bytes;
  return block;
}

/// A kernel that runs on a GPU has no such calls.
void refuse_in_kernels(char const* what) {
  if (kernel_thread() == 0 || kernel_thread() != gettid()) return;
  stop_kernel(what, nullptr);
}

void* take(std::size_t bytes, std::size_t alignment) {
  refuse_in_kernels("a kernel allocates memory of the host's heap");
  if (bytes > most_bytes) return nullptr;
  std::size_t const room = bytes + sizeof(Header) + alignment;
  std::size_t const kind = 64 - static_cast<std::size_t>(__builtin_clzll(room - 1));
  std::lock_guard const lock(mutex);
  char* block = static_cast<char*>(idle[kind]);
  if (block != nullptr)
    std::memcpy(&idle[kind], block, sizeof(void*));
  else
    block = new_block(kind);
  if (block == nullptr) return nullptr;
  auto const at = reinterpret_cast<std::uintptr_t>(block) + sizeof(Header);
  void* const p = block + sizeof(Header) + (rounded(at, alignment) - at);
  header_of(p) = {block, bytes, kind, 0};
  return p;
}

void give_back(void* p) {
  if (p == nullptr) return;
  refuse_in_kernels("a kernel frees memory of the host's heap");
  auto const [block, bytes, kind, unused] = header_of(p);
  std::lock_guard const lock(mutex);
  std::memcpy(block, &idle[kind], sizeof(void*));
  idle[kind] = block;
}

constexpr std::size_t least_alignment = 16;

/// Other ranks read messages by system calls, which fail while this one runs a kernel: MPI is asked
/// to copy them.
bool const copies = [] {
  setenv("UCX_TLS", "^cma", 0);
  setenv("OMPI_MCA_btl_sm_use_cma", "0", 0);
  setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
  return true;
}();

void* take_or_fail(std::size_t bytes, std::size_t alignment) {
  void* const p = take(bytes, alignment < least_alignment ? least_alignment : alignment);
  if (p == nullptr) errno = ENOMEM;
  return p;
}

}  // namespace

Range heap() { return used; }

}  // namespace guard::detail

extern "C" {

using guard::detail::take_or_fail;

void* malloc(std::size_t bytes) { return take_or_fail(bytes, 0); }
void free(void* p) { guard::detail::give_back(p); }
void* calloc(std::size_t count, std::size_t each) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, each, &bytes)) bytes = SIZE_MAX;
  void* const p = take_or_fail(bytes, 0);
  return p == nullptr ? p : std::memset(p, 0, bytes);
}
void* realloc(void* p, std::size_t bytes) {
  if (p != nullptr && bytes == 0) {
    free(p);
    return nullptr;
  }
  void* const to = take_or_fail(bytes, 0);
  if (p == nullptr || to == nullptr) return to;
  std::size_t const old = guard::detail::header_of(p).bytes;
  std::memcpy(to, p, old < bytes ? old : bytes);
  free(p);
  return to;
}
void* memalign(std::size_t alignment, std::size_t bytes) { return take_or_fail(bytes, alignment); }
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return take_or_fail(bytes, alignment);
}
int posix_memalign(void** p, std::size_t alignment, std::size_t bytes) {
  void* const got = take_or_fail(bytes, alignment);
  if (got == nullptr) return ENOMEM;
  *p = got;
  return 0;
}
void* valloc(std::size_t bytes) { return take_or_fail(bytes, guard::detail::page); }
void* pvalloc(std::size_t bytes) {
  return take_or_fail(guard::detail::rounded(bytes, guard::detail::page), guard::detail::page);
}
std::size_t malloc_usable_size(void* p) {
  return p == nullptr ? 0 : guard::detail::header_of(p).bytes;
}

}  // extern "C"
