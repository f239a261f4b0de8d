#pragma once
// Records the launches of operations on the guarded device, prints them, and finds those with few
// calls.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <cxxabi.h>

#include "guard/guard.hpp"

namespace launches {

/// Launches of one kernel of one length.
struct Launches {
  std::string label, functor;
  std::int64_t length = 0, times = 0;
  std::int64_t bytes = 0;  ///< of memory that it touches, at most
};
inline std::vector<Launches> recorded;
inline bool failed = false;
inline std::string part;  ///< of the names of operations that run

/// What a launch must have: more than `bytes` by no fewer than `calls`. For operations on 2^24
/// elements 2^20 floats and 2^16 calls, and in this ratio for fewer.
struct Bound {
  std::int64_t bytes = std::int64_t{4} << 20, calls = std::int64_t{1} << 16;
  static Bound of(std::int64_t elements) {
    Bound out;
    for (std::int64_t all = std::int64_t{1} << 24; all > elements; all /= 2)
      out.bytes /= 2, out.calls /= 2;
    return out;
  }
};
inline Bound bound;

/// Functors that may be launched with few calls: those that touch far more memory than they read,
/// because it opens in pieces.
inline bool is_known(std::string const& functor) {
  constexpr char const* known[] = {
      "ScanTotals",             // reads a 256th of the elements that it passes
      "AddBefore",              // likewise
      "RunningLevel",           // its higher levels read as many running extremes, far apart
      "MergeLists",             // of 16 bytes for an element: at most 2^19
      "QuantileOfRow",          // reads three elements of a row
      "JoinProducts",           // of 72 bytes for a 256th of the elements: at most 2^16
      "ProductsAroundMembers",  // likewise
  };
  return std::any_of(std::begin(known), std::end(known),
                     [&](char const* name) { return functor == name; });
}
/// Functors that join the parts of others: at most 2^16 of 40 bytes.
inline bool joins(std::string const& functor) {
  return functor == "ReducePieces" || functor == "JoinPieces" || functor == "AddParts";
}

/// 2^16 parts, and some that the memory's pieces hold beside them.
inline constexpr std::int64_t most_joined = (40 << 16) + (64 << 10);

/// The functor's name without its namespaces and arguments.
inline std::string short_name(char const* type) {
  int status = 0;
  char* const text = abi::__cxa_demangle(type, nullptr, nullptr, &status);
  std::string name = status == 0 ? text : type;
  std::free(text);
  name = name.substr(0, name.find('<'));
  auto const colon = name.rfind("::");
  return colon == std::string::npos ? name : name.substr(colon + 2);
}

inline void note(guard::Launch const& l) {
  std::string const functor = launches::short_name(l.type);
  auto const same = std::find_if(recorded.begin(), recorded.end(), [&](Launches const& k) {
    return k.functor == functor && k.length == l.length;
  });
  Launches& k = same != recorded.end() ? *same : recorded.emplace_back();
  k.label = l.label;
  k.functor = functor;
  k.length = l.length;
  ++k.times;
  k.bytes = std::max(k.bytes, static_cast<std::int64_t>(l.bytes));
}

/// Prints the launches of `run`, which are at most `most`.
template <class Run>
void of(char const* operation, Run run, std::int64_t most = 1000) {
  if (std::string(operation).find(part) == std::string::npos) return;
  recorded.clear();
  guard::on_launch(note);
  static_cast<void>(run());
  guard::on_launch(nullptr);
  std::int64_t all = 0;
  for (Launches const& k : recorded) all += k.times;
  if (all > most) {
    std::printf("%s: more than %lld launches: FAILED\n", operation, static_cast<long long>(most));
    failed = true;
  }
  for (Launches const& k : recorded) {
    bool const few = k.length < bound.calls && k.bytes > bound.bytes;
    bool const fails =
        launches::joins(k.functor) ? k.bytes > most_joined : few && !launches::is_known(k.functor);
    failed = failed || fails;
    std::printf("%-22s %-24s %-18s %6lld %10lld %8.1f%s\n", operation, k.label.c_str(),
                k.functor.c_str(), static_cast<long long>(k.times),
                static_cast<long long>(k.length), static_cast<double>(k.bytes) / 1048576,
                fails ? "  few: FAILED"
                : few ? "  few"
                      : "");
  }
  std::fflush(stdout);
}

}  // namespace launches
