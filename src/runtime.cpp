// What ranks agree on, their meshes, memory and messages.
#include <shardtype/core/error.ipp>
#include <shardtype/core/escape.ipp>
#include <shardtype/core/printable.ipp>
#include <shardtype/core/running_call.ipp>
#include <shardtype/core/text.ipp>
#include <shardtype/plan/explain.ipp>
#include <shardtype/plan/explain_function.ipp>
#include <shardtype/runtime/agreement.ipp>
#include <shardtype/runtime/comm.ipp>
#include <shardtype/runtime/copy_bytes.ipp>
#include <shardtype/runtime/environment.ipp>
#include <shardtype/runtime/exchange.ipp>
#include <shardtype/runtime/files.ipp>
#include <shardtype/runtime/machine_file.ipp>
#include <shardtype/runtime/mesh.ipp>
#include <shardtype/runtime/node.ipp>
#include <shardtype/runtime/node_places.ipp>
#include <shardtype/runtime/pool.ipp>
#include <shardtype/runtime/records.ipp>
#include <shardtype/runtime/settings.ipp>
#include <shardtype/runtime/shared_window.ipp>
#include <shardtype/runtime/staged_exchange.ipp>
#include <shardtype/runtime/trace.ipp>
#include <shardtype/runtime/two_stages.ipp>
#include <shardtype/runtime/wait.ipp>
#include <shardtype/runtime/watcher.ipp>

namespace shardtype::runtime {
template Buffer Pool::take<Kokkos::HostSpace>(std::size_t asked, Use use);
}  // namespace shardtype::runtime
