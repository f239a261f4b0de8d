#pragma once
/// The namespaces of the engine, one per folder, with using-directives for the layers below each.
/// Public types are in `shardtype` itself; arguments of operations, and operations as objects, in
/// `op`; functions that users call in `api`.

namespace shardtype {

/// The public functions. The using-directive gives them their names in `shardtype`, but
/// argument-dependent lookup ignores it: a function of the user's is never hidden by one of ours of
/// the same name. All overloads of a name must be in `api`, because qualified look-up stops at what
/// it finds in `shardtype` itself.
namespace api {}
using namespace api;

namespace core {}
namespace rules {
using namespace core;
}
namespace planning {
using namespace rules;
}
namespace checking {
using namespace planning;
}
namespace op {
using namespace checking;
}
namespace functions {
using namespace checking;
}
namespace reductions {
using namespace checking;
}
namespace runtime {
using namespace checking;
}
namespace kernels {
using namespace runtime;
}
namespace overlap {
using namespace runtime;
}
namespace execute {
using namespace runtime;
}
namespace runs {
using namespace execute;
}
namespace automatic_mode {
using namespace execute;
}
namespace autodiff {
using namespace execute;
}
namespace random {
using namespace execute;
}
namespace freeze {
using namespace execute;
}
namespace io {
using namespace execute;
}
namespace detail {
using namespace automatic_mode;
}

}  // namespace shardtype
