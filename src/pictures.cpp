// Pictures of tensors and programs.
#include <shardtype/visualize/array_text.ipp>
#include <shardtype/visualize/block_colors.ipp>
#include <shardtype/visualize/decimal.ipp>
#include <shardtype/visualize/drawing.ipp>
#include <shardtype/visualize/picture.ipp>
#include <shardtype/visualize/print.ipp>
#include <shardtype/visualize/program_layout.ipp>
#include <shardtype/visualize/program_page.ipp>
#include <shardtype/visualize/program_svg.ipp>
#include <shardtype/visualize/tensor_svg.ipp>
