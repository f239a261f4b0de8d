// One of three branches takes another number of arguments.
// EXPECT: \[shardtype T11\] the function given here cannot be called
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>

using namespace shardtype;
using A = Local<float>;
using N = Local<std::int32_t>;

auto ask(N const& n, A const& a) {
  auto const same = [](auto c) { return c; };
#ifdef LEGAL
  return branch(n, same, [](auto) { return full_local<float>({}, 2); }, same, a);
#else
  return branch(n, same, [] { return full_local<float>({}, 2); }, same, a);
#endif
}
