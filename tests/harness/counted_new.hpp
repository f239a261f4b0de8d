#pragma once
// Replaces operator new; for one file of a program.

#include <cstddef>
#include <cstdlib>
#include <new>

// Counts every allocation of this program with new.
static std::size_t allocated = 0;
void* operator new(std::size_t bytes) {
  ++allocated;
  if (void* const p = std::malloc(bytes == 0 ? 1 : bytes)) return p;
  throw std::bad_alloc{};
}
void* operator new[](std::size_t bytes) { return operator new(bytes); }
void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
  ++allocated;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
