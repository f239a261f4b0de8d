// Muon of a number in place of options.
// EXPECT: \[shardtype T16\] an optimizer is made of its options, which have names
// FORBID: MatrixForm|MuonPart|form_of
// FORBID: error:.*error:
// NEEDS: full
#include <shardtype/shardtype.hpp>
#include <shardtype/train/train.hpp>

using namespace shardtype;
struct V : Index<"V", 8> {};

#ifdef LEGAL
inline auto made() { return train::Muon<train::Except<V>>{{.rate = 1e-3}}; }
#else
inline auto made() { return train::Muon<train::Except<V>>(1e-3); }
#endif
