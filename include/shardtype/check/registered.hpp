#pragma once
/// An entry in a registry of operations.

#include <string_view>

namespace shardtype::op {

/// An operation by its names: of the object in namespace `op`, and of the function that users call.
/// Each folder with operations has its own list (ops/registry.hpp, manual/registry.hpp), so that it
/// can be left out. tests/structure/registry.cpp joins the lists and requires of each operation a
/// rule, a plan, a run, a row in the documents and a case in the random programs.
struct Registered {
  std::string_view object;
  std::string_view function;
};

}  // namespace shardtype::op
