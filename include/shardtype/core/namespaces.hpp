#pragma once
/// The namespaces of the engine, one per folder, with using-directives for the layers below each.
/// Public names are in `shardtype` itself; arguments of operations, and operations as objects, in
/// `op`.

namespace shardtype {

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
namespace io {
using namespace execute;
}
namespace detail {
using namespace automatic_mode;
}

}  // namespace shardtype
