// A vector beside the tensors of a checkpoint.
// EXPECT: \[shardtype A18\] no function of checkpoint .* An extra value is a number or a text
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <vector>

#include <shardtype/checkpoint/extra.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

#ifdef LEGAL
using Sizes = int;
#else
using Sizes = std::vector<int>;
#endif

auto beside(Sizes const& sizes) {
  checkpoint::Extra const extra{{"sizes", sizes}, {"note", "warm"}};
  return extra.values().size();
}
