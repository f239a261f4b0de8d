// The rate of an optimizer without its name.
// EXPECT: \[shardtype T16\] an optimizer is made of its options, which have names
// FORBID: Resolve<|basic_type|Pack<|NotTaken
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

using namespace shardtype;

#ifdef LEGAL
train::AdamW const adam{{.rate = 1e-3}};
#else
train::AdamW const adam(1e-3);
#endif

auto rate() { return adam.rate(1); }
